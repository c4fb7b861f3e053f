/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records of a ring, decoded: who, when and on which processor, and
 *
 *     PERF_RECORD_SAMPLE          a tracepoint was passed, or an interval is over
 *     FORK, EXIT, COMM, MMAP2     what happened to processes, threads and their images
 *     SWITCH                      a thread got a processor, or gave it away
 *                                 (of probe.h a sample says such a thing, too)
 *
 * All events of a ring have ETWAS_SAMPLE_ALWAYS, so that it can be said of which one a record is
 * before anything else of it is known. Each has what it wants besides of ETWAS_SAMPLE_KNOWN.
 *
 * Nothing is copied: what is decoded points into the record. A record that ends before what it
 * should have is refused.
 */
#ifndef ETWAS_SYSTEM_STREAM_SAMPLE_H
#define ETWAS_SYSTEM_STREAM_SAMPLE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define ETWAS_SAMPLE_ALWAYS                                                                        \
    ((uint64_t)PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define ETWAS_SAMPLE_KNOWN                                                                         \
    (ETWAS_SAMPLE_ALWAYS | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |             \
     PERF_SAMPLE_RAW | ETWAS_SAMPLE_USER)

/* The registers and the stack of the program, from which a reader unwinds what has no frame pointers. */
#define ETWAS_SAMPLE_USER ((uint64_t)PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Which registers, as the kernel numbers them: those by which functions find their callers. */
#if defined(__x86_64__)
#define ETWAS_SAMPLE_REGISTERS UINT64_C(0xFF01FF) /* ax to ip, r8 to r15 */
#else
#define ETWAS_SAMPLE_REGISTERS UINT64_C(0x1FFFFFFFF) /* x0 to x30, sp, pc */
#endif

/*
 * And which of them tell how a system call was made (compat.h), where nothing else of the program is wanted: those of its
 * first two arguments.
 */
#if defined(__x86_64__)
#define ETWAS_SAMPLE_CALL_REGISTERS UINT64_C(0x30) /* si, di */
#else
#define ETWAS_SAMPLE_CALL_REGISTERS UINT64_C(0x1) /* one has to be there */
#endif

enum {
    /* Behind a record that is no sample: thread, time, processor, event. */
    ETWAS_SAMPLE_ORIGIN_BYTES = 32
};

/* Of every record. */
struct etwas_sample_origin {
    uint64_t event;  /* what PERF_EVENT_IOC_ID says of it */
    int64_t time_ns; /* of the clock the feed asked for */
    uint32_t process_id;
    uint32_t thread_id;
    uint32_t processor;
};

struct etwas_sample {
    struct etwas_sample_origin origin;
    uint64_t address;      /* of the instruction; 0 without PERF_SAMPLE_IP */
    uint64_t data_address; /* what it is about; 0 without PERF_SAMPLE_ADDR */
    const uint8_t *frames; /* so many u64, not aligned; with PERF_CONTEXT_* between them */
    uint64_t frame_count;
    const uint8_t *raw; /* a tracepoint's fields */
    uint32_t raw_bytes;
    const uint8_t *registers;      /* ETWAS_SAMPLE_REGISTERS, a u64 each; NULL: there are none */
    const uint8_t *call_registers; /* likewise ETWAS_SAMPLE_CALL_REGISTERS, which are among them */
    bool is_32_bit;                /* the program's code is */
    const uint8_t *stack;          /* from the stack pointer upwards */
    uint64_t stack_bytes;
};

struct etwas_process_record {
    struct etwas_sample_origin origin;
    uint32_t type; /* PERF_RECORD_FORK, _EXIT, _COMM, _MMAP2 or _SWITCH; _SAMPLE: of a probe */
    uint32_t process_id;
    uint32_t thread_id;
    union {
        struct { /* FORK, EXIT */
            uint32_t parent_process_id;
            uint32_t parent_thread_id; /* who forked; of EXIT, who exits */
        } task;
        struct { /* COMM */
            const char *name;
            bool is_exec;
        } comm;
        struct {             /* SAMPLE of path_probe.h */
            uint32_t thread; /* as the kernel numbers it */
            uint32_t call;
            bool is_late; /* its call is about to end, else to begin */
            uint64_t address;
            const char *first;
            const char *second; /* NULL: there is none; else perhaps nothing of the call's */
        } path;
        struct { /* SAMPLE of exec_probe.h */
            const char *name;
            const char *arguments; /* with a 0 behind each; of the last one perhaps a part alone */
            uint32_t bytes;        /* 0: not known */
            bool is_cut;
        } exec;
        struct { /* SAMPLE of length_probe.h */
            uint64_t socket;
            uint32_t bytes;
            bool is_received;
            bool is_udp;
            bool is_ipv6;
        } length;
        struct { /* MMAP2 */
            uint64_t address;
            uint64_t bytes;
            uint64_t file_offset;
            uint32_t protection; /* PROT_* */
            uint32_t build_id_bytes;
            const uint8_t *build_id;
            uint32_t device; /* major << 20 | minor; 0: it is not known, or there is a build id */
            uint64_t inode;
            const char *path;
        } image;
        struct { /* SWITCH */
            bool is_out;
            bool is_preempted; /* out, and would go on */
        } turn;
    };
};

/* Of any record: by its end; of a sample only the event, which says what else is in it. */
bool etwas_sample_origin(const struct perf_event_header *record,
                         struct etwas_sample_origin *origin);

/* `sample_type`: of the event the record is of. */
bool etwas_sample_decode(const struct perf_event_header *record, uint64_t sample_type,
                         struct etwas_sample *sample);

/* False also for records of other types. */
bool etwas_process_record_decode(const struct perf_event_header *record,
                                 struct etwas_process_record *process_record);

#endif
