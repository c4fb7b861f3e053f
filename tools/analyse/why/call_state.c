/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system call that a thread is in, from SysClEnter and SysClExit, and its operation on files,
 * from events of FileIo. The latter, and data that is sent or received meanwhile, show which files
 * and sockets they work on.
 *
 * A call and its operation begin and end together; either may be recorded first.
 */

#include "analyse/why/why.h"

static void begin_call(const struct etwas_why *why, struct etwas_why_call_state *call_state,
                       int64_t time_ns)
{
    *call_state = (struct etwas_why_call_state){
        .is_open = true, .since_ns = time_ns, .gap_ns = why->schedule.gap_ns};
}

static void enter(const struct etwas_why *why, struct etwas_why_call_state *call_state,
                  const struct etwas_kernel_event *event, int64_t time_ns)
{
    if (call_state->has_call || !call_state->is_open ||
        call_state->gap_ns != why->schedule.gap_ns) {
        begin_call(why, call_state, time_ns);
    }
    call_state->has_call = true;
    call_state->call = event->call;
}

static void begin_operation(struct etwas_why *why, const struct etwas_input *input,
                            struct etwas_why_call_state *call_state,
                            const struct etwas_kernel_event *event, int64_t time_ns)
{
    bool goes_on = call_state->is_open && call_state->gap_ns == why->schedule.gap_ns &&
                   (!call_state->has_operation || call_state->operation == event->operation);

    if (!goes_on) {
        begin_call(why, call_state, time_ns);
    }
    why->has_files |= why->has_calls;
    if (!call_state->has_operation) {
        call_state->operation_since_ns = time_ns;
    }
    call_state->has_operation = true;
    call_state->operation = event->operation;
    call_state->input = input->number;
    if (event->file != 0 && call_state->file_count < ETWAS_WHY_FILES) {
        call_state->files[call_state->file_count++] = event->file;
    }
}

/*
 * Ends a call or operation. If its beginning was not recorded (`is_known` is false), its waits are
 * attributed to nothing.
 */
static void end_call(struct etwas_why *why, uint32_t number, bool is_known, bool is_operation)
{
    struct etwas_why_thread *thread = &why->threads[number];
    struct etwas_why_chosen *chosen = NULL;

    while (thread->has_pending && (chosen = etwas_why_next_chosen(why, number, chosen)) != NULL) {
        etwas_why_settle(why, chosen, is_known ? &thread->call_state : NULL, is_operation);
    }
    thread->has_pending = false;
    thread->call_state.is_open = false;
    thread->call_state.has_call = false;
    thread->call_state.has_operation = false;
}

static void use_socket(struct etwas_why_call_state *call_state,
                       const struct etwas_kernel_event *event, int64_t time_ns,
                       const struct etwas_schedule_thread *thread)
{
    if (!call_state->is_open ||
        (thread->has_process && event->process != 0 && thread->process != event->process)) {
        return;
    }
    call_state->has_more_sockets |=
        call_state->has_socket && !etwas_why_is_same_socket(&call_state->socket, &event->socket);
    call_state->has_socket = true;
    call_state->socket_processor = event->processor;
    call_state->socket_ns = time_ns;
    call_state->socket = event->socket;
}

void etwas_why_do(struct etwas_why *why, const struct etwas_input *input,
                  const struct etwas_kernel_event *event, int64_t time_ns, uint32_t number)
{
    struct etwas_why_call_state *call_state = &why->threads[number].call_state;

    switch (event->kind) {
    case ETWAS_KERNEL_CALL_ENTER:
        enter(why, call_state, event, time_ns);
        break;
    case ETWAS_KERNEL_CALL_EXIT:
        end_call(why, number, call_state->has_call, false);
        break;
    case ETWAS_KERNEL_FILE_BEGIN:
        begin_operation(why, input, call_state, event, time_ns);
        break;
    case ETWAS_KERNEL_FILE_END:
        why->has_files |= call_state->has_operation;
        end_call(why, number,
                 call_state->has_operation && call_state->operation == event->operation, true);
        break;
    case ETWAS_KERNEL_SOCKET:
        why->has_sockets = true;
        use_socket(call_state, event, time_ns, &why->schedule.threads[number]);
        break;
    default:
        break;
    }
}
