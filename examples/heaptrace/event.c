/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The provider, its class, and the class's events; the interface is in the header. */

#include "event.h"

#include "counts.h"
#include "stack.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/etwas.h>
#include <etwas/tdh.h>
#include <string.h>

enum {
    PLAIN_VERSION = 0,
    STACK_VERSION = 1,
    MOST_PIECES = 5 /* from which an event is gathered */
};

/* {6d2f3f0a-57f4-4f0c-9f3b-6a7b1c2f8e11}: the provider */
static const etwas_guid provider_guid = {
    0x6d2f3f0a, 0x57f4, 0x4f0c, {0x9f, 0x3b, 0x6a, 0x7b, 0x1c, 0x2f, 0x8e, 0x11}};
/* {a3c81b52-0e9d-4b7e-8d46-2f5c90d7e6b4}: the class of all events */
static const etwas_guid call_guid = {
    0xa3c81b52, 0x0e9d, 0x4b7e, {0x8d, 0x46, 0x2f, 0x5c, 0x90, 0xd7, 0xe6, 0xb4}};

static etwas_trace_handle registration;
static etwas_handle call_class;
static uint64_t enabling_session;

/* ---- the class ---- */

#define NUMBER(NAME, TYPE)                                                                         \
    {                                                                                              \
        .name = NAME, .in_type = (TYPE)                                                            \
    }
#define SIZE NUMBER("size", TDH_INTYPE_UINT64)
#define ADDRESS NUMBER("address", TDH_INTYPE_POINTER)
#define OLD_ADDRESS NUMBER("old_address", TDH_INTYPE_POINTER)
#define ALIGNMENT NUMBER("alignment", TDH_INTYPE_UINT64)
#define STACK                                                                                      \
    NUMBER("frames", TDH_INTYPE_UINT16),                                                           \
    {                                                                                              \
        .name = "stack", .in_type = TDH_INTYPE_POINTER, .count = ETWAS_BY_FIELD_BEFORE             \
    }

static const etwas_field_description plain_fields[] = {SIZE, ADDRESS};
/* The size of a free is always 0, so readers do not show it. */
static const etwas_field_description free_fields[] = {
    {.name = "size", .in_type = TDH_INTYPE_UINT64, .out_type = TDH_OUTTYPE_NOPRINT},
    ADDRESS,
};
static const etwas_field_description move_fields[] = {SIZE, ADDRESS, OLD_ADDRESS};
static const etwas_field_description aligned_fields[] = {SIZE, ADDRESS, ALIGNMENT};
static const etwas_field_description image_fields[] = {
    NUMBER("base", TDH_INTYPE_POINTER),
    NUMBER("bytes", TDH_INTYPE_UINT64),
    NUMBER("build_id_bytes", TDH_INTYPE_UINT8),
    {.name = "build_id", .in_type = TDH_INTYPE_BINARY, .length = ETWAS_BY_FIELD_BEFORE},
    {.name = "path", .in_type = TDH_INTYPE_ANSISTRING, .out_type = TDH_OUTTYPE_UTF8},
};

static const etwas_field_description plain_stack_fields[] = {SIZE, ADDRESS, STACK};
static const etwas_field_description move_stack_fields[] = {SIZE, ADDRESS, OLD_ADDRESS, STACK};
static const etwas_field_description aligned_stack_fields[] = {SIZE, ADDRESS, ALIGNMENT, STACK};

#define TYPE(NAME, NUMBER, FIELDS)                                                                 \
    {                                                                                              \
        .name = NAME, .fields = (FIELDS), .field_count = sizeof(FIELDS) / sizeof((FIELDS)[0]),     \
        .type = (NUMBER), .level = TRACE_LEVEL_INFORMATION                                         \
    }
#define ALLOCATIONS(PLAIN, MOVE, ALIGNED)                                                          \
    TYPE("malloc", HEAPTRACE_MALLOC, PLAIN), TYPE("calloc", HEAPTRACE_CALLOC, PLAIN),              \
        TYPE("realloc", HEAPTRACE_REALLOC, MOVE),                                                  \
        TYPE("reallocarray", HEAPTRACE_REALLOCARRAY, MOVE),                                        \
        TYPE("posix_memalign", HEAPTRACE_POSIX_MEMALIGN, ALIGNED),                                 \
        TYPE("aligned_alloc", HEAPTRACE_ALIGNED_ALLOC, ALIGNED),                                   \
        TYPE("memalign", HEAPTRACE_MEMALIGN, ALIGNED), TYPE("valloc", HEAPTRACE_VALLOC, PLAIN),    \
        TYPE("pvalloc", HEAPTRACE_PVALLOC, PLAIN)

static const etwas_type_description plain_types[] = {
    ALLOCATIONS(plain_fields, move_fields, aligned_fields),
    TYPE("free", HEAPTRACE_FREE, free_fields),
    TYPE("image", HEAPTRACE_IMAGE, image_fields),
};
static const etwas_type_description stack_types[] = {
    ALLOCATIONS(plain_stack_fields, move_stack_fields, aligned_stack_fields),
};

static uint32_t describe(uint32_t version, const etwas_type_description *types, size_t count)
{
    const etwas_class_description description = {
        .guid = &call_guid,
        .provider_name = "heaptrace",
        .types = types,
        .type_count = (uint32_t)count,
        .version = version,
    };

    return etwas_describe_class(&description, NULL);
}

/*
 * Needed only for a session of another process: this call says that it exists. It is written to
 * until it refuses events; those attempts are counted, too.
 */
static uint32_t on_control(WMIDPREQUESTCODE request, void *context, uint32_t *size, void *buffer)
{
    (void)context;
    (void)size;
    if (request == WMI_ENABLE_EVENTS) {
        ck_pr_store_64(&enabling_session, GetTraceLoggerHandle(buffer));
    }
    return ERROR_SUCCESS;
}

static uint32_t register_provider(void)
{
    TRACE_GUID_REGISTRATION classes[1] = {{&call_guid, NULL}};
    uint32_t result = RegisterTraceGuidsA(on_control, NULL, &provider_guid, 1, classes, NULL, NULL,
                                          &registration);

    call_class = result == ERROR_SUCCESS ? classes[0].RegHandle : NULL;
    return result;
}

uint32_t heaptrace_event_register_again(void)
{
    ck_pr_store_64(&enabling_session, 0);
    (void)UnregisterTraceGuids(registration);
    return register_provider();
}

etwas_trace_handle heaptrace_event_session(void)
{
    return ck_pr_load_64(&enabling_session);
}

uint32_t heaptrace_event_register(bool with_stacks)
{
    uint32_t result;

    if (call_class != NULL) {
        return ERROR_SUCCESS;
    }
    result = describe(PLAIN_VERSION, plain_types, sizeof plain_types / sizeof plain_types[0]);
    if (result == ERROR_SUCCESS && with_stacks) {
        result = describe(STACK_VERSION, stack_types, sizeof stack_types / sizeof stack_types[0]);
    }
    return result == ERROR_SUCCESS ? register_provider() : result;
}

/* ---- one event ---- */

/* An event without a stack: its header, then struct heaptrace_call without the type. */
struct plain_event {
    EVENT_INSTANCE_HEADER header;
    uint64_t data[HEAPTRACE_LONG_DATA_BYTES / 8];
};
_Static_assert(sizeof(struct plain_event) == 56 + HEAPTRACE_LONG_DATA_BYTES,
               "no padding in an event");

struct gathered_event {
    EVENT_INSTANCE_HEADER header;
    MOF_FIELD pieces[MOST_PIECES];
};

static bool has_third(uint8_t type)
{
    return type == HEAPTRACE_REALLOC || type == HEAPTRACE_REALLOCARRAY ||
           (type >= HEAPTRACE_POSIX_MEMALIGN && type <= HEAPTRACE_MEMALIGN);
}

bool heaptrace_event_has_stack(uint8_t type)
{
    return type != HEAPTRACE_FREE;
}

static EVENT_INSTANCE_HEADER head(uint8_t type, uint8_t version, size_t bytes, uint32_t flags)
{
    return (EVENT_INSTANCE_HEADER){
        .Size = (uint16_t)(sizeof(EVENT_INSTANCE_HEADER) + bytes),
        .Class.Type = type,
        .Class.Level = TRACE_LEVEL_INFORMATION,
        .Class.Version = version,
        .RegHandle = (uint64_t)(uintptr_t)call_class,
        .Flags = WNODE_FLAG_TRACED_GUID | flags,
    };
}

static void write_event(etwas_trace_handle session, EVENT_INSTANCE_HEADER *header)
{
    int saved_errno = errno;
    EVENT_INSTANCE_INFO instance;
    uint32_t result = CreateTraceInstanceId(call_class, &instance);

    if (result == ERROR_SUCCESS) {
        result = TraceEventInstance(session, header, &instance, NULL);
    }
    /* The session itself counts an event as lost if it has no buffer for it. */
    if (result != ERROR_SUCCESS && result != ERROR_NOT_ENOUGH_MEMORY &&
        result != ERROR_OUTOFMEMORY) {
        heaptrace_count_refused();
    }
    errno = saved_errno;
}

static MOF_FIELD piece(const void *data, size_t bytes)
{
    return (MOF_FIELD){.DataPtr = (uint64_t)(uintptr_t)data, .Length = (uint32_t)bytes};
}

void heaptrace_event_write(etwas_trace_handle session, const struct heaptrace_call *call,
                           const uint64_t *frames, uint16_t frame_count)
{
    size_t bytes = has_third(call->type) ? HEAPTRACE_LONG_DATA_BYTES : HEAPTRACE_SHORT_DATA_BYTES;

    if (frames == NULL) {
        struct plain_event event = {
            .header = head(call->type, PLAIN_VERSION, bytes, 0),
            .data = {call->size, call->address, call->third},
        };

        write_event(session, &event.header);
    } else {
        const uint64_t data[] = {call->size, call->address, call->third};
        unsigned int pieces = frame_count > 0 ? 3 : 2;
        struct gathered_event event = {
            .header =
                head(call->type, STACK_VERSION, pieces * sizeof(MOF_FIELD), WNODE_FLAG_USE_MOF_PTR),
            .pieces = {piece(data, bytes), piece(&frame_count, sizeof frame_count),
                       piece(frames, frame_count * sizeof frames[0])},
        };

        write_event(session, &event.header);
    }
}

void heaptrace_event_write_image(etwas_trace_handle session, const struct heaptrace_image *image)
{
    const uint64_t place[] = {image->base, image->bytes};
    MOF_FIELD path = piece(image->path, strlen(image->path) + 1);
    bool has_id = image->build_id_bytes > 0;
    struct gathered_event event = {
        .header = head(HEAPTRACE_IMAGE, PLAIN_VERSION, (has_id ? 4 : 3) * sizeof(MOF_FIELD),
                       WNODE_FLAG_USE_MOF_PTR),
        .pieces = {piece(place, sizeof place),
                   piece(&image->build_id_bytes, sizeof image->build_id_bytes),
                   has_id ? piece(image->build_id, image->build_id_bytes) : path, path},
    };

    write_event(session, &event.header);
}
