/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system functions that the etwas library inside this one calls, redirected by the linker's
 * --wrap. The program's own calls do not come here.
 *
 * The library's threads are marked, so that their allocations are not logged. Its files get high
 * descriptors. A program that expects descriptor 3 gets 3, and `exec 3>file` in a shell script does
 * not make the flusher write the trace into that file.
 */

#include "heaptrace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Below the usual limit of 1,024, with room for the files of several sessions. */
enum {
    HIGH_DESCRIPTOR = 1000,
    DESCRIPTORS_ABOVE = 24
};

/* The names that the linker uses. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);

static int high_descriptor(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < HIGH_DESCRIPTOR + DESCRIPTORS_ABOVE) {
        return limit.rlim_cur > 2 * DESCRIPTORS_ABOVE ? (int)limit.rlim_cur - DESCRIPTORS_ABOVE : 0;
    }
    return HIGH_DESCRIPTOR;
}

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    int file;
    int moved;

    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
        va_list arguments;

        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    file = __real_open(path, flags, mode);
    if (file < 0) {
        return file;
    }
    moved = fcntl(file, F_DUPFD_CLOEXEC, high_descriptor());
    if (moved < 0) {
        return file;
    }
    (void)close(file);
    return moved;
}

struct start {
    void *(*function)(void *);
    void *argument;
};

static void *run_marked(void *argument)
{
    struct start start = *(struct start *)argument;

    heaptrace_thread.own++;
    free(argument);
    return start.function(start.argument);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    struct start *start;
    int result;

    heaptrace_thread.own++;
    start = malloc(sizeof *start);
    if (start == NULL) {
        result = EAGAIN;
    } else {
        *start = (struct start){function, argument};
        result = __real_pthread_create(thread, attributes, run_marked, start);
        if (result != 0) {
            free(start);
        }
    }
    heaptrace_thread.own--;
    return result;
}
