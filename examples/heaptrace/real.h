/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The functions that this library interposes: the next ones in the program's search order. They
 * belong to the program's own allocator if it links one (jemalloc, for example), otherwise to
 * glibc.
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
 * Returns the table, which the first call fills. Returns NULL only for a call that the search
 * itself makes on the same thread; the bootstrap arena serves such a call. Ends the process if an
 * allocation function does not exist.
 */
const struct heaptrace_real *heaptrace_real(void);

/*
 * Allocates memory for the dynamic linker during the search. It is zeroed and never reused. Returns
 * NULL when the arena is used up. `alignment` is a power of two.
 */
void *heaptrace_bootstrap(size_t size, size_t alignment);

/* Returns whether an address is in the arena. Its memory is never freed. */
bool heaptrace_is_bootstrap(const void *address);

/*
 * Returns the bytes from an arena address to the end of the used part, no less than the block's
 * size.
 */
size_t heaptrace_bootstrap_bytes(const void *address);

#endif
