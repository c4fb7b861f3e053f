/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * QueryAllTraces: every session but private ones, in as many blocks as there are (R46, R139, R140).
 */
#include <ck_pr.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "session/fixture.h"

enum {
    MOST = 64
};

/* Blocks on the heap, and their addresses. */
struct blocks {
    struct block *items;
    EVENT_TRACE_PROPERTIES *addresses[MOST + 2];
};

static void make_blocks(struct blocks *blocks)
{
    blocks->items = calloc(MOST + 2, sizeof *blocks->items);
    assert_non_null(blocks->items);
    for (int index = 0; index < MOST + 2; index++) {
        prepare_block(&blocks->items[index], "");
        /* The other members are 0: the flags too. */
        blocks->items[index].properties.Wnode.Flags = 0;
        blocks->addresses[index] = &blocks->items[index].properties;
    }
}

static void free_blocks(struct blocks *blocks)
{
    free(blocks->items);
}

static const struct block *find_block(const struct blocks *blocks, uint32_t count,
                                      etwas_trace_handle session)
{
    const struct block *found = NULL;

    for (uint32_t index = 0; index < count; index++) {
        if (blocks->items[index].properties.Wnode.HistoricalContext == session) {
            assert_null(found);
            found = &blocks->items[index];
        }
    }
    return found;
}

static void each_session_has_a_block_of_its_own(void **state)
{
    const etwas_session_options options = {.clock = ETWAS_CLOCK_SYSTEM_TIME, .buffer_size_kb = 8};
    etwas_trace_handle one = start_session(folder_path("1.etl"), &options);
    etwas_trace_handle two = start_session(folder_path("2.etl"), NULL);
    etwas_trace_handle recorder = start_recorder();
    const struct block *block;
    struct blocks blocks;
    etwas_wchar wide[512];
    uint32_t count = 77;

    (void)state;
    assert_int_equal(log_number(one, 1), ERROR_SUCCESS);
    make_blocks(&blocks);
    assert_int_equal(QueryAllTracesA(blocks.addresses, MOST, &count), ERROR_SUCCESS);
    assert_int_equal(count, 3);
    assert_non_null(find_block(&blocks, count, two));
    assert_non_null(find_block(&blocks, count, recorder));
    block = find_block(&blocks, count, one);
    assert_non_null(block);
    assert_int_equal(block->properties.BufferSize, 8);
    assert_int_equal(block->properties.Wnode.ClientContext, ETWAS_CLOCK_SYSTEM_TIME);
    assert_int_equal(block->properties.BuffersWritten, 1);
    assert_int_equal(block->properties.FreeBuffers, block->properties.NumberOfBuffers - 1);
    assert_string_equal(block->file_name, folder_path("1.etl"));
    /* What is behind the last one is not touched. */
    assert_int_equal(blocks.items[3].properties.BufferSize, 0);
    free_blocks(&blocks);

    make_blocks(&blocks);
    assert_int_equal(QueryAllTracesW(blocks.addresses, MOST + 2, &count), ERROR_SUCCESS);
    assert_int_equal(count, 3);
    block = find_block(&blocks, count, two);
    assert_non_null(block);
    assert_memory_equal(block->file_name, wide_of(folder_path("2.etl"), wide, 512),
                        (strlen(folder_path("2.etl")) + 1) * sizeof wide[0]);
    free_blocks(&blocks);
    stop_session(one, NULL);
    stop_session(two, NULL);
    stop_session(recorder, NULL);

    make_blocks(&blocks);
    assert_int_equal(QueryAllTracesA(blocks.addresses, 1, &count), ERROR_SUCCESS);
    assert_int_equal(count, 0);
    free_blocks(&blocks);
}

/* Also with all 64 there, and the private ones, which are left out. */
static void r46_fewer_blocks_than_sessions_are_more_data(void **state)
{
    const etwas_session_options private = {
        .log_file_mode = EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 4,
    };
    static const uint32_t rooms[] = {1, 2, 63, 64, 65};
    etwas_trace_handle hidden = start_session(NULL, &private);
    etwas_trace_handle sessions[MOST];

    (void)state;
    for (int index = 0; index < MOST; index++) {
        sessions[index] = start_session(NULL, &small_recorder);
    }
    for (size_t index = 0; index < sizeof rooms / sizeof rooms[0]; index++) {
        struct blocks blocks;
        uint32_t count = 0;

        make_blocks(&blocks);
        assert_int_equal(QueryAllTracesA(blocks.addresses, rooms[index], &count),
                         rooms[index] < MOST ? ERROR_MORE_DATA : ERROR_SUCCESS);
        assert_int_equal(count, MOST);
        assert_null(find_block(&blocks, MOST + 2, hidden));
        for (uint32_t item = 0; item < MOST + 2; item++) {
            bool filled = item < rooms[index] && item < MOST;

            assert_true((blocks.items[item].properties.BufferSize != 0) == filled);
        }
        free_blocks(&blocks);
    }
    for (int index = 0; index < MOST; index++) {
        stop_session(sessions[index], NULL);
    }
    stop_session(hidden, NULL);
}

/* R1, R8, R20–R23: any bad block is found before one is filled. */
static void a_bad_block_anywhere_changes_nothing(void **state)
{
    etwas_trace_handle session = start_recorder();
    EVENT_FILTER_DESCRIPTOR filter = {0};
    struct blocks blocks;
    uint32_t count = 77;

    (void)state;
    make_blocks(&blocks);
    assert_int_equal(QueryAllTracesA(NULL, 1, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(QueryAllTracesA(blocks.addresses, 0, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(QueryAllTracesA(blocks.addresses, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(QueryAllTracesW(NULL, 1, &count), ERROR_INVALID_PARAMETER);
    blocks.addresses[5] = NULL;
    assert_int_equal(QueryAllTracesA(blocks.addresses, 6, &count), ERROR_INVALID_PARAMETER);
    blocks.addresses[5] = &blocks.items[5].properties;
    blocks.items[5].properties.Wnode.BufferSize = 119;
    assert_int_equal(QueryAllTracesA(blocks.addresses, 6, &count), ERROR_BAD_LENGTH);
    prepare_block(&blocks.items[5], "");
    blocks.items[5].properties.LogFileNameOffset = sizeof(struct block);
    assert_int_equal(QueryAllTracesW(blocks.addresses, 6, &count), ERROR_INVALID_PARAMETER);
    prepare_block(&blocks.items[5], "");
    blocks.items[5].properties.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
    assert_int_equal(QueryAllTracesA(blocks.addresses, 6, &count), ERROR_INVALID_PARAMETER);
    blocks.items[5].second.VersionNumber = 2;
    blocks.items[5].second.FilterDesc = &filter;
    blocks.items[5].second.FilterDescCount = 1;
    assert_int_equal(QueryAllTracesA(blocks.addresses, 6, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(count, 77);
    assert_int_equal(blocks.items[0].properties.BufferSize, 0);
    blocks.items[5].second.FilterDesc = NULL;
    blocks.items[5].second.FilterDescCount = 0;
    assert_int_equal(QueryAllTracesA(blocks.addresses, 6, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    free_blocks(&blocks);
    stop_session(session, NULL);
}

/* R140 */
static void r140_a_name_that_does_not_fit_is_more_data(void **state)
{
    etwas_trace_handle sessions[] = {0, 0};
    struct blocks blocks;
    uint32_t count;

    (void)state;
    assert_int_equal(etwas_start("a rather long name", folder_path("1.etl"), NULL, &sessions[0]),
                     ERROR_SUCCESS);
    assert_int_equal(etwas_start("b", folder_path("2.etl"), NULL, &sessions[1]), ERROR_SUCCESS);
    make_blocks(&blocks);
    for (int index = 0; index < 2; index++) {
        blocks.items[index].properties.LogFileNameOffset =
            blocks.items[index].properties.LoggerNameOffset + 4;
    }
    assert_int_equal(QueryAllTracesA(blocks.addresses, MOST, &count), ERROR_MORE_DATA);
    assert_int_equal(count, 2);
    for (int index = 0; index < 2; index++) {
        const struct block *block = find_block(&blocks, count, sessions[index]);

        assert_non_null(block);
        assert_int_equal(block->properties.BufferSize, 64);
        assert_string_equal(block->session_name + 4, folder_path(index == 0 ? "1.etl" : "2.etl"));
        stop_session(sessions[index], NULL);
    }
    free_blocks(&blocks);
}

enum {
    STARTS = 150,
    THREADS = 2
};

static uint32_t threads_left;
static uint32_t refused;

static void *start_and_stop(void *argument)
{
    const char *name = argument;

    for (int round = 0; round < STARTS; round++) {
        etwas_trace_handle session;

        if (etwas_start(name, NULL, &small_recorder, &session) != ERROR_SUCCESS ||
            etwas_stop(session, NULL) != ERROR_SUCCESS) {
            ck_pr_inc_32(&refused);
        }
    }
    ck_pr_dec_32(&threads_left);
    return NULL;
}

/* While sessions come and go, what runs all the time is always there, once. */
static void sessions_may_start_and_stop_meanwhile(void **state)
{
    static char names[THREADS][8] = {"one", "two"};
    etwas_trace_handle steady = start_session(folder_path("f.etl"), NULL);
    pthread_t threads[THREADS];
    uint32_t count = 0;

    (void)state;
    refused = 0;
    threads_left = THREADS;
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, start_and_stop, names[index]), 0);
    }
    do {
        struct blocks blocks;

        make_blocks(&blocks);
        assert_int_equal(QueryAllTracesA(blocks.addresses, MOST, &count), ERROR_SUCCESS);
        assert_true(count >= 1 && count <= 1 + THREADS);
        assert_non_null(find_block(&blocks, count, steady));
        free_blocks(&blocks);
    } while (ck_pr_load_32(&threads_left) != 0);
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    assert_int_equal(refused, 0);
    stop_session(steady, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_session_has_a_block_of_its_own),
        FOLDER_TEST(r46_fewer_blocks_than_sessions_are_more_data),
        FOLDER_TEST(a_bad_block_anywhere_changes_nothing),
        FOLDER_TEST(r140_a_name_that_does_not_fit_is_more_data),
        FOLDER_TEST(sessions_may_start_and_stop_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
