/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds the real functions. dlsym may allocate, and then calls this library's malloc again; such
 * calls get memory from a static arena.
 *
 * Several threads may search at once before the first has finished. All of them find the same
 * functions, and publish the whole table by the same flag.
 */

#include "real.h"

#include "heaptrace.h"

#include <ck_pr.h>
#include <dlfcn.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum {
    ARENA_BYTES = 65536
};

static alignas(16) unsigned char arena[ARENA_BYTES];
static uint64_t arena_used;

static struct heaptrace_real table;
static unsigned int table_is_filled;

static _Noreturn void missing(const char *name)
{
    static const char text[] = "heaptrace: the program's libraries have no ";

    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, name, strlen(name));
    (void)!write(STDERR_FILENO, "\n", 1);
    __builtin_trap();
}

/* POSIX allows the bytes of dlsym's object pointer to be those of a function pointer. */
static bool find(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void must_find(const char *name, void *function)
{
    if (!find(name, function)) {
        missing(name);
    }
}

static void fill(struct heaptrace_real *real)
{
    must_find("malloc", &real->malloc);
    must_find("calloc", &real->calloc);
    must_find("realloc", &real->realloc);
    must_find("reallocarray", &real->reallocarray);
    must_find("free", &real->free);
    must_find("posix_memalign", &real->posix_memalign);
    must_find("aligned_alloc", &real->aligned_alloc);
    must_find("memalign", &real->memalign);
    must_find("valloc", &real->valloc);
    must_find("pvalloc", &real->pvalloc);
    must_find("_exit", &real->_exit);
    must_find("execve", &real->execve);
    must_find("execvpe", &real->execvpe);
    must_find("fexecve", &real->fexecve);
    /* glibc has it since 2.34; a program that calls it runs only where it exists. */
    (void)find("execveat", &real->execveat);
    (void)find("dlclose", &real->dlclose); /* likewise */
}

const struct heaptrace_real *heaptrace_real(void)
{
    struct heaptrace_real found;

    if (ck_pr_load_uint(&table_is_filled) != 0) {
        /* Pairs with the store fence below: if the flag is seen, so is the table. */
        ck_pr_fence_load();
        return &table;
    }
    if (heaptrace_thread.searching) {
        return NULL;
    }
    heaptrace_thread.searching = true;
    fill(&found);
    /* Threads that store at once store the same pointers, and none reads before a flag is set. */
    table = found;
    ck_pr_fence_store();
    ck_pr_store_uint(&table_is_filled, 1);
    heaptrace_thread.searching = false;
    return &table;
}

void *heaptrace_bootstrap(size_t size, size_t alignment)
{
    uint64_t start;

    if (size > ARENA_BYTES || alignment > ARENA_BYTES) {
        return NULL;
    }
    size = (size + 15) & ~(size_t)15;
    start = ck_pr_faa_64(&arena_used, size + alignment);
    if (start > ARENA_BYTES - size - alignment || size + alignment > ARENA_BYTES) {
        return NULL;
    }
    start = ((uintptr_t)arena + start + alignment - 1) & ~(uint64_t)(alignment - 1);
    return arena + (start - (uintptr_t)arena);
}

bool heaptrace_is_bootstrap(const void *address)
{
    return (uintptr_t)address - (uintptr_t)arena < ARENA_BYTES;
}

size_t heaptrace_bootstrap_bytes(const void *address)
{
    uint64_t used = ck_pr_load_64(&arena_used);

    used = used < ARENA_BYTES ? used : ARENA_BYTES;
    return (size_t)((uintptr_t)arena + used - (uintptr_t)address);
}
