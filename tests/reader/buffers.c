/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct given given;
uint32_t (*given_begin)(const etwas_trace_buffer *buffer);
uint32_t (*given_end)(const etwas_trace_buffer *buffer);

void given_forget(void)
{
    given.count = 0;
    given.next = 0;
    given.code = UINT32_MAX;
    forget_collected();
}

static uint32_t on_begin(const etwas_trace_buffer *buffer, void *context)
{
    assert_ptr_equal(context, &given);
    assert_true(given.count < COLLECT_EVENTS);
    assert_true(buffer->file_offset >= given.next);
    assert_int_equal(buffer->records, 0);
    assert_int_equal(buffer->damages, 0);
    given.buffers[given.count++] =
        (struct given_buffer){.begun = *buffer, .events_before = collected.event_count};
    return given_begin != NULL ? given_begin(buffer) : ETWAS_BUFFER_READ;
}

static uint32_t on_end(const etwas_trace_buffer *buffer, void *context)
{
    struct given_buffer *last = &given.buffers[given.count - 1];

    assert_ptr_equal(context, &given);
    assert_true(given.count > 0 && !last->has_ended);
    assert_memory_equal(buffer, &last->begun, offsetof(etwas_trace_buffer, records));
    assert_int_equal(buffer->records, collected.event_count - last->events_before);
    last->ended = *buffer;
    last->has_ended = true;
    given.next = buffer->file_offset + buffer->file_bytes;
    return given_end != NULL ? given_end(buffer) : ETWAS_BUFFER_READ;
}

void give_more(etwas_trace_handle trace, uint64_t from, uint64_t until)
{
    given.code = etwas_trace_process_buffers(trace, from, until, on_begin, on_end, &given);
    (void)etwas_trace_query(trace, &collected.information);
}

void run_buffers(const char *path, uint64_t from, uint64_t until)
{
    etwas_trace_handle trace;

    given_forget();
    trace =
        open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    give_more(trace, from, until);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

/* ---- against ProcessTrace -------------------------------------------------------------------- */

static int by_bytes_event(const void *left, const void *right)
{
    const struct collected_event *a = left;
    const struct collected_event *b = right;
    int order = memcmp(&a->header, &b->header, sizeof a->header);

    order = order != 0 ? order : memcmp(&a->context, &b->context, sizeof a->context);
    order = order != 0 ? order : (int)a->payload_bytes - (int)b->payload_bytes;
    return order != 0 ? order : memcmp(a->payload, b->payload, sizeof a->payload);
}

static int by_place(const void *left, const void *right)
{
    const etwas_damage *a = left;
    const etwas_damage *b = right;
    int order = (a->file_offset > b->file_offset) - (a->file_offset < b->file_offset);

    order = order != 0 ? order : (int)a->kind - (int)b->kind;
    return order != 0
               ? order
               : (a->bytes_skipped > b->bytes_skipped) - (a->bytes_skipped < b->bytes_skipped);
}

/*
 * Keeps the damages from `begin` on, without the kinds that one side reports of each buffer, or not
 * at all.
 */
static size_t sort_damages(etwas_damage *damages, size_t count, uint64_t begin)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (damages[i].kind != ETWAS_DAMAGE_SEQUENCE && damages[i].kind != ETWAS_DAMAGE_PROCESSOR &&
            damages[i].file_offset >= begin) {
            damages[kept++] = damages[i];
        }
    }
    qsort(damages, kept, sizeof *damages, by_place);
    return kept;
}

/*
 * ProcessTrace's, without those of buffer 0: they come first, and no data buffer says so of them.
 */
static struct collected_event before[COLLECT_EVENTS];
static etwas_damage damages_before[COLLECT_DAMAGES];

static void compare_buffers(void)
{
    uint64_t records = 0;

    for (size_t i = 0; i < given.count; i++) {
        assert_true(given.buffers[i].has_ended);
        records += given.buffers[i].ended.records;
    }
    assert_int_equal(records, collected.event_count);
    assert_int_equal(collected.information.events, collected.event_count);
    assert_int_equal(collected.information.damages, collected.damage_count);
    assert_int_equal(given.code, collected.damage_count > 0 ? ERROR_FILE_CORRUPT : ERROR_SUCCESS);
}

/* Stamps that a message has of the record before it in its stream, or of none, are not compared. */
static void forget_stamp(struct collected_event *event)
{
    if ((event->header.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0) {
        event->header.TimeStamp.QuadPart = 0;
    }
}

void compare_with_process_trace(const char *path, bool ended)
{
    static struct collected_event sorted[COLLECT_EVENTS];
    static etwas_damage sorted_damages[COLLECT_DAMAGES];
    size_t event_count;
    size_t damage_count;
    size_t own_damages;
    size_t first;
    uint64_t begin;

    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP, NULL,
              NULL);
    assert_true(collected.event_count <= COLLECT_EVENTS);
    assert_true(collected.damage_count <= COLLECT_DAMAGES);
    first = collected.event_count - (size_t)collected.information.events;
    event_count = collected.event_count - first;
    memcpy(before, collected.events + first, event_count * sizeof before[0]);
    memcpy(damages_before, collected.damages, collected.damage_count * sizeof damages_before[0]);
    damage_count = collected.damage_count;

    run_buffers(path, 0, UINT64_MAX);
    compare_buffers();
    begin = given.count > 0 ? given.buffers[0].begun.file_offset : UINT64_MAX;
    damage_count = sort_damages(damages_before, damage_count, begin);
    memcpy(sorted_damages, collected.damages, collected.damage_count * sizeof sorted_damages[0]);
    own_damages = sort_damages(sorted_damages, collected.damage_count, begin);
    if (!ended) {
        assert_true(collected.event_count <= event_count && own_damages <= damage_count);
        return;
    }
    assert_int_equal(collected.event_count, event_count);
    assert_int_equal(own_damages, damage_count);
    memcpy(sorted, collected.events, event_count * sizeof sorted[0]);
    for (size_t i = 0; i < event_count; i++) {
        forget_stamp(&sorted[i]);
        forget_stamp(&before[i]);
    }
    qsort(sorted, event_count, sizeof sorted[0], by_bytes_event);
    qsort(before, event_count, sizeof before[0], by_bytes_event);
    for (size_t i = 0; i < event_count; i++) {
        assert_int_equal(by_bytes_event(&sorted[i], &before[i]), 0);
    }
    for (size_t i = 0; i < damage_count; i++) {
        assert_int_equal(by_place(&sorted_damages[i], &damages_before[i]), 0);
    }
}
