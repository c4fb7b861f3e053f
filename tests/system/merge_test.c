/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Made-up rings of several processors are read in one order of time, each record once, and none
 * that is younger than the limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/stream/merge.h"

enum {
    FEEDS = 3,
    RING_BYTES = 4096,
    RECORD_WORDS = 8, /* an EXIT with its origin */
    TIME_WORD = 5,
    EVENT_WORD = 7,
    EVENT = 77,
    SAMPLES = 78,
    ROUNDS = 300,
};

struct source {
    struct perf_event_mmap_page page;
    uint64_t data[RING_BYTES / 8];
    struct etwas_cpu_stream stream;
};

static struct source sources[FEEDS];
static struct etwas_merged merged[FEEDS];
static struct etwas_merge merge;

static void begin(void)
{
    memset(sources, 0, sizeof sources);
    memset(merged, 0, sizeof merged);
    merge = (struct etwas_merge){.count = FEEDS, .streams = merged};
    for (uint32_t index = 0; index < FEEDS; index++) {
        struct source *source = &sources[index];

        etwas_ring_over(&source->stream.ring, &source->page, (const uint8_t *)source->data,
                        RING_BYTES);
        source->stream.processor = index;
        source->stream.event_count = 2;
        source->stream.events[0].id = EVENT;
        source->stream.events[1] = (struct etwas_cpu_stream_event){
            .id = SAMPLES, .sample_type = ETWAS_SAMPLE_ALWAYS | PERF_SAMPLE_IP};
        etwas_cpu_stream_index_event(&source->stream, &source->stream.events[0]);
        etwas_cpu_stream_index_event(&source->stream, &source->stream.events[1]);
        merged[index].stream = &source->stream;
    }
}

static bool put_record(uint32_t index, uint32_t type, const uint64_t words[RECORD_WORDS])
{
    struct source *source = &sources[index];
    const struct perf_event_header header = {.type = type, .size = RECORD_WORDS * 8};
    uint64_t record[RECORD_WORDS];

    if (source->page.data_head - source->page.data_tail + sizeof record > RING_BYTES) {
        return false;
    }
    memcpy(record, words, sizeof record);
    memcpy(record, &header, sizeof header);
    for (uint32_t word = 0; word < RECORD_WORDS; word++) {
        source->data[source->page.data_head / 8 % (RING_BYTES / 8)] = record[word];
        source->page.data_head += 8;
    }
    return true;
}

/* False: there is no room. */
static bool put(uint32_t index, int64_t time_ns)
{
    const uint64_t words[RECORD_WORDS] = {[TIME_WORD] = (uint64_t)time_ns, [EVENT_WORD] = EVENT};

    return put_record(index, PERF_RECORD_EXIT, words);
}

/* Its time stands elsewhere. */
static bool put_sample(uint32_t index, int64_t time_ns)
{
    const uint64_t words[RECORD_WORDS] = {0, SAMPLES, 0, 0, (uint64_t)time_ns};

    return put_record(index, PERF_RECORD_SAMPLE, words);
}

static void expect(uint32_t index, int64_t time_ns, int64_t until_ns)
{
    const struct etwas_merged *next = etwas_merge_next(&merge, until_ns);

    assert_non_null(next);
    assert_int_equal(next->stream->processor, index);
    assert_int_equal(next->sample.origin.time_ns, time_ns);
    assert_non_null(next->event);
}

static void the_earliest_comes_first(void **state)
{
    (void)state;
    begin();
    (void)(put(0, 10) && put_sample(0, 20) && put(0, 21) && put_sample(1, 15) && put(1, 22) &&
           put(2, 9));
    etwas_merge_begin(&merge);
    expect(2, 9, 100);
    expect(0, 10, 100);
    expect(1, 15, 100);
    expect(0, 20, 100);
    expect(0, 21, 100);
    expect(1, 22, 100);
    assert_null(etwas_merge_next(&merge, 100));
    etwas_merge_end(&merge);
    for (uint32_t index = 0; index < FEEDS; index++) {
        assert_int_equal(sources[index].page.data_tail, sources[index].page.data_head);
    }
}

/*
 * What is left lies in the ring until it is taken, and what comes late is still put in its place.
 */
static void the_young_wait(void **state)
{
    (void)state;
    begin();
    (void)(put(0, 10) && put(0, 30) && put(1, 12));
    etwas_merge_begin(&merge);
    expect(0, 10, 20);
    expect(1, 12, 20);
    assert_null(etwas_merge_next(&merge, 20));
    etwas_merge_end(&merge);
    assert_int_equal(sources[0].page.data_tail, RECORD_WORDS * 8);
    assert_int_equal(sources[1].page.data_tail, RECORD_WORDS * 8);
    (void)(put(1, 25) && put(0, 40));
    etwas_merge_begin(&merge);
    expect(1, 25, 30);
    expect(0, 30, 30);
    assert_null(etwas_merge_next(&merge, 30));
    etwas_merge_end(&merge);
    etwas_merge_begin(&merge);
    expect(0, 40, INT64_MAX);
    assert_null(etwas_merge_next(&merge, INT64_MAX));
    etwas_merge_end(&merge);
}

static void each_comes_once_and_in_order(void **state)
{
    uint64_t put_in = 0;
    uint64_t taken = 0;
    int64_t now = 0;
    int64_t newest = 0;

    (void)state;
    begin();
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        const struct etwas_merged *next;

        for (int count = rand() % 60; count > 0; count--) {
            now += rand() % 3;
            put_in += rand() % 2 == 0 ? put((uint32_t)(rand() % FEEDS), now)
                                      : put_sample((uint32_t)(rand() % FEEDS), now);
        }
        etwas_merge_begin(&merge);
        while ((next = etwas_merge_next(&merge, now - rand() % 20)) != NULL) {
            assert_true(next->sample.origin.time_ns >= newest);
            newest = next->sample.origin.time_ns;
            taken++;
        }
        etwas_merge_end(&merge);
    }
    etwas_merge_begin(&merge);
    while (etwas_merge_next(&merge, INT64_MAX) != NULL) {
        taken++;
    }
    assert_int_equal(taken, put_in);
}

/* A reader of much returns room on the way as far as it has read, and no farther. */
static void the_kernel_has_room_again_before_all_is_read(void **state)
{
    enum {
        RECORDS = RING_BYTES / (RECORD_WORDS * 8)
    };

    (void)state;
    begin();
    for (int64_t time_ns = 1; time_ns <= RECORDS; time_ns++) {
        assert_true(put(0, time_ns));
    }
    assert_false(put(0, RECORDS + 1));
    etwas_merge_begin(&merge);
    for (int64_t time_ns = 1; time_ns <= RECORDS / 2; time_ns++) {
        expect(0, time_ns, RECORDS);
        assert_true(sources[0].page.data_tail < (uint64_t)time_ns * RECORD_WORDS * 8);
    }
    assert_true(put(0, RECORDS + 1));
    for (int64_t time_ns = RECORDS / 2 + 1; time_ns <= RECORDS; time_ns++) {
        expect(0, time_ns, RECORDS);
    }
    assert_null(etwas_merge_next(&merge, INT64_MAX));
    etwas_merge_end(&merge);
    etwas_merge_begin(&merge);
    expect(0, RECORDS + 1, INT64_MAX);
    etwas_merge_end(&merge);
}

static void a_damaged_ring_does_not_delay_the_others(void **state)
{
    (void)state;
    begin();
    (void)(put(0, 10) && put(1, 5) && put(1, 11));
    sources[0].data[RECORD_WORDS] = 1; /* a record of size 0 */
    sources[0].page.data_head += 8;
    etwas_merge_begin(&merge);
    expect(1, 5, 100);
    expect(0, 10, 100);
    expect(1, 11, 100);
    assert_null(etwas_merge_next(&merge, 100));
    assert_true(sources[0].stream.ring.is_damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_comes_first),
        cmocka_unit_test(the_young_wait),
        cmocka_unit_test(each_comes_once_and_in_order),
        cmocka_unit_test(the_kernel_has_room_again_before_all_is_read),
        cmocka_unit_test(a_damaged_ring_does_not_delay_the_others),
    };

    return cmocka_run_group_tests_name("system merge", tests, NULL, NULL);
}
