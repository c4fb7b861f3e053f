/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_EVENT_H
#define ETWAS_TOOLS_EVENT_EVENT_H

/*
 * What an EVENT_RECORD says, picked out of its flags and extended items.
 */

#include "print/output.h"
#include "print/text.h"

#include <etwas/evntcons.h>

/* UTF-8 from the record, not terminated; NULL where there is none. */
struct etwas_event_string {
    const char *text;
    size_t bytes;
};

/* ThreadId or ProcessId of a record that does not know it. */
#define ETWAS_EVENT_UNKNOWN_ID 0xFFFFFFFFu

struct etwas_event {
    bool classic; /* else the event of a manifest or self-describing provider, or a message */
    bool message; /* of TraceMessage; `instance` has its sequence number, if it has one */
    uint16_t message_flags; /* TRACE_MESSAGE_... */
    uint32_t process;       /* or ETWAS_EVENT_UNKNOWN_ID */
    uint32_t thread;        /* likewise */
    bool has_instance;
    EVENT_EXTENDED_ITEM_INSTANCE instance;
    bool has_related_activity;
    etwas_guid related_activity;
    uint32_t processor;
    const etwas_guid *class_guid;            /* of classic events */
    uint8_t type;                            /* likewise */
    struct etwas_event_string provider_name; /* of self-describing events */
    struct etwas_event_string event_name;    /* likewise */
};

/* Is it a classic event of this class? */
static inline bool etwas_event_is_of_class(const EVENT_RECORD *record, const etwas_guid *class_guid)
{
    return record->EventHeader.ProviderId.Data1 == class_guid->Data1 &&
           (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0 &&
           memcmp(&record->EventHeader.ProviderId, class_guid, sizeof *class_guid) == 0;
}

/* Of its payload, which is that long. */
static inline uint32_t etwas_event_u32(const EVENT_RECORD *record, size_t offset)
{
    uint32_t value;

    memcpy(&value, (const uint8_t *)record->UserData + offset, sizeof value);
    return value;
}

static inline uint64_t etwas_event_u64(const EVENT_RECORD *record, size_t offset)
{
    uint64_t value;

    memcpy(&value, (const uint8_t *)record->UserData + offset, sizeof value);
    return value;
}

/* Looks at `record`; the strings point into it. */
void etwas_event_read(const EVENT_RECORD *record, struct etwas_event *event);

/* Is an event's processor recorded? Not in a session without buffers per processor. */
static inline bool etwas_event_has_processor(uint32_t log_file_mode)
{
    return (log_file_mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) == 0;
}

/* A call stack: of EVENT_ENABLE_PROPERTY_STACK_TRACE, or one that is an event, StackWalk's. */
struct etwas_event_stack {
    const uint8_t *frames; /* innermost first, not aligned */
    uint32_t count;        /* 0: the event has none */
    uint32_t frame_bytes;  /* 4 or 8 */
    uint32_t process;
    uint32_t first_return; /* the frames from this one on are behind calls */
};

bool etwas_event_is_stack(const EVENT_HEADER_EXTENDED_DATA_ITEM *item);

/* Is the record itself a stack, StackWalk's, that is long enough to be one? */
bool etwas_event_is_stack_walk(const EVENT_RECORD *record);

struct etwas_event_stack etwas_event_stack(const EVENT_RECORD *record);

/* In the place of the outermost frame: the stack goes on, and was cut. */
#define ETWAS_EVENT_CUT UINT64_MAX
#define ETWAS_EVENT_CUT_NAME "[cut]"

uint64_t etwas_event_frame(const struct etwas_event_stack *stack, uint32_t index);

/* Those that are known: all but such a last one. */
uint32_t etwas_event_known_frames(const struct etwas_event_stack *stack);

/* Writes its addresses with `between` between two. */
void etwas_event_print_stack(struct etwas_output *output, const struct etwas_event_stack *stack,
                             const char *between);

/* Is this a record about the trace itself, of class EventTrace? */
bool etwas_event_is_header_class(const EVENT_RECORD *record);

/* Does this record say which program or library lies where in memory? */
bool etwas_event_is_image(const EVENT_RECORD *record);

/* Does this record say what an address of the kernel is? */
bool etwas_event_is_kernel_symbol(const EVENT_RECORD *record);

/* Does it say what became of one of the kernel's sources? Then how many were lost, and how. */
bool etwas_event_kernel_loss(const EVENT_RECORD *record, uint64_t *no_room, uint64_t *others);

/* Events of a processor that the kernel did not hand over. */
struct etwas_event_loss {
    uint64_t events;  /* that are known of */
    bool is_off;      /* the processor was off, or not recorded yet: nobody counted */
    int64_t from_raw; /* 0: since the beginning */
    int64_t until_raw;
};

/* Does it say that the kernel's events of the processor are missing, until now? */
bool etwas_event_ring_loss(const EVENT_RECORD *record, struct etwas_event_loss *loss);

/* The flags that ask for one of the kernel's sources, if it says what became of that; else 0. */
uint32_t etwas_event_kernel_flags(const EVENT_RECORD *record);

/* Does it have what a program's stack can be unwound from? */
bool etwas_event_is_user_stack(const EVENT_RECORD *record);

/* A classic event's class, if it is well known: "EventTrace"; else NULL. */
const char *etwas_event_class_name(const struct etwas_event *event);

/* The type of an event of EventTrace: "Header"; else NULL. */
const char *etwas_event_type_name(const struct etwas_event *event);

/* Does the class have a name? */
bool etwas_event_has_name(const struct etwas_event *event);

/* Writes that name: "EventTrace/Header", or "PROVIDER/EVENT" of a self-describing event. */
void etwas_event_print_name(struct etwas_output *output, enum etwas_text_style style,
                            const struct etwas_event *event);

#endif
