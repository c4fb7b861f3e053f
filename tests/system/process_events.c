/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/process_events.h"

#include <ck_pr.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "system/names/processes.h"

static const etwas_guid process_class = {
    0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

const struct event *next_of(const struct events *events, size_t *at, uint32_t process_id)
{
    while (*at < events->count) {
        const struct event *event = &events->items[(*at)++];

        if (memcmp(&event->record.EventHeader.ProviderId, &process_class, sizeof process_class) ==
                0 &&
            u32_at(event, 8) == process_id) {
            return event;
        }
    }
    return NULL;
}

uint8_t type_of(const struct event *event)
{
    return event->record.EventHeader.EventDescriptor.Opcode;
}

const char *name_of(const struct event *event)
{
    assert_true(event->record.UserDataLength > NAME_AT);
    return (const char *)event->payload + NAME_AT;
}

const char *command_line_of(const struct event *event)
{
    static char line[1 << 15];
    const uint8_t *wide = event->payload + NAME_AT + strlen(name_of(event)) + 1;
    size_t length = 0;

    while (length < sizeof line - 1 && wide[2 * length] != 0) {
        line[length] = (char)wide[2 * length];
        length++;
    }
    line[length] = 0;
    return line;
}

uint32_t flags_of(const struct event *event)
{
    return u32_at(event, 32);
}

const char *types_of(const struct events *events, uint32_t process_id)
{
    static char types[64];
    static const char letters[] = {'?', 'S', 'E', 's', 'e'};
    const struct event *event;
    size_t length = 0;
    size_t at = 0;

    while ((event = next_of(events, &at, process_id)) != NULL && length < sizeof types - 1) {
        types[length++] =
            (flags_of(event) & ETWAS_PROCESS_EXEC) != 0 ? 'x' : letters[type_of(event)];
    }
    types[length] = 0;
    return types;
}

void expect_types(const struct events *events, uint32_t process_id, const char *expected)
{
    assert_string_equal(types_of(events, process_id), expected);
}

void expect_same_process(const struct event *one, const struct event *other)
{
    assert_memory_equal(one->payload, other->payload, 20);
    assert_memory_equal(one->payload + SID_AT, other->payload + SID_AT, 16);
}

void expect_whole_lives(const struct events *events)
{
    enum {
        MOST = 1 << 22
    };
    uint8_t *alive = calloc(MOST, 1);

    assert_non_null(alive);
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        uint32_t process_id;

        if (memcmp(&event->record.EventHeader.ProviderId, &process_class, sizeof process_class) !=
            0) {
            continue;
        }
        process_id = u32_at(event, 8);
        assert_in_range(process_id, 1, MOST - 1);
        if ((flags_of(event) & ETWAS_PROCESS_EXEC) != 0) {
            assert_int_equal(alive[process_id], 1);
        } else {
            bool begins = type_of(event) == 1 || type_of(event) == 3;

            assert_int_equal(alive[process_id], begins ? 0 : 1);
            alive[process_id] = begins;
        }
    }
    for (uint32_t process_id = 0; process_id < MOST; process_id++) {
        assert_int_equal(alive[process_id], 0);
    }
    free(alive);
}

/* ---- the logger's pace ----------------------------------------------------------------------- */

/* How often the rings were read. */
static uint32_t drains;

uint32_t keep_rings_full;

static void wait_before_drain(enum etwas_testpoint point)
{
    while (point == ETWAS_POINT_SYSTEM_DRAINS && ck_pr_load_32(&keep_rings_full) != 0) {
        (void)usleep(1000);
    }
    if (point == ETWAS_POINT_SYSTEM_DRAINS) {
        ck_pr_inc_32(&drains);
    }
}

void await_drains(void)
{
    uint32_t before = ck_pr_load_32(&drains);

    while (ck_pr_load_32(&drains) - before < 3) {
        (void)usleep(1000);
    }
}

etwas_trace_handle start_processes(void)
{
    etwas_trace_handle session;

    etwas_testpoint_set(wait_before_drain);
    session = start_kernel(PROCESSES);
    await_drains();
    return session;
}

/* ---- programs -------------------------------------------------------------------------------- */

struct program run_program(const char *argument)
{
    struct program program;
    int input[2];
    int ran[2];
    char nothing;

    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    assert_int_equal(pipe2(ran, O_CLOEXEC), 0);
    program.process_id = fork();
    if (program.process_id == 0) {
        (void)dup2(input[0], STDIN_FILENO);
        (void)execl("/bin/sh", "a shell", "-c", "read line", argument, (char *)NULL);
        _exit(1);
    }
    assert_true(program.process_id > 0);
    (void)close(input[0]);
    (void)close(ran[1]);
    assert_int_equal(read(ran[0], &nothing, 1), 0);
    (void)close(ran[0]);
    program.input = input[1];
    return program;
}

void end_program(const struct program *program)
{
    (void)close(program->input);
    assert_int_equal(waitpid(program->process_id, NULL, 0), program->process_id);
}
