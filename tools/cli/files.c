/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Finds the log files in folders. */

#include "cli/files.h"

#include "print/output.h"
#include "print/text.h"

#include <dirent.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DESCRIPTORS_A_FILE = 2,  /* its own, and the folder that a conversion makes of it */
    DESCRIPTORS_BESIDE = 64, /* for everything else that a command opens */
    FILE_MAX_DIGITS = 4,     /* in the names of an AutoLogger's files, except the first */
    NAMED = 3,               /* traces named in the note about others */
    MOST_FOLDERS = 1000,     /* searched for such traces: the folder may be the root */
};

static struct etwas_files *newest; /* all that the command read, to be freed at its end */

/*
 * Returns the length of the name before its last number and `sign`; its whole length if there is
 * none. `digits`: the number must have that many; 0: any.
 */
static size_t before_number(const char *name, size_t length, char sign, size_t digits)
{
    size_t begin = length;

    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') {
        begin--;
    }
    if (begin == length || (digits != 0 && length - begin != digits)) {
        return length;
    }
    if (sign == '\0') {
        return begin;
    }
    return begin > 0 && name[begin - 1] == sign ? begin - 1 : length;
}

bool etwas_files_is_log(const char *name)
{
    static const char suffix[] = ".etl";
    size_t length = before_number(name, strlen(name), '_', 0);

    length = before_number(name, length, '.', FILE_MAX_DIGITS);
    length = before_number(name, length, '\0', 0);
    return name[0] != '.' && length >= sizeof suffix &&
           memcmp(name + length - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0;
}

/* ---- traces with other names ----------------------------------------------------------------- */

/*
 * Returns whether a file is a trace with another name. Links, pipes, folders and hidden files do
 * not count.
 */
static bool is_other_trace(const char *folder, const char *name)
{
    EVENT_TRACE_LOGFILEA logfile = {.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD};
    TRACEHANDLE trace = INVALID_PROCESSTRACE_HANDLE;
    struct stat status;
    char *path;

    if (name[0] == '.' || etwas_files_is_log(name) || asprintf(&path, "%s/%s", folder, name) < 0) {
        return false;
    }
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size != 0) {
        logfile.LogFileName = path;
        trace = OpenTraceA(&logfile);
    }
    if (trace != INVALID_PROCESSTRACE_HANDLE) {
        (void)CloseTrace(trace);
    }
    free(path);
    return trace != INVALID_PROCESSTRACE_HANDLE;
}

/* ---- subfolders ------------------------------------------------------------------------------ */

/* Traces in the folders below one, found by their names. */
struct below {
    char first[PATH_MAX]; /* "": none */
    uint32_t traces;
    uint32_t folders; /* folders that were searched */
};

static void look_below(struct below *below, const char *folder, bool is_given)
{
    DIR *files = opendir(folder);
    const struct dirent *entry;
    char path[PATH_MAX];
    struct stat status;

    while (files != NULL && below->folders < MOST_FOLDERS && (entry = readdir(files)) != NULL) {
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path ||
            lstat(path, &status) != 0) {
            continue;
        }
        if (S_ISDIR(status.st_mode)) {
            below->folders++;
            look_below(below, path, false);
        } else if (!is_given && S_ISREG(status.st_mode) && status.st_size != 0 &&
                   etwas_files_is_log(entry->d_name)) {
            if (below->traces == 0) {
                (void)snprintf(below->first, sizeof below->first, "%s", path);
            }
            below->traces++;
        }
    }
    if (files != NULL) {
        (void)closedir(files);
    }
}

/* Reports the traces below. At the limit of folders there may be more, so it prints "at least". */
static void say_below(const char *folder)
{
    struct etwas_output *errors = etwas_standard_error();
    struct below below = {.traces = 0};

    look_below(&below, folder, true);
    if (below.traces == 0) {
        return;
    }
    etwas_output_format(errors, "%s: ", etwas_output_program);
    etwas_text_plain(errors, folder);
    etwas_output_format(errors, ": note: %s%u trace%s in folders below %s not read: ",
                        below.folders == MOST_FOLDERS ? "at least " : "", below.traces,
                        below.traces == 1 ? "" : "s", below.traces == 1 ? "is" : "are");
    etwas_text_plain(errors, below.first);
    if (below.traces > 1) {
        etwas_output_format(errors, " and %u more", below.traces - 1);
    }
    etwas_output_text(errors, ". Give their folder to read them\n");
    etwas_output_flush(errors);
}

void etwas_files_report_others(const char *folder)
{
    struct etwas_output *errors = etwas_standard_error();
    DIR *files;
    const struct dirent *entry;
    char named[NAMED][NAME_MAX + 1];
    uint32_t count = 0;

    if (etwas_is_quiet) {
        return;
    }
    files = opendir(folder);
    while (files != NULL && (entry = readdir(files)) != NULL) {
        if (is_other_trace(folder, entry->d_name)) {
            if (count < NAMED) {
                (void)snprintf(named[count], sizeof named[count], "%s", entry->d_name);
            }
            count++;
        }
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    say_below(folder);
    if (count == 0) {
        return;
    }
    etwas_output_format(errors, "%s: ", etwas_output_program);
    etwas_text_plain(errors, folder);
    etwas_output_format(errors,
                        ": note: %u trace%s in it not read, since %s not called NAME.etl: ", count,
                        count == 1 ? " is" : "s are", count == 1 ? "it is" : "they are");
    for (uint32_t i = 0; i < count && i < NAMED; i++) {
        etwas_output_text(errors, i > 0 ? ", " : "");
        etwas_text_plain(errors, named[i]);
    }
    if (count > NAMED) {
        etwas_output_format(errors, " and %u more", count - NAMED);
    }
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
}

/* ---- the command line ------------------------------------------------------------------------ */

static int is_log_file(const struct dirent *entry)
{
    return etwas_files_is_log(entry->d_name);
}

/* Compares as bytes, independently of the locale. */
static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

/* Adds a path, and takes ownership of it. Returns false without memory, also if `path` is NULL. */
static bool add_path(struct etwas_files *files, char *path)
{
    char **more = path != NULL ? realloc(files->paths, (files->count + 1) * sizeof *more) : NULL;

    if (more == NULL) {
        free(path);
        return false;
    }
    files->paths = more;
    files->paths[files->count++] = path;
    return true;
}

static bool add_folder(struct etwas_files *files, const char *folder, struct dirent *const *entries,
                       int count)
{
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";

    for (int i = 0; i < count; i++) {
        char *path = NULL;

        if (asprintf(&path, "%s%s%s", folder, slash, entries[i]->d_name) < 0 ||
            !add_path(files, path)) {
            return false;
        }
    }
    return true;
}

/* Adds one argument. Anything that is not a readable folder counts as a file. */
static bool add_argument(struct etwas_files *files, const char *argument)
{
    struct dirent **entries = NULL;
    int count = scandir(argument, &entries, is_log_file, by_name);
    bool is_added =
        count > 0 ? add_folder(files, argument, entries, count) : add_path(files, strdup(argument));

    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    etwas_files_report_others(argument);
    return is_added;
}

static void allow_descriptors(uint32_t files)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)files * DESCRIPTORS_A_FILE + DESCRIPTORS_BESIDE;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/*
 * Makes new files at most as accessible as this one, since files made from a trace show its
 * contents. If the file's group is not ours, the group gets the rights of others.
 */
static void narrow(const char *path)
{
    struct stat status;
    mode_t group;
    mode_t allowed;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return;
    }
    group = status.st_gid == getegid() ? status.st_mode & S_IRWXG : (status.st_mode & S_IRWXO) << 3;
    allowed = S_IRWXU | group | (status.st_mode & S_IRWXO);
    /* A readable folder may be searched. */
    allowed |= (allowed & (S_IRGRP | S_IROTH)) >> 2;
    (void)umask(umask(S_IRWXG | S_IRWXO) | ((S_IRWXG | S_IRWXO) & ~allowed));
}

const char *etwas_files_read(struct etwas_files *files, char *const *first, char *const *end,
                             uint32_t most)
{
    files->before = newest;
    newest = files;
    for (char *const *argument = first; argument < end; argument++) {
        if (!add_argument(files, *argument)) {
            return "not enough memory for so many files";
        }
    }
    for (uint32_t i = 0; i < files->count; i++) {
        narrow(files->paths[i]);
    }
    if (files->count == 0) {
        return "which file?";
    }
    if (files->count > most) {
        (void)snprintf(files->wrong, sizeof files->wrong, "at most %u files at once", most);
        return files->wrong;
    }
    allow_descriptors(files->count);
    return NULL;
}

bool etwas_files_read_command(struct etwas_files *files, const struct etwas_command *command,
                              int argc, char **argv, uint32_t most, void *request, int *result)
{
    return etwas_command_read(command, argc, argv, request, result) &&
           etwas_command_fits(command, etwas_files_read(files, argv + optind, argv + argc, most),
                              result);
}

void etwas_files_free(void)
{
    for (; newest != NULL; newest = newest->before) {
        for (uint32_t i = 0; i < newest->count; i++) {
            free(newest->paths[i]);
        }
        free(newest->paths);
    }
}
