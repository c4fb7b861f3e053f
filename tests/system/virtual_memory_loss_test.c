/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_VIRTUAL_ALLOC where the kernel had no room for a call's beginning or end: a
 * record belongs to one call, or there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "etl/layout.h"
#include "system/groups/event_groups.h"

enum {
    THREAD = 7,
    PAGE = 4096,
    NUMBERS = 4,
    TEXT_ROOM = 1024,
};

static char emitted[TEXT_ROOM];

/* One line each: what, where, how much. */
static void take_record(struct etwas_emitter *emitter, uint32_t slot,
                        const struct etwas_stamped_record *record)
{
    struct etwas_etl_system_header header;
    uint64_t range[2];

    (void)emitter;
    (void)slot;
    memcpy(&header, record->bytes, sizeof header);
    memcpy(range, (const uint8_t *)record->bytes + sizeof header, sizeof range);
    (void)snprintf(emitted + strlen(emitted), sizeof emitted - strlen(emitted), "%s %llx %llx\n",
                   header.type == 98 ? "alloc" : "free", (unsigned long long)range[0],
                   (unsigned long long)range[1]);
}

static struct etwas_emitter emitter = {.receive = take_record};
static struct etwas_record_builder record = {.room = ETWAS_RECORD_MOST_BYTES};
static struct etwas_event_group_host host = {.emitter = &emitter, .record = &record};
static void *group;

/* What the thread's passing of a tracepoint of the group says. */
static void pass(const char *tracepoint, const int64_t numbers[NUMBERS])
{
    static const struct etwas_tracepoint_field fields[NUMBERS] = {{.offset = 0, .size = 8},
                                                                  {.offset = 8, .size = 8},
                                                                  {.offset = 16, .size = 8},
                                                                  {.offset = 24, .size = 8}};
    const struct etwas_sample sample = {
        .origin = {.process_id = THREAD, .thread_id = THREAD, .time_ns = 1},
        .raw = (const uint8_t *)numbers,
        .raw_bytes = NUMBERS * sizeof *numbers};
    static const struct etwas_tracepoint_field no_thread; /* 0 for every caller */
    const struct etwas_source_event taken = {
        .host = &host, .state = group, .sample = &sample, .fields = fields, .thread = &no_thread};

    for (uint32_t index = 0; index < etwas_event_group_virtual_memory.source_count; index++) {
        const struct etwas_event_source *source = &etwas_event_group_virtual_memory.sources[index];

        if (strcmp(source->tracepoint, tracepoint) == 0) {
            assert_true(source->handle(&taken));
            return;
        }
    }
    fail();
}

#define PASS(tracepoint, ...) pass("syscalls/sys_" tracepoint, (int64_t[NUMBERS]){__VA_ARGS__})

static int begin_test(void **state)
{
    (void)state;
    emitted[0] = 0;
    group = etwas_event_group_virtual_memory.open(&host);
    return group == NULL;
}

static int end_test(void **state)
{
    (void)state;
    etwas_event_group_virtual_memory.close(group);
    return 0;
}

static void a_call_is_emitted_when_it_ends(void **state)
{
    (void)state;
    PASS("enter_mmap", 0, PAGE);
    PASS("exit_mmap", 0x10000);
    PASS("enter_munmap", 0x10000, PAGE);
    PASS("exit_munmap", 0);
    PASS("enter_mremap", 0x20000, PAGE, 2 * PAGE, 0);
    PASS("exit_mremap", 0x20000);
    assert_string_equal(emitted, "alloc 10000 1000\n"
                                 "free 10000 1000\n"
                                 "alloc 21000 1000\n");
}

/* The end of one call and the beginning of the next are missing. */
static void the_end_of_another_kind_of_call_is_not_its_end(void **state)
{
    (void)state;
    PASS("enter_mmap", 0, PAGE);
    PASS("exit_munmap", 0);
    PASS("enter_munmap", 0x10000, PAGE);
    PASS("exit_brk", 0x30000);
    PASS("enter_brk", 0x40000);
    PASS("exit_mremap", 0x50000);
    PASS("enter_mremap", 0x60000, PAGE, 2 * PAGE, 0);
    PASS("exit_mmap", 0x70000);
    assert_string_equal(emitted, "");
}

/* The calls are of one kind, so only the loss distinguishes them. */
static void a_call_with_a_loss_in_it_is_not_emitted(void **state)
{
    (void)state;
    PASS("enter_munmap", 0x10000, PAGE);
    etwas_event_group_virtual_memory.handle_loss(group, 0);
    PASS("exit_munmap", 0);
    PASS("enter_munmap", 0x20000, PAGE);
    PASS("exit_munmap", 0);
    assert_string_equal(emitted, "free 20000 1000\n");
}

/* Where the data end is known again when somebody asks. */
static void a_loss_may_have_moved_the_end_of_data(void **state)
{
    (void)state;
    PASS("enter_brk", 0);
    PASS("exit_brk", 0x10000);
    etwas_event_group_virtual_memory.handle_loss(group, 0);
    PASS("enter_brk", 0x14000);
    PASS("exit_brk", 0x14000);
    PASS("enter_brk", 0x15000);
    PASS("exit_brk", 0x15000);
    assert_string_equal(emitted, "alloc 14000 1000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_is_emitted_when_it_ends, begin_test, end_test),
        cmocka_unit_test_setup_teardown(the_end_of_another_kind_of_call_is_not_its_end, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(a_call_with_a_loss_in_it_is_not_emitted, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(a_loss_may_have_moved_the_end_of_data, begin_test,
                                        end_test),
    };

    return cmocka_run_group_tests_name("system virtual memory loss", tests, NULL, NULL);
}
