/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Whether the kernel aborts restartable sequences that are preempted is tried where it may not, and
 * what comes of it is said by the session, its counts, its file and to the next process.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <etwas/winerror.h>

#include "platform/processor.h"
#include "platform/rseq.h"
#include "platform/rseq_trial.h"
#include "session/fixture.h"
#include "shared/folder.h"
#include "shared/mapping.h"

enum {
    TRIES = 1000, /* of a trial that finds nothing, since the processor has too much to do */
    EVENTS = 100,
    OLD_AREA_BYTES = 32,
};

/* ---- kernels --------------------------------------------------------------------------------- */

/* What etwas_rseq_run does, on a kernel that aborts nothing. */
static enum etwas_rseq_result run_unaborted(const struct etwas_rseq_sequence *sequence)
{
    for (uint64_t index = 0; index < sequence->check_count; index++) {
        if (ck_pr_load_64(sequence->checks[index].word) != sequence->checks[index].expected) {
            return ETWAS_RSEQ_CHANGED;
        }
    }
    for (uint64_t index = 0; index < sequence->copy_count; index++) {
        memcpy(sequence->copies[index].to, sequence->copies[index].from,
               sequence->copies[index].bytes);
    }
    ck_pr_store_64(sequence->target, sequence->value);
    return ETWAS_RSEQ_COMMITTED;
}

/* Nobody gets in: no sequence runs at all. */
static enum etwas_rseq_result run_nothing(const struct etwas_rseq_sequence *sequence)
{
    (void)sequence;
    return ETWAS_RSEQ_CHANGED;
}

static void skip_without_sequences(void)
{
    etwas_rseq_is_suspect = false;
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        print_message("skipped: there are no restartable sequences\n");
        skip();
    }
}

static void suspect(enum etwas_rseq_result (*run)(const struct etwas_rseq_sequence *sequence))
{
    etwas_rseq_is_suspect = true;
    etwas_rseq_run_by = run;
    etwas_rseq_forget_trial();
}

static int trust_again(void **state)
{
    suspect(NULL);
    etwas_rseq_is_suspect = false;
    etwas_rseq_set_trial_storage(NULL);
    return folder_teardown(state);
}

/* A trial that has found something. */
static enum etwas_rseq_state tried(void)
{
    enum etwas_rseq_state state = ETWAS_RSEQ_UNTRIED;

    for (uint32_t attempt = 0; attempt < TRIES && state == ETWAS_RSEQ_UNTRIED; attempt++) {
        state = etwas_rseq_try_now();
    }
    return state;
}

static enum etwas_rseq_state found(void)
{
    enum etwas_rseq_state state = ETWAS_RSEQ_UNTRIED;

    for (uint32_t attempt = 0; attempt < TRIES && state == ETWAS_RSEQ_UNTRIED; attempt++) {
        etwas_rseq_forget_trial();
        state = etwas_rseq_availability();
    }
    return state;
}

static void the_kernels_that_may_not_abort_are_known_by_their_release(void **state)
{
    static const struct {
        const char *release;
        bool may_not;
    } rows[] = {
        {"6.1.0-13-arm64", false},
        {"6.18.44", false},
        {"6.2", false},
        {"5.19.0", false},
        {"6.19.0", true},
        {"6.19-rc1", true},
        {"6.20", true},
        {"7.0.3+deb", true},
        {"10.1", true},
        {"", true},
        {"odd", true},
    };

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof *rows; index++) {
        assert_int_equal(etwas_rseq_may_not_abort(ETWAS_ARCHITECTURE_AARCH64, rows[index].release),
                         rows[index].may_not);
        assert_false(etwas_rseq_may_not_abort(ETWAS_ARCHITECTURE_X86_64, rows[index].release));
    }
}

static void a_kernel_that_does_not_abort_is_found_and_one_that_does_is_not(void **state)
{
    (void)state;
    skip_without_sequences();
    suspect(run_unaborted);
    assert_int_equal(tried(), ETWAS_RSEQ_NOT_ABORTED);
    suspect(run_nothing);
    assert_int_equal(etwas_rseq_try_now(), ETWAS_RSEQ_UNTRIED);
    suspect(NULL);
    assert_int_equal(tried(), ETWAS_RSEQ_USED);
    assert_int_equal(etwas_sequences_try(), etwas_rseq_try_now());
}

/* ---- what sessions make of it ---------------------------------------------------------------- */

static void expect_session(uint32_t sequences)
{
    const etwas_session_options options = {.buffer_size_kb = 4};
    const etwas_session_options wishing = {.protocol = ETWAS_PROTOCOL_RSEQ};
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)folder_path("f.etl")};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    etwas_trace_information information;
    etwas_session_counts counts;
    etwas_trace_handle trace;
    etwas_trace_handle other;
    uint32_t protocol;

    assert_int_equal(etwas_sequences(), sequences);
    assert_int_equal(etwas_session_protocol(session, &protocol), ERROR_SUCCESS);
    assert_int_equal(protocol, ETWAS_PROTOCOL_SHARED);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(etwas_start("wishing", NULL, &wishing, &other), ERROR_NOT_SUPPORTED);
    stop_session(session, &counts);
    assert_int_equal(counts.committed_shared, 1);
    assert_int_equal(counts.protocol, ETWAS_PROTOCOL_SHARED);
    assert_int_equal(counts.sequences, sequences);
    trace = OpenTraceA(&file);
    assert_int_not_equal(trace, INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
    assert_int_equal(information.protocol, ETWAS_PROTOCOL_SHARED);
    assert_int_equal(information.sequences, sequences);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
}

static void a_session_takes_the_shared_protocol_and_everything_says_why(void **state)
{
    (void)state;
    skip_without_sequences();
    session_protocol = ETWAS_PROTOCOL_BEST;
    suspect(run_unaborted);
    assert_int_equal(found(), ETWAS_RSEQ_NOT_ABORTED);
    expect_session(ETWAS_SEQUENCES_NOT_ABORTED);
    suspect(run_nothing);
    expect_session(ETWAS_SEQUENCES_UNTRIED);
    suspect(NULL);
    assert_int_equal(found(), ETWAS_RSEQ_USED);
    assert_int_equal(etwas_sequences(), ETWAS_SEQUENCES_USED);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static uint32_t runs;

static enum etwas_rseq_result count_and_run(const struct etwas_rseq_sequence *sequence)
{
    ck_pr_inc_32(&runs);
    return run_unaborted(sequence);
}

static void write_kept(const void *bytes, size_t count)
{
    FILE *file = fopen(folder_path("rseq"), "we");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void what_was_tried_is_kept_until_the_next_boot(void **state)
{
    uint8_t kept[17];

    (void)state;
    skip_without_sequences();
    assert_int_equal(setenv("ETWAS_RUNTIME_DIR", folder_path("."), 1), 0);
    etwas_rseq_set_trial_storage(&etwas_sequences_keeper);
    suspect(count_and_run);
    assert_int_equal(found(), ETWAS_RSEQ_NOT_ABORTED);
    /* Another process asks the file. */
    runs = 0;
    etwas_rseq_forget_trial();
    assert_int_equal(etwas_rseq_availability(), ETWAS_RSEQ_NOT_ABORTED);
    assert_int_equal(runs, 0);
    /* The file is cut, of another boot, or has no answer: it is tried again. */
    etwas_shared_boot_id(kept);
    kept[16] = ETWAS_RSEQ_USED;
    for (size_t cut = 0; cut < sizeof kept; cut++) {
        write_kept(kept, cut);
        assert_int_equal(found(), ETWAS_RSEQ_NOT_ABORTED);
    }
    kept[16] = ETWAS_RSEQ_UNTRIED;
    write_kept(kept, sizeof kept);
    assert_int_equal(found(), ETWAS_RSEQ_NOT_ABORTED);
    kept[16] = ETWAS_RSEQ_USED;
    kept[0] ^= 1;
    write_kept(kept, sizeof kept);
    assert_int_equal(found(), ETWAS_RSEQ_NOT_ABORTED);
    kept[0] ^= 1;
    write_kept(kept, sizeof kept);
    runs = 0;
    etwas_rseq_forget_trial();
    assert_int_equal(etwas_rseq_availability(), ETWAS_RSEQ_USED);
    assert_int_equal(runs, 0);
}

/* ---- areas ----------------------------------------------------------------------------------- */

/*
 * The kernel kills a process that changes the fields that are the kernel's own, where an area of
 * more than 32 bytes is registered.
 */
static void sequences_change_nothing_of_the_area_but_the_word_that_is_theirs(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 64};
    const size_t own = offsetof(struct rseq, rseq_cs);
    uint8_t before[OLD_AREA_BYTES];
    etwas_trace_handle session;
    const char *area;

    (void)state;
    skip_without_sequences();
    stay_on_one_processor();
    area = etwas_thread_pointer() + __rseq_offset;
    session = start_session(folder_path("f.etl"), &options);
    memcpy(before, area, sizeof before);
    for (uint64_t number = 0; number < EVENTS; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    assert_memory_equal(area, before, own);
    assert_memory_equal(area + own + sizeof(uint64_t), before + own + sizeof(uint64_t),
                        sizeof before - own - sizeof(uint64_t));
    stop_session(session, NULL);
    leave_one_processor();
}

/* As tcmalloc's: of the first size, in a thread of which glibc's is not registered any more. */
static void *log_with_another_area(void *session)
{
    static __thread uint8_t area[OLD_AREA_BYTES] __attribute__((aligned(64)));
    const char *glibcs = etwas_thread_pointer() + __rseq_offset;

    if (syscall(SYS_rseq, glibcs, OLD_AREA_BYTES, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) != 0 &&
        syscall(SYS_rseq, glibcs, __rseq_size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) != 0) {
        return (void *)(uintptr_t) "it cannot be taken from glibc";
    }
    if (syscall(SYS_rseq, area, OLD_AREA_BYTES, 0, RSEQ_SIG) != 0) {
        return (void *)(uintptr_t) "another cannot be registered";
    }
    for (uint64_t number = 0; number < EVENTS; number++) {
        assert_int_equal(log_number(*(etwas_trace_handle *)session, number), ERROR_SUCCESS);
    }
    (void)syscall(SYS_rseq, area, OLD_AREA_BYTES, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
    return NULL;
}

static void a_thread_with_another_librarys_area_writes_into_the_extra_slot(void **state)
{
    const etwas_session_options options = {.maximum_buffers = 64};
    etwas_session_counts counts;
    etwas_trace_handle session;
    pthread_t thread;
    void *trouble;

    (void)state;
    skip_without_sequences();
    session_protocol = ETWAS_PROTOCOL_BEST;
    session = start_session(folder_path("f.etl"), &options);
    assert_int_equal(pthread_create(&thread, NULL, log_with_another_area, &session), 0);
    assert_int_equal(pthread_join(thread, &trouble), 0);
    stop_session(session, &counts);
    if (trouble != NULL) {
        print_message("skipped: %s\n", (const char *)trouble);
        skip();
    }
    assert_int_equal(counts.committed_shared, EVENTS);
    expect_nothing_lost(counts);
    assert_int_equal(count_events(folder_path("f.etl")), EVENTS);
}

#define SEQUENCES_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, trust_again)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_that_may_not_abort_are_known_by_their_release),
        SEQUENCES_TEST(a_kernel_that_does_not_abort_is_found_and_one_that_does_is_not),
        SEQUENCES_TEST(a_session_takes_the_shared_protocol_and_everything_says_why),
        SEQUENCES_TEST(what_was_tried_is_kept_until_the_next_boot),
        SEQUENCES_TEST(sequences_change_nothing_of_the_area_but_the_word_that_is_theirs),
        SEQUENCES_TEST(a_thread_with_another_librarys_area_writes_into_the_extra_slot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
