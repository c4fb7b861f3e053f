/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/bpf_probes.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/user.h>
#include <unistd.h>

#include "system/bpf/reports.h"
#include "system/names/file_calls.h"
#include "system/stream/probe.h"

enum {
    CALLS = 512, /* more than the number of any call that has paths */
    HEAD_BYTES = offsetof(struct etwas_path_report, text),
};
_Static_assert((int)ETWAS_PATH_MOST_BYTES == PATH_MAX, "the longest path");

/* Indices of the maps and numbers that the loader passes to the programs (bpf/paths.bpf.c). */
enum {
    MAP_PATHS,
    MAP_LATE,
    MAP_SCRATCH,
    MAPS,
    MAP_OUTPUTS = MAPS,
    GIVEN_OWN_THREAD,
    GIVEN
};

#include "system/bpf/paths.bpf.h"

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
                               (argument - 1U); /* no call has a path as its first argument here */
#endif
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool fill_paths(int map)
{
    bool good = true;

    for (uint32_t number = 0; number < CALLS; number++) {
        const struct etwas_file_call *call = etwas_file_call_of(number);

        if (call != NULL && call->path != 0) {
            good =
                good && etwas_bpf_map_set(map, number,
                                          register_of(call->path) | register_of(call->second_path)
                                                                        << ETWAS_PATH_SECOND_SHIFT);
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
        [MAP_PATHS] = etwas_bpf_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), CALLS),
        [MAP_LATE] = etwas_bpf_map(BPF_MAP_TYPE_ARRAY, sizeof(uint64_t), ETWAS_PATH_LATE_ROOM),
        [MAP_SCRATCH] =
            etwas_bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(struct etwas_path_report), 1),
        [MAP_OUTPUTS] = probe->outputs,
        [GIVEN_OWN_THREAD] = (int)own_thread,
    };

    for (uint32_t map = 0; map < MAPS; map++) {
        good = good && given[map] >= 0;
    }
    good = good && fill_paths(given[MAP_PATHS]) &&
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
    struct etwas_path_report_head report;
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
    process_record->path.is_late = report.call >> ETWAS_PATH_LATE_SHIFT != 0;
    process_record->path.address = report.address;
    process_record->path.first = text;
    text += length + 1;
    left -= length + 1;
    process_record->path.second = strnlen(text, left) < left ? text : NULL;
    return true;
}
