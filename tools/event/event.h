/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_EVENT_H
#define ETWAS_TOOLS_EVENT_EVENT_H

/* What an EVENT_RECORD says in its flags and extended items. */

#include "print/output.h"
#include "print/text.h"

#include <etwas/evntcons.h>

/* A string of UTF-8 in the record, not terminated; NULL if there is none. */
struct etwas_event_string {
    const char *text;
    size_t bytes;
};

/* ThreadId or ProcessId of a record that does not contain it. */
#define ETWAS_EVENT_UNKNOWN_ID 0xFFFFFFFFu

struct etwas_event {
    bool classic;           /* else it is of a manifest or self-describing provider, or a message */
    bool message;           /* from TraceMessage; a sequence number, if any, is in `instance` */
    uint16_t message_flags; /* TRACE_MESSAGE_... */
    uint32_t process;       /* or ETWAS_EVENT_UNKNOWN_ID */
    uint32_t thread;        /* likewise */
    bool has_instance;
    EVENT_EXTENDED_ITEM_INSTANCE instance;
    bool has_related_activity;
    etwas_guid related_activity;
    uint32_t processor;
    const etwas_guid *class_guid;            /* only of classic events */
    uint8_t type;                            /* likewise */
    struct etwas_event_string provider_name; /* only of self-describing events */
    struct etwas_event_string event_name;    /* likewise */
};

/* Returns whether a record is a classic event of this class. */
static inline bool etwas_event_is_of_class(const EVENT_RECORD *record, const etwas_guid *class_guid)
{
    return record->EventHeader.ProviderId.Data1 == class_guid->Data1 &&
           (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0 &&
           memcmp(&record->EventHeader.ProviderId, class_guid, sizeof *class_guid) == 0;
}

/* Reads a number of the payload, which must be long enough. */
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

/* Reads a record; the strings point into it. */
void etwas_event_read(const EVENT_RECORD *record, struct etwas_event *event);

/*
 * Returns whether a session with this mode records processors. Without buffers for each processor,
 * it does not.
 */
static inline bool etwas_event_has_processor(uint32_t log_file_mode)
{
    return (log_file_mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) == 0;
}

/* A call stack, from an item of EVENT_ENABLE_PROPERTY_STACK_TRACE or an event StackWalk. */
struct etwas_event_stack {
    const uint8_t *frames; /* innermost first, not aligned */
    uint32_t count;        /* 0: the event has none */
    uint32_t frame_bytes;  /* 4 or 8 */
    uint32_t process;
    uint32_t first_return; /* frames from this one on are return addresses */
};

bool etwas_event_is_stack(const EVENT_HEADER_EXTENDED_DATA_ITEM *item);

/* Returns whether the record itself is a stack, an event StackWalk that is long enough. */
bool etwas_event_is_stack_walk(const EVENT_RECORD *record);

struct etwas_event_stack etwas_event_stack(const EVENT_RECORD *record);

/* Stands in place of the outermost frame: the stack was cut, and continued. */
#define ETWAS_EVENT_CUT UINT64_MAX
#define ETWAS_EVENT_CUT_NAME "[cut]"

uint64_t etwas_event_frame(const struct etwas_event_stack *stack, uint32_t index);

/* Returns the number of known frames: all except an ETWAS_EVENT_CUT at the end. */
uint32_t etwas_event_known_frames(const struct etwas_event_stack *stack);

/* Writes the addresses of a stack, separated by `between`. */
void etwas_event_print_stack(struct etwas_output *output, const struct etwas_event_stack *stack,
                             const char *between);

/* Returns whether a record is about the trace itself, of the class EventTrace. */
bool etwas_event_is_header_class(const EVENT_RECORD *record);

/* Returns whether a record describes an image in memory. */
bool etwas_event_is_image(const EVENT_RECORD *record);

/* Returns whether a record contains kernel symbols. */
bool etwas_event_is_kernel_symbol(const EVENT_RECORD *record);

/*
 * Returns whether a record is the account of a kernel event source. Sets how many of its events
 * were lost because a buffer was full, and for other reasons.
 */
bool etwas_event_kernel_loss(const EVENT_RECORD *record, uint64_t *no_room, uint64_t *others);

/* Returns whether a record is the account of the kernel's context switches. */
bool etwas_event_is_account_of_switches(const EVENT_RECORD *record);

/* Events of a processor that the kernel did not deliver. */
struct etwas_event_loss {
    uint64_t events;  /* at least this many */
    bool is_off;      /* the processor was off, or not recorded yet, so nothing was counted */
    int64_t from_raw; /* 0: since the beginning */
    int64_t until_raw;
};

/* Returns whether a record reports that kernel events of its processor are missing up to now. */
bool etwas_event_ring_loss(const EVENT_RECORD *record, struct etwas_event_loss *loss);

/* Returns the EnableFlags of the kernel event source whose account a record is; 0 if it is none. */
uint32_t etwas_event_kernel_flags(const EVENT_RECORD *record);

/* Returns whether a record contains what is needed to unwind a program's stack. */
bool etwas_event_is_user_stack(const EVENT_RECORD *record);

/*
 * Returns the name of a classic event's class if it is well known, such as "EventTrace"; else NULL.
 */
const char *etwas_event_class_name(const struct etwas_event *event);

/* Returns the name of an EventTrace event's type, such as "Header"; else NULL. */
const char *etwas_event_type_name(const struct etwas_event *event);

/* Returns whether the class has a name. */
bool etwas_event_has_name(const struct etwas_event *event);

/* Writes the name: "EventTrace/Header", or "PROVIDER/EVENT" for a self-describing event. */
void etwas_event_print_name(struct etwas_output *output, enum etwas_text_style style,
                            const struct etwas_event *event);

#endif
