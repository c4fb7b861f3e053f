/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * STOP of a session into whose mapping another process commits records. What that process has
 * committed, however late, is in the file, where each of its processors is visited and where none
 * can be.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/slot.h"
#include "platform/rseq.h"
#include "platform/visit.h"
#include "session/fixture.h"
#include "support/inside.h"
#include "support/start.h"

enum {
    STOPS = 30,
    STOPS_WITHOUT_VISITS = 10,
    LONG_COPY_BYTES = 8 << 20, /* a millisecond: there is time to be late */
};

/* The other process, which has this memory too. */
struct guest {
    uint64_t committed;
    uint32_t units; /* of its record, the first one of the buffer */
    uint32_t processor;
    struct etwas_slot *slot;
    uint64_t open; /* gate and kind while the session runs */
    uint8_t *buffer;
    uint8_t from[LONG_COPY_BYTES];
    uint8_t to[LONG_COPY_BYTES];
};

static cpu_set_t allowed;

static int find_processors(void **state)
{
    (void)state;
    return sched_getaffinity(0, sizeof allowed, &allowed);
}

static void stay_on(uint32_t processor)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static uint64_t *gate_of(const struct guest *guest)
{
    return (uint64_t *)(void *)&guest->slot->gate;
}

/*
 * A sequence with time between its check of the gate and its commit, but for the first to commit.
 * False: the gate is closed.
 */
static bool try_sequence(struct guest *guest, const struct etwas_rseq_copy *record,
                         uint64_t *target, uint64_t more)
{
    uint64_t before = ck_pr_load_64(target);
    const struct etwas_rseq_check checks[] = {{gate_of(guest), guest->open}, {target, before}};
    const struct etwas_rseq_copy copies[] = {
        *record,
        {guest->to, guest->from, ck_pr_load_64(&guest->committed) == 0 ? 0 : LONG_COPY_BYTES},
    };
    const struct etwas_rseq_sequence sequence = {
        .checks = checks,
        .check_count = 2,
        .copies = copies,
        .copy_count = 2,
        .target = target,
        .value = before + more,
        .processor = guest->processor,
    };

#if ETWAS_RSEQ
    if (etwas_rseq_run(&sequence) == ETWAS_RSEQ_COMMITTED) {
        ck_pr_inc_64(&guest->committed);
    }
#else
    (void)sequence;
#endif
    return ck_pr_load_64(gate_of(guest)) == guest->open;
}

/* PUBLISH of its record, again and again, until the gate is closed or the buffer full. */
static void commit(struct guest *guest)
{
    uint32_t units;

    do {
        units = etwas_word_units(ck_pr_load_64(&guest->slot->word));
    } while (units + guest->units <= etwas_slot_limit_units(guest->slot) &&
             try_sequence(guest,
                          &(struct etwas_rseq_copy){
                              guest->buffer + (size_t)units * ETWAS_UNIT_BYTES,
                              guest->buffer + (size_t)ETWAS_FIRST_UNIT * ETWAS_UNIT_BYTES,
                              (size_t)guest->units * ETWAS_UNIT_BYTES},
                          &guest->slot->word, etwas_word_record(guest->units)));
}

/*
 * LOST, again and again. A flight recorder would overwrite; what counts here is that its end takes
 * no time.
 */
static void lose(struct guest *guest)
{
    const struct etwas_rseq_copy no_record = {0};

    while (try_sequence(guest, &no_record, &guest->slot->counters.lost[ETWAS_SLOT_NO_BUFFER], 1)) {
    }
}

/*
 * Starts a guest by _Fork(), since the handlers of fork() would remove the mapping from the child.
 */
static pid_t begin_guest(struct guest *guest, void (*work)(struct guest *guest))
{
    pid_t process = _Fork();

    assert_true(process >= 0);
    if (process == 0) {
        limit_child();
        stay_on(guest->processor);
        work(guest);
        _exit(0);
    }
    return process;
}

static etwas_trace_handle start_for(struct guest *guest, const char *path)
{
    const etwas_session_options options = {
        .log_file_mode = path != NULL ? 0 : EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 1024,
        .minimum_buffers = 4,
        .maximum_buffers = 4,
        .protocol = ETWAS_PROTOCOL_RSEQ,
        .crash_safe = ETWAS_CRASH_SAFE_MEMFD,
        .flusher.no_thread = true,
    };
    etwas_trace_handle handle = start_session(path, &options);
    struct etwas_session *session = inside_of(handle);

    session->configuration.reach = ETWAS_REACH_SHARED;
    guest->slot = etwas_pool_slot(session->buffers.pool, guest->processor);
    guest->open = ck_pr_load_64(gate_of(guest));
    guest->committed = 0;
    return handle;
}

/* The session's only event is on the guest's processor, in a buffer that has room for many more. */
static void log_first(struct guest *guest, etwas_trace_handle handle)
{
    uint64_t word;

    stay_on(guest->processor);
    assert_int_equal(log_number(handle, 0), ERROR_SUCCESS);
    word = ck_pr_load_64(&guest->slot->word);
    assert_int_equal(etwas_word_count(word), 1);
    guest->buffer = etwas_pool_buffer(inside_of(handle)->buffers.pool, etwas_word_buffer(word));
    guest->units = etwas_word_units(word) - ETWAS_FIRST_UNIT;
}

static void wait_until_it_commits(const struct guest *guest)
{
    while (ck_pr_load_64(&guest->committed) == 0) {
        (void)sched_yield();
    }
}

static void expect_all(etwas_trace_handle handle, const struct guest *guest, const char *path)
{
    uint64_t events = 1 + ck_pr_load_64(&guest->committed);

    assert_int_equal(counts_of(handle).recorded, events);
    assert_int_equal(counts_of(handle).lost, 0);
    assert_int_equal(count_events(path), events);
}

/* A guest on another processor than the test; skips it where there is none. */
static struct guest *make_guest(uint32_t *own)
{
    struct guest *guest;

    if (!can_have_sequences() || CPU_COUNT(&allowed) < 2) {
        print_message("skipped: there are no two processors with restartable sequences\n");
        skip();
    }
    guest = mmap(NULL, sizeof *guest, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(guest, MAP_FAILED);
    for (uint32_t processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &allowed)) {
            *own = guest->processor;
            guest->processor = processor;
        }
    }
    return guest;
}

static void what_another_process_commits_until_the_visit_is_in_the_file(void **state)
{
    uint32_t own;
    struct guest *guest = make_guest(&own);
    const char *path = folder_path("guest.etl");

    (void)state;
    for (int stop = 0; stop < STOPS; stop++) {
        etwas_trace_handle handle = start_for(guest, path);
        const struct etwas_session *place = inside_of(handle);
        pid_t process;

        log_first(guest, handle);
        process = begin_guest(guest, commit);
        stay_on(own);
        wait_until_it_commits(guest);
        stop_session(handle, NULL);
        assert_null(place->buffers.pool);
        assert_int_equal(exit_code_of(process), 0);
        expect_all(handle, guest, path);
    }
    assert_int_equal(munmap(guest, sizeof *guest), 0);
}

static void what_another_process_loses_until_the_visit_is_counted(void **state)
{
    uint32_t own;
    struct guest *guest = make_guest(&own);

    (void)state;
    for (int stop = 0; stop < STOPS; stop++) {
        etwas_trace_handle handle = start_for(guest, NULL);
        pid_t process = begin_guest(guest, lose);

        stay_on(own);
        wait_until_it_commits(guest);
        stop_session(handle, NULL);
        assert_int_equal(exit_code_of(process), 0);
        assert_int_equal(counts_of(handle).lost_no_buffer, ck_pr_load_64(&guest->committed));
        assert_int_equal(counts_of(handle).recorded, 0);
    }
    assert_int_equal(munmap(guest, sizeof *guest), 0);
}

struct watch {
    struct etwas_session *session;
    pid_t process;
};

static void *report_when_it_is_gone(void *argument)
{
    const struct watch *watch = argument;

    (void)waitpid(watch->process, NULL, 0);
    ck_pr_fence_release();
    ck_pr_store_32(&watch->session->guests, ETWAS_GUESTS_ARE_GONE);
    return NULL;
}

/* Nothing but the guest's end shows when it is through. Until then its memory stays. */
static void what_another_process_commits_without_a_visit_is_in_the_file(void **state)
{
    uint32_t own;
    struct guest *guest = make_guest(&own);
    const char *path = folder_path("guest.etl");

    (void)state;
    for (int stop = 0; stop < STOPS_WITHOUT_VISITS; stop++) {
        etwas_trace_handle handle = start_for(guest, path);
        struct watch watch = {.session = inside_of(handle)};
        pthread_t thread;

        log_first(guest, handle);
        watch.process = begin_guest(guest, commit);
        stay_on(own);
        wait_until_it_commits(guest);
        assert_int_equal(pthread_create(&thread, NULL, report_when_it_is_gone, &watch), 0);
        etwas_visits_fail = true;
        stop_session(handle, NULL);
        etwas_visits_fail = false;
        assert_non_null(watch.session->buffers.pool);
        assert_int_equal(pthread_join(thread, NULL), 0);
        expect_all(handle, guest, path);
    }
    assert_int_equal(munmap(guest, sizeof *guest), 0);
}

/*
 * Where nobody else can be inside nobody is visited: no processor that is out of reach keeps the
 * memory.
 */
static void a_session_that_has_no_guests_ends_by_the_fence_of_its_process(void **state)
{
    (void)state;
    for (uint32_t is_shared = 0; is_shared < 2; is_shared++) {
        etwas_trace_handle handle = start_recorder();
        struct etwas_session *session = inside_of(handle);

        session->configuration.reach = is_shared ? ETWAS_REACH_SHARED : ETWAS_REACH_PROCESS;
        session->guests = is_shared ? ETWAS_GUESTS_NEVER_CAME : ETWAS_GUESTS_MAY_BE_THERE;
        assert_int_equal(log_number(handle, 0), ERROR_SUCCESS);
        etwas_visits_fail = true;
        stop_session(handle, NULL);
        etwas_visits_fail = false;
        assert_null(session->buffers.pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_another_process_commits_until_the_visit_is_in_the_file),
        FOLDER_TEST(what_another_process_loses_until_the_visit_is_counted),
        FOLDER_TEST(what_another_process_commits_without_a_visit_is_in_the_file),
        FOLDER_TEST(a_session_that_has_no_guests_ends_by_the_fence_of_its_process),
    };

    return cmocka_run_group_tests(tests, find_processors, NULL);
}
