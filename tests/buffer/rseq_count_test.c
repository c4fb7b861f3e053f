/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The statistics of a session with restartable sequences, asked for while writers write: each
 * answer is true of a moment between the question and the answer (R139, I4).
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>

#include "buffer/interrupt.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    WRITERS = 3,
    EVENTS = 100000,
    LOOKS = 4000,
    MOST_PAYLOAD = 400
};

struct done {
    uint64_t recorded;
    uint64_t attempted;
};

/* Returns what all writers have done; each may be in the middle of one event more. */
static struct done done_so_far(const struct writers *writers)
{
    struct done done = {0};

    for (uint32_t index = 0; index < writers->count; index++) {
        done.attempted += writer_progress(writers->list[index]);
    }
    return done;
}

static bool runs(const struct writers *writers)
{
    for (uint32_t index = 0; index < writers->count; index++) {
        if (writer_progress(writers->list[index]) < EVENTS) {
            return true;
        }
    }
    return false;
}

struct mode {
    bool buffering;
    bool no_thread; /* nobody writes buffers to the file but the test */
    uint32_t flush_timer;
    uint32_t buffers;
};

static const struct mode modes[] = {
    {.buffering = false, .buffers = 4000},
    {.buffering = false, .buffers = 12},
    {.buffering = false, .buffers = 60, .flush_timer = 1},
    {.buffering = false, .buffers = 60, .no_thread = true},
    {.buffering = true, .buffers = 12},
    {.buffering = true, .buffers = 60},
};

static void look(etwas_trace_handle session, const struct writers *writers,
                 etwas_session_counts *last)
{
    uint64_t before = done_so_far(writers).attempted;
    etwas_session_counts counts = counts_of(session);
    uint64_t after = done_so_far(writers).attempted + writers->count;
    uint64_t sum = counts.recorded + counts.overwritten + counts.lost;

    if (sum < before || sum > after) {
        fail_msg("%llu recorded + %llu overwritten + %llu lost = %llu is not in %llu..%llu",
                 (unsigned long long)counts.recorded, (unsigned long long)counts.overwritten,
                 (unsigned long long)counts.lost, (unsigned long long)sum,
                 (unsigned long long)before, (unsigned long long)after);
    }
    assert_true(sum >= last->recorded + last->overwritten + last->lost);
    assert_true(counts.overwritten >= last->overwritten);
    assert_true(counts.lost >= last->lost);
    assert_true(counts.committed_rseq >= last->committed_rseq);
    assert_true(counts.committed_shared >= last->committed_shared);
    assert_int_equal(counts.committed_rseq + counts.committed_shared + counts.lost_no_buffer, sum);
    *last = counts;
}

static void counts_are_true_at_every_moment(void **state)
{
    (void)state;
    skip_without_sequences();
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const struct mode *mode = &modes[index];
        const etwas_session_options options = {
            .log_file_mode = mode->buffering ? EVENT_TRACE_BUFFERING_MODE : 0,
            .buffer_size_kb = 4,
            .minimum_buffers = mode->buffering ? mode->buffers : 0,
            .maximum_buffers = mode->buffers,
            .flush_timer = mode->flush_timer,
            .protocol = ETWAS_PROTOCOL_RSEQ,
            .flusher.no_thread = mode->no_thread,
        };
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start_session(mode->buffering ? NULL : path, &options);
        etwas_session_counts last = {0};
        etwas_session_counts counts;
        struct writers writers;

        writers_start(&writers, WRITERS,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = EVENTS,
                                               .largest_payload = MOST_PAYLOAD});
        for (int number = 0; number < LOOKS && runs(&writers); number++) {
            look(session, &writers, &last);
            if (mode->no_thread && number % 16 == 0) {
                assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
            }
            if (number % 4 == 0) {
                (void)sched_yield();
            }
        }
        writers_join(&writers);
        counts = counts_of(session);
        expect_exact_account(session, &counts);
        assert_int_equal(counts.lost, writers_totals(session).lost);
        assert_int_equal(query_session(session).EventsLost, counts.lost);
        stop_session(session, &counts);
        expect_exact_account(session, &counts);
        if (!mode->buffering) {
            expect_file_reads_back(session, path, &counts);
        }
        writers_forget();
    }
}

/* ---- asked by a handler inside a step -------------------------------------------------------- */

struct asked {
    etwas_trace_handle session;
    struct writer *writer;
};

static void ask(void *context)
{
    const struct asked *asked = context;
    etwas_session_counts counts = counts_of(asked->session);

    /* Nothing of the event under way counts yet; all before it does. */
    assert_int_equal(counts.recorded + counts.overwritten + counts.lost, asked->writer->attempted);
    assert_int_equal(counts.lost, asked->writer->lost);
}

static void counts_are_exact_inside_any_step(void **state)
{
    (void)state;
    skip_without_sequences();
    interruptions_prepare();
    stay_on_one_processor();
    for (int turn = 0; turn < 2 * STEPS; turn++) {
        enum sequence_step step = (enum sequence_step)(turn / 2);
        bool buffering = turn % 2 == 1;
        const etwas_session_options options = {
            .log_file_mode = buffering ? EVENT_TRACE_BUFFERING_MODE : 0,
            .buffer_size_kb = 4,
            .minimum_buffers = buffering ? 12 : 4,
            .maximum_buffers = 30,
            .protocol = ETWAS_PROTOCOL_RSEQ,
            .flusher.no_thread = true,
        };
        etwas_trace_handle session =
            start_session(buffering ? NULL : folder_path("trace.etl"), &options);
        struct asked asked = {
            .session = session,
            .writer = writer_new(&(struct writer_options){
                .session = session, .class_handle = writer_class(), .events = 400})};
        struct interruptions interruptions = {
            .session = session, .step = step, .point = TAKE_TURNS, .act = ask, .context = &asked};

        interruptions_begin(&interruptions);
        for (int number = 0; number < 400; number++) {
            interruptions_arm_quick();
            (void)writer_log_bytes(asked.writer, 700);
        }
        interruptions_end();
        assert_int_equal(interruptions.total != 0, sequence_happens(step, buffering));
        stop_session(session, NULL);
        writers_forget();
    }
    leave_one_processor();
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(counts_are_true_at_every_moment),
        FOLDER_TEST(counts_are_exact_inside_any_step),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
