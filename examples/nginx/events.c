/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The provider, its classes and their events; the interface is in the header. */

#include "events.h"

#include <etwas/shared.h>
#include <etwas/tdh.h>
#include <string.h>

enum {
    REQUEST = NGX_HTTP_ETWAS_PHASES, /* after the classes of the phases */
    CLASSES,

    TYPE_UPSTREAM = 10,
    TYPE_SLOW = 11,
    TYPE_WAITED = 12,

    MOST_TEXT_BYTES = 1000, /* longer texts are cut */
    MOST_PAYLOAD_BYTES = 3 * MOST_TEXT_BYTES + 100,
};

/* {b1f2a6c4-3d0e-4f57-9a81-5c7e2d904b13}: the provider */
static const etwas_guid provider_guid = {
    0xb1f2a6c4, 0x3d0e, 0x4f57, {0x9a, 0x81, 0x5c, 0x7e, 0x2d, 0x90, 0x4b, 0x13}};

/* {9e4d7b02-6a15-4c38-8f29-d3b0417ac5NN}: the classes */
#define CLASS_GUID(LAST)                                                                           \
    {                                                                                              \
        0x9e4d7b02, 0x6a15, 0x4c38,                                                                \
        {                                                                                          \
            0x8f, 0x29, 0xd3, 0xb0, 0x41, 0x7a, 0xc5, LAST                                         \
        }                                                                                          \
    }
static const etwas_guid guids[CLASSES] = {CLASS_GUID(0), CLASS_GUID(1), CLASS_GUID(2)};

static TRACE_GUID_REGISTRATION classes[CLASSES];
static etwas_trace_handle registration;

/* ---- what they are ---- */

/*
 * Payloads have no gaps between their fields. A text is its length in two bytes, followed by its
 * bytes.
 */
struct __attribute__((packed)) start_numbers {
    uint64_t connection;
    uint32_t number;
    uint32_t method;
};
struct __attribute__((packed)) upstream_numbers {
    uint16_t status;
    int32_t connect_ms;
    int32_t header_ms;
    int32_t response_ms;
    uint64_t received;
};
struct __attribute__((packed)) slow_numbers {
    uint64_t duration_us;
    uint64_t limit_us;
    uint16_t status;
};
struct __attribute__((packed)) end_numbers {
    uint16_t status;
    uint64_t received;
    uint64_t sent;
};

#define NUMBER(NAME, TYPE)                                                                         \
    {                                                                                              \
        .name = NAME, .in_type = (TYPE)                                                            \
    }
/* The bytes of a request need not be UTF-8; readers escape invalid ones. */
#define TEXT(NAME)                                                                                 \
    {                                                                                              \
        .name = NAME, .in_type = TDH_INTYPE_MANIFEST_COUNTEDANSISTRING,                            \
        .out_type = TDH_OUTTYPE_UTF8                                                               \
    }
static const etwas_field_description start_fields[] = {
    NUMBER("connection", TDH_INTYPE_UINT64),
    NUMBER("number", TDH_INTYPE_UINT32), /* the number of the request on its connection, from 1 */
    {.name = "method", .map = "method", .in_type = TDH_INTYPE_UINT32},
    TEXT("uri"),
    TEXT("host"),
    TEXT("client"),
};
static const etwas_field_description upstream_fields[] = {
    NUMBER("status", TDH_INTYPE_UINT16),
    NUMBER("connect_ms", TDH_INTYPE_INT32), /* -1: this step was not reached */
    NUMBER("header_ms", TDH_INTYPE_INT32),
    NUMBER("response_ms", TDH_INTYPE_INT32),
    NUMBER("received", TDH_INTYPE_UINT64),
    TEXT("server"),
};
static const etwas_field_description slow_fields[] = {
    NUMBER("duration_us", TDH_INTYPE_UINT64),
    NUMBER("limit_us", TDH_INTYPE_UINT64),
    NUMBER("status", TDH_INTYPE_UINT16),
    TEXT("uri"),
};
static const etwas_field_description waited_fields[] = {
    NUMBER("duration_us", TDH_INTYPE_UINT64),
};
static const etwas_field_description end_fields[] = {
    NUMBER("status", TDH_INTYPE_UINT16),
    NUMBER("received", TDH_INTYPE_UINT64),
    NUMBER("sent", TDH_INTYPE_UINT64),
};

static const etwas_map_entry method_entries[] = {
    {"GET", NGX_HTTP_GET, 0},
    {"HEAD", NGX_HTTP_HEAD, 0},
    {"POST", NGX_HTTP_POST, 0},
    {"PUT", NGX_HTTP_PUT, 0},
    {"DELETE", NGX_HTTP_DELETE, 0},
    {"MKCOL", NGX_HTTP_MKCOL, 0},
    {"COPY", NGX_HTTP_COPY, 0},
    {"MOVE", NGX_HTTP_MOVE, 0},
    {"OPTIONS", NGX_HTTP_OPTIONS, 0},
    {"PROPFIND", NGX_HTTP_PROPFIND, 0},
    {"PROPPATCH", NGX_HTTP_PROPPATCH, 0},
    {"LOCK", NGX_HTTP_LOCK, 0},
    {"UNLOCK", NGX_HTTP_UNLOCK, 0},
    {"PATCH", NGX_HTTP_PATCH, 0},
    {"TRACE", NGX_HTTP_TRACE, 0},
    {"CONNECT", NGX_HTTP_CONNECT, 0},
    {"other", NGX_HTTP_UNKNOWN, 0},
};
static const etwas_map_description maps[] = {
    {.name = "method",
     .entries = method_entries,
     .entry_count = sizeof method_entries / sizeof method_entries[0]},
};

#define TYPE(NAME, NUMBER, FIELDS)                                                                 \
    {                                                                                              \
        .name = NAME, .fields = (FIELDS), .field_count = sizeof(FIELDS) / sizeof((FIELDS)[0]),     \
        .type = (NUMBER), .level = TRACE_LEVEL_INFORMATION                                         \
    }
static const etwas_type_description request_types[] = {
    TYPE("Start", EVENT_TRACE_TYPE_START, start_fields), TYPE("Waited", TYPE_WAITED, waited_fields),
    TYPE("Upstream", TYPE_UPSTREAM, upstream_fields),    TYPE("Slow", TYPE_SLOW, slow_fields),
    TYPE("End", EVENT_TRACE_TYPE_END, end_fields),
};
static const etwas_type_description phase_types[] = {
    {.name = "Start", .type = EVENT_TRACE_TYPE_START, .level = TRACE_LEVEL_INFORMATION},
    {.name = "End", .type = EVENT_TRACE_TYPE_END, .level = TRACE_LEVEL_INFORMATION},
};

static uint32_t describe(int class)
{
    static const char *const names[CLASSES] = {"Content", "Send", "Request"};
    const etwas_class_description description = {
        .guid = &guids[class],
        .provider_name = "nginx",
        .name = names[class],
        .types = class == REQUEST ? request_types : phase_types,
        .type_count = class == REQUEST ? sizeof request_types / sizeof request_types[0]
                                       : sizeof phase_types / sizeof phase_types[0],
        .maps = class == REQUEST ? maps : NULL,
        .map_count = class == REQUEST ? sizeof maps / sizeof maps[0] : 0,
    };

    return etwas_describe_class(&description, NULL);
}

/*
 * Does nothing when a controller enables the provider: events go only to the worker's own session.
 */
static uint32_t on_control(WMIDPREQUESTCODE request, void *context, uint32_t *size, void *buffer)
{
    (void)request, (void)context, (void)size, (void)buffer;
    return ERROR_SUCCESS;
}

uint32_t ngx_http_etwas_register(void)
{
    uint32_t result = ERROR_SUCCESS;

    /* Sharing needs a thread, and a second thread adds cost to each request (README.md). */
    (void)etwas_share_nothing();
    for (int class = 0; class < CLASSES && result == ERROR_SUCCESS; class ++) {
        classes[class].Guid = &guids[class];
        result = describe(class);
    }
    return result != ERROR_SUCCESS ? result
                                   : RegisterTraceGuidsA(on_control, NULL, &provider_guid, CLASSES,
                                                         classes, NULL, NULL, &registration);
}

void ngx_http_etwas_unregister(void)
{
    (void)UnregisterTraceGuids(registration);
}

/* ---- one event ---- */

/*
 * An event is contiguous: the library's fast path for contiguous events saves more than this copy
 * costs.
 */
struct event {
    EVENT_INSTANCE_HEADER header;
    unsigned char payload[MOST_PAYLOAD_BYTES];
};

/*
 * Forces a call of the C library's memcpy. If the compiler sees that texts are short, it emits an
 * instruction that takes longer to start than a text takes to copy.
 */
static void *(*const volatile copy)(void *to, const void *from, size_t bytes) = memcpy;

/* Copies data of a size that the compiler knows. Returns the end of the copy. */
static inline unsigned char *put(unsigned char *to, const void *data, size_t bytes)
{
    memcpy(to, data, bytes);
    return to + bytes;
}

static unsigned char *put_text(unsigned char *to, const ngx_str_t *text)
{
    const uint16_t bytes = (uint16_t)ngx_min(text->len, (size_t)MOST_TEXT_BYTES);

    to = put(to, &bytes, sizeof bytes);
    if (bytes != 0) {
        copy(to, text->data, bytes); /* an empty text may be at NULL */
    }
    return to + bytes;
}

/* Fills in the header. `end` is the end of the payload, which follows it. */
static etwas_batch_event make_event(etwas_trace_handle session, EVENT_INSTANCE_HEADER *header,
                                    const void *end, uint8_t type, const EVENT_INSTANCE_INFO *self)
{
    *header = (EVENT_INSTANCE_HEADER){
        .Size = (uint16_t)((const unsigned char *)end - (const unsigned char *)header),
        .Class.Type = type,
        .Class.Level = TRACE_LEVEL_INFORMATION,
        .Flags = WNODE_FLAG_TRACED_GUID,
    };
    return etwas_batch_instance(session, header, self, NULL);
}

static void write_event(etwas_trace_handle session, EVENT_INSTANCE_HEADER *header, const void *end,
                        uint8_t type, EVENT_INSTANCE_INFO *self)
{
    (void)make_event(session, header, end, type, self);
    (void)TraceEventInstance(session, header, self, NULL);
}

/* An event of a phase, which has no payload. */
struct phase_event {
    EVENT_INSTANCE_HEADER header;
    EVENT_INSTANCE_INFO self;
};

static etwas_batch_event make_phase_event(etwas_trace_handle session, struct phase_event *event,
                                          const ngx_http_etwas_request *request, uint8_t type)
{
    event->self = (EVENT_INSTANCE_INFO){.RegHandle = classes[request->phase].RegHandle,
                                        .InstanceId = request->self.InstanceId};
    return make_event(session, &event->header, &event->header + 1, type, &event->self);
}

/* Returns what the access log calls $status. */
static uint16_t status_of(const ngx_http_request_t *r)
{
    return (uint16_t)(r->err_status != 0 ? r->err_status : r->headers_out.status);
}

/*
 * Returns the number of the next instance. The worker has one thread and these classes to itself,
 * so a plain counter is enough. CreateTraceInstanceId serves any number of threads: it uses locked
 * instructions and further cache lines.
 */
static uint32_t next_number(void)
{
    static uint32_t last;

    last = last != UINT32_MAX ? last + 1 : 1; /* 0 means no instance */
    return last;
}

/* ---- what happens to a request ---- */

void ngx_http_etwas_begin(etwas_trace_handle session, ngx_http_etwas_request *request,
                          const ngx_http_request_t *r, enum ngx_http_etwas_phase phase)
{
    const struct start_numbers numbers = {
        .connection = r->connection->number,
        .number = (uint32_t)r->connection->requests,
        .method = (uint32_t)r->method,
    };
    etwas_batch_event events[2];
    uint32_t count = 0;
    struct phase_event first;
    struct event event;
    unsigned char *end = put(event.payload, &numbers, sizeof numbers);

    end = put_text(end, &r->unparsed_uri);
    end = put_text(end, &r->headers_in.server);
    end = put_text(end, &r->connection->addr_text);
    request->phase = phase;
    request->self =
        (EVENT_INSTANCE_INFO){.RegHandle = classes[REQUEST].RegHandle, .InstanceId = next_number()};
    events[count++] =
        make_event(session, &event.header, end, EVENT_TRACE_TYPE_START, &request->self);
    if (phase != NGX_HTTP_ETWAS_PHASES) {
        events[count++] = make_phase_event(session, &first, request, EVENT_TRACE_TYPE_START);
    }
    (void)etwas_write_many(events, count, NULL, NULL);
}

void ngx_http_etwas_enter(etwas_trace_handle session, ngx_http_etwas_request *request,
                          enum ngx_http_etwas_phase phase)
{
    etwas_batch_event events[2];
    uint32_t count = 0;
    struct phase_event last;
    struct phase_event next;

    if (request->phase == phase) {
        return;
    }
    if (request->phase != NGX_HTTP_ETWAS_PHASES) {
        events[count++] = make_phase_event(session, &last, request, EVENT_TRACE_TYPE_END);
    }
    request->phase = phase;
    events[count++] = make_phase_event(session, &next, request, EVENT_TRACE_TYPE_START);
    (void)etwas_write_many(events, count, NULL, NULL);
}

void ngx_http_etwas_log_wait(etwas_trace_handle session, ngx_http_etwas_request *request,
                             uint64_t duration_us)
{
    struct event event;

    write_event(session, &event.header, put(event.payload, &duration_us, sizeof duration_us),
                TYPE_WAITED, &request->self);
}

void ngx_http_etwas_log_upstreams(etwas_trace_handle session, ngx_http_etwas_request *request,
                                  const ngx_http_request_t *r)
{
    const ngx_http_upstream_state_t *state = r->upstream_states->elts;
    struct event event;

    for (ngx_uint_t index = 0; index < r->upstream_states->nelts; index++, state++) {
        const struct upstream_numbers numbers = {
            .status = (uint16_t)state->status,
            .connect_ms = (int32_t)state->connect_time,
            .header_ms = (int32_t)state->header_time,
            .response_ms = (int32_t)state->response_time,
            .received = (uint64_t)state->bytes_received,
        };

        if (state->peer == NULL) {
            continue; /* separates the servers of one upstream from those of the next */
        }
        write_event(session, &event.header,
                    put_text(put(event.payload, &numbers, sizeof numbers), state->peer),
                    TYPE_UPSTREAM, &request->self);
    }
}

void ngx_http_etwas_log_slow(etwas_trace_handle session, ngx_http_etwas_request *request,
                             const ngx_http_request_t *r, uint64_t duration_us, uint64_t limit_us)
{
    const struct slow_numbers numbers = {
        .duration_us = duration_us, .limit_us = limit_us, .status = status_of(r)};
    struct event event;

    write_event(session, &event.header,
                put_text(put(event.payload, &numbers, sizeof numbers), &r->unparsed_uri), TYPE_SLOW,
                &request->self);
}

void ngx_http_etwas_end(etwas_trace_handle session, ngx_http_etwas_request *request,
                        const ngx_http_request_t *r)
{
    const struct end_numbers numbers = {
        .status = status_of(r),
        .received = (uint64_t)r->request_length,
        .sent = (uint64_t)r->connection->sent,
    };
    etwas_batch_event events[2];
    uint32_t count = 0;
    struct phase_event last;
    struct event event;
    const unsigned char *end = put(event.payload, &numbers, sizeof numbers);

    /*
     * Builds the payload early. Reading it in other sizes than it was written in stalls until the
     * stores have reached the cache.
     */
    if (request->phase != NGX_HTTP_ETWAS_PHASES) {
        events[count++] = make_phase_event(session, &last, request, EVENT_TRACE_TYPE_END);
        request->phase = NGX_HTTP_ETWAS_PHASES;
    }
    events[count++] = make_event(session, &event.header, end, EVENT_TRACE_TYPE_END, &request->self);
    (void)etwas_write_many(events, count, NULL, NULL);
}
