/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Publication: sizes up to the limit, order of stamps, and many writers on few processors. */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include <etwas/evntrace.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "buffer/publish.h"
#include "buffer/slot.h"
#include "buffer/unattached.h"
#include "clock/clock.h"
#include "etl/layout.h"
#include "platform/testpoint.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

/* ---- sizes (R62, R63, R64) ------------------------------------------------------------------- */

struct sized {
    EVENT_TRACE_HEADER header;
    MOF_FIELD field;
};

/* An event of exactly `bytes` on disk whose payload lies elsewhere: Size stays small. */
static uint32_t log_gathered(etwas_trace_handle session, uint32_t bytes)
{
    static uint8_t payload[70000];
    struct sized event = {
        .header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR},
        .field = {.DataPtr = (uint64_t)(uintptr_t)payload,
                  .Length = bytes - (uint32_t)sizeof event.header},
    };

    return TraceEvent(session, &event.header);
}

/* An event whose Size is `bytes`, all in one piece. */
static uint32_t log_plain(etwas_trace_handle session, uint16_t bytes)
{
    static union {
        EVENT_TRACE_HEADER header;
        uint8_t bytes[65536];
    } event;

    event.header.Size = bytes;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    return TraceEvent(session, &event.header);
}

static void an_event_is_refused_when_it_does_not_fit_and_then_it_is_counted(void **state)
{
    static const struct {
        uint32_t buffer_kb;
        uint32_t
            plain; /* the largest Size: one below BufferSize - 72, or what 16 bits hold (R63) */
        uint32_t gathered; /* the largest record: BufferSize - 72, at most 65,535 (R62) */
    } rows[] = {
        {4, 4096 - 72 - 1, 4096 - 72},
        {8, 8192 - 72 - 1, 8192 - 72},
        {32, 32768 - 72 - 1, 32768 - 72},
        {64, 65536 - 72 - 1, 65536 - 72},
        {68, 65535, 65535},
        {1024, 65535, 65535},
        {16384, 65535, 65535},
    };

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        etwas_session_options options = {.buffer_size_kb = rows[index].buffer_kb};
        etwas_trace_handle session = start_session(folder_path("trace.etl"), &options);
        etwas_session_counts counts;
        uint64_t refused = 0;

        stay_on_one_processor();
        assert_int_equal(log_plain(session, (uint16_t)rows[index].plain), ERROR_SUCCESS);
        assert_int_equal(log_gathered(session, rows[index].gathered), ERROR_SUCCESS);
        for (uint32_t more = 1; more <= 64; more *= 2) {
            if (rows[index].plain + more <= 65535) {
                assert_int_equal(log_plain(session, (uint16_t)(rows[index].plain + more)),
                                 ERROR_MORE_DATA);
                refused++;
            }
            assert_int_equal(log_gathered(session, rows[index].gathered + more), ERROR_MORE_DATA);
            refused++;
        }
        leave_one_processor();
        stop_session(session, &counts);
        assert_int_equal(counts.recorded, 2);
        assert_int_equal(counts.lost_too_large, refused);
        assert_int_equal(counts.lost, refused);
        assert_int_equal(counts.buffers_written, rows[index].buffer_kb <= 68 ? 3 : 2);
    }
}

/* Every size for 4 KB; for larger buffers each size near the ends and a spread between. I1. */
static void events_of_every_size_come_back_byte_by_byte(void **state)
{
    static const uint32_t buffer_kb[] = {4, 64, 1024};
    static const uint32_t largest[] = {4096 - 72 - 1 - 48, 65536 - 72 - 1 - 48, 65535 - 48};

    (void)state;
    for (size_t index = 0; index < 3; index++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = buffer_kb[index],
                                         .maximum_buffers = index == 0 ? 8000 : 0};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer =
            writer_new(&(struct writer_options){.session = session, .events = 10000});
        uint32_t step = index == 0 ? 1 : 977;
        etwas_session_counts counts;

        for (uint32_t bytes = 0; bytes <= largest[index]; bytes++) {
            if (bytes % step == 0 || bytes < 300 || bytes + 40 > largest[index]) {
                assert_int_equal(writer_log_bytes(writer, bytes), ERROR_SUCCESS);
            }
        }
        assert_int_equal(writer->events[writer->attempted - 1].payload_bytes, largest[index]);
        stop_session(session, &counts);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* ---- many writers on few processors ---------------------------------------------------------- */

/*
 * I4, I5: sixteen threads on one slot, and on all; the smallest pool, so that all of it is in
 * motion.
 */
static void many_threads_share_few_processors_and_every_event_is_accounted_for(void **state)
{
    (void)state;
    for (int one = 0; one <= 1; one++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 2, .clock = 3};
        etwas_trace_handle session = start_session(path, &options);
        etwas_session_counts counts;
        struct writers writers;

        if (one != 0) {
            stay_on_one_processor();
        }
        writers_start(&writers, 16,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = 4000,
                                               .largest_payload = 200});
        writers_join(&writers);
        if (one != 0) {
            leave_one_processor();
        }
        stop_session(session, &counts);
        assert_int_equal(counts.lost, counts.lost_no_buffer);
        assert_int_equal(counts.lost, writers_totals(session).lost);
        assert_int_equal(counts.recorded, writers_totals(session).recorded);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* ---- the clock goes back --------------------------------------------------------------------- */

static void set_back(int64_t seconds)
{
    ck_pr_store_64(&etwas_clock_system_step,
                   (uint64_t)(-seconds * ETWAS_CLOCK_FILETIME_PER_SECOND));
}

static int teardown(void **state)
{
    set_back(0);
    return folder_teardown(state);
}

/*
 * I2: stamps do not decrease inside a buffer, so setting the clock back ends it; forward does not.
 */
static void system_time_that_steps_back_begins_another_buffer(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.clock = 2};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 1000, .largest_payload = 50});
    etwas_session_counts counts;

    (void)state;
    stay_on_one_processor();
    for (int step = 0; step < 8; step++) {
        static const int64_t back_s[] = {0, 3600, 0, 60, 7200, 7100, 7300, 8000};

        set_back(back_s[step]);
        /* 21: the first after a step is now of one kind, now of the other (writer.h). */
        for (int index = 0; index < 21; index++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
    }
    leave_one_processor();
    stop_session(session, &counts);
    /* Back five times: 3600, 60, 7200, 7300, 8000. */
    assert_int_equal(counts.buffers_written, 1 + 1 + 5);
    expect_file_is_exact(session, path, &counts);
}

/* The other clocks do not care, and neither does a session before its first event. */
static void only_system_time_cares_for_the_wall_clock(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.clock = clock};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 100});
        etwas_session_counts counts;

        stay_on_one_processor();
        set_back(100 * clock);
        for (int index = 0; index < 20; index++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        if (etwas_clock_effective(clock) != 2) {
            set_back(1000);
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        leave_one_processor();
        stop_session(session, &counts);
        assert_int_equal(counts.buffers_written, 2);
        set_back(0);
    }
}

/* I2, I8 while several writers meet the steps at once: the walker looks at every stamp. */
static void stamps_never_decrease_inside_a_buffer_while_the_clock_jumps(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.clock = 2, .buffer_size_kb = 4};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;
    struct writers writers;

    (void)state;
    writers_start(&writers, 6,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 8000,
                                           .largest_payload = 100});
    for (int64_t turn = 0; turn < 3000; turn++) {
        set_back(turn % 7 * 10);
        sched_yield();
    }
    writers_join(&writers);
    set_back(0);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, writers_totals(session).lost);
    expect_file_is_exact(session, path, &counts);
}

/* ---- a clock that runs behind ---------------------------------------------------------------- */

/*
 * I2: the counter of another processor may be ahead; then the slot's newest stamp is taken instead
 * of what the clock says. Here the newest stamp is put into the future.
 */
static void a_stamp_is_never_older_than_the_newest_of_its_slot(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock += 2) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.clock = clock, .flusher = {.no_thread = true}};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 20});
        struct etwas_session *inside = inside_of(session);
        etwas_session_counts counts;
        const uint8_t *record;
        struct etwas_slot *slot;
        int64_t future;

        if (etwas_clock_effective(clock) != clock) {
            stop_session(session, NULL);
            continue;
        }
        stay_on_one_processor();
        assert_int_equal(writer_log_bytes(writer, 0), ERROR_SUCCESS);
        slot = etwas_slot_of(inside->index, (uint32_t)sched_getcpu());
        future = etwas_clock_now(clock) + INT64_C(1000000000000);
        ck_pr_store_64(&slot->newest, (uint64_t)future);
        while (writer_log_bytes(writer, 0) == ERROR_SUCCESS) {
        }
        leave_one_processor();
        record = etwas_pool_buffer(inside->buffers.pool, etwas_word_buffer(slot->word)) +
                 ETWAS_ETL_BUFFER_HEADER_BYTES;
        for (int number = 0; number < 20; number++) {
            struct etwas_etl_full_header header;

            memcpy(&header, record, sizeof header);
            assert_true(number == 0 ? header.time_stamp < future : header.time_stamp == future);
            record += etwas_etl_round_up_8(header.size);
        }
        stop_session(session, &counts);
        assert_int_equal(counts.recorded, 20);
        assert_int_equal(counts.buffers_written, 2);
        expect_file_is_exact(session, path, &counts);
    }
}

/* ---- two writers held between their stamp and their place ------------------------------------ */

struct stamped {
    struct writer *writer;
    pthread_t thread;
    sem_t is_there;
    sem_t may_go;
};

static _Thread_local struct stamped *me;

static void stop_when_stamped(enum etwas_testpoint point)
{
    struct stamped *stamped = me;

    if (point == ETWAS_POINT_STAMPED && stamped != NULL) {
        me = NULL;
        (void)sem_post(&stamped->is_there);
        while (sem_wait(&stamped->may_go) != 0) {
        }
    }
}

static void *log_one(void *argument)
{
    struct stamped *stamped = argument;

    me = stamped;
    (void)writer_log_bytes(stamped->writer, 40);
    return NULL;
}

static void start_stamped(struct stamped *stamped, etwas_trace_handle session)
{
    stamped->writer = writer_new(
        &(struct writer_options){.session = session, .class_handle = writer_class(), .events = 10});
    assert_int_equal(sem_init(&stamped->is_there, 0, 0), 0);
    assert_int_equal(sem_init(&stamped->may_go, 0, 0), 0);
    assert_int_equal(pthread_create(&stamped->thread, NULL, log_one, stamped), 0);
    while (sem_wait(&stamped->is_there) != 0) {
    }
}

static void end_stamped(struct stamped *stamped)
{
    (void)sem_post(&stamped->may_go);
    assert_int_equal(pthread_join(stamped->thread, NULL), 0);
    (void)sem_destroy(&stamped->is_there);
    (void)sem_destroy(&stamped->may_go);
}

/*
 * I2, shared protocol: one writer has announced its stamp in an empty buffer when the clock is set
 * back; another finds the buffer empty and begins it at the earlier time. Only one of the two times
 * may be in it.
 */
static void a_stamp_announced_before_the_clock_stepped_back_is_not_used_after_it(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.clock = 2};
    etwas_trace_handle session = start_shared_session(path, &options);
    etwas_session_counts counts;
    struct stamped early;
    struct stamped late;

    (void)state;
    stay_on_one_processor();
    etwas_testpoint_set(stop_when_stamped);
    start_stamped(&early, session);
    set_back(3600);
    start_stamped(&late, session);
    end_stamped(&early);
    end_stamped(&late);
    etwas_testpoint_set(NULL);
    leave_one_processor();
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 2);
    expect_file_is_exact(session, path, &counts);
}

/* ---- a caller whose other thread changes the event meanwhile --------------------------------- */

enum {
    STATED_BYTES = 20
};

static struct {
    EVENT_TRACE_HEADER header;
    MOF_FIELD field;
} listing;
static struct {
    EVENT_INSTANCE_HEADER header;
    uint8_t payload[8192];
} plain;
static uint32_t bytes_meanwhile;

/* Between the sizing of a record and its copying. */
static void change_both(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_RESERVED) {
        listing.field.Length = bytes_meanwhile;
        plain.header.Size = (uint16_t)(sizeof plain.header + bytes_meanwhile);
    }
}

/* The payload of the newest record, which is `record_bytes` long; behind it nothing is written. */
static const uint8_t *newest_payload(etwas_trace_handle session, uint32_t record_bytes)
{
    struct etwas_session *inside = inside_of(session);
    uint64_t word = etwas_slot_of(inside->index, (uint32_t)sched_getcpu())->word;
    const uint8_t *buffer = etwas_pool_buffer(inside->buffers.pool, etwas_word_buffer(word));
    uint32_t end = etwas_word_units(word) * ETWAS_UNIT_BYTES;
    uint16_t size;

    memcpy(&size, buffer + end - etwas_etl_round_up_8(record_bytes), sizeof size);
    assert_int_equal(size, record_bytes);
    for (uint32_t offset = end - (uint32_t)etwas_etl_round_up_8(record_bytes) + record_bytes;
         offset < inside->buffers.pool->buffer_bytes; offset++) {
        assert_int_equal(buffer[offset], 0);
    }
    return buffer + end - etwas_etl_round_up_8(record_bytes) + record_bytes - STATED_BYTES;
}

/*
 * I1, shared protocol: a record is what the event was when its place was reserved, whatever becomes
 * of the event; so TraceEvent with a list of fields, and the quick way of TraceEventInstance.
 */
static void an_event_that_changes_while_it_is_copied_stays_within_its_place(void **state)
{
    static const uint32_t becomes[] = {0, 4, STATED_BYTES + 4, 800, sizeof plain.payload};
    const etwas_session_options options = {.buffer_size_kb = 4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_shared_session(folder_path("trace.etl"), &options);
    EVENT_INSTANCE_INFO instance;
    etwas_session_counts counts;

    (void)state;
    memset(plain.payload, 0xEE, sizeof plain.payload);
    plain.header.Flags = WNODE_FLAG_TRACED_GUID;
    listing.header.Size = sizeof listing;
    listing.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    listing.field.DataPtr = (uint64_t)(uintptr_t)plain.payload;
    assert_int_equal(CreateTraceInstanceId(writer_class(), &instance), ERROR_SUCCESS);
    stay_on_one_processor();
    etwas_testpoint_set(change_both);
    for (size_t index = 0; index < sizeof becomes / sizeof becomes[0]; index++) {
        const uint8_t *payload;

        bytes_meanwhile = becomes[index];
        listing.field.Length = STATED_BYTES;
        assert_int_equal(TraceEvent(session, &listing.header), ERROR_SUCCESS);
        payload = newest_payload(session, sizeof listing.header + STATED_BYTES);
        assert_memory_equal(payload, plain.payload, STATED_BYTES);
        plain.header.Size = sizeof plain.header + STATED_BYTES;
        assert_int_equal(TraceEventInstance(session, &plain.header, &instance, NULL),
                         ERROR_SUCCESS);
        payload = newest_payload(session, sizeof(struct etwas_etl_instance_header) + STATED_BYTES);
        assert_memory_equal(payload, plain.payload, STATED_BYTES);
    }
    etwas_testpoint_set(NULL);
    leave_one_processor();
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 2 * sizeof becomes / sizeof becomes[0]);
}

/* ---- a gate that opens and closes ------------------------------------------------------------ */

/*
 * The entry of a guest leads to a session whose gates are all closed but the one that is read
 * first. So a writer finds it open, and closed when the event comes, each time again. The turns
 * end, and the event is counted by the guest.
 */
static void who_finds_a_gate_open_and_closed_again_gives_up_and_counts(void **state)
{
    etwas_trace_handle session = start_session(folder_path("trace.etl"), NULL);
    const struct etwas_session *inside = inside_of(session);
    struct etwas_attachment *guest = etwas_attachment_of(ETWAS_SESSION_ENTRIES);
    const uint32_t generation = (uint32_t)etwas_session_gate(inside);
    struct etwas_etl_instance_header header = {.full.marker_flags = ETWAS_ETL_MARKER_FLAGS};
    const struct etwas_unstamped_record record = {
        .header = &header, .header_bytes = sizeof header.full, .bytes = sizeof header.full};
    const struct etwas_attachment before = *guest;
    const int page = etwas_unattached_page();
    const uint32_t word = etwas_unattached_word(ETWAS_SESSION_ENTRIES);
    uint64_t counted;

    (void)state;
    etwas_unattached_begin(ETWAS_SESSION_ENTRIES, generation + 1);
    etwas_unattached_end(ETWAS_SESSION_ENTRIES);
    *guest = *etwas_attachment_of(inside->index);
    for (uint32_t slot = 0; slot <= etwas_slot_count; slot++) {
        ck_pr_store_32(&guest->slots[slot].gate, 0);
    }
    ck_pr_store_32(&guest->slots[etwas_slot_count].gate, generation);
    ck_pr_store_32(&guest->extra, 0); /* as a guest's own slot, it is another */
    assert_int_equal(etwas_publish(ETWAS_SESSION_ENTRIES, generation, 0, &record),
                     ERROR_NOT_ENOUGH_MEMORY);
    assert_int_equal(pread(page, &counted, sizeof counted, word * sizeof counted), sizeof counted);
    assert_int_equal(counted, 1);
    *guest = before;
    stop_session(session, NULL);
}

/* However many sessions come and go meanwhile, no other one counts where one does that stays. */
static void a_session_that_stays_has_its_count_alone(void **state)
{
    const uint32_t other = ETWAS_SESSION_ENTRIES + 1;
    uint32_t word;

    (void)state;
    assert_true(etwas_unattached_page() >= 0);
    etwas_unattached_begin(ETWAS_SESSION_ENTRIES, 1);
    word = etwas_unattached_word(ETWAS_SESSION_ENTRIES);
    for (uint32_t i = 0; i < 2 * ETWAS_UNATTACHED_WORDS; i++) {
        assert_int_not_equal(etwas_unattached_word(other), word);
        etwas_unattached_begin(other, 2);
        etwas_unattached_end(other);
    }
    etwas_unattached_end(ETWAS_SESSION_ENTRIES);
}

#define PUBLISH_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUBLISH_TEST(who_finds_a_gate_open_and_closed_again_gives_up_and_counts),
        PUBLISH_TEST(a_session_that_stays_has_its_count_alone),
        PUBLISH_TEST(an_event_is_refused_when_it_does_not_fit_and_then_it_is_counted),
        PUBLISH_TEST(events_of_every_size_come_back_byte_by_byte),
        PUBLISH_TEST(many_threads_share_few_processors_and_every_event_is_accounted_for),
        PUBLISH_TEST(system_time_that_steps_back_begins_another_buffer),
        PUBLISH_TEST(only_system_time_cares_for_the_wall_clock),
        PUBLISH_TEST(stamps_never_decrease_inside_a_buffer_while_the_clock_jumps),
        PUBLISH_TEST(a_stamp_is_never_older_than_the_newest_of_its_slot),
        PUBLISH_TEST(a_stamp_announced_before_the_clock_stepped_back_is_not_used_after_it),
        PUBLISH_TEST(an_event_that_changes_while_it_is_copied_stays_within_its_place),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
