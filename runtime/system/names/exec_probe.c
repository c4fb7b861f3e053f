/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/exec_probe.h"

#include <string.h>
#include <sys/user.h>
#include <unistd.h>

#include "system/stream/bpf.h"

/* What the program writes: as much text as fits, arguments with a 0 behind each. */
struct report {
    uint64_t bytes; /* of all arguments, also those that did not fit; 0: not known */
    char name[16];
    char text[ETWAS_EXEC_MOST_BYTES + 8]; /* with room for the last argument to be too long */
};

enum {
    HEAD_BYTES = offsetof(struct report, text),
    LAST_BYTES = sizeof((struct report *)NULL)->text,
#if defined(__x86_64__)
    STACK_POINTER_AT = offsetof(struct user_regs_struct, rsp),
#else
    STACK_POINTER_AT = offsetof(struct user_regs_struct, sp),
#endif
};

/* Registers that belong to the program. */
enum {
    CONTEXT = 6,
    REPORT = 7,
    STACK = 8, /* the stack of the new program: a count, pointers to its arguments, a 0 */
    BYTES = 9,
};

/* Offsets in its frame. */
enum {
    COUNT_AT = -24, /* with the next word of the stack */
    FIRST_ARGUMENT_AT = -16,
    POINTER_AT = -8,
};

/* Indices of what it is given. */
enum {
    SCRATCH,
    OUTPUTS,
    GIVEN
};

/* clang-format off */
#define CALL_READ(function, to, offset, bytes)  /* from the address in THIRD */ \
    ETWAS_BPF_COPY(FIRST, to), ETWAS_BPF_ADD_NUMBER(FIRST, offset), \
    ETWAS_BPF_SET(SECOND, bytes), ETWAS_BPF_CALL(function)

/*
 * The texts of the arguments follow each other, from the beginning of the first to the end of the
 * last.
 */
static const struct bpf_insn code[] = {
    ETWAS_BPF_COPY(CONTEXT, FIRST),

    /* REPORT = this processor's scratch; nothing is known yet */
    ETWAS_BPF_STORE_NUMBER(FRAME, POINTER_AT, 0),
    ETWAS_BPF_MAP(FIRST, SCRATCH),
    ETWAS_BPF_COPY(SECOND, FRAME), ETWAS_BPF_ADD_NUMBER(SECOND, POINTER_AT),
    ETWAS_BPF_CALL(BPF_FUNC_map_lookup_elem),
    ETWAS_BPF_SKIP_IF(BPF_JNE, RESULT, 0, 1),
    ETWAS_BPF_EXIT,
    ETWAS_BPF_COPY(REPORT, RESULT),
    ETWAS_BPF_COPY(FIRST, REPORT), ETWAS_BPF_ADD_NUMBER(FIRST, offsetof(struct report, name)),
    ETWAS_BPF_SET(SECOND, sizeof((struct report *)NULL)->name),
    ETWAS_BPF_CALL(BPF_FUNC_get_current_comm),

    /* STACK = the stack pointer that the thread will have */
    ETWAS_BPF_CALL(BPF_FUNC_get_current_task_btf),
    ETWAS_BPF_COPY(FIRST, RESULT),
    ETWAS_BPF_CALL(BPF_FUNC_task_pt_regs),
    ETWAS_BPF_COPY(THIRD, RESULT), ETWAS_BPF_ADD_NUMBER(THIRD, STACK_POINTER_AT),
    CALL_READ(BPF_FUNC_probe_read_kernel, FRAME, POINTER_AT, 8),
    ETWAS_BPF_LOAD(STACK, FRAME, POINTER_AT),

    /*
     * The count, and the address of the first text. For a 32-bit program the count has another word
     * above it, and nothing is read below.
     */
    ETWAS_BPF_COPY(THIRD, STACK),
    CALL_READ(BPF_FUNC_probe_read_user, FRAME, COUNT_AT, 16),
    ETWAS_BPF_SKIP_IF(BPF_JNE, RESULT, 0, 28),

    /* BYTES = the address of the last text: the pointers follow the count */
    ETWAS_BPF_LOAD(THIRD, FRAME, COUNT_AT),
    ETWAS_BPF_SHIFT_LEFT(THIRD, 3), ETWAS_BPF_ADD(THIRD, STACK),
    CALL_READ(BPF_FUNC_probe_read_user, FRAME, POINTER_AT, 8),
    ETWAS_BPF_SKIP_IF(BPF_JNE, RESULT, 0, 20),
    ETWAS_BPF_LOAD(BYTES, FRAME, POINTER_AT),

    /* RESULT = its length with the 0; older kernels return 0 for an empty one */
    ETWAS_BPF_COPY(THIRD, BYTES),
    CALL_READ(BPF_FUNC_probe_read_user_str, REPORT, HEAD_BYTES, LAST_BYTES),
    ETWAS_BPF_SKIP_IF(BPF_JSLT, RESULT, 0, 13),
    ETWAS_BPF_SKIP_IF(BPF_JNE, RESULT, 0, 1),
    ETWAS_BPF_SET(RESULT, 1),

    /* BYTES = the length of all texts; as many bytes are read as there is room for */
    ETWAS_BPF_LOAD(THIRD, FRAME, FIRST_ARGUMENT_AT),
    ETWAS_BPF_SUBTRACT(BYTES, THIRD), ETWAS_BPF_ADD(BYTES, RESULT),
    ETWAS_BPF_STORE(REPORT, 0, BYTES),
    ETWAS_BPF_SKIP_IF(BPF_JLE, BYTES, ETWAS_EXEC_MOST_BYTES, 1),
    ETWAS_BPF_SET(BYTES, ETWAS_EXEC_MOST_BYTES),
    ETWAS_BPF_COPY(FIRST, REPORT), ETWAS_BPF_ADD_NUMBER(FIRST, HEAD_BYTES),
    ETWAS_BPF_COPY(SECOND, BYTES),
    ETWAS_BPF_CALL(BPF_FUNC_probe_read_user),
    ETWAS_BPF_SKIP_IF(BPF_JEQ, RESULT, 0, 2),

    /* They cannot be read: a page of the stack is not in memory. */
    ETWAS_BPF_STORE_NUMBER(REPORT, 0, 0),
    ETWAS_BPF_SET(BYTES, 0),

    ETWAS_BPF_COPY(FIRST, CONTEXT),
    ETWAS_BPF_MAP(SECOND, OUTPUTS),
    ETWAS_BPF_SET_U32(THIRD, -1), /* BPF_F_CURRENT_CPU */
    ETWAS_BPF_COPY(FOURTH, REPORT),
    ETWAS_BPF_COPY(FIFTH, BYTES), ETWAS_BPF_ADD_NUMBER(FIFTH, HEAD_BYTES),
    ETWAS_BPF_CALL(BPF_FUNC_perf_event_output),
    ETWAS_BPF_SET(RESULT, 0),
    ETWAS_BPF_EXIT,
};
/* clang-format on */

bool etwas_exec_probe_open(struct etwas_probe *probe, uint32_t processors)
{
    bool good = etwas_probe_begin(probe, processors);
    const int given[GIVEN] = {
        [SCRATCH] = etwas_bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(struct report), 1),
        [OUTPUTS] = probe->outputs,
    };

    good = good && given[SCRATCH] >= 0 &&
           etwas_probe_attach(probe,
                              etwas_bpf_program(BPF_PROG_TYPE_RAW_TRACEPOINT, code,
                                                sizeof code / sizeof *code, given),
                              "sched_process_exec");
    if (given[SCRATCH] >= 0) {
        (void)close(given[SCRATCH]);
    }
    if (!good) {
        etwas_probe_close(probe);
    }
    return good;
}

bool etwas_exec_decode(const struct etwas_sample *sample,
                       struct etwas_process_record *process_record)
{
    uint64_t bytes;

    if (sample->raw_bytes < HEAD_BYTES) {
        return false;
    }
    memcpy(&bytes, sample->raw, sizeof bytes);
    *process_record = (struct etwas_process_record){.origin = sample->origin,
                                                    .type = PERF_RECORD_SAMPLE,
                                                    .process_id = sample->origin.process_id,
                                                    .thread_id = sample->origin.thread_id};
    process_record->exec.is_cut = bytes > ETWAS_EXEC_MOST_BYTES;
    process_record->exec.bytes =
        process_record->exec.is_cut ? ETWAS_EXEC_MOST_BYTES : (uint32_t)bytes;
    process_record->exec.name = (const char *)sample->raw + offsetof(struct report, name);
    process_record->exec.arguments = (const char *)sample->raw + HEAD_BYTES;
    return process_record->exec.bytes <= sample->raw_bytes - HEAD_BYTES &&
           memchr(process_record->exec.name, 0, sizeof((struct report *)NULL)->name) != NULL;
}
