/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DISK_IO where the kernel had no room for some: a completion never gets the issue
 * of another request.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/evntrace.h>

#include "etl/layout.h"
#include "system/groups/event_groups.h"

enum {
    DISK = 8 << 20,
    SECTOR = 100,
    THREAD = 7,
    RESPONSE_AT = 40,
    THREAD_AT = 48,
};

static uint64_t response;
static uint32_t thread_id;
static uint32_t emitted;

static void take_record(struct etwas_emitter *emitter, uint32_t slot,
                        const struct etwas_stamped_record *record)
{
    const uint8_t *payload =
        (const uint8_t *)record->bytes + sizeof(struct etwas_etl_perfinfo_header);

    (void)emitter;
    (void)slot;
    memcpy(&response, payload + RESPONSE_AT, sizeof response);
    memcpy(&thread_id, payload + THREAD_AT, sizeof thread_id);
    emitted++;
}

static struct etwas_emitter emitter = {.receive = take_record};
static struct etwas_record_builder record = {.room = ETWAS_RECORD_MOST_BYTES};
static struct etwas_event_group_host host = {
    .emitter = &emitter, .record = &record, .flags = EVENT_TRACE_FLAG_DISK_IO};

/* Numbers, then the letters of a read. */
static void pass(void *state, const char *tracepoint, int64_t time_ns, uint32_t numbers)
{
    static const int64_t values[] = {DISK, SECTOR, 8, 0};
    struct etwas_tracepoint_field fields[5];
    uint8_t raw[5 * sizeof *values] = {0};
    const struct etwas_sample sample = {
        .origin = {.thread_id = THREAD, .time_ns = time_ns}, .raw = raw, .raw_bytes = sizeof raw};
    const struct etwas_source_event taken = {
        .host = &host, .state = state, .sample = &sample, .fields = fields};

    memcpy(raw, values, numbers * sizeof *values);
    raw[numbers * sizeof *values] = 'R';
    for (uint32_t index = 0; index <= numbers; index++) {
        fields[index] = (struct etwas_tracepoint_field){
            .offset = (uint16_t)(index * sizeof *values),
            .size = sizeof *values,
            .kind = index < numbers ? ETWAS_FORMAT_PLAIN : ETWAS_FORMAT_ARRAY};
    }
    for (uint32_t index = 0; index < etwas_event_group_disk_io.source_count; index++) {
        if (strcmp(etwas_event_group_disk_io.sources[index].tracepoint, tracepoint) == 0) {
            assert_true(etwas_event_group_disk_io.sources[index].handle(&taken));
        }
    }
}

static void issue_at(void *state, int64_t time_ns)
{
    pass(state, "block/block_rq_issue", time_ns, 2);
}

static void complete_at(void *state, int64_t time_ns)
{
    pass(state, "block/block_rq_complete", time_ns, 4);
}

/* The loss hides the end of the first request and the beginning of the second. */
static void what_began_before_a_loss_is_not_known(void **unused)
{
    void *state = etwas_event_group_disk_io.open(&host);

    (void)unused;
    assert_non_null(state);
    issue_at(state, 100);
    complete_at(state, 150);
    assert_int_equal(response, 50);
    assert_int_equal(thread_id, THREAD);
    issue_at(state, 200);
    etwas_event_group_disk_io.handle_loss(state, 1);
    complete_at(state, 900);
    assert_int_equal(response, 0);
    assert_int_equal(thread_id, 0);
    assert_int_equal(emitted, 2);
    etwas_event_group_disk_io.close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_began_before_a_loss_is_not_known),
    };

    return cmocka_run_group_tests_name("system disk loss", tests, NULL, NULL);
}
