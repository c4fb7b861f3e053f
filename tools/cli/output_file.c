/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file or folder that appears when it is complete. Signals that end the program remove an
 * incomplete one.
 */

#include "cli/output_file.h"

#include "cli/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool refuse(const struct etwas_output_file *file, const char *what)
{
    fprintf(stderr, "%s: cannot %s '%s': %s%s\n", file->command, what, file->path, strerror(errno),
            etwas_output_limit(errno));
    return false;
}

/* A device or a pipe must not be replaced by a file, so it is written to directly. */
static bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* Returns the mode that open(2) would have used. */
static mode_t usual_mode(mode_t all)
{
    mode_t mask = umask(0);

    umask(mask);
    return all & ~mask;
}

static int make_folder(char *name)
{
    int descriptor;

    if (mkdtemp(name) == NULL) {
        return -1;
    }
    descriptor = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fchmod(descriptor, usual_mode(0777));
    } else {
        (void)rmdir(name);
    }
    return descriptor;
}

static int make_file(char *name)
{
    int descriptor = mkostemp(name, O_CLOEXEC);

    if (descriptor >= 0) {
        (void)fchmod(descriptor, usual_mode(0666));
    }
    return descriptor;
}

/*
 * Empties a folder and closes its descriptor. It runs in signal handlers, which must not call
 * readdir(3).
 */
static void empty(int descriptor)
{
    _Alignas(struct dirent64) char entries[4096];
    long bytes;

    while ((bytes = syscall(SYS_getdents64, descriptor, entries, sizeof entries)) > 0) {
        for (long at = 0; at < bytes;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            bool is_inner = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
            int inner = -1;

            if (is_inner && unlinkat(descriptor, entry->d_name, 0) != 0) {
                inner = openat(descriptor, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            }
            if (inner >= 0) {
                empty(inner);
                (void)unlinkat(descriptor, entry->d_name, AT_REMOVEDIR);
            }
            at += entry->d_reclen;
        }
    }
    (void)close(descriptor);
}

static void take_away(const struct etwas_output_file *file)
{
    if (file->is_folder) {
        empty(file->descriptor);
        (void)rmdir(file->making);
    } else {
        (void)unlink(file->making);
    }
}

static const struct etwas_output_file *volatile unfinished; /* NULL: none */

/* Runs once per signal: SA_RESETHAND restores the default action, which raise() then triggers. */
static void on_signal(int number)
{
    if (unfinished != NULL) {
        take_away(unfinished);
    }
    (void)raise(number);
}

/* Ignored signals stay ignored, as nohup and shells expect. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    (void)sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

/* So that no signal comes between creating a name and recording it. */
static void block_signals(sigset_t *before)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, before);
}

bool etwas_output_file_is_input(const struct etwas_output_file *file, char *const *inputs,
                                uint32_t count)
{
    struct stat output;
    struct stat input;
    bool is_input = false;

    if (file->path == NULL || stat(file->path, &output) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < count && !is_input; i++) {
        is_input = stat(inputs[i], &input) == 0 && input.st_dev == output.st_dev &&
                   input.st_ino == output.st_ino;
    }
    return is_input;
}

/*
 * Checks that the final name is usable, before work is done for an output that could not be kept.
 */
static bool is_free(const struct etwas_output_file *file)
{
    if (!file->is_folder) {
        return etwas_replace_may(file->command, file->path, file->force);
    }
    errno = ENOTEMPTY;
    return etwas_replace_is_empty(file->path) || refuse(file, "make");
}

bool etwas_output_file_open(struct etwas_output_file *file)
{
    sigset_t signals;
    size_t bytes;

    file->descriptor = STDOUT_FILENO;
    if (file->path == NULL) {
        return true;
    }
    if (!file->is_folder && is_special(file->path)) {
        file->descriptor = open(file->path, O_WRONLY | O_CLOEXEC);
        return file->descriptor >= 0 || refuse(file, "open");
    }
    if (!is_free(file)) {
        return false;
    }
    bytes = strlen(file->path);
    while (bytes > 1 && file->path[bytes - 1] == '/') {
        bytes--;
    }
    if (asprintf(&file->making, "%.*s.XXXXXX", (int)bytes, file->path) < 0) {
        file->making = NULL;
        return refuse(file, "make");
    }
    catch_signals();
    block_signals(&signals);
    file->descriptor = file->is_folder ? make_folder(file->making) : make_file(file->making);
    unfinished = file->descriptor >= 0 ? file : NULL;
    (void)sigprocmask(SIG_SETMASK, &signals, NULL);
    if (file->descriptor < 0) {
        refuse(file, "make");
        free(file->making);
        file->making = NULL;
    }
    return file->making != NULL;
}

static bool give_name(const struct etwas_output_file *file)
{
    sigset_t signals;
    bool has_name;

    block_signals(&signals);
    has_name = rename(file->making, file->path) == 0 || refuse(file, "make");
    unfinished = has_name ? NULL : file;
    (void)sigprocmask(SIG_SETMASK, &signals, NULL);
    return has_name;
}

/* Returns whether all data was written without an error, and the output got its name. */
static bool is_whole(const struct etwas_output_file *file)
{
    if (!file->is_folder && close(file->descriptor) != 0) {
        return refuse(file, "write");
    }
    return file->making == NULL || give_name(file);
}

bool etwas_output_file_keep(struct etwas_output_file *file)
{
    if (file->path == NULL) {
        return true;
    }
    if (!is_whole(file)) {
        etwas_output_file_drop(file);
        return false;
    }
    free(file->making);
    file->making = NULL;
    return true;
}

bool etwas_output_file_keep_written(struct etwas_output_file *file, struct etwas_output *output)
{
    etwas_output_flush(output);
    if (output->error != 0) {
        errno = output->error;
        refuse(file, "write");
        etwas_output_file_drop(file);
        return false;
    }
    return etwas_output_file_keep(file);
}

void etwas_output_file_drop(struct etwas_output_file *file)
{
    sigset_t signals;

    if (file->making == NULL) {
        return;
    }
    block_signals(&signals);
    take_away(file);
    unfinished = NULL;
    (void)sigprocmask(SIG_SETMASK, &signals, NULL);
    free(file->making);
    file->making = NULL;
}
