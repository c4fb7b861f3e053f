/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files are cut into blocks in which each event is once, and a block can be made again from its
 * bounds: by another process, and when the file has grown, or was ended.
 */
#include "ship_whole.h"

#include <etwas/evntrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finished files -------------------------------------------------------------------------- */

static void each_event_is_once(void **state)
{
    static const uint32_t modes[] = {
        EVENT_TRACE_FILE_MODE_SEQUENTIAL,
        EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
        EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_COMPRESSED_MODE,
    };

    (void)state;
    for (uint32_t round = 0; round < 9; round++) {
        uint32_t events = 1 + draw(4000);
        etwas_session_options options = {.log_file_mode = modes[round % 3],
                                         .buffer_size_kb = 4u << draw(4)};
        struct shipped *shipped = shipped_new();
        const char *path;
        etwas_session_counts counts;
        char name[32];

        (void)snprintf(name, sizeof name, "f%u.etl", round);
        path = folder_path(name);
        write_file(path, &options, events, &counts);
        ship_file(shipped, path);
        expect_all(shipped, &counts, WRITERS * events);
        assert_int_equal(shipped->largest_number, shipped->buffer_rows);
        assert_int_equal(shipped->ended, 1);
        free(shipped);
    }
}

static void parts_of_a_set_are_one_session(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE |
                                                      EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .buffer_size_kb = 16,
                                     .maximum_file_size = 256};
    struct shipped *shipped = shipped_new();
    etwas_session_counts counts;
    uint64_t session = 0;
    uint32_t part = 0;
    char name[32];

    (void)state;
    write_file(folder_path("p%d.etl"), &options, 4000, &counts);
    for (;;) {
        struct etwas_ship_file *file;

        (void)snprintf(name, sizeof name, "p%u.etl", ++part);
        if (access(folder_path(name), F_OK) != 0) {
            break;
        }
        file = open_file(folder_path(name));
        session = part == 1 ? etwas_ship_file_facts(file)->session : session;
        assert_true(etwas_ship_file_facts(file)->session == session);
        assert_int_equal(etwas_ship_file_facts(file)->part, part);
        etwas_ship_file_close(file);
        assert_int_equal(shipped->ended, 0);
        shipped->last_buffer = 0;
        ship_file(shipped, folder_path(name));
    }
    assert_true(part > 3);
    assert_int_equal(shipped->ended, 1);
    expect_all(shipped, &counts, WRITERS * 4000);
    free(shipped);
}

/* Each of its sessions has numbers of its own, and an end. */
static void an_appended_file_has_several(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_APPEND,
                                     .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                     .buffer_size_kb = 16};
    const char *path = folder_path("a.etl");
    struct shipped *shipped = shipped_new();
    etwas_session_counts counts;
    uint64_t recorded = 0;

    (void)state;
    for (uint32_t session = 0; session < 3; session++) {
        write_file(path, &options, 500 + session, &counts);
        recorded += counts.recorded;
    }
    ship_file(shipped, path);
    assert_int_equal(shipped->events, recorded);
    assert_int_equal(shipped->recorded, recorded);
    assert_int_equal(shipped->ended, 3);
    free(shipped);
}

/* One event, and none. */
static void small_files_have_their_end(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL};
    etwas_session_counts counts;

    (void)state;
    for (uint32_t events = 0; events < 2; events++) {
        const char *path = folder_path(events == 0 ? "none.etl" : "one.etl");
        struct shipped *shipped = shipped_new();
        etwas_trace_handle session = start_session(path, &options);

        if (events == 1) {
            assert_int_equal(scene_write(session, 0), ERROR_SUCCESS);
        }
        stop_session(session, &counts);
        ship_file(shipped, path);
        assert_int_equal(shipped->events, events);
        assert_int_equal(shipped->recorded, events);
        assert_int_equal(shipped->ended, 1);
        free(shipped);
    }
}

/*
 * The largest records, in the largest buffers: a block is larger than it may be by one of them
 * alone.
 */
static void large_events_fill_a_block(void **state)
{
    const struct etwas_ship_limits limits = {ETWAS_SHIP_BLOCK_ROWS, 1 << 20};
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     .buffer_size_kb = 16384};
    const char *path = folder_path("large.etl");
    etwas_trace_handle session = start_session(path, &options);
    struct etwas_ship_block block = block_open();
    struct shipped *shipped = shipped_new();
    struct etwas_ship_position at = {0, 0};
    struct etwas_ship_file *file;

    (void)state;
    for (uint64_t number = 0; number < 500; number++) {
        assert_int_equal(scene_write_late(session, number, number % 3 == 0 ? 0 : 65000),
                         ERROR_SUCCESS);
    }
    stop_session(session, NULL);
    file = open_file(path);
    while (etwas_ship_block_next(file, &at, &limits, &block) == ETWAS_SHIP_BLOCK) {
        assert_true(etwas_columns_size(block.events) + etwas_columns_size(block.buffers) <
                    limits.bytes + (1 << 17));
        shipped->events += block.events->rows;
        take_buffers(shipped, block.buffers);
        at = block.bounds.until;
    }
    assert_int_equal(shipped->events, 500);
    assert_int_equal(shipped->by_buffers, 500);
    etwas_ship_file_close(file);
    block_close(&block);
    free(shipped);
}

/* ---- files that grow ------------------------------------------------------------------------- */

enum {
    MOST_BLOCKS = 4096,
};

struct kept_block {
    struct etwas_ship_bounds bounds;
    uint8_t *bytes;
    size_t count;
};

/* A file whose session runs, and what was shipped of it. */
struct growing {
    const char *path;
    etwas_trace_handle session;
    struct etwas_ship_file *file;
    struct etwas_ship_position at;
    struct shipped *shipped;
    uint32_t count;
    struct kept_block list[MOST_BLOCKS];
};

static struct growing *grow(const char *name, uint32_t flush_ms)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL |
                                                      EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                     .buffer_size_kb = 16,
                                     .flush_timer = flush_ms};
    struct growing *growing = calloc(1, sizeof *growing);

    assert_non_null(growing);
    growing->path = folder_path(name);
    growing->session = start_session(growing->path, &options);
    growing->file = open_file(growing->path);
    growing->shipped = shipped_new();
    return growing;
}

/*
 * All that can go now; some of the blocks are made again at once. `why` no more can go is as
 * expected.
 */
static void ship_what_is_there(struct growing *growing, enum etwas_ship_block_result why)
{
    struct etwas_ship_block block = block_open();
    enum etwas_ship_block_result cut;

    assert_true(etwas_ship_file_look(growing->file));
    for (;;) {
        struct etwas_ship_limits limits = some_limits();
        struct kept_block *keep = &growing->list[growing->count];

        if (growing->at.offset > etwas_ship_file_facts(growing->file)->bytes) {
            assert_true(etwas_ship_file_look(growing->file));
        }
        cut = etwas_ship_block_next(growing->file, &growing->at, &limits, &block);
        if (cut != ETWAS_SHIP_BLOCK) {
            break;
        }
        assert_true(growing->count + 1 < MOST_BLOCKS);
        take_block(growing->shipped, &block);
        keep->bounds = block.bounds;
        keep->bytes = block_bytes(&block, &keep->count);
        growing->at = block.bounds.until;
        growing->count++;
        if (draw(8) == 0) {
            expect_again(growing->path, &keep->bounds, keep->bytes, keep->count);
        }
    }
    block_close(&block);
    if (cut != why) {
        fail_msg("%d, not %d: %s", cut, why, etwas_ship_file_reason(growing->file));
    }
}

/* Stops its session and ships the rest; then each block is made again. */
static void end_growth(struct growing *growing, etwas_session_counts *counts)
{
    stop_session(growing->session, counts);
    ship_what_is_there(growing, ETWAS_SHIP_FILE_END);
    for (uint32_t i = 0; i < growing->count; i++) {
        struct kept_block *kept = &growing->list[i];

        expect_again(growing->path, &kept->bounds, kept->bytes, kept->count);
        free(kept->bytes);
    }
    etwas_ship_file_close(growing->file);
}

static void forget(struct growing *growing)
{
    free(growing->shipped);
    free(growing);
}

static void a_growing_file_gives_the_same_again(void **state)
{
    struct growing *growing = grow("g.etl", 100);
    struct shipped *shipped = growing->shipped;
    struct work work[WRITERS];
    etwas_session_counts counts;

    (void)state;
    scene_enable(growing->session);
    begin_work(work, growing->session, 15000, true);
    while (shipped->events < 20000) {
        ship_what_is_there(growing, ETWAS_SHIP_NOTHING_YET);
        assert_false(etwas_ship_file_facts(growing->file)->has_ended);
        (void)usleep(20000);
    }
    end_work(work);
    end_growth(growing, &counts);
    shipped->recorded = counts.recorded;
    expect_all(shipped, &counts, WRITERS * 15000);
    forget(growing);
}

/*
 * A block that is made again knows what it did: not what was described later, nor what was
 * described before and otherwise.
 */
static void late_descriptions_change_no_block(void **state)
{
    struct growing *growing = grow("late.etl", 50);
    const struct shipped *shipped = growing->shipped;
    uint64_t number = 0;
    uint64_t undescribed = 0;
    bool is_changed = false;

    (void)state;
    while (shipped->told == 0) {
        assert_int_equal(scene_write_late(growing->session, number++, 0), ERROR_SUCCESS);
        if (undescribed == 0 && shipped->events > 50) {
            scene_describe_late("Said");
            undescribed = shipped->events;
        }
        if (!is_changed && shipped->decoded > 0) {
            scene_describe_late("Told");
            is_changed = true;
        }
        ship_what_is_there(growing, ETWAS_SHIP_NOTHING_YET);
        (void)usleep(5000);
    }
    end_growth(growing, NULL);
    assert_int_equal(shipped->events, number);
    assert_true(shipped->decoded <= number - undescribed && shipped->told < shipped->decoded);
    forget(growing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_event_is_once),
        FOLDER_TEST(parts_of_a_set_are_one_session),
        FOLDER_TEST(an_appended_file_has_several),
        FOLDER_TEST(small_files_have_their_end),
        FOLDER_TEST(large_events_fill_a_block),
        FOLDER_TEST(a_growing_file_gives_the_same_again),
        FOLDER_TEST(late_descriptions_change_no_block),
    };

    scene_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
