/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records that are alike are delivered in runs. What comes is the same as one by one, which any
 * callback for a class forces: in each mode and span, of several files, damaged or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "builder.h"
#include "collect.h"
#include "hostile.h"

enum {
    PROCESSORS = 4,
    EVENTS = 400,
    ROUNDS = 300,
    FILES = 2,
    MISSING = 1000,  /* buffers */
    ITEM_BYTES = 24, /* with its header */
};

static const etwas_guid other_class = {0x5f0f9b35, 0x9c4e, 0x4a35, {1, 2, 3, 4, 5, 6, 7, 8}};
static struct collected one_by_one;

static void on_other(EVENT_TRACE *event)
{
    (void)event;
    fail();
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put_instance(struct builder *builder, int64_t stamp, uint32_t number)
{
    const struct etwas_etl_instance_header header = {
        .full = {.size = sizeof header + sizeof number,
                 .header_type = ETWAS_ETL_INSTANCE64,
                 .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                 .type = (uint8_t)number,
                 .level = 3,
                 .version = (uint16_t)(number * 77),
                 .thread_id = number + 1,
                 .process_id = number + 2,
                 .time_stamp = stamp,
                 .guid = builder_class,
                 .kernel_time = 5,
                 .user_time = 6},
        .instance_id = number,
        .parent_instance_id = number + 3,
    };

    builder_record(builder, &header, sizeof header, &number, sizeof number);
}

static void put_event(struct builder *builder, int64_t stamp, uint32_t number, bool has_item)
{
    struct etwas_etl_event_header header = {
        .size = (uint16_t)(sizeof header + (has_item ? ITEM_BYTES : 0) + sizeof number),
        .header_type = ETWAS_ETL_EVENT_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .flags = has_item ? ETWAS_ETL_EVENT_EXTENDED_INFO : 0,
        .event_property = (uint16_t)(number % 5),
        .thread_id = number + 1,
        .process_id = number + 2,
        .time_stamp = stamp,
        .provider_id = builder_class,
        .id = (uint16_t)number,
        .version = 1,
        .level = 4,
        .opcode = 7,
        .keyword = number,
    };
    const struct etwas_etl_extended_item item = {.item_bytes = ITEM_BYTES,
                                                 .type = EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID,
                                                 .data_bytes = 16};
    uint8_t payload[ITEM_BYTES + sizeof number] = {0};
    size_t at = has_item ? ITEM_BYTES : 0;

    memcpy(payload, &item, sizeof item);
    memcpy(payload + at, &number, sizeof number);
    builder_record(builder, &header, sizeof header, payload, at + sizeof number);
}

static void put_any(struct builder *builder, uint32_t form, int64_t stamp, uint32_t number)
{
    if (form < 5) {
        put_instance(builder, stamp, number);
    } else if (form < 8) {
        put_event(builder, stamp, number, false);
    } else if (form == 8) {
        put_event(builder, stamp, number, true);
    } else {
        builder_number(builder, stamp, number);
    }
}

/* Events of processors whose times overlap, some at one moment, their forms in stretches. */
static void build(struct builder *builder)
{
    struct builder_options options = builder_defaults();
    uint32_t processors = 1 + next_random() % PROCESSORS;
    int64_t stamps[PROCESSORS] = {2000, 2000, 2000, 2000};
    uint32_t steps = 1 + next_random() % 40;
    uint32_t form = 0;

    builder_begin(builder, &options);
    for (uint32_t number = 0; number < EVENTS;) {
        uint32_t processor = next_random() % processors;
        uint32_t length = 1 + next_random() % 20;

        builder_buffer(builder, (uint16_t)processor);
        for (uint32_t i = 0; i < length && number < EVENTS; i++, number++) {
            form = next_random() % 16 == 0 ? next_random() % 10 : form;
            stamps[processor] += next_random() % steps;
            put_any(builder, form, stamps[processor], number);
        }
    }
    builder_end(builder);
}

/* Numbers are missing, and some bytes are wrong. */
static void damage(struct builder *builder)
{
    uint32_t first = builder->options.buffer_bytes;

    for (uint32_t i = 1 + next_random() % (builder->buffers - 1); i < builder->buffers; i++) {
        builder_header(builder, i)->sequence_number += MISSING;
    }
    builder_log_header(builder)->buffers_written += MISSING;
    for (uint32_t i = 0; i < 1 + next_random() % 4; i++) {
        uint64_t value = (uint64_t)next_random() << 32 | next_random();

        memcpy(builder->bytes + first + next_random() % (builder->size - first - 8), &value,
               1 + next_random() % 8);
    }
}

/* ---- what comes ------------------------------------------------------------------------------ */

static void assert_same_event(const struct collected_event *a, const struct collected_event *b)
{
    assert_memory_equal(&a->header, &b->header, sizeof a->header);
    assert_memory_equal(&a->context, &b->context, sizeof a->context);
    assert_int_equal(a->item_count, b->item_count);
    for (uint16_t i = 0; i < a->item_count && i < COLLECT_ITEMS; i++) {
        assert_int_equal(a->items[i].ExtType, b->items[i].ExtType);
        assert_int_equal(a->items[i].Linkage, b->items[i].Linkage);
        assert_int_equal(a->items[i].DataSize, b->items[i].DataSize);
    }
    assert_int_equal(a->payload_bytes, b->payload_bytes);
    assert_int_equal(a->number, b->number);
}

static void assert_same(void)
{
    assert_int_equal(collected.code, one_by_one.code);
    assert_int_equal(collected.event_count, one_by_one.event_count);
    for (size_t i = 0; i < collected.event_count; i++) {
        assert_same_event(&collected.events[i], &one_by_one.events[i]);
    }
    assert_int_equal(collected.checksum, one_by_one.checksum);
    assert_int_equal(collected.buffer_count, one_by_one.buffer_count);
    assert_memory_equal(collected.buffers, one_by_one.buffers,
                        collected.buffer_count * sizeof collected.buffers[0]);
    assert_int_equal(collected.damage_count, one_by_one.damage_count);
    assert_memory_equal(collected.damages, one_by_one.damages,
                        collected.damage_count * sizeof collected.damages[0]);
    assert_memory_equal(collected.events_before, one_by_one.events_before,
                        collected.damage_count * sizeof collected.events_before[0]);
    assert_int_equal(collected.information.events, one_by_one.information.events);
}

static void runs_of_records_are_what_comes_one_by_one(void **state)
{
    static const uint32_t modes[] = {0, PROCESS_TRACE_MODE_RAW_TIMESTAMP,
                                     ETWAS_PROCESS_TRACE_MODE_NANOSECONDS};
    size_t events = 0;

    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t mode = PROCESS_TRACE_MODE_EVENT_RECORD | modes[round % 3];
        uint32_t files = 1 + next_random() % FILES;
        const char *paths[FILES];
        etwas_filetime start = filetime_of(BUILDER_START + next_random() % 2000);
        etwas_filetime end = filetime_of(BUILDER_START + 2000 + next_random() % 2000);
        bool has_span = next_random() % 3 == 0;

        for (uint32_t i = 0; i < files; i++) {
            struct builder builder;

            build(&builder);
            if (next_random() % 3 == 0) {
                damage(&builder);
            }
            paths[i] = put_file(i, builder.bytes, builder.size);
            builder_free(&builder);
        }
        assert_int_equal(SetTraceCallback(&other_class, on_other), ERROR_SUCCESS);
        run_files(paths, files, mode, has_span ? &start : NULL, has_span ? &end : NULL);
        one_by_one = collected;
        assert_int_equal(RemoveTraceCallback(&other_class), ERROR_SUCCESS);
        run_files(paths, files, mode, has_span ? &start : NULL, has_span ? &end : NULL);
        assert_same();
        events += collected.event_count;
    }
    assert_true(events > ROUNDS * EVENTS / 2);
}

/* ---- a callback that changes what comes ------------------------------------------------------ */

static etwas_trace_handle open_trace;
static uint32_t came;

static void on_class(EVENT_TRACE *event)
{
    (void)event;
    came += 1000;
}

static void ask_for_class(EVENT_RECORD *record)
{
    came++;
    if (record->EventHeader.ProviderId.Data1 == builder_class.Data1 && came == 10) {
        assert_int_equal(SetTraceCallback(&builder_class, on_class), ERROR_SUCCESS);
    }
}

static void close_trace(EVENT_RECORD *record)
{
    (void)record;
    if (++came == 10) {
        assert_int_equal(CloseTrace(open_trace), ERROR_CTX_CLOSE_PENDING);
    }
}

/* Reads a file of instance events alone, and returns what came. */
static uint32_t read_instances(PEVENT_RECORD_CALLBACK callback)
{
    struct builder_options options = builder_defaults();
    EVENT_TRACE_LOGFILEA logfile = {.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = callback};
    struct builder builder;

    builder_begin(&builder, &options);
    builder_buffer(&builder, 0);
    for (uint32_t number = 0; number < 20; number++) {
        put_instance(&builder, 2000 + number, number);
    }
    builder_end(&builder);
    logfile.LogFileName = (char *)(uintptr_t)put_file(0, builder.bytes, builder.size);
    builder_free(&builder);
    came = 0;
    open_trace = OpenTraceA(&logfile);
    assert_true(open_trace != INVALID_PROCESSTRACE_HANDLE);
    (void)ProcessTrace(&open_trace, 1, NULL, NULL);
    (void)CloseTrace(open_trace);
    return came;
}

static void a_class_is_served_from_the_next_record_on(void **state)
{
    (void)state;
    /* The tenth asks for it: it is the ninth of this class, and 11 follow. */
    assert_int_equal(read_instances(ask_for_class), 21 + 11 * 1000);
    assert_int_equal(RemoveTraceCallback(&builder_class), ERROR_SUCCESS);
}

static void nothing_comes_after_CloseTrace(void **state)
{
    (void)state;
    assert_int_equal(read_instances(close_trace), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_records_are_what_comes_one_by_one),
        cmocka_unit_test(a_class_is_served_from_the_next_record_on),
        cmocka_unit_test(nothing_comes_after_CloseTrace),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
