/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program linked with libetwas.so keeps its malloc, here one of its own that counts; the library
 * uses that too, and jemalloc for its regions alone.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <dlfcn.h>
#include <etwas/etwas.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What the C library's functions are called beneath those that a program may replace. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

static uint64_t allocated;
static uint64_t freed;

/* Visible to the libraries, as a host's malloc is. */
#pragma GCC visibility push(default)

void *malloc(size_t bytes)
{
    ck_pr_inc_64(&allocated);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    ck_pr_inc_64(&allocated);
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    if (block == NULL) {
        ck_pr_inc_64(&allocated);
    }
    return __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    ck_pr_inc_64(&allocated);
    return __libc_memalign(alignment, bytes);
}

void free(void *block)
{
    if (block != NULL) {
        ck_pr_inc_64(&freed);
    }
    __libc_free(block);
}

#pragma GCC visibility pop

static void a_linked_program_keeps_its_malloc(void **state)
{
    void *(*own_malloc)(size_t) = malloc;
    void (*own_free)(void *) = free;
    void *found;

    (void)state;
    found = dlsym(RTLD_DEFAULT, "malloc");
    assert_memory_equal(&found, &own_malloc, sizeof found);
    found = dlsym(RTLD_DEFAULT, "free");
    assert_memory_equal(&found, &own_free, sizeof found);
    assert_null(dlsym(RTLD_DEFAULT, "mallctl"));
    assert_null(dlsym(RTLD_DEFAULT, "mallocx"));
}

/* Reads the file that was written, so that reading, too, allocates and frees. */
static void read_back(char *path)
{
    EVENT_TRACE_LOGFILEA log = {.LogFileName = path};
    TRACEHANDLE trace = OpenTraceA(&log);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void the_library_allocates_from_its_host_and_gives_all_back(void **state)
{
    char path[] = "/tmp/etwas-allocator-XXXXXX";
    int file = mkstemp(path);
    etwas_trace_handle session;
    etwas_session_memory memory;
    etwas_session_counts counts;

    (void)state;
    assert_true(file >= 0);
    (void)close(file);
    for (int round = 0; round < 2; round++) {
        uint64_t before = ck_pr_load_64(&allocated);
        uint64_t kept = before - ck_pr_load_64(&freed);

        assert_int_equal(etwas_start("allocator", path, NULL, &session), ERROR_SUCCESS);
        assert_int_equal(etwas_memory(session, &memory), ERROR_SUCCESS);
#ifdef ETWAS_WITH_JEMALLOC
        assert_true(memory.arena_mapped_bytes > 0);
#endif
        assert_int_equal(etwas_stop(session, &counts), ERROR_SUCCESS);
        read_back(path);
        assert_true(ck_pr_load_64(&allocated) > before);
        /* What is set up once stays. */
        if (round > 0) {
            assert_int_equal(ck_pr_load_64(&allocated) - ck_pr_load_64(&freed), kept);
        }
    }
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linked_program_keeps_its_malloc),
        cmocka_unit_test(the_library_allocates_from_its_host_and_gives_all_back),
    };

    return cmocka_run_group_tests_name("allocator", tests, NULL, NULL);
}
