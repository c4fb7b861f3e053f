/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The ways out of a program that run no exit handlers: _exit and exec. Each ends the session first.
 *
 * If an exec fails, the program continues, in another trace. To keep that rare, the session ends
 * only if the file can be executed: shells try folder after folder.
 */

#include "heaptrace.h"
#include "real.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * These functions may be the first ones called, but never from inside the search for the real ones.
 */
static const struct heaptrace_real *real_functions(void)
{
    const struct heaptrace_real *real = heaptrace_real();

    if (real == NULL) {
        __builtin_trap();
    }
    return real;
}

HEAPTRACE_EXPORT void _exit(int status)
{
    (void)heaptrace_session_end();
    real_functions()->_exit(status);
    __builtin_unreachable();
}

HEAPTRACE_EXPORT void _Exit(int status)
{
    _exit(status);
}

static int after_failure(bool had_session, int result)
{
    if (had_session) {
        heaptrace_session_resume();
    }
    return result;
}

/* Returns whether execvp would find a file to execute. */
static bool is_in_path(const char *file)
{
    const char *folder = getenv("PATH");
    char path[PATH_MAX];

    if (strchr(file, '/') != NULL) {
        return eaccess(file, X_OK) == 0;
    }
    for (folder = folder != NULL ? folder : "/bin:/usr/bin"; folder != NULL;) {
        const char *end = strchrnul(folder, ':');
        int length = (int)(end - folder);
        int needed =
            snprintf(path, sizeof path, "%.*s%s%s", length, folder, length > 0 ? "/" : "", file);

        if (needed > 0 && needed < (int)sizeof path && eaccess(path, X_OK) == 0) {
            return true;
        }
        folder = *end == ':' ? end + 1 : NULL;
    }
    return false;
}

HEAPTRACE_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    const struct heaptrace_real *real = real_functions();
    bool had_session = eaccess(path, X_OK) == 0 && heaptrace_session_end();

    return after_failure(had_session, real->execve(path, arguments, environment));
}

HEAPTRACE_EXPORT int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

HEAPTRACE_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    const struct heaptrace_real *real = real_functions();
    bool had_session = is_in_path(file) && heaptrace_session_end();

    return after_failure(had_session, real->execvpe(file, arguments, environment));
}

HEAPTRACE_EXPORT int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

HEAPTRACE_EXPORT int fexecve(int file, char *const arguments[], char *const environment[])
{
    const struct heaptrace_real *real = real_functions();
    bool had_session = fcntl(file, F_GETFD) >= 0 && heaptrace_session_end();

    return after_failure(had_session, real->fexecve(file, arguments, environment));
}

HEAPTRACE_EXPORT int execveat(int folder, const char *path, char *const arguments[],
                              char *const environment[], int flags)
{
    const struct heaptrace_real *real = real_functions();
    bool will_run = *path == '\0' || faccessat(folder, path, X_OK, AT_EACCESS) == 0;
    bool had_session = will_run && heaptrace_session_end();

    return after_failure(had_session, real->execveat(folder, path, arguments, environment, flags));
}

/*
 * execl, execlp and execle take their arguments one by one, up to a NULL. The array of them is on
 * the caller's stack, because a child of vfork may be calling.
 */
static size_t count_arguments(const char *first, va_list list)
{
    size_t count = 1;
    va_list rest;

    va_copy(rest, list);
    for (const char *argument = first; argument != NULL; argument = va_arg(rest, char *)) {
        count++;
    }
    va_end(rest);
    return count;
}

static void collect_arguments(char **arguments, size_t count, const char *first, va_list *list)
{
    arguments[0] = (char *)(uintptr_t)first;
    for (size_t index = 1; index < count; index++) {
        arguments[index] = va_arg(*list, char *);
    }
}

HEAPTRACE_EXPORT int execl(const char *path, const char *first, ...)
{
    va_list list;
    size_t count;

    va_start(list, first);
    count = count_arguments(first, list);
    {
        char *arguments[count];

        collect_arguments(arguments, count, first, &list);
        va_end(list);
        return execve(path, arguments, environ);
    }
}

HEAPTRACE_EXPORT int execlp(const char *file, const char *first, ...)
{
    va_list list;
    size_t count;

    va_start(list, first);
    count = count_arguments(first, list);
    {
        char *arguments[count];

        collect_arguments(arguments, count, first, &list);
        va_end(list);
        return execvpe(file, arguments, environ);
    }
}

HEAPTRACE_EXPORT int execle(const char *path, const char *first, ...)
{
    va_list list;
    size_t count;

    va_start(list, first);
    count = count_arguments(first, list);
    {
        char *arguments[count];
        char *const *environment;

        collect_arguments(arguments, count, first, &list);
        environment = va_arg(list, char *const *);
        va_end(list);
        return execve(path, arguments, environment);
    }
}
