/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Decodes the records of a ring: thread, time and processor, and
 *
 *     PERF_RECORD_SAMPLE          a tracepoint was hit, or an interval is over
 *     FORK, EXIT, COMM, MMAP2     what happened to processes, threads and their images
 *     SWITCH                      a thread got a processor, or gave it away
 *                                 (a sample of a probe reports such things, too: probe.h)
 *
 * All events of a ring have ETWAS_SAMPLE_ALWAYS, so the event of a record can be found before the
 * rest is decoded. An event may have more of ETWAS_SAMPLE_KNOWN.
 *
 * Nothing is copied: the result points into the record. A record that ends too early is refused.
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

/*
 * Registers and stack of the program, from which a reader unwinds functions without frame pointers.
 */
#define ETWAS_SAMPLE_USER ((uint64_t)PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* The registers, by the kernel's numbers, that are needed to find the callers of functions. */
#if defined(__x86_64__)
#define ETWAS_SAMPLE_REGISTERS UINT64_C(0xFF01FF) /* ax to ip, r8 to r15 */
#else
#define ETWAS_SAMPLE_REGISTERS UINT64_C(0x1FFFFFFFF) /* x0 to x30, sp, pc */
#endif

/*
 * The registers that say how a system call was made (compat.h), if nothing else of the program is
 * requested: those of its first two arguments.
 */
#if defined(__x86_64__)
#define ETWAS_SAMPLE_CALL_REGISTERS UINT64_C(0x30) /* si, di */
#else
#define ETWAS_SAMPLE_CALL_REGISTERS UINT64_C(0x1) /* at least one is needed */
#endif

enum {
    /* The end of a record that is no sample: thread, time, processor, event. */
    ETWAS_SAMPLE_ORIGIN_BYTES = 32
};

/* Every record has these. */
struct etwas_sample_origin {
    uint64_t event;  /* the event's PERF_EVENT_IOC_ID */
    int64_t time_ns; /* of the stream's clock */
    uint32_t process_id;
    uint32_t thread_id;
    uint32_t processor;
};

struct etwas_sample {
    struct etwas_sample_origin origin;
    uint64_t address;      /* of the instruction; 0 without PERF_SAMPLE_IP */
    uint64_t data_address; /* that was accessed; 0 without PERF_SAMPLE_ADDR */
    const uint8_t *frames; /* u64 each, not aligned, with PERF_CONTEXT_* between the parts */
    uint64_t frame_count;
    const uint8_t *raw; /* the fields of a tracepoint */
    uint32_t raw_bytes;
    const uint8_t *registers; /* the registers of ETWAS_SAMPLE_REGISTERS, a u64 each; NULL: none */
    const uint8_t *call_registers; /* those of ETWAS_SAMPLE_CALL_REGISTERS among them; NULL: none */
    bool is_32_bit;                /* the program's code is of 32 bits */
    const uint8_t *stack;          /* from the stack pointer upwards */
    uint64_t stack_bytes;
};

struct etwas_process_record {
    struct etwas_sample_origin origin;
    uint32_t type; /* PERF_RECORD_FORK, _EXIT, _COMM, _MMAP2 or _SWITCH; or _SAMPLE, of a probe */
    uint32_t process_id;
    uint32_t thread_id;
    union {
        struct { /* FORK, EXIT */
            uint32_t parent_process_id;
            uint32_t parent_thread_id; /* the thread that forked; of EXIT, the one that exits */
        } task;
        struct { /* COMM */
            const char *name;
            bool is_exec;
        } comm;
        struct {             /* SAMPLE of a path probe */
            uint32_t thread; /* the kernel's number */
            uint32_t call;
            bool is_late; /* the call is about to end; else it begins */
            uint64_t address;
            const char *first;
            const char *second; /* NULL: the call has none; else it may be no path of the call */
        } path;
        struct { /* SAMPLE of an exec probe */
            const char *name;
            const char *arguments; /* each with a 0 behind it; the last may be cut */
            uint32_t bytes;        /* 0: the arguments are not known */
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
            uint32_t device; /* major << 20 | minor; 0: not known, or there is a build id */
            uint64_t inode;
            const char *path;
        } image;
        struct { /* SWITCH */
            bool is_out;
            bool is_preempted; /* the thread gives the processor away and could go on */
        } turn;
    };
};

/*
 * Decodes the origin of any record, from its end. For a sample, decodes only the event, which
 * determines the rest of its layout.
 */
bool etwas_sample_origin(const struct perf_event_header *record,
                         struct etwas_sample_origin *origin);

/* Decodes a sample. `sample_type`: of the event that the record belongs to. */
bool etwas_sample_decode(const struct perf_event_header *record, uint64_t sample_type,
                         struct etwas_sample *sample);

/* Decodes a process record. Returns false if it is damaged, or a record of another type. */
bool etwas_process_record_decode(const struct perf_event_header *record,
                                 struct etwas_process_record *process_record);

#endif
