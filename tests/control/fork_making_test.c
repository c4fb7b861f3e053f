/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A fork while another thread makes a crash-safe session: the parent's goes on as if nothing had
 * been, and the child has nothing of it and can make its own.
 */
#include <ck_pr.h>
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/memory.h"
#include "session/fixture.h"

enum {
    EVENTS = 100,
    FORKS = 40,
    LARGE_BUFFERS = 512, /* of 64 KB */
};

static etwas_session_options options_of(uint32_t crash_safe)
{
    return (etwas_session_options){
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 64,
        .minimum_buffers = 32,
        .maximum_buffers = LARGE_BUFFERS,
        .crash_safe = crash_safe,
        .crash_safe_folder = crash_safe == ETWAS_CRASH_SAFE_POOL_FILE ? folder_path("pool") : NULL,
        .memory = ETWAS_MEMORY_PREFAULT,
    };
}

/* ---- children -------------------------------------------------------------------------------- */

/* Open files of a pool, or mappings of one. */
static uint32_t pools_here(void)
{
    DIR *files = opendir("/proc/self/fd");
    FILE *maps = fopen("/proc/self/maps", "re");
    const struct dirent *entry;
    char line[4096];
    uint32_t found = 0;

    CHECK_IN_CHILD(files != NULL && maps != NULL);
    while ((entry = readdir(files)) != NULL) {
        char target[4096] = "";

        if (readlinkat(dirfd(files), entry->d_name, target, sizeof target - 1) > 0) {
            found += strstr(target, "etwas-pool") != NULL || strstr(target, ".pool") != NULL;
        }
    }
    while (fgets(line, sizeof line, maps) != NULL) {
        found += strstr(line, "etwas-pool") != NULL || strstr(line, ".pool") != NULL;
    }
    (void)closedir(files);
    (void)fclose(maps);
    return found;
}

/* The parent's has a name, and so may this one. */
static _Noreturn void be_a_child(void)
{
    etwas_session_options options = options_of(ETWAS_CRASH_SAFE_MEMFD);
    etwas_trace_handle session;

    CHECK_IN_CHILD(pools_here() == 0);
    options.maximum_buffers = options.minimum_buffers;
    options.flusher.no_thread = FIXTURE_SANITIZER;
    CHECK_IN_CHILD(etwas_start("made", NULL, &options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(pools_here() == 0);
    _exit(0);
}

static void fork_once(void)
{
    int child = fork_child();

    if (child == 0) {
        be_a_child();
    }
    expect_child(child);
}

/* ---- while space is taken -------------------------------------------------------------------- */

static sem_t is_inside;
static sem_t may_go_on;

static long hold_allocation(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_ALLOCATE) {
        (void)sem_post(&is_inside);
        while (sem_wait(&may_go_on) != 0) {
        }
    }
    return (long)bytes;
}

struct making {
    uint32_t crash_safe;
    uint32_t code;
    etwas_trace_handle session;
};

static void *make(void *argument)
{
    struct making *making = argument;
    const etwas_session_options options = options_of(making->crash_safe);

    making->code = etwas_start("made", NULL, &options, &making->session);
    return NULL;
}

/* It is whole, and locked by this process. */
static void expect_whole(etwas_trace_handle session)
{
    static etwas_recovered recovered;
    char path[4096];

    for (uint64_t number = 0; number < EVENTS; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_crash_safe_path(session, path, sizeof path), ERROR_SUCCESS);
    assert_int_equal(etwas_recover(path, 0, NULL, &recovered), ERROR_SUCCESS);
    assert_int_equal(recovered.events, EVENTS);
    assert_true(recovered.is_alive);
}

static void fork_while_space_is_taken(uint32_t crash_safe)
{
    struct making making = {.crash_safe = crash_safe};
    struct belongings before;
    pthread_t maker;
    int child;

    /* The first leaves what is kept; a sanitizer has a thread of its own from the first one on. */
    (void)make(&making);
    assert_int_equal(making.code, ERROR_SUCCESS);
    stop_session(making.session, NULL);
    before = count_belongings();
    assert_int_equal(sem_init(&is_inside, 0, 0), 0);
    assert_int_equal(sem_init(&may_go_on, 0, 0), 0);
    etwas_file_set_failure_hook(hold_allocation);
    assert_int_equal(pthread_create(&maker, NULL, make, &making), 0);
    while (sem_wait(&is_inside) != 0) {
    }
    etwas_file_set_failure_hook(NULL); /* of the child's own no more */
    child = fork_child();
    if (child == 0) {
        be_a_child();
    }
    assert_int_equal(sem_post(&may_go_on), 0);
    assert_int_equal(pthread_join(maker, NULL), 0);
    expect_child(child);
    assert_int_equal(making.code, ERROR_SUCCESS);
    expect_whole(making.session);
    stop_session(making.session, NULL);
    assert_nothing_gained(&before);
}

static void a_fork_while_a_memfd_gets_its_space_harms_neither_side(void **state)
{
    (void)state;
    fork_while_space_is_taken(ETWAS_CRASH_SAFE_MEMFD);
}

static void a_fork_while_a_pool_file_gets_its_space_harms_neither_side(void **state)
{
    (void)state;
    fork_while_space_is_taken(ETWAS_CRASH_SAFE_POOL_FILE);
}

/* What was refused is gone, too: its descriptor, its lock and its file. */
static long refuse_allocation(enum etwas_log_file_call call, size_t bytes)
{
    return call == ETWAS_FILE_ALLOCATE ? -28 : (long)bytes; /* ENOSPC */
}

static void of_what_gets_no_space_nothing_stays(void **state)
{
    const etwas_session_options options = options_of(ETWAS_CRASH_SAFE_POOL_FILE);
    struct belongings before = count_belongings();
    etwas_trace_handle session;
    char text[512];

    (void)state;
    etwas_file_set_failure_hook(refuse_allocation);
    assert_int_equal(etwas_start("made", NULL, &options, &session), ERROR_DISK_FULL);
    etwas_file_set_failure_hook(NULL);
    (void)etwas_crash_safe_refusal(text, sizeof text);
    assert_non_null(strstr(text, folder_path("pool")));
    before.files += 1;
    assert_nothing_gained(&before);
    fork_once();
}

/* ---- at any moment --------------------------------------------------------------------------- */

static uint32_t is_over; /* atomic */

static void *make_again_and_again(void *argument)
{
    while (ck_pr_load_32(&is_over) == 0) {
        make(argument);
        if (((struct making *)argument)->code == ERROR_SUCCESS) {
            (void)etwas_stop(((struct making *)argument)->session, NULL);
        }
    }
    return NULL;
}

static void a_fork_at_any_moment_of_it_harms_neither_side(void **state)
{
    struct making making = {.crash_safe = ETWAS_CRASH_SAFE_MEMFD};
    pthread_t maker;

    (void)state;
#ifdef ETWAS_ADDRESS_SANITIZER
    print_message(
        "skipped: AddressSanitizer's malloc hangs in children of processes with threads\n");
    skip();
#endif
    ck_pr_store_32(&is_over, 0);
    assert_int_equal(pthread_create(&maker, NULL, make_again_and_again, &making), 0);
    for (uint32_t number = 0; number < FORKS; number++) {
        fork_once();
    }
    ck_pr_store_32(&is_over, 1);
    assert_int_equal(pthread_join(maker, NULL), 0);
    assert_int_equal(making.code, ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_fork_while_a_memfd_gets_its_space_harms_neither_side),
        FOLDER_TEST(a_fork_while_a_pool_file_gets_its_space_harms_neither_side),
        FOLDER_TEST(of_what_gets_no_space_nothing_stays),
        FOLDER_TEST(a_fork_at_any_moment_of_it_harms_neither_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
