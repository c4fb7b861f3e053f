/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A thread's call begins on one processor, the ring of that one then loses something, and a call
 * ends on another. Whether it is the same call is unknown from the beginning of the gap to its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "etl/layout.h"
#include "system/groups/event_groups.h"
#include "system/kernel_sources.h"
#include "system/stream/source_tags.h"

enum {
    FEEDS = 2,
    HERE = 0, /* where calls begin */
    THERE = 1,
    RING_BYTES = 2 * ETWAS_RING_LONGEST_RECORD,
    THREAD = 7,
    PAGE = 4096,
    FEW = 100, /* records, that are not given back before others are read */
    BEGIN = 1, /* source and, one more, its event */
    END,
    GROUP_MEMORY = 2,
    TYPE_FREE = 99,
};

struct record {
    struct perf_event_header header;
    uint64_t event;
    uint32_t process_id;
    uint32_t thread_id;
    int64_t time_ns;
    uint64_t processor;
    uint32_t raw_bytes;
    uint32_t raw[9];
};

struct lost_record {
    struct perf_event_header header;
    uint64_t event;
    uint64_t lost;
};

static struct stream {
    struct perf_event_mmap_page page;
    uint8_t data[RING_BYTES];
    struct etwas_cpu_stream stream;
} streams[FEEDS];

static struct etwas_merged merged[FEEDS];
static struct etwas_kernel_sources kernel;
static uint32_t frees;
static void (*happens_meanwhile)(void); /* while the rings are read, once */

static void take_record(struct etwas_emitter *emitter, uint32_t slot,
                        const struct etwas_stamped_record *record)
{
    struct etwas_etl_system_header header;

    (void)emitter;
    (void)slot;
    memcpy(&header, record->bytes, sizeof header);
    frees += header.group == GROUP_MEMORY && header.type == TYPE_FREE;
    if (happens_meanwhile != NULL) {
        void (*happens)(void) = happens_meanwhile;

        happens_meanwhile = NULL;
        happens();
    }
}

static struct etwas_emitter emitter = {.receive = take_record};
static struct etwas_record_builder record = {.room = ETWAS_RECORD_MOST_BYTES};

static uint32_t number_of_group(void)
{
    uint32_t number = 0;

    while (etwas_event_groups[number] != &etwas_event_group_virtual_memory) {
        number++;
    }
    return number;
}

static uint32_t source_of(const char *tracepoint)
{
    uint32_t index = 0;

    while (strcmp(etwas_event_group_virtual_memory.sources[index].tracepoint, tracepoint) != 0) {
        index++;
    }
    return index;
}

static void open_source(uint32_t id, const char *tracepoint)
{
    uint32_t number = number_of_group();
    uint32_t source = source_of(tracepoint);

    for (uint32_t field = 0; field < 2; field++) {
        kernel.opened[number].fields[source][field] =
            (struct etwas_tracepoint_field){.offset = (uint16_t)(8 * field), .size = 8};
    }
    for (uint32_t index = 0; index < FEEDS; index++) {
        streams[index].stream.events[id] =
            (struct etwas_cpu_stream_event){.id = id,
                                            .tag = etwas_tag_of(number, source),
                                            .sample_type = ETWAS_SAMPLE_ALWAYS | PERF_SAMPLE_RAW};
        etwas_cpu_stream_index_event(&streams[index].stream, &streams[index].stream.events[id]);
    }
}

static int begin_test(void **state)
{
    struct etwas_open_group *use = &kernel.opened[number_of_group()];

    (void)state;
    memset(streams, 0, sizeof streams);
    memset(merged, 0, sizeof merged);
    frees = 0;
    kernel = (struct etwas_kernel_sources){.host = {.emitter = &emitter, .record = &record},
                                           .merge = {.count = FEEDS, .streams = merged}};
    for (uint32_t index = 0; index < FEEDS; index++) {
        struct stream *stream = &streams[index];

        etwas_ring_over(&stream->stream.ring, &stream->page, stream->data, RING_BYTES);
        stream->stream.event_count = END + 1;
        merged[index].stream = &stream->stream;
    }
    open_source(BEGIN, "syscalls/sys_enter_munmap");
    open_source(END, "syscalls/sys_exit_munmap");
    use->is_open = true;
    use->state = etwas_event_group_virtual_memory.open(&kernel.host);
    return use->state == NULL || !etwas_accounts_open(&kernel.accounts);
}

static int end_test(void **state)
{
    (void)state;
    etwas_accounts_free(&kernel.accounts);
    etwas_event_group_virtual_memory.close(kernel.opened[number_of_group()].state);
    return 0;
}

static void put(uint32_t index, const void *bytes, size_t size)
{
    struct stream *stream = &streams[index];

    assert_in_range(stream->page.data_head - stream->page.data_tail, 0, RING_BYTES - size);
    for (size_t at = 0; at < size; at++) {
        stream->data[stream->page.data_head++ % RING_BYTES] = ((const uint8_t *)bytes)[at];
    }
}

static void put_sample(uint32_t index, uint64_t event, int64_t time_ns, const uint64_t values[2])
{
    struct record sample = {.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof sample},
                            .event = event,
                            .process_id = THREAD,
                            .thread_id = THREAD,
                            .time_ns = time_ns,
                            .raw_bytes = sizeof sample.raw};

    memcpy(sample.raw, values, 2 * sizeof *values);
    put(index, &sample, sizeof sample);
}

static void begin_call(uint32_t index, int64_t time_ns)
{
    put_sample(index, BEGIN, time_ns, (const uint64_t[]){0x10000, PAGE});
}

static void end_call(uint32_t index, int64_t time_ns)
{
    put_sample(index, END, time_ns, (const uint64_t[]){0, 0});
}

static void lose(uint32_t index)
{
    const struct lost_record lost = {{.type = PERF_RECORD_LOST, .size = sizeof lost}, BEGIN, 2};

    put(index, &lost, sizeof lost);
}

/* Until a record might find no room. Returns the last one's time. */
static int64_t fill_from(uint32_t index, int64_t time_ns)
{
    while (streams[index].page.data_head + ETWAS_RING_LONGEST_RECORD <= RING_BYTES) {
        begin_call(index, ++time_ns);
    }
    return time_ns;
}

static int64_t fill(uint32_t index)
{
    return fill_from(index, 1);
}

static void a_call_ends_on_another_processor(void **state)
{
    (void)state;
    begin_call(HERE, 10);
    end_call(THERE, 50);
    begin_call(HERE, 100);
    etwas_kernel_sources_drain(&kernel, 200);
    assert_int_equal(frees, 1);
}

static void not_before_the_record_behind_the_gap(void **state)
{
    (void)state;
    begin_call(HERE, 10);
    lose(HERE);
    end_call(THERE, 50);
    begin_call(HERE, 100);
    end_call(THERE, 150);
    etwas_kernel_sources_drain(&kernel, 200);
    assert_int_equal(frees, 1);
}

static void not_where_the_gap_is_seen_later(void **state)
{
    (void)state;
    begin_call(HERE, 10);
    etwas_kernel_sources_drain(&kernel, 20);
    lose(HERE);
    end_call(THERE, 50);
    begin_call(HERE, 100);
    etwas_kernel_sources_drain(&kernel, 200);
    assert_int_equal(frees, 0);
}

/* What begins within it may end unseen. */
static void not_where_the_gap_outlasts_a_drain(void **state)
{
    (void)state;
    lose(HERE);
    begin_call(HERE, 100);
    begin_call(THERE, 50);
    etwas_kernel_sources_drain(&kernel, 60);
    end_call(THERE, 70);
    etwas_kernel_sources_drain(&kernel, 80);
    assert_int_equal(frees, 0);
}

static void no_event_is_joined_after_a_full_ring_without_a_report(void **state)
{
    int64_t last_ns = fill(HERE);

    (void)state;
    end_call(THERE, last_ns + 10);
    begin_call(THERE, last_ns + 20);
    etwas_kernel_sources_drain(&kernel, last_ns + 30);
    end_call(THERE, last_ns + 40);
    etwas_kernel_sources_drain(&kernel, last_ns + 50);
    assert_int_equal(frees, 0);
    begin_call(HERE, last_ns + 60);
    end_call(THERE, last_ns + 70);
    etwas_kernel_sources_drain(&kernel, last_ns + 80);
    assert_int_equal(frees, 1);
}

static void not_behind_a_full_ring_that_is_read_later(void **state)
{
    int64_t last_ns = fill(HERE);

    (void)state;
    etwas_kernel_sources_drain(&kernel, last_ns - 1);
    end_call(THERE, last_ns + 10);
    etwas_kernel_sources_drain(&kernel, last_ns + 20);
    assert_int_equal(frees, 0);
}

static int64_t filled_ns;

static void fill_here(void)
{
    filled_ns = fill_from(HERE, 100);
}

/* The gap is behind what is there to be read, and forgotten where that ends. */
static void not_behind_a_ring_that_is_filled_while_others_are_read(void **state)
{
    (void)state;
    for (uint32_t index = 0; index < FEW; index++) { /* with them back there is room again */
        begin_call(HERE, 5);
    }
    begin_call(THERE, 10);
    end_call(THERE, 20);
    happens_meanwhile = fill_here;
    etwas_kernel_sources_drain(&kernel, 50);
    assert_int_equal(frees, 1);
    end_call(THERE, filled_ns + 10);
    etwas_kernel_sources_drain(&kernel, filled_ns + 20);
    assert_int_equal(frees, 1);
    begin_call(HERE, filled_ns + 30);
    end_call(THERE, filled_ns + 40);
    etwas_kernel_sources_drain(&kernel, filled_ns + 50);
    assert_int_equal(frees, 2);
}

#define LOSS_TEST(test) cmocka_unit_test_setup_teardown(test, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOSS_TEST(a_call_ends_on_another_processor),
        LOSS_TEST(not_before_the_record_behind_the_gap),
        LOSS_TEST(not_where_the_gap_is_seen_later),
        LOSS_TEST(not_where_the_gap_outlasts_a_drain),
        LOSS_TEST(no_event_is_joined_after_a_full_ring_without_a_report),
        LOSS_TEST(not_behind_a_full_ring_that_is_read_later),
        LOSS_TEST(not_behind_a_ring_that_is_filled_while_others_are_read),
    };

    return cmocka_run_group_tests_name("system board loss", tests, NULL, NULL);
}
