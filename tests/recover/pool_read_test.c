/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A pool read from outside: what its writers have committed is found, whatever a writer is in the
 * middle of, and whatever the view says.
 */
#include "buffer/pool_read.h"

#include <ck_pr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "buffer/record_walk.h"
#include "support/folder.h"
#include "support/hold.h"
#include "support/inside.h"
#include "support/start.h"
#include "support/writer.h"

/* What was found in a pool. */
struct reading {
    uint64_t records;
    uint64_t missing; /* committed, and not found */
    uint32_t buffers;
    uint32_t changed;
    uint32_t damaged;
};

static uint64_t random_state = 88172645463325252U;

static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* ---- events as writers make them (writer.h) -------------------------------------------------- */

/* Expects all bytes of one event to be those that a writer logs. */
static void expect_event(const uint8_t *record, uint32_t units)
{
    static uint8_t expected[ETWAS_ETL_LARGEST_RECORD_BYTES];
    struct etwas_etl_instance_header header;
    uint32_t header_bytes = sizeof header.full;
    uint64_t number;
    uint32_t id;

    memcpy(&header, record,
           units * ETWAS_UNIT_BYTES < sizeof header ? header_bytes : sizeof header);
    if (header.full.header_type == ETWAS_ETL_INSTANCE64) {
        header_bytes = sizeof header;
        id = header.instance_id >> WRITER_NUMBER_BITS;
        number = header.instance_id & ((1U << WRITER_NUMBER_BITS) - 1);
    } else {
        assert_int_equal(header.full.header_type, ETWAS_ETL_FULL_HEADER64);
        id = header.full.guid.Data1;
        memcpy(&number, header.full.guid.Data4, sizeof number);
    }
    assert_non_null(writer_find(id));
    assert_int_equal(header.full.type, (uint8_t)number);
    writer_payload(id, number, expected, header.full.size - header_bytes);
    assert_memory_equal(record + header_bytes, expected, header.full.size - header_bytes);
}

static void expect_events(const uint8_t *copy, const struct etwas_found_buffer *found)
{
    uint32_t at = ETWAS_FIRST_UNIT;
    uint32_t records = 0;

    for (; at < found->end_units; records++) {
        const uint8_t *record = copy + (size_t)(at - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES;
        uint32_t units = etwas_record_units(record, etwas_record_marker(record));

        expect_event(record, units);
        at += units;
    }
    assert_int_equal(at, found->end_units);
    assert_int_equal(records, found->records);
}

/* Expects of every record that it is a writer's. */
static struct reading read_view(const struct etwas_pool_view *view)
{
    struct etwas_held_buffer *list = calloc(view->buffer_count, sizeof *list);
    uint64_t *copy = calloc(1, view->buffer_bytes);
    uint32_t held = etwas_pool_read_list(view, list);
    struct reading reading = {0};

    for (uint32_t index = 0; index < held; index++) {
        struct etwas_found_buffer found;
        enum etwas_pool_found result = etwas_pool_read_inspect(view, &list[index], &found);

        assert_true(index == 0 || list[index].owner > list[index - 1].owner);
        if (result == ETWAS_POOL_FOUND_RECORDS) {
            result = etwas_pool_read_records(view, &found, copy);
        }
        reading.changed += result == ETWAS_POOL_FOUND_CHANGED;
        reading.damaged += result == ETWAS_POOL_FOUND_DAMAGED;
        if (result == ETWAS_POOL_FOUND_RECORDS) {
            expect_events((const uint8_t *)copy, &found);
            reading.buffers++;
            reading.records += found.records;
        }
        if (result == ETWAS_POOL_FOUND_RECORDS || result == ETWAS_POOL_FOUND_NOTHING) {
            reading.missing +=
                found.committed > found.records ? found.committed - found.records : 0;
        }
    }
    free(copy);
    free(list);
    return reading;
}

static struct reading read_pool(etwas_trace_handle session)
{
    struct etwas_pool_view view = etwas_pool_view_of(inside_of(session)->buffers.pool);

    return read_view(&view);
}

/* ---- at rest --------------------------------------------------------------------------------- */

static const etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 16};

static void log_events(etwas_trace_handle session, uint64_t events)
{
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = events});

    while (writer_log(writer) != ERROR_MORE_DATA) {
    }
}

static void a_recorder_has_what_it_has_not_overwritten(void **state)
{
    etwas_trace_handle session = start_session(NULL, &recorder);

    (void)state;
    assert_int_equal(read_pool(session).records, 0);
    for (int turn = 0; turn < 20; turn++) {
        struct reading reading;

        log_events(session, 100);
        reading = read_pool(session);
        assert_int_equal(reading.records, counts_of(session).recorded);
        assert_int_equal(reading.missing + reading.damaged + reading.changed, 0);
    }
    assert_true(counts_of(session).overwritten > 0);
    stop_session(session, NULL);
}

static void a_session_with_a_file_has_what_is_not_in_it(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = 4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(folder_path("trace.etl"), &options);

    (void)state;
    log_events(session, 200);
    assert_int_equal(read_pool(session).records, 200);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    log_events(session, 200);
    assert_true(read_pool(session).records >= 200);
    assert_int_equal(read_pool(session).damaged, 0);
    stop_session(session, NULL);
}

/* ---- while others go on ---------------------------------------------------------------------- */

enum {
    THREADS = 3,
    EVENTS = 60000, /* of each */
};

static uint64_t progress_of(const struct writers *writers)
{
    uint64_t sum = 0;

    for (uint32_t index = 0; index < writers->count; index++) {
        sum += writer_progress(writers->list[index]);
    }
    return sum;
}

static void read_beside_writers(etwas_trace_handle session)
{
    struct writers writers;
    uint64_t records = 0;

    writers_start(&writers, THREADS,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .largest_payload = 300,
                                           .events = EVENTS});
    while (progress_of(&writers) < (uint64_t)THREADS * EVENTS || records == 0) {
        struct reading reading = read_pool(session);

        assert_int_equal(reading.damaged, 0);
        records += reading.records;
    }
    writers_join(&writers);
}

static void nothing_torn_is_found_beside_writers_and_a_flusher(void **state)
{
    const etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 32, .flush_timer = 1};
    etwas_trace_handle session = start_session(folder_path("trace.etl"), &options);

    (void)state;
    read_beside_writers(session);
    stop_session(session, NULL);
    session = start_session(NULL, &recorder);
    read_beside_writers(session);
    stop_session(session, NULL);
}

struct held {
    struct writer *writer;
    enum etwas_testpoint point;
};

static void *log_until_held(void *argument)
{
    const struct held *held = argument;

    hold_me(held->point);
    while (writer_log_bytes(held->writer, 900) == ERROR_SUCCESS && hold_passed(held->point) == 0) {
    }
    return NULL;
}

/*
 * What is behind the hole that a held writer leaves in its buffer is counted missing. Its own
 * record is there as soon as it has its marker.
 */
static void what_others_committed_is_found_while_a_writer_is_held(void **state)
{
    (void)state;
    for (int point = ETWAS_POINT_RESERVE_LOADED; point <= ETWAS_POINT_SWITCH_INSTALLED; point++) {
        const etwas_session_options options = {
            .buffer_size_kb = 4, .maximum_buffers = 64, .flusher = {.no_thread = true}};
        struct held held = {.point = (enum etwas_testpoint)point};
        etwas_trace_handle session;
        struct reading reading;
        uint64_t returned;
        pthread_t thread;

        if (point == ETWAS_POINT_SWITCH_FOUND_NONE) {
            continue;
        }
        session = start_shared_session(folder_path("trace.etl"), &options);
        held.writer = writer_new(&(struct writer_options){.session = session, .events = 200});
        hold_count_from_zero();
        log_events(session, 5);
        hold_count_from_zero();
        assert_int_equal(pthread_create(&thread, NULL, log_until_held, &held), 0);
        hold_wait();
        log_events(session, 30);
        returned = 5 + held.writer->recorded + 30;
        reading = read_pool(session);
        hold_release();
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(reading.damaged + reading.changed, 0);
        assert_in_range(reading.records + reading.missing, returned, returned + 1);
        stop_session(session, NULL);
        writers_forget();
    }
}

static int one_processor(void **state)
{
    int code = folder_setup(state);

    stay_on_one_processor();
    return code;
}

static int all_processors(void **state)
{
    leave_one_processor();
    return folder_teardown(state);
}

/* ---- words that say anything ----------------------------------------------------------------- */

enum {
    SCRIBBLES = 3000
};

/* Copied to its last byte before a page that nobody may touch. */
struct guarded {
    uint8_t *mapping;
    size_t mapping_bytes;
    uint8_t *start;
    size_t bytes;
};

static struct guarded guard(const void *from, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (bytes + page - 1) / page * page;
    struct guarded guarded = {.mapping_bytes = whole + page, .bytes = bytes};

    guarded.mapping = mmap(NULL, guarded.mapping_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(guarded.mapping, MAP_FAILED);
    assert_int_equal(mprotect(guarded.mapping + whole, page, PROT_NONE), 0);
    guarded.start = guarded.mapping + whole - bytes;
    memcpy(guarded.start, from, bytes);
    return guarded;
}

static void unguard(const struct guarded *guarded)
{
    assert_int_equal(munmap(guarded->mapping, guarded->mapping_bytes), 0);
}

static void scribble(const struct guarded *guarded)
{
    uint64_t *word = (uint64_t *)(void *)guarded->start + random_word() % (guarded->bytes / 8);

    switch (random_word() % 3) {
    case 0:
        *word = random_word();
        break;
    case 1:
        *word ^= UINT64_C(1) << random_word() % 64;
        break;
    default:
        *word += random_word() % 64 - 32;
        break;
    }
}

static void expect_bounded(const struct etwas_pool_view *view)
{
    struct etwas_held_buffer *list = calloc(view->buffer_count, sizeof *list);
    size_t room = view->buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES;
    uint8_t *zeroes = calloc(1, room);
    struct guarded copy = guard(zeroes, room);
    uint32_t held = etwas_pool_read_list(view, list);

    for (uint32_t index = 0; index < held; index++) {
        struct etwas_found_buffer found;
        enum etwas_pool_found result = etwas_pool_read_inspect(view, &list[index], &found);

        if (result != ETWAS_POOL_FOUND_RECORDS) {
            continue;
        }
        result = etwas_pool_read_records(view, &found, copy.start);
        assert_true(found.end_units >= ETWAS_FIRST_UNIT && found.end_units <= found.limit_units);
        assert_true(found.limit_units * ETWAS_UNIT_BYTES <= view->buffer_bytes);
        assert_true(found.records <= found.end_units - ETWAS_FIRST_UNIT);
        if (result == ETWAS_POOL_FOUND_RECORDS) {
            assert_true(found.records > 0);
        }
    }
    unguard(&copy);
    free(zeroes);
    free(list);
}

/* Copies of all words and buffers of a pool. */
struct copied {
    struct guarded slots;
    struct guarded controls;
    struct guarded owners;
    struct guarded region;
};

static struct copied copy_words(const struct etwas_pool_view *view)
{
    return (struct copied){
        .slots = guard(view->slots, view->slot_count * view->slot_stride),
        .controls = guard(view->controls, view->buffer_count * view->control_stride),
        .owners = guard(view->owners, view->buffer_count * sizeof *view->owners),
    };
}

static void copy_buffers(struct copied *copied, const struct etwas_pool_view *view)
{
    copied->region = guard(view->region, (size_t)view->buffer_count * view->buffer_bytes);
}

static struct etwas_pool_view view_of_copied(const struct copied *copied,
                                             const struct etwas_pool_view *view)
{
    struct etwas_pool_view other = *view;

    other.slots = (const void *)copied->slots.start;
    other.controls = (const void *)copied->controls.start;
    other.owners = (const void *)copied->owners.start;
    other.owners_after = other.owners;
    other.capacity = other.buffer_count;
    other.region = copied->region.start;
    return other;
}

static void forget(struct copied *copied)
{
    unguard(&copied->slots);
    unguard(&copied->controls);
    unguard(&copied->owners);
    unguard(&copied->region);
}

/* What was overwritten between the copies of the words and of the buffers belongs to neither. */
static void a_copy_that_took_its_time_mixes_no_claims(void **state)
{
    etwas_trace_handle session = start_session(NULL, &recorder);
    const uint64_t *owners = inside_of(session)->buffers.pool->owners;
    struct etwas_pool_view view;
    struct etwas_pool_view late;
    struct copied copied;
    struct reading reading;
    uint32_t overwritten = 0;

    (void)state;
    log_events(session, 1500);
    view = etwas_pool_view_of(inside_of(session)->buffers.pool);
    copied = copy_words(&view);
    log_events(session, 150);
    copy_buffers(&copied, &view);
    late = view_of_copied(&copied, &view);
    for (uint32_t buffer = 0; buffer < view.buffer_count; buffer++) {
        overwritten +=
            etwas_owner_ticket(owners[buffer]) != etwas_owner_ticket(late.owners[buffer]);
    }
    reading = read_view(&late);
    assert_true(overwritten > 0 && reading.buffers > 0);
    /* One that was claimed and has not become current has the bytes of the claim before. */
    assert_true(reading.changed > 0 && reading.changed <= overwritten);
    assert_int_equal(reading.damaged + reading.missing, 0);
    forget(&copied);
    stop_session(session, NULL);
}

/* The words are those of a pool at rest, changed here and there. */
static void scribbled_words_are_survived(void **state)
{
    etwas_trace_handle session = start_session(NULL, &recorder);
    struct etwas_pool_view view;
    struct etwas_pool_view other;
    struct copied copied;

    (void)state;
    log_events(session, 1500);
    view = etwas_pool_view_of(inside_of(session)->buffers.pool);
    copied = copy_words(&view);
    copy_buffers(&copied, &view);
    other = view_of_copied(&copied, &view);
    for (int turn = 0; turn < SCRIBBLES; turn++) {
        expect_bounded(&other);
        scribble(&copied.region);
        scribble(turn % 2 == 0 ? &copied.controls : &copied.region);
        if (turn % 8 == 0) {
            scribble(&copied.slots);
            scribble(&copied.owners);
        }
        if (turn % 64 == 0) {
            memcpy(copied.slots.start, view.slots, copied.slots.bytes);
            memcpy(copied.controls.start, view.controls, copied.controls.bytes);
            memcpy(copied.owners.start, view.owners, copied.owners.bytes);
            memcpy(copied.region.start, view.region, copied.region.bytes);
        }
    }
    forget(&copied);
    stop_session(session, NULL);
}

/* ---- zeroes ---------------------------------------------------------------------------------- */

enum {
    ZERO_UNITS = 40,
    SECOND_AT = 26, /* a record behind zeroes */
    NONE = 1000
};

struct later {
    uint32_t filled; /* the unit that has something now; NONE: none has */
    uint32_t asked;
};

static bool is_zero_later(void *context, uint32_t unit)
{
    struct later *later = context;

    later->asked++;
    return unit != later->filled;
}

/*
 * Zeroes of a writer that has reserved, then of a batch's first place, then the batch's other
 * record: wherever something has come since, what follows is unknown.
 */
static void zeroes_in_front_of_a_record_are_all_read_again(void **state)
{
    const struct etwas_etl_full_header record = {
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = sizeof record,
    };

    (void)state;
    for (uint32_t unit = 0; unit <= ZERO_UNITS; unit++) {
        uint64_t copy[ZERO_UNITS] = {0};
        struct later later = {.filled = unit < ZERO_UNITS ? unit : NONE};
        bool is_before = unit < SECOND_AT;
        uint32_t marker;

        memcpy(&copy[SECOND_AT], &record, sizeof record);
        etwas_pool_read_zeroes_again((uint8_t *)copy, ZERO_UNITS, is_zero_later, &later);
        marker = etwas_record_marker((const uint8_t *)&copy[is_before ? unit : 0]);
        assert_int_equal(marker, is_before ? UINT32_MAX : 0);
        assert_int_equal(later.asked, is_before ? unit + 1 : SECOND_AT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_recorder_has_what_it_has_not_overwritten),
        FOLDER_TEST(a_session_with_a_file_has_what_is_not_in_it),
        FOLDER_TEST(nothing_torn_is_found_beside_writers_and_a_flusher),
        cmocka_unit_test_setup_teardown(what_others_committed_is_found_while_a_writer_is_held,
                                        one_processor, all_processors),
        FOLDER_TEST(a_copy_that_took_its_time_mixes_no_claims),
        FOLDER_TEST(scribbled_words_are_survived),
        cmocka_unit_test(zeroes_in_front_of_a_record_are_all_read_again),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
