/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Runs at sys_enter and sys_exit. Reports the paths that calls are given.
 *
 *     MAP_PATHS    by number of the call: the offset of the register with the address of its first
 *                  path, and above SECOND_SHIFT that of the second; 0: the call has none
 *     MAP_LATE     by thread (threads may share an entry): the thread whose path was not in memory,
 *                  and above LATE_SHIFT its call
 */
#include <stdbool.h>
#include <stddef.h>

#include "system/bpf/program.h"
#include "system/bpf/reports.h"

extern char MAP_PATHS, MAP_LATE, MAP_SCRATCH, MAP_OUTPUTS, GIVEN_OWN_THREAD;

/* The context of the tracepoint: the registers, and the number of the call. */
struct call_context {
    uint64_t registers;
    uint64_t number;
};

/* Returns false if a path cannot be read now. */
INLINE bool write_paths(struct call_context *context, uint64_t thread, uint64_t call,
                        uint32_t where)
{
    const uint32_t second_at = where >> ETWAS_PATH_SECOND_SHIFT;
    uint32_t key = 0;
    uint64_t first = 0;
    uint64_t second = 0;
    uint64_t bytes;
    int64_t length;
    struct etwas_path_report *report = map_lookup(&MAP_SCRATCH, &key);

    if (report == NULL) {
        return true;
    }
    report->head.thread = thread;
    report->head.call = call;
    (void)read_kernel(&first, sizeof first,
                      context->registers + (where & ETWAS_PATH_REGISTER_MASK));
    (void)read_kernel(&second, sizeof second, context->registers + second_at);
    report->head.address = first;
    length = read_user_text(report->text, ETWAS_PATH_MOST_BYTES, first);
    if (length <= 0) {
        return false;
    }
    bytes = (uint64_t)length;
    if (second_at != 0) {
        length = read_user_text(report->text + bytes, ETWAS_PATH_MOST_BYTES, second);
        if (length <= 0) {
            return false;
        }
        bytes += (uint64_t)length;
    }
    (void)output(context, &MAP_OUTPUTS, CURRENT_PROCESSOR, report,
                 bytes + offsetof(struct etwas_path_report, text));
    return true;
}

INLINE uint64_t *late_of(uint64_t thread)
{
    uint32_t key = (uint32_t)thread & (ETWAS_PATH_LATE_ROOM - 1);

    return map_lookup(&MAP_LATE, &key);
}

/* Every system call of the machine runs this, so it first checks whether the call has paths. */
PROGRAM(enter)(struct call_context *context)
{
    const uint64_t call = context->number;
    uint32_t key = (uint32_t)call;
    const uint32_t *where = map_lookup(&MAP_PATHS, &key);
    uint64_t thread;
    uint64_t *late;

    if (where == NULL || *where == 0) {
        return 0;
    }
    thread = (uint32_t)current_ids();
    if (thread == GIVEN(GIVEN_OWN_THREAD) || write_paths(context, thread, call, *where)) {
        return 0;
    }
    late = late_of(thread);
    if (late != NULL) {
        *late = call << ETWAS_PATH_LATE_SHIFT | thread;
    }
    return 0;
}

PROGRAM(leave)(struct call_context *context)
{
    const uint64_t thread = (uint32_t)current_ids();
    uint64_t *late = late_of(thread);
    const uint32_t *where;
    uint32_t key;

    if (late == NULL || (uint32_t)*late != thread) {
        return 0;
    }
    key = (uint32_t)(*late >> ETWAS_PATH_LATE_SHIFT);
    *late = 0;
    where = map_lookup(&MAP_PATHS, &key);
    if (where != NULL) {
        (void)write_paths(context, thread, key | UINT64_C(1) << ETWAS_PATH_LATE_SHIFT, *where);
    }
    return 0;
}
