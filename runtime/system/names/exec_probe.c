/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/bpf_probes.h"

#include <string.h>
#include <sys/user.h>
#include <unistd.h>

#include "system/stream/probe.h"

/* Indices of the maps and numbers that the loader passes to the program. */
enum {
    MAP_SCRATCH,
    MAP_OUTPUTS,
    GIVEN_STACK_POINTER_AT,
    GIVEN
};

#include "system/bpf/exec.bpf.h"

enum {
    HEAD_BYTES = offsetof(struct etwas_exec_report, text),
#if defined(__x86_64__)
    STACK_POINTER_AT = offsetof(struct user_regs_struct, rsp),
#else
    STACK_POINTER_AT = offsetof(struct user_regs_struct, sp),
#endif
};

bool etwas_exec_probe_open(struct etwas_probe *probe, uint32_t processors)
{
    bool good = etwas_probe_begin(probe, processors);
    const int given[GIVEN] = {
        [MAP_SCRATCH] =
            etwas_bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(struct etwas_exec_report), 1),
        [MAP_OUTPUTS] = probe->outputs,
        [GIVEN_STACK_POINTER_AT] = STACK_POINTER_AT,
    };

    good = good && given[MAP_SCRATCH] >= 0 &&
           etwas_probe_attach(probe,
                              etwas_bpf_program(BPF_PROG_TYPE_RAW_TRACEPOINT, exec_program,
                                                sizeof exec_program / sizeof *exec_program, given),
                              "sched_process_exec");
    if (given[MAP_SCRATCH] >= 0) {
        (void)close(given[MAP_SCRATCH]);
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
    process_record->exec.name =
        (const char *)sample->raw + offsetof(struct etwas_exec_report, name);
    process_record->exec.arguments = (const char *)sample->raw + HEAD_BYTES;
    return process_record->exec.bytes <= sample->raw_bytes - HEAD_BYTES &&
           memchr(process_record->exec.name, 0, sizeof((struct etwas_exec_report *)NULL)->name) !=
               NULL;
}
