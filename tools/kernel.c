/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the payloads of the kernel's classes at their offsets. Payloads come from files: their sizes
 * are checked.
 */

#include "kernel.h"

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

bool etwas_kernel_read(const EVENT_RECORD *record, struct etwas_kernel_event *event)
{
    if (!is_of_class(record, &thread_class)) {
        return false;
    }
    *event = (struct etwas_kernel_event){.processor = record->BufferContext.ProcessorIndex};
    switch (record->EventHeader.EventDescriptor.Opcode) {
    case SWITCH:
        return read_switch(record, event);
    case READY:
        event->kind = ETWAS_KERNEL_READY;
        event->thread = record->UserDataLength >= sizeof(uint32_t) ? u32_at(record, 0) : 0;
        return event->thread != 0;
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

bool etwas_kernel_is_process(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return type >= START && type <= RUNDOWN_END && is_of_class(record, &process_class);
}
