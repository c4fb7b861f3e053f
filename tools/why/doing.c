/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system call that a thread is in, by SysClEnter and SysClExit, and the operation on files, by FileIo's
 * events; what they are on, by the latter and by what is sent and received meanwhile.
 *
 * A call and its operation begin together, and end so; which of both is told first is not said.
 */

#include "why/why.h"

static void begin(const struct etwas_why *why, struct etwas_why_doing *doing, int64_t time_ns)
{
    *doing = (struct etwas_why_doing){
        .is_open = true, .since_ns = time_ns, .gap_ns = why->schedule.gap_ns};
}

static void enter(const struct etwas_why *why, struct etwas_why_doing *doing,
                  const struct etwas_kernel_event *event, int64_t time_ns)
{
    if (doing->has_call || !doing->is_open || doing->gap_ns != why->schedule.gap_ns) {
        begin(why, doing, time_ns);
    }
    doing->has_call = true;
    doing->call = event->call;
}

static void begin_operation(struct etwas_why *why, const struct etwas_input *input,
                            struct etwas_why_doing *doing, const struct etwas_kernel_event *event,
                            int64_t time_ns)
{
    bool goes_on = doing->is_open && doing->gap_ns == why->schedule.gap_ns &&
                   (!doing->has_operation || doing->operation == event->operation);

    if (!goes_on) {
        begin(why, doing, time_ns);
    }
    why->has_files |= why->has_calls;
    if (!doing->has_operation) {
        doing->operation_since_ns = time_ns;
    }
    doing->has_operation = true;
    doing->operation = event->operation;
    doing->input = input->number;
    if (event->file != 0 && doing->file_count < ETWAS_WHY_FILES) {
        doing->files[doing->file_count++] = event->file;
    }
}

/* Of whose end nobody saw the beginning, nothing is known. */
static void end(struct etwas_why *why, uint32_t number, bool is_known, bool is_operation)
{
    struct etwas_why_thread *thread = &why->threads[number];
    struct etwas_why_chosen *chosen = NULL;

    while (thread->has_pending && (chosen = etwas_why_next_chosen(why, number, chosen)) != NULL) {
        etwas_why_settle(why, chosen, is_known ? &thread->doing : NULL, is_operation);
    }
    thread->has_pending = false;
    thread->doing.is_open = false;
    thread->doing.has_call = false;
    thread->doing.has_operation = false;
}

static void use_socket(struct etwas_why_doing *doing, const struct etwas_kernel_event *event,
                       int64_t time_ns, const struct etwas_schedule_thread *thread)
{
    if (!doing->is_open ||
        (thread->has_process && event->process != 0 && thread->process != event->process)) {
        return;
    }
    doing->has_more_sockets |=
        doing->has_socket && !etwas_why_is_same_socket(&doing->socket, &event->socket);
    doing->has_socket = true;
    doing->socket_processor = event->processor;
    doing->socket_ns = time_ns;
    doing->socket = event->socket;
}

void etwas_why_do(struct etwas_why *why, const struct etwas_input *input,
                  const struct etwas_kernel_event *event, int64_t time_ns, uint32_t number)
{
    struct etwas_why_doing *doing = &why->threads[number].doing;

    switch (event->kind) {
    case ETWAS_KERNEL_CALL_ENTER:
        enter(why, doing, event, time_ns);
        break;
    case ETWAS_KERNEL_CALL_EXIT:
        end(why, number, doing->has_call, false);
        break;
    case ETWAS_KERNEL_FILE_BEGIN:
        begin_operation(why, input, doing, event, time_ns);
        break;
    case ETWAS_KERNEL_FILE_END:
        why->has_files |= doing->has_operation;
        end(why, number, doing->has_operation && doing->operation == event->operation, true);
        break;
    case ETWAS_KERNEL_SOCKET:
        why->has_sockets = true;
        use_socket(doing, event, time_ns, &why->schedule.threads[number]);
        break;
    default:
        break;
    }
}
