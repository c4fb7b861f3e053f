/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the parts of an EVENT_RECORD. Extended items come from the file, so their sizes are
 * checked.
 */

#include "event/event.h"

#include "event/names.h"

#include <etwas/evntrace.h>

bool etwas_event_is_header_class(const EVENT_RECORD *record)
{
    return etwas_event_is_of_class(record, &etwas_names_header_class);
}

bool etwas_event_is_image(const EVENT_RECORD *record)
{
    return etwas_event_is_of_class(record, &etwas_names_image_class) ||
           etwas_event_is_of_class(record, &etwas_names_build_class);
}

bool etwas_event_is_kernel_symbol(const EVENT_RECORD *record)
{
    return etwas_event_is_of_class(record, &etwas_names_own_class) &&
           record->EventHeader.EventDescriptor.Opcode == ETWAS_NAMES_KERNEL_SYMBOL_TYPE;
}

/* Layout of the account of one of the kernel's event sources: docs/reference/file-format.md. */
enum {
    ACCOUNT_VERSION = 1,
    ACCOUNT_FLAGS_AT = 24,
    ACCOUNT_NO_ROOM_AT = 56,
    ACCOUNT_BYTES = 80,
    LOSS_VERSION = 1,
    LOSS_CAUSE_AT = 4,
    LOSS_EVENTS_AT = 8,
    LOSS_FROM_AT = 16,
    LOSS_UNTIL_AT = 24,
    LOSS_OFF = 1,
    LOSS_BYTES = 32,
};

static bool is_account(const EVENT_RECORD *record)
{
    uint32_t version = 0;

    if (etwas_event_is_of_class(record, &etwas_names_own_class) &&
        record->EventHeader.EventDescriptor.Opcode == ETWAS_NAMES_ACCOUNT_TYPE &&
        record->UserDataLength >= ACCOUNT_BYTES) {
        memcpy(&version, record->UserData, sizeof version);
    }
    return version == ACCOUNT_VERSION;
}

bool etwas_event_kernel_loss(const EVENT_RECORD *record, uint64_t *no_room, uint64_t *others)
{
    uint64_t counts[3];

    if (!is_account(record)) {
        return false;
    }
    memcpy(counts, (const char *)record->UserData + ACCOUNT_NO_ROOM_AT, sizeof counts);
    *no_room = counts[0];
    *others = counts[1] + counts[2];
    return true;
}

bool etwas_event_is_account_of_switches(const EVENT_RECORD *record)
{
    static const char name[] = "sched:sched_switch";

    return is_account(record) && record->UserDataLength >= ACCOUNT_BYTES + sizeof name &&
           memcmp((const char *)record->UserData + ACCOUNT_BYTES, name, sizeof name) == 0;
}

bool etwas_event_ring_loss(const EVENT_RECORD *record, struct etwas_event_loss *loss)
{
    if (!etwas_event_is_of_class(record, &etwas_names_own_class) ||
        record->EventHeader.EventDescriptor.Opcode != ETWAS_NAMES_KERNEL_LOSS_TYPE ||
        record->UserDataLength < LOSS_BYTES || etwas_event_u32(record, 0) != LOSS_VERSION) {
        return false;
    }
    *loss = (struct etwas_event_loss){
        .events = etwas_event_u64(record, LOSS_EVENTS_AT),
        .is_off = etwas_event_u32(record, LOSS_CAUSE_AT) == LOSS_OFF,
        .from_raw = (int64_t)etwas_event_u64(record, LOSS_FROM_AT),
        .until_raw = (int64_t)etwas_event_u64(record, LOSS_UNTIL_AT),
    };
    return true;
}

uint32_t etwas_event_kernel_flags(const EVENT_RECORD *record)
{
    uint32_t flags = 0;

    if (is_account(record)) {
        memcpy(&flags, (const char *)record->UserData + ACCOUNT_FLAGS_AT, sizeof flags);
    }
    return flags;
}

bool etwas_event_is_user_stack(const EVENT_RECORD *record)
{
    return etwas_event_is_of_class(record, &etwas_names_own_class) &&
           record->EventHeader.EventDescriptor.Opcode == ETWAS_NAMES_USER_STACK_TYPE;
}

static struct etwas_event_string string_at(const char *data, size_t offset, size_t bytes)
{
    struct etwas_event_string string = {NULL, 0};

    if (offset < bytes && data[offset] != '\0') {
        string.text = data + offset;
        string.bytes = strnlen(data + offset, bytes - offset);
    }
    return string;
}

/*
 * Returns the name in the schema of a self-describing event: u16 size, tag bytes (bit 7: another
 * follows), name.
 */
static struct etwas_event_string schema_name(const char *data, size_t bytes)
{
    size_t offset = 2;

    while (offset < bytes && (data[offset] & 0x80) != 0) {
        offset++;
    }
    return string_at(data, offset + 1, bytes);
}

static void read_item(const EVENT_HEADER_EXTENDED_DATA_ITEM *item, struct etwas_event *event)
{
    const char *data = (const char *)(uintptr_t)item->DataPtr;

    switch (item->ExtType) {
    case EVENT_HEADER_EXT_TYPE_INSTANCE_INFO:
        if (item->DataSize >= sizeof event->instance) {
            memcpy(&event->instance, data, sizeof event->instance);
            event->has_instance = true;
        }
        break;
    case EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL:
        event->event_name = schema_name(data, item->DataSize);
        break;
    case EVENT_HEADER_EXT_TYPE_PROV_TRAITS:
        event->provider_name = string_at(data, 2, item->DataSize);
        break;
    case EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID:
        if (item->DataSize >= sizeof event->related_activity) {
            memcpy(&event->related_activity, data, sizeof event->related_activity);
            event->has_related_activity = true;
        }
        break;
    default:
        break;
    }
}

void etwas_event_read(const EVENT_RECORD *record, struct etwas_event *event)
{
    const EVENT_HEADER *header = &record->EventHeader;

    *event = (struct etwas_event){
        .classic = (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0,
        .message = (header->Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0,
        .process = header->ProcessId,
        .thread = header->ThreadId,
        .processor = record->BufferContext.ProcessorIndex,
    };
    if (event->message) {
        event->message_flags = header->EventDescriptor.Task;
        if ((event->message_flags & TRACE_MESSAGE_SYSTEMINFO) == 0) {
            event->process = ETWAS_EVENT_UNKNOWN_ID;
            event->thread = ETWAS_EVENT_UNKNOWN_ID;
        }
    }
    for (uint16_t i = 0; i < record->ExtendedDataCount; i++) {
        read_item(&record->ExtendedData[i], event);
    }
    if (event->classic) {
        event->class_guid = &header->ProviderId;
        event->type = header->EventDescriptor.Opcode;
    }
}

const char *etwas_event_class_name(const struct etwas_event *event)
{
    return event->class_guid != NULL ? etwas_names_class(event->class_guid) : NULL;
}

const char *etwas_event_type_name(const struct etwas_event *event)
{
    return event->class_guid != NULL && memcmp(event->class_guid, &etwas_names_header_class,
                                               sizeof etwas_names_header_class) == 0
               ? etwas_names_header_type(event->type)
               : NULL;
}

bool etwas_event_has_name(const struct etwas_event *event)
{
    return etwas_event_class_name(event) != NULL || event->provider_name.text != NULL ||
           event->event_name.text != NULL;
}

static void put_string(struct etwas_output *output, enum etwas_text_style style,
                       const struct etwas_event_string *string)
{
    if (string->text != NULL) {
        etwas_text_utf8(output, style, string->text, string->bytes);
    }
}

void etwas_event_print_name(struct etwas_output *output, enum etwas_text_style style,
                            const struct etwas_event *event)
{
    const char *class_name = etwas_event_class_name(event);
    const char *type_name = etwas_event_type_name(event);

    if (class_name != NULL) {
        etwas_output_text(output, class_name);
        if (type_name != NULL) {
            etwas_output_char(output, '/');
            etwas_output_text(output, type_name);
        }
        return;
    }
    put_string(output, style, &event->provider_name);
    if (event->event_name.text != NULL) {
        etwas_output_char(output, '/');
        put_string(output, style, &event->event_name);
    }
}

bool etwas_event_is_stack(const EVENT_HEADER_EXTENDED_DATA_ITEM *item)
{
    return item->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE32 ||
           item->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64;
}

/* An event StackWalk: the stamp of the event it belongs to, process and thread, then the frames. */
enum {
    WALK_PROCESS_AT = 8,
    WALK_FRAMES_AT = 16,
};

bool etwas_event_is_stack_walk(const EVENT_RECORD *record)
{
    return etwas_event_is_of_class(record, &etwas_names_stack_class) &&
           record->EventHeader.EventDescriptor.Opcode == ETWAS_NAMES_STACK_TYPE &&
           record->UserDataLength >= WALK_FRAMES_AT;
}

static void read_walk(const EVENT_RECORD *record, struct etwas_event_stack *stack)
{
    const uint8_t *payload = record->UserData;

    memcpy(&stack->process, payload + WALK_PROCESS_AT, sizeof stack->process);
    stack->frames = payload + WALK_FRAMES_AT;
    stack->frame_bytes = (record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) != 0
                             ? sizeof(uint32_t)
                             : sizeof(uint64_t);
    stack->count = (uint32_t)(record->UserDataLength - WALK_FRAMES_AT) / stack->frame_bytes;
    stack->first_return = 1;
}

/*
 * An id of 8 bytes, which joins the parts of a stack, precedes the frames; only stacks of one part
 * have been seen.
 */
struct etwas_event_stack etwas_event_stack(const EVENT_RECORD *record)
{
    const uint32_t match_id_bytes = sizeof(uint64_t);
    struct etwas_event_stack stack = {.frame_bytes = 1, .process = record->EventHeader.ProcessId};

    if (etwas_event_is_stack_walk(record)) {
        read_walk(record, &stack);
    }
    for (uint16_t i = 0; i < record->ExtendedDataCount && stack.count == 0; i++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

        if (etwas_event_is_stack(item) && item->DataSize >= match_id_bytes) {
            stack.frames = (const uint8_t *)(uintptr_t)item->DataPtr + match_id_bytes;
            stack.frame_bytes = item->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE32 ? 4 : 8;
            stack.count = (item->DataSize - match_id_bytes) / stack.frame_bytes;
        }
    }
    return stack;
}

uint64_t etwas_event_frame(const struct etwas_event_stack *stack, uint32_t index)
{
    uint64_t address = 0;

    memcpy(&address, stack->frames + (size_t)index * stack->frame_bytes, stack->frame_bytes);
    return address;
}

uint32_t etwas_event_known_frames(const struct etwas_event_stack *stack)
{
    return stack->count -
           (stack->count > 0 && etwas_event_frame(stack, stack->count - 1) == ETWAS_EVENT_CUT);
}

void etwas_event_print_stack(struct etwas_output *output, const struct etwas_event_stack *stack,
                             const char *between)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        uint64_t frame = etwas_event_frame(stack, i);

        etwas_output_text(output, i > 0 ? between : "");
        if (frame == ETWAS_EVENT_CUT) {
            etwas_output_text(output, ETWAS_EVENT_CUT_NAME);
        } else {
            etwas_output_hexadecimal(output, frame);
        }
    }
}
