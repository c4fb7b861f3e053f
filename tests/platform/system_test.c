/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Processor numbers, thread ids, memory for buffers, and waiting. */
#include <ck_pr.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock/clock.h"
#include "platform/memory.h"
#include "platform/processor.h"
#include "platform/thread.h"
#include "platform/wait.h"
#include "support/folder.h"
#include "support/start.h"

/* ---- processors -------------------------------------------------------------------------------- */

/* Passes with and without registered restartable sequences: the norseq preset runs it without. */
static void the_current_processor_is_the_one_we_are_bound_to(void **state)
{
    cpu_set_t allowed;
    cpu_set_t one;

    (void)state;
    etwas_processor_prepare();
    assert_int_equal(etwas_processor_count(), sysconf(_SC_NPROCESSORS_CONF));
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (unsigned processor = 0; processor < etwas_processor_count(); processor++) {
        if (CPU_ISSET(processor, &allowed)) {
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
            assert_int_equal(etwas_processor_current(), processor);
            assert_int_equal(etwas_processor_ask(), processor);
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

static void *processor_of_new_thread(void *argument)
{
    *(uint32_t *)argument = etwas_processor_current();
    return NULL;
}

static void a_new_thread_knows_its_processor_at_once(void **state)
{
    pthread_t thread;
    uint32_t processor = UINT32_MAX;

    (void)state;
    stay_on_one_processor();
    assert_int_equal(pthread_create(&thread, NULL, processor_of_new_thread, &processor), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(processor, etwas_processor_current());
    leave_one_processor();
}

/* ---- threads ----------------------------------------------------------------------------------- */

static void *ids_of_new_thread(void *argument)
{
    *(struct etwas_thread_ids *)argument = etwas_thread_ids();
    return NULL;
}

static void ids_are_the_threads_own_and_renewed_in_a_forks_child(void **state)
{
    const char *path = folder_path("trace.etl");
    struct etwas_thread_ids other;
    pthread_t thread;
    pid_t child;
    int status;

    (void)state;
    /* The first session installs the fork handler. */
    stop_session(start_session(path, NULL), NULL);
    assert_int_equal(etwas_thread_ids().thread_id, gettid());
    assert_int_equal(etwas_thread_ids().process_id, getpid());
    assert_int_equal(etwas_thread_ids_cache.thread_id, gettid());
    assert_int_equal(pthread_create(&thread, NULL, ids_of_new_thread, &other), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_not_equal(other.thread_id, gettid());
    assert_int_equal(other.process_id, getpid());
    child = fork();
    if (child == 0) {
        bool right = etwas_thread_ids().thread_id == (uint32_t)gettid() &&
                     etwas_thread_ids().process_id == (uint32_t)getpid();

        _exit(right ? 0 : 1);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    assert_int_equal(status, 0);
    assert_int_equal(etwas_thread_ids().process_id, getpid());
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void memory_is_aligned_zeroed_and_as_large_as_asked_for(void **state)
{
    static const size_t region_bytes[] = {4096, 65536, 3 << 20, 64 << 20};

    (void)state;
    for (size_t index = 0; index < sizeof region_bytes / sizeof region_bytes[0]; index++) {
        for (int again = 0; again < 3; again++) {
            struct etwas_memory memory;
            const uint64_t *words;

            assert_true(etwas_memory_create(&memory, region_bytes[index], 1000));
            assert_true(memory.region_bytes >= region_bytes[index]);
            assert_true(memory.control_bytes >= 1000);
            assert_int_equal((uintptr_t)memory.region % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
            assert_int_equal((uintptr_t)memory.control % 128, 0);
            words = (const uint64_t *)(const void *)memory.region;
            for (size_t word = 0; word < region_bytes[index] / 8; word += 64) {
                assert_int_equal(words[word], 0);
            }
            for (size_t byte = 0; byte < 1000; byte++) {
                assert_int_equal(((const uint8_t *)memory.control)[byte], 0);
            }
            /* Dirty, so that the next one shows whether it was zeroed. */
            memset(memory.region, 0xA5, region_bytes[index]);
            memset(memory.control, 0xA5, 1000);
            etwas_memory_destroy(&memory);
            assert_null(memory.region);
        }
    }
}

static void populated_memory_is_resident_and_unchanged(void **state)
{
    enum { BYTES = 8 << 20, POPULATED = 1 << 20 };
    struct etwas_memory memory;

    (void)state;
    assert_true(etwas_memory_create(&memory, BYTES, 64));
    memory.region[5] = 5;
    assert_true(etwas_memory_populate(memory.region, POPULATED));
    assert_true(etwas_memory_resident_bytes(&memory) >= POPULATED);
    assert_true(etwas_memory_resident_bytes(&memory) <= memory.region_bytes);
    assert_int_equal(memory.region[5], 5);
    assert_int_equal(memory.region[POPULATED - 1], 0);
    etwas_memory_destroy(&memory);
}

static void what_cannot_be_had_is_refused_and_nothing_is_kept(void **state)
{
    struct etwas_memory memory;

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("the sanitizers end a process that asks for so much\n");
    skip();
#endif
    assert_false(etwas_memory_create(&memory, (size_t)1 << 50, 64));
    assert_true(etwas_memory_create(&memory, 4096, 64));
    etwas_memory_destroy(&memory);
}

static void a_pool_may_take_half_of_what_there_is(void **state)
{
    uint64_t physical =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    (void)state;
    assert_true(etwas_memory_limit_bytes() > 0);
    assert_true(etwas_memory_limit_bytes() <= physical / 2);
}

/* ---- waiting ----------------------------------------------------------------------------------- */

struct sleeper {
    struct ck_ec32 count;
    uint32_t woken;
    pthread_t thread;
};

static void *sleep_until_counted(void *argument)
{
    struct sleeper *sleeper = argument;

    while (ck_ec32_value(&sleeper->count) == 0) {
        etwas_wait(&sleeper->count, 0, UINT64_C(3600) * 1000000000);
    }
    ck_pr_store_32(&sleeper->woken, 1);
    return NULL;
}

/* Ends only if the increment wakes: the limit is an hour. */
static void an_increment_wakes_who_waits(void **state)
{
    struct sleeper sleeper = {.woken = 0};

    (void)state;
    ck_ec32_init(&sleeper.count, 0);
    assert_int_equal(pthread_create(&sleeper.thread, NULL, sleep_until_counted, &sleeper), 0);
    (void)usleep(20000);
    assert_int_equal(ck_pr_load_32(&sleeper.woken), 0);
    ck_ec32_inc(&sleeper.count, &etwas_wait_mode);
    assert_int_equal(pthread_join(sleeper.thread, NULL), 0);
    assert_int_equal(sleeper.woken, 1);
}

static void a_wait_ends_at_its_time_or_at_once_when_the_count_has_changed(void **state)
{
    struct ck_ec32 count;
    uint64_t before_ns = etwas_monotonic_ns();

    (void)state;
    ck_ec32_init(&count, 0);
    etwas_wait(&count, 0, 1000000);
    assert_true(etwas_monotonic_ns() > before_ns);
    ck_ec32_inc(&count, &etwas_wait_mode);
    etwas_wait(&count, 0, UINT64_C(3600) * 1000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_current_processor_is_the_one_we_are_bound_to),
        cmocka_unit_test(a_new_thread_knows_its_processor_at_once),
        FOLDER_TEST(ids_are_the_threads_own_and_renewed_in_a_forks_child),
        cmocka_unit_test(memory_is_aligned_zeroed_and_as_large_as_asked_for),
        cmocka_unit_test(populated_memory_is_resident_and_unchanged),
        cmocka_unit_test(what_cannot_be_had_is_refused_and_nothing_is_kept),
        cmocka_unit_test(a_pool_may_take_half_of_what_there_is),
        cmocka_unit_test(an_increment_wakes_who_waits),
        cmocka_unit_test(a_wait_ends_at_its_time_or_at_once_when_the_count_has_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
