/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file or folder that appears when it is whole. Signals that end the program take away what is
 * not.
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

static bool refuse(const struct etwas_output_file *place, const char *what)
{
    fprintf(stderr, "%s: cannot %s '%s': %s\n", place->command, what, place->path, strerror(errno));
    return false;
}

/* Who replaces a device or a pipe by a file has lost it: that is written to as it is. */
static bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* As open(2) would have made it. */
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
 * A folder, whose descriptor it takes, with the folders in it. Signals' handlers may not call
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

static void take_away(const struct etwas_output_file *place)
{
    if (place->is_folder) {
        empty(place->descriptor);
        (void)rmdir(place->making);
    } else {
        (void)unlink(place->making);
    }
}

static const struct etwas_output_file *volatile unfinished; /* NULL: there is none */

/* Comes once: when it returns, the signal that it raises does what it would have done. */
static void on_signal(int number)
{
    if (unfinished != NULL) {
        take_away(unfinished);
    }
    (void)raise(number);
}

/* What is ignored stays ignored, as nohup and shells want it. */
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

/* So that none comes between a name and what is known of it. */
static void block_signals(sigset_t *before)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, before);
}

bool etwas_output_file_is_input(const struct etwas_output_file *place, char *const *inputs,
                                uint32_t count)
{
    struct stat output;
    struct stat input;
    bool is_input = false;

    if (place->path == NULL || stat(place->path, &output) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < count && !is_input; i++) {
        is_input = stat(inputs[i], &input) == 0 && input.st_dev == output.st_dev &&
                   input.st_ino == output.st_ino;
    }
    return is_input;
}

/* What is made may be called so: no work is done for what could not be kept. */
static bool is_free(const struct etwas_output_file *place)
{
    if (!place->is_folder) {
        return etwas_replace_may(place->command, place->path, place->force);
    }
    errno = ENOTEMPTY;
    return etwas_replace_is_empty(place->path) || refuse(place, "make");
}

bool etwas_output_file_open(struct etwas_output_file *place)
{
    sigset_t signals;
    size_t bytes;

    place->descriptor = STDOUT_FILENO;
    if (place->path == NULL) {
        return true;
    }
    if (!place->is_folder && is_special(place->path)) {
        place->descriptor = open(place->path, O_WRONLY | O_CLOEXEC);
        return place->descriptor >= 0 || refuse(place, "open");
    }
    if (!is_free(place)) {
        return false;
    }
    bytes = strlen(place->path);
    while (bytes > 1 && place->path[bytes - 1] == '/') {
        bytes--;
    }
    if (asprintf(&place->making, "%.*s.XXXXXX", (int)bytes, place->path) < 0) {
        place->making = NULL;
        return refuse(place, "make");
    }
    catch_signals();
    block_signals(&signals);
    place->descriptor = place->is_folder ? make_folder(place->making) : make_file(place->making);
    unfinished = place->descriptor >= 0 ? place : NULL;
    (void)sigprocmask(SIG_SETMASK, &signals, NULL);
    if (place->descriptor < 0) {
        refuse(place, "make");
        free(place->making);
        place->making = NULL;
    }
    return place->making != NULL;
}

static bool give_name(const struct etwas_output_file *place)
{
    sigset_t signals;
    bool has_name;

    block_signals(&signals);
    has_name = rename(place->making, place->path) == 0 || refuse(place, "make");
    unfinished = has_name ? NULL : place;
    (void)sigprocmask(SIG_SETMASK, &signals, NULL);
    return has_name;
}

/* All that was written is on its way to the disk without an error, and the name is the output's. */
static bool is_whole(const struct etwas_output_file *place)
{
    if (!place->is_folder && close(place->descriptor) != 0) {
        return refuse(place, "write");
    }
    return place->making == NULL || give_name(place);
}

bool etwas_output_file_keep(struct etwas_output_file *place)
{
    if (place->path == NULL) {
        return true;
    }
    if (!is_whole(place)) {
        etwas_output_file_drop(place);
        return false;
    }
    free(place->making);
    place->making = NULL;
    return true;
}

bool etwas_output_file_keep_written(struct etwas_output_file *place, struct etwas_output *output)
{
    etwas_output_flush(output);
    if (output->error != 0) {
        errno = output->error;
        refuse(place, "write");
        etwas_output_file_drop(place);
        return false;
    }
    return etwas_output_file_keep(place);
}

void etwas_output_file_drop(struct etwas_output_file *place)
{
    sigset_t signals;

    if (place->making == NULL) {
        return;
    }
    block_signals(&signals);
    take_away(place);
    unfinished = NULL;
    (void)sigprocmask(SIG_SETMASK, &signals, NULL);
    free(place->making);
    place->making = NULL;
}
