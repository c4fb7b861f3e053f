/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_KERNEL_H
#define ETWAS_TOOLS_KERNEL_KERNEL_H

/*
 * The kernel's events about which thread ran where and what it worked on. The numbers are read from
 * payloads of a 64-bit system.
 */

#include <etwas/evntcons.h>

#include <stdbool.h>
#include <stdint.h>

enum etwas_kernel_kind {
    ETWAS_KERNEL_SWITCH,       /* `old_thread` stopped running, `thread` runs */
    ETWAS_KERNEL_READY,        /* `thread` became ready to run */
    ETWAS_KERNEL_THREAD_START, /* `thread` of `process` begins */
    ETWAS_KERNEL_THREAD_END,
    ETWAS_KERNEL_THREAD_HERE, /* existed when the trace began, or ended */
    ETWAS_KERNEL_OWN,         /* the trace records `process` alone */
    ETWAS_KERNEL_LOSS,        /* events of the processor were lost until now */
    ETWAS_KERNEL_CALL_ENTER,  /* system call `call` */
    ETWAS_KERNEL_CALL_EXIT,
    ETWAS_KERNEL_FAULT,      /* a page fault of type `fault` */
    ETWAS_KERNEL_HARD_FAULT, /* a fault that read `file` from a disk, since `initial_time` */
    ETWAS_KERNEL_INTERRUPT,  /* an interrupt or deferred call, since `initial_time` */
    ETWAS_KERNEL_STACK,      /* a part of the stack of `thread` at the event of `initial_time` */
    ETWAS_KERNEL_FILE_BEGIN, /* `thread` begins `operation` on `file` */
    ETWAS_KERNEL_FILE_END,   /* `operation` is complete */
    ETWAS_KERNEL_SOCKET,     /* `process` sent or received through `socket` */
    ETWAS_KERNEL_DISK,       /* a `request` that `thread` submitted at `initial_time` is complete */
};

enum {
    ETWAS_KERNEL_FAULT_TYPES = 6, /* from ETWAS_KERNEL_FIRST_FAULT */
    ETWAS_KERNEL_FIRST_FAULT = 10,
};

/* The kinds of disk requests. */
enum {
    ETWAS_KERNEL_DISK_READ,
    ETWAS_KERNEL_DISK_WRITE,
    ETWAS_KERNEL_DISK_FLUSH,
    ETWAS_KERNEL_DISK_KINDS,
};

/*
 * The endpoints of a connection. Addresses have 4 or 16 bytes in network order; zeros: not known.
 */
struct etwas_kernel_socket {
    bool is_udp;
    bool is_ipv6;
    uint16_t local_port;
    uint16_t remote_port;
    uint8_t local[16];
    uint8_t remote[16];
};

/* A thread or process that is not in the record. */
#define ETWAS_KERNEL_NOBODY UINT32_MAX

struct etwas_kernel_event {
    enum etwas_kernel_kind kind;
    uint32_t processor;
    uint32_t thread; /* ETWAS_KERNEL_NOBODY: the thread on the processor */
    uint32_t process;
    uint32_t logger; /* that logged the event, likewise */
    uint32_t old_thread;
    bool old_is_unknown; /* its state after the switch; the next two are then false */
    bool old_is_ready;   /* it was preempted */
    bool old_has_ended;
    bool is_in_interrupt; /* READY: an interrupt woke it, not the running thread */
    uint8_t fault;        /* type of the event */
    uint8_t request;      /* ETWAS_KERNEL_DISK_... */
    uint32_t bytes;
    uint64_t call;
    int64_t initial_time; /* raw; for a LOSS its beginning, 0: that of the session */
    int64_t end_time;     /* raw; for a LOSS its end */
    uint64_t lost_ns;     /* for a LOSS, set by etwas_input_measure_loss; UINT64_MAX: not known */
    uint64_t operation;
    uint64_t file; /* its FileObject or FileKey; 0: not known */
    struct etwas_kernel_socket socket;
};

/*
 * Returns the time between two times, 0 if the second is earlier. Times from a file may have any
 * value.
 */
static inline uint64_t etwas_kernel_ns(int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

/* Returns the name of a page fault's type, such as "demand zero". */
const char *etwas_kernel_fault_name(uint8_t fault);

/*
 * Reads a record. Returns false if it is not one of these events, or too short. From an unknown
 * version, reads only the part that all known versions share: a switch without a state, and no
 * thread.
 */
bool etwas_kernel_read(const EVENT_RECORD *record, struct etwas_kernel_event *event);

/* Returns whether the record is a sample of a processor, and sets its address and thread. */
bool etwas_kernel_sample(const EVENT_RECORD *record, uint64_t *address, uint32_t *thread);

/* Returns whether the record has the name of a file, which etwas_file_names_add_record reads. */
bool etwas_kernel_is_file_name(const EVENT_RECORD *record);

/* Returns whether the record is about a process; etwas_processes_add_record reads it. */
bool etwas_kernel_is_process(const EVENT_RECORD *record);

/* Returns whether the record is about a thread, and may contain its name. */
bool etwas_kernel_is_thread(const EVENT_RECORD *record);

#endif
