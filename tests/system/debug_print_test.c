/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DBGPRINT: each line that is written into the kernel's log is recorded once, with
 * its writer.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    LINES = 25,
    PRINT = 32,
    TEXT_AT = 8,
    LINE_ROOM = 960, /* the kernel cuts what is longer */
};

static const etwas_guid debug_print_class = {
    0x13976d09, 0xa327, 0x438c, {0x95, 0x0b, 0x7f, 0x03, 0x19, 0x28, 0x15, 0xc7}};

/* Line by line through a file of its own: the kernel limits how often one file is written to. */
static void print(const char *line)
{
    int log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
    char text[LINE_ROOM + sizeof "<7>\n"];

    assert_true(log >= 0);
    (void)snprintf(text, sizeof text, "<7>%.*s\n", LINE_ROOM, line);
    assert_int_equal(write(log, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(log);
}

static uint32_t count_of(const struct events *events, const char *line)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (!is_kernel_event(event, &debug_print_class, PRINT) ||
            event->record.UserDataLength != TEXT_AT + strlen(line) + 1 ||
            memcmp(event->payload + TEXT_AT, line, strlen(line) + 1) != 0) {
            continue;
        }
        assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
        assert_int_equal(event->record.EventHeader.ProcessId, getpid());
        assert_int_equal(event->record.EventHeader.ThreadId, syscall(SYS_gettid));
        assert_int_equal(u32_at(event, 0), 101);
        assert_int_equal(u32_at(event, 4), 3);
        count++;
    }
    return count;
}

static void each_line_is_recorded_once_with_its_writer(void **state)
{
    char lines[LINES][64];
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_DBGPRINT | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    for (uint32_t index = 0; index < LINES; index++) {
        (void)snprintf(lines[index], sizeof lines[index], "etwas test %d, line %u: Grüße", getpid(),
                       index);
        print(lines[index]);
    }
    read_and_account(session, &events);
    for (uint32_t index = 0; index < LINES; index++) {
        assert_int_equal(count_of(&events, lines[index]), 1);
    }
    free_events(&events);
}

static void a_long_line_is_recorded_whole(void **state)
{
    char line[LINE_ROOM];
    etwas_trace_handle session;
    struct events events;

    (void)state;
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = 0;
    session = start_kernel(EVENT_TRACE_FLAG_DBGPRINT | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    print(line);
    read_and_account(session, &events);
    assert_int_equal(count_of(&events, line), 1);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_line_is_recorded_once_with_its_writer),
        FOLDER_TEST(a_long_line_is_recorded_whole),
    };

    if (access("/dev/kmsg", W_OK) != 0) {
        (void)printf("skipped: the kernel's log may not be written to\n");
        return 77;
    }
    return RUN_KERNEL_TESTS("system debug print", tests);
}
