/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship_whole.h"

#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LARGEST_BLOCK = 400,
};

const struct etwas_ship_limits whole = {ETWAS_SHIP_BLOCK_ROWS, ETWAS_SHIP_BLOCK_BYTES};
const struct etwas_ship_position beginning = {0, 0};

etwas_session_options sequential(void)
{
    return (etwas_session_options){.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                   .buffer_size_kb = 8};
}

uint32_t draw(uint32_t below)
{
    static uint64_t seed = 1;

    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void *write_events(void *context)
{
    const struct work *work = context;

    for (uint32_t i = 0; i < work->events; i++) {
        (void)scene_write(work->session, work->first + i);
        if (i % 256 == 255) {
            wait_for_room(work->session);
        }
        if (work->has_time && i % 16 == 15) {
            (void)usleep(1000);
        }
    }
    return NULL;
}

void begin_work(struct work work[WRITERS], etwas_trace_handle session, uint32_t events,
                bool has_time)
{
    for (uint32_t i = 0; i < WRITERS; i++) {
        work[i] = (struct work){.session = session,
                                .first = i * (uint64_t)events,
                                .events = events,
                                .has_time = has_time};
        assert_int_equal(pthread_create(&work[i].thread, NULL, write_events, &work[i]), 0);
    }
}

void end_work(struct work work[WRITERS])
{
    for (uint32_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(work[i].thread, NULL), 0);
    }
}

void write_file(const char *path, const etwas_session_options *options, uint32_t events,
                etwas_session_counts *counts)
{
    etwas_trace_handle session = start_session(path, options);
    struct work work[WRITERS];

    scene_enable(session);
    begin_work(work, session, events, false);
    end_work(work);
    stop_session(session, counts);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct etwas_ship_file *open_file(const char *path)
{
    const char *reason;
    struct etwas_ship_file *file = etwas_ship_file_open(path, "testhost", &reason);

    if (file == NULL) {
        fail_msg("%s: %s", path, reason);
    }
    return file;
}

static void take_event(struct shipped *shipped, const struct etwas_ship_block *block,
                       const struct shipped_event *event)
{
    uint64_t number = number_of(event);
    const uint64_t *sessions = etwas_columns_values(block->events, ETWAS_SHIP_EVENT_SESSION);

    assert_true(number < MOST_EVENTS);
    shipped->seen[number]++;
    shipped->events++;
    shipped->decoded += event->ints.count > 0;
    shipped->told += strcmp(name_of(event), "scene/Late/Told") == 0;
    assert_true(event->session == sessions[0]);
    assert_int_equal(event->day, block->bounds.day);
    assert_int_equal(event->error, block->bounds.times.error_ns);
    assert_memory_equal(event->host.data, "testhost", 8);
    /* The events of a buffer follow one another from 0, in whatever blocks. */
    if (event->buffer != shipped->last_buffer) {
        assert_int_equal(event->pos, 0);
        shipped->next_pos = 0;
    }
    assert_int_equal(event->pos, shipped->next_pos);
    shipped->next_pos++;
    shipped->last_buffer = event->buffer;
}

void take_buffers(struct shipped *shipped, const struct etwas_columns *buffers)
{
    for (uint32_t row = 0; row < buffers->rows; row++) {
        uint64_t state = buffer_value(buffers, row, ETWAS_SHIP_BUFFER_STATE);
        uint64_t number = buffer_value(buffers, row, ETWAS_SHIP_BUFFER_BUFFER);

        if (state == ETWAS_SHIP_STATE_BUFFER) {
            shipped->buffer_rows++;
            shipped->by_buffers += buffer_value(buffers, row, ETWAS_SHIP_BUFFER_EVENTS);
            shipped->largest_number =
                number > shipped->largest_number ? number : shipped->largest_number;
        } else {
            assert_int_equal(state, ETWAS_SHIP_STATE_END);
            shipped->recorded += buffer_value(buffers, row, ETWAS_SHIP_BUFFER_RECORDED);
            shipped->lost += buffer_value(buffers, row, ETWAS_SHIP_BUFFER_LOST);
            shipped->ended += buffer_value(buffers, row, ETWAS_SHIP_BUFFER_ENDED);
        }
    }
}

void take_block(struct shipped *shipped, const struct etwas_ship_block *block)
{
    static struct shipped_event event;
    struct rows rows;

    assert_int_equal(block->events->rows, block->bounds.rows);
    rows_begin(&rows, block->events);
    while (rows_next_event(&rows, &event)) {
        take_event(shipped, block, &event);
    }
    take_buffers(shipped, block->buffers);
}

/* Made again by a process that knows nothing but the bounds it is the same. */
void expect_again(const char *path, const struct etwas_ship_bounds *bounds, const uint8_t *bytes,
                  size_t count)
{
    struct etwas_ship_file *file = open_file(path);
    struct etwas_ship_block block = block_open();
    size_t duplicates_count;
    uint8_t *again;

    if (etwas_ship_block_again(file, bounds, &block) != ETWAS_SHIP_BLOCK) {
        fail_msg("%s", etwas_ship_file_reason(file));
    }
    assert_memory_equal(&block.bounds, bounds, sizeof *bounds);
    again = block_bytes(&block, &duplicates_count);
    assert_int_equal(duplicates_count, count);
    assert_memory_equal(again, bytes, count);
    free(again);
    block_close(&block);
    etwas_ship_file_close(file);
}

struct etwas_ship_limits some_limits(void)
{
    return (struct etwas_ship_limits){1 + draw(LARGEST_BLOCK), 1000 + draw(100000)};
}

/* All of a finished file, in random steps, with another process now and then. */
void ship_file(struct shipped *shipped, const char *path)
{
    struct etwas_ship_file *file = open_file(path);
    struct etwas_ship_block block = block_open();
    struct etwas_ship_position at = {0, 0};
    enum etwas_ship_block_result cut;

    for (;;) {
        struct etwas_ship_limits limits = some_limits();
        size_t count;
        uint8_t *bytes;

        cut = etwas_ship_block_next(file, &at, &limits, &block);
        if (cut != ETWAS_SHIP_BLOCK) {
            break;
        }
        assert_in_range(block.bounds.rows, 0, limits.rows);
        take_block(shipped, &block);
        bytes = block_bytes(&block, &count);
        at = block.bounds.until;
        if (draw(8) == 0) {
            expect_again(path, &block.bounds, bytes, count);
        }
        if (draw(8) == 0) {
            etwas_ship_file_close(file);
            file = open_file(path);
        }
        free(bytes);
    }
    if (cut != ETWAS_SHIP_FILE_END) {
        fail_msg("%d: %s", cut, etwas_ship_file_reason(file));
    }
    assert_int_equal(etwas_ship_block_end(file, &block), ETWAS_SHIP_BLOCK);
    assert_int_equal(block.events->rows, 0);
    take_buffers(shipped, block.buffers);
    block_close(&block);
    etwas_ship_file_close(file);
}

/* All that was recorded, each once; and numbers without gaps say so, too. */
void expect_all(const struct shipped *shipped, const etwas_session_counts *counts, uint32_t events)
{
    uint64_t recorded = counts->recorded;

    assert_int_equal(shipped->events, recorded);
    assert_int_equal(shipped->by_buffers, recorded);
    assert_int_equal(shipped->recorded, recorded);
    for (uint32_t number = 0; number < events; number++) {
        assert_in_range(shipped->seen[number], 0, 1);
    }
}

struct shipped *shipped_new(void)
{
    struct shipped *shipped = calloc(1, sizeof *shipped);

    assert_non_null(shipped);
    return shipped;
}
