/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The build without jemalloc as a plugin: loaded by a running program that has threads, which is
 * what a library linked with Debian's jemalloc cannot be ("cannot allocate memory in static TLS
 * block").
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The functions under test, by the types the header gives them. */
static __typeof__(&etwas_version) version;
static __typeof__(&etwas_start_sized) start;
static __typeof__(&etwas_stop_sized) stop;

/* dlsym gives an object pointer; POSIX lets its bytes be a function pointer's. */
static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    if (symbol == NULL) {
        fail_msg("%s", dlerror());
    }
    memcpy(function, &symbol, sizeof symbol);
}

static void *load(void)
{
    void *library = dlopen(ETWAS_PLAIN_LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        fail_msg("%s", dlerror());
    }
    find(library, "etwas_version", &version);
    find(library, "etwas_start_sized", &start);
    find(library, "etwas_stop_sized", &stop);
    return library;
}

/* The step that went wrong; an empty string when none did. */
static void *run_a_session(void *path)
{
    etwas_trace_handle session = 0;
    etwas_session_counts counts;

    if (start("dlopen", path, NULL, 0, &session) != ERROR_SUCCESS) {
        return "start";
    }
    if (stop(session, &counts, sizeof counts) != ERROR_SUCCESS) {
        return "stop";
    }
    return counts.lost == 0 && counts.buffers_written > 0 ? "" : "counts";
}

static void the_plain_library_is_loaded_at_run_time(void **state)
{
    (void)state;

    (void)load();
    assert_string_equal(version(), "0.1.0");
}

static void the_plain_library_brings_no_jemalloc(void **state)
{
    void *library = load();

    (void)state;
    assert_null(dlsym(RTLD_DEFAULT, "mallctl"));
    assert_null(dlsym(library, "mallctl"));
}

static void a_loaded_library_runs_a_session_on_any_thread(void **state)
{
    char path[] = "/tmp/etwas-dlopen-XXXXXX";
    int file = mkstemp(path);
    pthread_t thread;
    void *failed = NULL;
    struct stat written;

    (void)state;
    (void)load();
    assert_true(file >= 0);
    (void)close(file);
    assert_string_equal(run_a_session(path), "");
    assert_int_equal(pthread_create(&thread, NULL, run_a_session, path), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_string_equal(failed, "");
    assert_int_equal(stat(path, &written), 0);
    assert_true(written.st_size > 0);
    assert_int_equal(unlink(path), 0);
}

/*
 * Its threads and their thread data may outlive the last dlclose, so the library stays (nodelete).
 */
static void a_closed_library_stays_in_memory(void **state)
{
    void *library = load();

    (void)state;
    assert_int_equal(dlclose(library), 0);
    assert_string_equal(version(), "0.1.0");
    library = dlopen(ETWAS_PLAIN_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    (void)dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plain_library_is_loaded_at_run_time),
        cmocka_unit_test(the_plain_library_brings_no_jemalloc),
        cmocka_unit_test(a_loaded_library_runs_a_session_on_any_thread),
        cmocka_unit_test(a_closed_library_stays_in_memory),
    };

    return cmocka_run_group_tests_name("dlopen", tests, NULL, NULL);
}
