/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The functions that the library stands in front of: the next ones in the program's search order,
 * which are those of the program's own allocator where it links one (jemalloc, for example), else
 * glibc's.
 */
#ifndef ETWAS_HEAPTRACE_REAL_H
#define ETWAS_HEAPTRACE_REAL_H

#include <stdbool.h>
#include <stddef.h>

struct heaptrace_real {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *address, size_t size);
    void *(*reallocarray)(void *address, size_t count, size_t size);
    void (*free)(void *address);
    int (*posix_memalign)(void **address, size_t alignment, size_t size);
    void *(*aligned_alloc)(size_t alignment, size_t size);
    void *(*memalign)(size_t alignment, size_t size);
    void *(*valloc)(size_t size);
    void *(*pvalloc)(size_t size);
    void (*_exit)(int status);
    int (*execve)(const char *path, char *const arguments[], char *const environment[]);
    int (*execvpe)(const char *file, char *const arguments[], char *const environment[]);
    int (*fexecve)(int file, char *const arguments[], char *const environment[]);
    int (*execveat)(int folder, const char *path, char *const arguments[],
                    char *const environment[], int flags);
    int (*dlclose)(void *library);
};

/*
 * The table, filled by the first call. NULL only for a call that the search itself makes on the
 * same thread: such a call is served from the bootstrap arena. Ends the process when an allocation
 * function does not exist.
 */
const struct heaptrace_real *heaptrace_real(void);

/*
 * Memory for what the dynamic linker allocates while it searches: zeroed, never reused, NULL when
 * the arena is used up. `alignment` is a power of two.
 */
void *heaptrace_bootstrap(size_t size, size_t alignment);

/* Whether an address is from the arena. Such memory is never given back. */
bool heaptrace_is_bootstrap(const void *address);

/* The bytes from an arena address to what is allocated behind it: no less than its size. */
size_t heaptrace_bootstrap_bytes(const void *address);

#endif
