/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the payloads of the kernel's classes at fixed offsets. Payloads come from files, so their
 * sizes are checked.
 */

#include "kernel/kernel.h"

#include "event/event.h"
#include "event/names.h"

#include <string.h>

/* Types of Thread. */
enum {
    START = 1,
    END = 2,
    RUNDOWN_START = 3,
    RUNDOWN_END = 4,
    THREAD_NAMED = 72,
    SWITCH = 36,
    READY = 50,
};

/* Types of PerfInfo. */
enum {
    SAMPLE = 46,
    SAMPLE_THREAD_AT = 8,
    SAMPLE_BYTES = 12,
    CALL_ENTER = 51,
    CALL_EXIT = 52,
    THREADED_DPC = 66,
    ISR = 67,
    DPC = 68,
    TIMER_DPC = 69,
};

/* The hard faults of PageFault: their type and layout. */
enum {
    HARD_FAULT = 32,
    HARD_FAULT_FILE_AT = 24,
    HARD_FAULT_THREAD_AT = 32,
    HARD_FAULT_BYTES = 40,
};

/*
 * Layout of StackWalk, and of the record that a stack is unwound from. The latter has its event's
 * time.
 */
enum {
    STACK_PROCESS_AT = 8,
    STACK_THREAD_AT = 12,
    STACK_FRAMES_AT = 16,
};

/* Layout of ReadyThread. */
enum {
    READY_FLAGS_AT = 6,
    READY_IN_DPC = 1,
    READY_BYTES = 8,
};

/* Types of FileIo, and offsets in its version 3. */
enum {
    FILE_NAME = 0,
    FILE_NAME_CREATE = 32,
    FILE_NAME_RUNDOWN = 36,
    FILE_CREATE = 64,
    FILE_READ = 67,
    FILE_WRITE = 68,
    FILE_END = 76,
    FILE_DELETE_PATH = 79,
    FILE_LAST = 81,
    FILE_VERSION = 3,
    FILE_OBJECT_AT = 8, /* after the operation */
    FILE_KEY_AT = 16,
    FILE_OFFSET_BYTES = 8, /* in reads and writes, precedes it */
    FILE_END_BYTES = 8,
};

/* Types of TcpIp and UdpIp, and offsets in their version 2. */
enum {
    SOCKET_SEND = 10,
    SOCKET_RECEIVE = 11,
    SOCKET_IPV6 = 16, /* added to the type for IPv4 */
    SOCKET_VERSION = 2,
    SOCKET_ENDS_AT = 8, /* remote and local address, and their ports */
    SOCKET_IPV4_BYTES = 4,
    SOCKET_IPV6_BYTES = 16,
};

/* Types of DiskIo, and offsets in its version 3. */
enum {
    DISK_READ = 10,
    DISK_WRITE = 11,
    DISK_FLUSH = 14,
    DISK_VERSION = 3,
    DISK_SIZE_AT = 8,
    DISK_RESPONSE_AT = 40,
    DISK_THREAD_AT = 48,
    DISK_BYTES = 52,
    DISK_FLUSH_RESPONSE_AT = 8,
    DISK_FLUSH_THREAD_AT = 24,
    DISK_FLUSH_BYTES = 28,
};

/* Layout of the first record in a session that records its own process alone. */
enum {
    RUNG_PROCESS_AT = 8,
    RUNG_BYTES = 16,
};

/* States of the old thread of a switch. */
enum {
    STATE_READY = 1,
    STATE_STANDBY = 3, /* ready, with a processor chosen */
    STATE_TERMINATED = 4,
    STATE_DEFERRED_READY = 7, /* ready, with no processor chosen yet */
};

/* Offsets in a switch since version 2; the threads are in the same places in all versions. */
enum {
    SWITCH_VERSION = 2,
    SWITCH_LAST_VERSION = 4,
    SWITCH_NEW_AT = 0,
    SWITCH_OLD_AT = 4,
    SWITCH_STATE_AT = 14,
    SWITCH_BYTES = 24,
};

enum {
    THREAD_VERSION = 1, /* earlier versions have the thread before the process */
    THREAD_LAST_VERSION = 4,
};

#define KERNEL_CLASS(a, b, c)                                                                      \
    {                                                                                              \
        a, b, c,                                                                                   \
        {                                                                                          \
            0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c                                         \
        }                                                                                          \
    }

static const etwas_guid thread_class = KERNEL_CLASS(0x3d6fa8d1, 0xfe05, 0x11d0);
static const etwas_guid process_class = KERNEL_CLASS(0x3d6fa8d0, 0xfe05, 0x11d0);
static const etwas_guid fault_class = KERNEL_CLASS(0x3d6fa8d3, 0xfe05, 0x11d0);
static const etwas_guid disk_class = KERNEL_CLASS(0x3d6fa8d4, 0xfe05, 0x11d0);
static const etwas_guid file_class = {
    0x90cbdc39, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};
static const etwas_guid tcp_class = {
    0x9a280ac0, 0xc8e0, 0x11d1, {0x84, 0xe2, 0x00, 0xc0, 0x4f, 0xb9, 0x98, 0xa2}};
static const etwas_guid udp_class = {
    0xbf3a50c5, 0xa9c9, 0x4988, {0xa0, 0x05, 0x2d, 0xf0, 0xb7, 0xc8, 0x0f, 0x80}};

/* Returns whether pointers have 8 bytes, as the offsets of the fields after them assume. */
static bool is_wide(const EVENT_RECORD *record)
{
    return (record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) == 0;
}

static bool read_switch(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    uint8_t state;

    if (record->UserDataLength < SWITCH_BYTES ||
        record->EventHeader.EventDescriptor.Version < SWITCH_VERSION) {
        return false;
    }
    event->kind = ETWAS_KERNEL_SWITCH;
    event->thread = etwas_event_u32(record, SWITCH_NEW_AT);
    event->old_thread = etwas_event_u32(record, SWITCH_OLD_AT);
    event->old_is_unknown = record->EventHeader.EventDescriptor.Version > SWITCH_LAST_VERSION;
    if (event->old_is_unknown) {
        return true;
    }
    state = ((const uint8_t *)record->UserData)[SWITCH_STATE_AT];
    event->old_is_ready =
        state == STATE_READY || state == STATE_STANDBY || state == STATE_DEFERRED_READY;
    event->old_has_ended = state == STATE_TERMINATED;
    return true;
}

static bool read_thread(const EVENT_RECORD *record, enum etwas_kernel_kind kind,
                        struct etwas_kernel_event *event)
{
    uint8_t version = record->EventHeader.EventDescriptor.Version;

    if (record->UserDataLength < 2 * sizeof(uint32_t) || version < THREAD_VERSION ||
        version > THREAD_LAST_VERSION) {
        return false;
    }
    event->kind = kind;
    event->process = etwas_event_u32(record, 0);
    event->thread = etwas_event_u32(record, sizeof(uint32_t));
    return true;
}

static bool read_initial_time(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    if (record->UserDataLength < sizeof event->initial_time) {
        return false;
    }
    memcpy(&event->initial_time, record->UserData, sizeof event->initial_time);
    return true;
}

static bool read_ready(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    if (record->UserDataLength < READY_BYTES) {
        return false;
    }
    event->kind = ETWAS_KERNEL_READY;
    event->thread = etwas_event_u32(record, 0);
    event->is_in_interrupt =
        (((const uint8_t *)record->UserData)[READY_FLAGS_AT] & READY_IN_DPC) != 0;
    return event->thread != 0;
}

static bool read_scheduling(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    switch (record->EventHeader.EventDescriptor.Opcode) {
    case SWITCH:
        return read_switch(record, event);
    case READY:
        return read_ready(record, event);
    case START:
        return read_thread(record, ETWAS_KERNEL_THREAD_START, event);
    case END:
        return read_thread(record, ETWAS_KERNEL_THREAD_END, event);
    case RUNDOWN_START:
    case RUNDOWN_END:
        return read_thread(record, ETWAS_KERNEL_THREAD_HERE, event);
    default:
        return false;
    }
}

static bool read_performance(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    switch (record->EventHeader.EventDescriptor.Opcode) {
    case CALL_ENTER:
        event->kind = ETWAS_KERNEL_CALL_ENTER;
        if (record->UserDataLength < sizeof event->call) {
            return false;
        }
        memcpy(&event->call, record->UserData, sizeof event->call);
        return true;
    case CALL_EXIT:
        event->kind = ETWAS_KERNEL_CALL_EXIT;
        return true;
    case THREADED_DPC:
    case ISR:
    case DPC:
    case TIMER_DPC:
        event->kind = ETWAS_KERNEL_INTERRUPT;
        return read_initial_time(record, event);
    default:
        return false;
    }
}

static bool read_fault(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    event->fault = record->EventHeader.EventDescriptor.Opcode;
    if (event->fault == HARD_FAULT && record->UserDataLength >= HARD_FAULT_BYTES) {
        event->kind = ETWAS_KERNEL_HARD_FAULT;
        event->thread = etwas_event_u32(record, HARD_FAULT_THREAD_AT);
        event->file = etwas_event_u64(record, HARD_FAULT_FILE_AT);
        return read_initial_time(record, event);
    }
    event->kind = ETWAS_KERNEL_FAULT;
    return event->fault >= ETWAS_KERNEL_FIRST_FAULT &&
           event->fault < ETWAS_KERNEL_FIRST_FAULT + ETWAS_KERNEL_FAULT_TYPES;
}

/*
 * Reads the file's key. Operations on an open file have its number instead, which is the same in
 * these traces.
 */
static bool read_file(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    size_t at = type == FILE_READ || type == FILE_WRITE ? FILE_OFFSET_BYTES : 0;

    if (type < FILE_CREATE || type > FILE_LAST || !is_wide(record) ||
        record->EventHeader.EventDescriptor.Version != FILE_VERSION ||
        record->UserDataLength <
            (type == FILE_END ? FILE_END_BYTES : at + FILE_KEY_AT + sizeof(uint64_t))) {
        return false;
    }
    event->kind = type == FILE_END ? ETWAS_KERNEL_FILE_END : ETWAS_KERNEL_FILE_BEGIN;
    event->operation = etwas_event_u64(record, at);
    if (type != FILE_END) {
        event->file =
            etwas_event_u64(record, at + (type == FILE_CREATE ? FILE_OBJECT_AT : FILE_KEY_AT));
    }
    if (type == FILE_DELETE_PATH && event->file == 0) {
        event->file = event->operation; /* as in etwas_file_names_add_record */
    }
    return true;
}

static bool read_disk(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    bool is_flush = type == DISK_FLUSH;
    uint64_t response;

    if ((type != DISK_READ && type != DISK_WRITE && !is_flush) ||
        record->EventHeader.EventDescriptor.Version != DISK_VERSION ||
        record->UserDataLength < (is_flush ? DISK_FLUSH_BYTES : DISK_BYTES)) {
        return false;
    }
    event->kind = ETWAS_KERNEL_DISK;
    event->request = is_flush            ? ETWAS_KERNEL_DISK_FLUSH
                     : type == DISK_READ ? ETWAS_KERNEL_DISK_READ
                                         : ETWAS_KERNEL_DISK_WRITE;
    event->bytes = is_flush ? 0 : etwas_event_u32(record, DISK_SIZE_AT);
    event->thread = etwas_event_u32(record, is_flush ? DISK_FLUSH_THREAD_AT : DISK_THREAD_AT);
    response = etwas_event_u64(record, is_flush ? DISK_FLUSH_RESPONSE_AT : DISK_RESPONSE_AT);
    event->initial_time = (int64_t)((uint64_t)record->EventHeader.TimeStamp.QuadPart - response);
    return true;
}

static bool read_socket(const EVENT_RECORD *record, bool is_udp, struct etwas_kernel_event *event)
{
    const uint8_t *ends = (const uint8_t *)record->UserData + SOCKET_ENDS_AT;
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    bool is_ipv6 = type == SOCKET_SEND + SOCKET_IPV6 || type == SOCKET_RECEIVE + SOCKET_IPV6;
    size_t bytes = is_ipv6 ? SOCKET_IPV6_BYTES : SOCKET_IPV4_BYTES;

    if ((!is_ipv6 && type != SOCKET_SEND && type != SOCKET_RECEIVE) ||
        record->EventHeader.EventDescriptor.Version != SOCKET_VERSION ||
        record->UserDataLength < SOCKET_ENDS_AT + 2 * (bytes + sizeof(uint16_t))) {
        return false;
    }
    event->kind = ETWAS_KERNEL_SOCKET;
    event->process = etwas_event_u32(record, 0);
    event->socket.is_udp = is_udp;
    event->socket.is_ipv6 = is_ipv6;
    memcpy(event->socket.remote, ends, bytes);
    memcpy(event->socket.local, ends + bytes, bytes);
    ends += 2 * bytes;
    event->socket.remote_port = (uint16_t)(ends[0] << 8 | ends[1]);
    event->socket.local_port = (uint16_t)(ends[2] << 8 | ends[3]);
    return true;
}

static bool read_stack(const EVENT_RECORD *record, uint8_t type, struct etwas_kernel_event *event)
{
    if (record->EventHeader.EventDescriptor.Opcode != type ||
        record->UserDataLength < STACK_FRAMES_AT) {
        return false;
    }
    event->kind = ETWAS_KERNEL_STACK;
    event->process = etwas_event_u32(record, STACK_PROCESS_AT);
    event->thread = etwas_event_u32(record, STACK_THREAD_AT);
    return true;
}

static bool read_own(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    struct etwas_event_loss loss;

    switch (record->EventHeader.EventDescriptor.Opcode) {
    case ETWAS_NAMES_KERNEL_LOSS_TYPE:
        event->kind = ETWAS_KERNEL_LOSS;
        event->lost_ns = UINT64_MAX;
        if (etwas_event_ring_loss(record, &loss)) {
            event->initial_time = loss.from_raw;
            event->end_time = loss.until_raw;
        }
        return true;
    case ETWAS_NAMES_KERNEL_RUNG_TYPE:
        event->kind = ETWAS_KERNEL_OWN;
        if (record->UserDataLength < RUNG_BYTES) {
            return false;
        }
        event->process = etwas_event_u32(record, RUNG_PROCESS_AT);
        return true;
    default:
        event->initial_time = record->EventHeader.TimeStamp.QuadPart;
        return read_stack(record, ETWAS_NAMES_USER_STACK_TYPE, event);
    }
}

bool etwas_kernel_read(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    *event = (struct etwas_kernel_event){.processor = record->BufferContext.ProcessorIndex,
                                         .thread = record->EventHeader.ThreadId,
                                         .logger = record->EventHeader.ThreadId};
    if (etwas_event_is_of_class(record, &thread_class)) {
        return read_scheduling(record, event);
    }
    if (etwas_event_is_of_class(record, &etwas_names_performance_class)) {
        return read_performance(record, event);
    }
    if (etwas_event_is_of_class(record, &fault_class)) {
        return read_fault(record, event);
    }
    if (etwas_event_is_of_class(record, &etwas_names_own_class)) {
        return read_own(record, event);
    }
    if (etwas_event_is_of_class(record, &file_class)) {
        return read_file(record, event);
    }
    if (etwas_event_is_of_class(record, &disk_class)) {
        return read_disk(record, event);
    }
    if (etwas_event_is_of_class(record, &tcp_class) ||
        etwas_event_is_of_class(record, &udp_class)) {
        return read_socket(record, etwas_event_is_of_class(record, &udp_class), event);
    }
    return etwas_event_is_of_class(record, &etwas_names_stack_class) &&
           read_stack(record, ETWAS_NAMES_STACK_TYPE, event) && read_initial_time(record, event);
}

const char *etwas_kernel_fault_name(uint8_t fault)
{
    static const char *const names[ETWAS_KERNEL_FAULT_TYPES] = {
        "transition", "demand zero", "copy on write", "guard page", "hard", "access violation"};

    return names[(uint8_t)(fault - ETWAS_KERNEL_FIRST_FAULT) % ETWAS_KERNEL_FAULT_TYPES];
}

bool etwas_kernel_sample(const EVENT_RECORD *record, uint64_t *address, uint32_t *thread)
{
    if (record->EventHeader.EventDescriptor.Opcode != SAMPLE ||
        !etwas_event_is_of_class(record, &etwas_names_performance_class) || !is_wide(record) ||
        record->UserDataLength < SAMPLE_BYTES) {
        return false;
    }
    memcpy(address, record->UserData, sizeof *address);
    *thread = etwas_event_u32(record, SAMPLE_THREAD_AT);
    return true;
}

bool etwas_kernel_is_process(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return type >= START && type <= RUNDOWN_END && etwas_event_is_of_class(record, &process_class);
}

bool etwas_kernel_is_thread(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return ((type >= START && type <= RUNDOWN_END) || type == THREAD_NAMED) &&
           etwas_event_is_of_class(record, &thread_class);
}

bool etwas_kernel_is_file_name(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return (type == FILE_NAME || type == FILE_NAME_CREATE || type == FILE_NAME_RUNDOWN ||
            type == FILE_CREATE || type == FILE_DELETE_PATH) &&
           etwas_event_is_of_class(record, &file_class);
}
