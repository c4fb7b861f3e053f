/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/path_probe.h"

#include <limits.h>
#include <string.h>
#include <sys/user.h>
#include <unistd.h>

#include "system/names/file_calls.h"
#include "system/stream/bpf.h"

enum {
    CALLS = 512, /* more than the number of any call that has paths */
    LATE_ROOM = 1024,
    LATE_SHIFT = 32,
    SECOND_SHIFT = 16,
    REGISTER_MASK = 0xFFFF,
};

/* What the programs write, as far as the text goes: one path or two, each with its 0. */
struct report {
    struct said_head {
        uint64_t thread;
        uint64_t call;    /* its number; in the upper half whether it is late */
        uint64_t address; /* of the first path */
    } head;
    char text[2 * PATH_MAX + 8];
};

enum {
    HEAD_BYTES = offsetof(struct report, text),
};

/*
 * What the programs are given. PATHS: by the call's number, where in the registers the addresses of
 * its paths are: the first one's, and above SECOND_SHIFT the second one's; 0: the call has none.
 * LATE: by thread (another thread may have the same entry), the address of the path whose text was
 * not in memory, and above LATE_SHIFT its call.
 */
enum {
    PATHS,
    LATE,
    SCRATCH,
    MAPS,
    OUTPUTS = MAPS,
    OWN_THREAD,
    GIVEN
};

/* The offset of the register of an argument, counted from 1. */
static uint32_t register_of(uint8_t argument)
{
#if defined(__x86_64__)
    static const uint8_t places[] = {
        [1] = offsetof(struct user_regs_struct, rdi),
        [2] = offsetof(struct user_regs_struct, rsi),
        [3] = offsetof(struct user_regs_struct, rdx),
        [4] = offsetof(struct user_regs_struct, r10),
    };

    return argument < sizeof places ? places[argument] : 0;
#else
    return argument == 0 ? 0
                         : (uint32_t)sizeof(uint64_t) *
                               (argument - 1U); /* not the first argument of any call */
#endif
}

/* ---- the programs ---------------------------------------------------------------------------- */

/* Registers that belong to the programs. */
enum {
    CONTEXT = 6,
    REPORT = 7,
    WHERE = 8,     /* the entry of PATHS */
    REGISTERS = 9, /* of the thread in its system call */
    BYTES = 9,     /* after the registers were read: the length of the text */
};

/* Offsets in the frame. */
enum {
    CALL_AT = -8,
    THREAD_AT = -16,
    KEY_AT = -24,
    FIRST_PATH_AT = -32,
    SECOND_PATH_AT = -40,
    LATE_AT = -48,
};

/* clang-format off */
#define LOOK_UP(map, key_at) \
    ETWAS_BPF_MAP(FIRST, map), ETWAS_BPF_COPY(SECOND, FRAME), \
    ETWAS_BPF_ADD_NUMBER(SECOND, key_at), ETWAS_BPF_CALL(BPF_FUNC_map_lookup_elem)

#define LOOK_UP_LATE \
    ETWAS_BPF_LOAD(FIRST, FRAME, THREAD_AT), ETWAS_BPF_AND(FIRST, LATE_ROOM - 1), \
    ETWAS_BPF_STORE(FRAME, KEY_AT, FIRST), \
    LOOK_UP(LATE, KEY_AT)

#define LEAVE ETWAS_BPF_SET(RESULT, 0), ETWAS_BPF_EXIT

/* WHERE = the entry of the call */
#define FIND_PATHS \
    LOOK_UP(PATHS, CALL_AT), \
    ETWAS_BPF_SKIP_IF(BPF_JNE, RESULT, 0, 1), ETWAS_BPF_EXIT, \
    ETWAS_BPF_LOAD_U32(WHERE, RESULT, 0)

#define LOAD_REGISTER(to_at)  /* which is in THIRD */ \
    ETWAS_BPF_ADD(THIRD, REGISTERS), \
    ETWAS_BPF_COPY(FIRST, FRAME), ETWAS_BPF_ADD_NUMBER(FIRST, to_at), ETWAS_BPF_SET(SECOND, 8), \
    ETWAS_BPF_CALL(BPF_FUNC_probe_read_kernel)

/* Reads the paths and writes them; the next instructions run if one cannot be read. */
#define WRITE_PATHS \
    ETWAS_BPF_STORE_NUMBER(FRAME, KEY_AT, 0), \
    LOOK_UP(SCRATCH, KEY_AT), \
    ETWAS_BPF_SKIP_IF(BPF_JNE, RESULT, 0, 1), ETWAS_BPF_EXIT, \
    ETWAS_BPF_COPY(REPORT, RESULT), \
    ETWAS_BPF_LOAD(FIRST, FRAME, THREAD_AT), \
    ETWAS_BPF_STORE(REPORT, offsetof(struct report, head.thread), FIRST), \
    ETWAS_BPF_LOAD(FIRST, FRAME, CALL_AT), \
    ETWAS_BPF_STORE(REPORT, offsetof(struct report, head.call), FIRST), \
    ETWAS_BPF_LOAD(REGISTERS, CONTEXT, 0), \
    ETWAS_BPF_COPY(THIRD, WHERE), ETWAS_BPF_AND(THIRD, REGISTER_MASK), \
    LOAD_REGISTER(FIRST_PATH_AT), \
    ETWAS_BPF_COPY(THIRD, WHERE), ETWAS_BPF_SHIFT_RIGHT(THIRD, SECOND_SHIFT), \
    LOAD_REGISTER(SECOND_PATH_AT), \
    ETWAS_BPF_LOAD(THIRD, FRAME, FIRST_PATH_AT), \
    ETWAS_BPF_STORE(REPORT, offsetof(struct report, head.address), THIRD), \
    ETWAS_BPF_COPY(FIRST, REPORT), ETWAS_BPF_ADD_NUMBER(FIRST, HEAD_BYTES), \
    ETWAS_BPF_SET(SECOND, PATH_MAX), ETWAS_BPF_CALL(BPF_FUNC_probe_read_user_str), \
    ETWAS_BPF_SKIP_IF(BPF_JSLE, RESULT, 0, 22), \
    ETWAS_BPF_COPY(BYTES, RESULT), \
    \
    ETWAS_BPF_COPY(FIRST, WHERE), ETWAS_BPF_SHIFT_RIGHT(FIRST, SECOND_SHIFT), \
    ETWAS_BPF_SKIP_IF(BPF_JEQ, FIRST, 0, 8), \
    ETWAS_BPF_COPY(FIRST, REPORT), ETWAS_BPF_ADD_NUMBER(FIRST, HEAD_BYTES), \
    ETWAS_BPF_ADD(FIRST, BYTES), ETWAS_BPF_SET(SECOND, PATH_MAX), \
    ETWAS_BPF_LOAD(THIRD, FRAME, SECOND_PATH_AT), \
    ETWAS_BPF_CALL(BPF_FUNC_probe_read_user_str), \
    ETWAS_BPF_SKIP_IF(BPF_JSLE, RESULT, 0, 11), \
    ETWAS_BPF_ADD(BYTES, RESULT), \
    \
    ETWAS_BPF_COPY(FIRST, CONTEXT), \
    ETWAS_BPF_MAP(SECOND, OUTPUTS), \
    ETWAS_BPF_SET_U32(THIRD, -1), /* BPF_F_CURRENT_CPU */ \
    ETWAS_BPF_COPY(FOURTH, REPORT), \
    ETWAS_BPF_COPY(FIFTH, BYTES), ETWAS_BPF_ADD_NUMBER(FIFTH, HEAD_BYTES), \
    ETWAS_BPF_CALL(BPF_FUNC_perf_event_output), \
    LEAVE

/* Every system call of the machine runs this, so it first checks whether the call has paths. */
static const struct bpf_insn enter_program[] = {
    ETWAS_BPF_COPY(CONTEXT, FIRST),
    ETWAS_BPF_LOAD(FIRST, CONTEXT, 8), ETWAS_BPF_STORE(FRAME, CALL_AT, FIRST),
    FIND_PATHS,
    ETWAS_BPF_SKIP_IF(BPF_JNE, WHERE, 0, 2),
    LEAVE,
    ETWAS_BPF_CALL(BPF_FUNC_get_current_pid_tgid),
    ETWAS_BPF_GIVEN(FIRST, OWN_THREAD),
    ETWAS_BPF_SKIP_IF_OTHER_U32(RESULT, FIRST, 2),
    LEAVE,
    ETWAS_BPF_COPY_U32(RESULT, RESULT), ETWAS_BPF_STORE(FRAME, THREAD_AT, RESULT),
    WRITE_PATHS,

    ETWAS_BPF_LOAD(FIRST, FRAME, CALL_AT), ETWAS_BPF_SHIFT_LEFT(FIRST, LATE_SHIFT),
    ETWAS_BPF_LOAD(SECOND, FRAME, THREAD_AT), ETWAS_BPF_OR(FIRST, SECOND),
    ETWAS_BPF_STORE(FRAME, LATE_AT, FIRST),
    LOOK_UP_LATE,
    ETWAS_BPF_SKIP_IF(BPF_JEQ, RESULT, 0, 2),
    ETWAS_BPF_LOAD(FIRST, FRAME, LATE_AT), ETWAS_BPF_STORE(RESULT, 0, FIRST),
    LEAVE,
};

static const struct bpf_insn leave_program[] = {
    ETWAS_BPF_COPY(CONTEXT, FIRST),
    ETWAS_BPF_CALL(BPF_FUNC_get_current_pid_tgid),
    ETWAS_BPF_COPY_U32(RESULT, RESULT), ETWAS_BPF_STORE(FRAME, THREAD_AT, RESULT),
    LOOK_UP_LATE,
    ETWAS_BPF_SKIP_IF(BPF_JNE, RESULT, 0, 1),
    ETWAS_BPF_EXIT,
    ETWAS_BPF_LOAD(FIRST, RESULT, 0), ETWAS_BPF_LOAD(SECOND, FRAME, THREAD_AT),
    ETWAS_BPF_SKIP_IF_OTHER_U32(FIRST, SECOND, 1),
    ETWAS_BPF_SKIP(2),
    LEAVE,
    ETWAS_BPF_STORE_NUMBER(RESULT, 0, 0),
    ETWAS_BPF_SHIFT_RIGHT(FIRST, LATE_SHIFT), ETWAS_BPF_STORE(FRAME, CALL_AT, FIRST),
    FIND_PATHS,
    ETWAS_BPF_LOAD(FIRST, FRAME, CALL_AT),
    ETWAS_BPF_SET(SECOND, 1), ETWAS_BPF_SHIFT_LEFT(SECOND, LATE_SHIFT),
    ETWAS_BPF_OR(FIRST, SECOND), ETWAS_BPF_STORE(FRAME, CALL_AT, FIRST),
    WRITE_PATHS,
    LEAVE,
};
/* clang-format on */

/* ---- opening --------------------------------------------------------------------------------- */

static bool fill_paths(int map)
{
    bool good = true;

    for (uint32_t number = 0; number < CALLS; number++) {
        const struct etwas_file_call *call = etwas_file_call_of(number);

        if (call != NULL && call->path != 0) {
            good = good && etwas_bpf_map_set(map, number,
                                             register_of(call->path) |
                                                 register_of(call->second_path) << SECOND_SHIFT);
        }
    }
    return good;
}

#define PROGRAM(code, given)                                                                       \
    etwas_bpf_program(BPF_PROG_TYPE_RAW_TRACEPOINT, code, sizeof(code) / sizeof *(code), given)

bool etwas_path_probe_open(struct etwas_probe *probe, uint32_t processors, uint32_t own_thread)
{
    bool good = etwas_probe_begin(probe, processors);
    const int given[GIVEN] = {
        [PATHS] = etwas_bpf_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), CALLS),
        [LATE] = etwas_bpf_map(BPF_MAP_TYPE_ARRAY, sizeof(uint64_t), LATE_ROOM),
        [SCRATCH] = etwas_bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(struct report), 1),
        [OUTPUTS] = probe->outputs,
        [OWN_THREAD] = (int)own_thread,
    };

    for (uint32_t map = 0; map < MAPS; map++) {
        good = good && given[map] >= 0;
    }
    good = good && fill_paths(given[PATHS]) &&
           etwas_probe_attach(probe, PROGRAM(enter_program, given), "sys_enter") &&
           etwas_probe_attach(probe, PROGRAM(leave_program, given), "sys_exit");
    for (uint32_t map = 0; map < MAPS; map++) {
        if (given[map] >= 0) {
            (void)close(given[map]);
        }
    }
    if (!good) {
        etwas_probe_close(probe);
    }
    return good;
}

bool etwas_path_decode(const struct etwas_sample *sample,
                       struct etwas_process_record *process_record)
{
    const char *text = (const char *)sample->raw + HEAD_BYTES;
    struct said_head report;
    size_t left;
    size_t length;

    if (sample->raw_bytes < HEAD_BYTES) {
        return false;
    }
    memcpy(&report, sample->raw, sizeof report);
    left = sample->raw_bytes - HEAD_BYTES;
    length = strnlen(text, left);
    if (length == left) {
        return false;
    }
    *process_record = (struct etwas_process_record){.origin = sample->origin,
                                                    .type = PERF_RECORD_SAMPLE,
                                                    .process_id = sample->origin.process_id,
                                                    .thread_id = sample->origin.thread_id};
    process_record->path.thread = (uint32_t)report.thread;
    process_record->path.call = (uint32_t)report.call;
    process_record->path.is_late = report.call >> LATE_SHIFT != 0;
    process_record->path.address = report.address;
    process_record->path.first = text;
    text += length + 1;
    left -= length + 1;
    process_record->path.second = strnlen(text, left) < left ? text : NULL;
    return true;
}
