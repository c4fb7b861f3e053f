/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Runs at sched_process_exec. Reports the arguments of the new program, from its initial stack. The
 * texts of the arguments follow each other, from the beginning of the first to the end of the last.
 */
#include <stddef.h>

#include "system/bpf/program.h"
#include "system/bpf/reports.h"

extern char MAP_SCRATCH, MAP_OUTPUTS, GIVEN_STACK_POINTER_AT;

/* Returns the bytes of text that are read; the report says how many there are. */
INLINE uint64_t read_arguments(struct etwas_exec_report *report, uint64_t stack)
{
    /* In a 32-bit program, the upper half of the count is another word: the second read fails. */
    struct {
        uint64_t count;
        uint64_t first;
    } head;
    uint64_t last;
    uint64_t bytes;
    int64_t length;

    if (read_user(&head, sizeof head, stack) != 0 ||
        read_user(&last, sizeof last, stack + sizeof last * head.count) != 0) {
        return 0;
    }
    length = read_user_text(report->text, sizeof report->text, last);
    if (length < 0) {
        return 0;
    }
    length = length == 0 ? 1 : length; /* older kernels return 0 for an empty one */
    bytes = last - head.first + (uint64_t)length;
    report->bytes = bytes;
    if (bytes > ETWAS_EXEC_MOST_BYTES) {
        bytes = ETWAS_EXEC_MOST_BYTES;
    }
    if (read_user(report->text, (uint32_t)bytes, head.first) != 0) {
        report->bytes = 0; /* a page of the stack is not in memory */
        return 0;
    }
    return bytes;
}

PROGRAM(exec)(void *context)
{
    uint32_t key = 0;
    uint64_t stack = 0;
    struct etwas_exec_report *report = map_lookup(&MAP_SCRATCH, &key);

    if (report == NULL) {
        return 0;
    }
    report->bytes = 0;
    (void)current_name(report->name, sizeof report->name);
    (void)read_kernel(&stack, sizeof stack,
                      (uint64_t)task_registers(current_task()) + GIVEN(GIVEN_STACK_POINTER_AT));
    (void)output(context, &MAP_OUTPUTS, CURRENT_PROCESSOR, report,
                 read_arguments(report, stack) + offsetof(struct etwas_exec_report, text));
    return 0;
}
