/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the payloads of the kernel's classes at their offsets. Payloads come from files: their sizes
 * are checked.
 */

#include "kernel.h"

#include "names.h"

#include <string.h>

/* Types of Thread. */
enum {
    START = 1,
    END = 2,
    RUNDOWN_START = 3,
    RUNDOWN_END = 4,
    SWITCH = 36,
    READY = 50,
};

/* Types of PerfInfo. */
enum {
    CALL_ENTER = 51,
    CALL_EXIT = 52,
    THREADED_DPC = 66,
    ISR = 67,
    DPC = 68,
    TIMER_DPC = 69,
};

/* Of PageFault, beside the types of faults. */
enum {
    HARD_FAULT = 32,
    HARD_FAULT_THREAD_AT = 32,
    HARD_FAULT_BYTES = 40,
};

/* Of StackWalk. */
enum {
    STACK_PROCESS_AT = 8,
    STACK_THREAD_AT = 12,
    STACK_FRAMES_AT = 16,
    FRAME_BYTES = 8,
};

/* Of ReadyThread. */
enum {
    READY_FLAGS_AT = 6,
    READY_IN_DPC = 1,
    READY_BYTES = 8,
};

/* States of who gives way. */
enum {
    STATE_READY = 1,
    STATE_STANDBY = 3, /* ready, and a processor is chosen */
    STATE_TERMINATED = 4,
    STATE_DEFERRED_READY = 7, /* ready, and no processor is chosen yet */
};

/* Where a switch has its fields, since version 2. */
enum {
    SWITCH_VERSION = 2,
    SWITCH_NEW_AT = 0,
    SWITCH_OLD_AT = 4,
    SWITCH_STATE_AT = 14,
    SWITCH_BYTES = 24,
};

enum {
    THREAD_VERSION = 1, /* before it the thread came first, then the process */
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

static bool is_of_class(const EVENT_RECORD *record, const etwas_guid *class_guid)
{
    return record->EventHeader.ProviderId.Data1 == class_guid->Data1 &&
           (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0 &&
           memcmp(&record->EventHeader.ProviderId, class_guid, sizeof *class_guid) == 0;
}

static uint32_t u32_at(const EVENT_RECORD *record, size_t offset)
{
    uint32_t value;

    memcpy(&value, (const uint8_t *)record->UserData + offset, sizeof value);
    return value;
}

static bool read_switch(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    uint8_t state;

    if (record->UserDataLength < SWITCH_BYTES ||
        record->EventHeader.EventDescriptor.Version < SWITCH_VERSION) {
        return false;
    }
    event->kind = ETWAS_KERNEL_SWITCH;
    event->thread = u32_at(record, SWITCH_NEW_AT);
    event->old_thread = u32_at(record, SWITCH_OLD_AT);
    state = ((const uint8_t *)record->UserData)[SWITCH_STATE_AT];
    event->old_is_ready =
        state == STATE_READY || state == STATE_STANDBY || state == STATE_DEFERRED_READY;
    event->old_has_ended = state == STATE_TERMINATED;
    return true;
}

static bool read_thread(const EVENT_RECORD *record, enum etwas_kernel_kind kind,
                        struct etwas_kernel_event *event)
{
    if (record->UserDataLength < 2 * sizeof(uint32_t) ||
        record->EventHeader.EventDescriptor.Version < THREAD_VERSION) {
        return false;
    }
    event->kind = kind;
    event->process = u32_at(record, 0);
    event->thread = u32_at(record, sizeof(uint32_t));
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
    event->thread = u32_at(record, 0);
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
        event->thread = u32_at(record, HARD_FAULT_THREAD_AT);
        return read_initial_time(record, event);
    }
    event->kind = ETWAS_KERNEL_FAULT;
    return event->fault >= ETWAS_KERNEL_FIRST_FAULT &&
           event->fault < ETWAS_KERNEL_FIRST_FAULT + ETWAS_KERNEL_FAULT_TYPES;
}

static bool read_stack(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    if (record->EventHeader.EventDescriptor.Opcode != ETWAS_NAMES_STACK_TYPE ||
        record->UserDataLength < STACK_FRAMES_AT) {
        return false;
    }
    event->kind = ETWAS_KERNEL_STACK;
    event->process = u32_at(record, STACK_PROCESS_AT);
    event->thread = u32_at(record, STACK_THREAD_AT);
    event->frames = (const uint8_t *)record->UserData + STACK_FRAMES_AT;
    event->frame_count = (uint32_t)(record->UserDataLength - STACK_FRAMES_AT) / FRAME_BYTES;
    return read_initial_time(record, event);
}

bool etwas_kernel_read(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    *event = (struct etwas_kernel_event){.processor = record->BufferContext.ProcessorIndex,
                                         .thread = record->EventHeader.ThreadId,
                                         .logger = record->EventHeader.ThreadId};
    if (is_of_class(record, &thread_class)) {
        return read_scheduling(record, event);
    }
    if (is_of_class(record, &etwas_names_performance_class)) {
        return read_performance(record, event);
    }
    if (is_of_class(record, &fault_class)) {
        return read_fault(record, event);
    }
    if (is_of_class(record, &etwas_names_own_class)) {
        event->kind = ETWAS_KERNEL_LOSS;
        return record->EventHeader.EventDescriptor.Opcode == ETWAS_NAMES_KERNEL_LOSS_TYPE;
    }
    return is_of_class(record, &etwas_names_stack_class) && read_stack(record, event);
}

const char *etwas_kernel_fault_name(uint8_t fault)
{
    static const char *const names[ETWAS_KERNEL_FAULT_TYPES] = {
        "transition", "demand zero", "copy on write", "guard page", "hard", "access violation"};

    return names[(uint8_t)(fault - ETWAS_KERNEL_FIRST_FAULT) % ETWAS_KERNEL_FAULT_TYPES];
}

bool etwas_kernel_is_process(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return type >= START && type <= RUNDOWN_END && is_of_class(record, &process_class);
}
