/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The general path of etwas_write_many, in three steps:
 *
 *     CHECK      each event is built once, and nothing is published. An event that is not possible
 *                ends the call
 *     ASSIGN     which sessions get which events, after levels, keywords and filters
 *     PUBLISH    for each session: the sizes of its records, with the items that it requests, then
 *                one batch, for which each record is built again in its turn
 *
 * Only one record is built at a time, which keeps the stack small.
 */
#include "provider/write_many.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdbool.h>

#include "buffer/publish.h"
#include "buffer/unattached.h"
#include "provider/counted_class.h"
#include "provider/event_filter.h"
#include "provider/event_items.h"
#include "provider/manifest_chunk.h"
#include "provider/trace_event.h"
#include "session/handle.h"
#include "session/trigger.h"

/* What is known of one event. */
struct many_event {
    struct etwas_recipients recipients; /* of a classic event: its session */
    uint32_t bytes;                     /* of the record without a session's items */
    uint32_t given_bytes;               /* the stated size (R63) */
    uint32_t kind;
    bool is_too_long; /* for any record: ERROR_ARITHMETIC_OVERFLOW */
    uint64_t key;     /* EVENT_ENABLE_PROPERTY_EVENT_KEY; 0: none yet */
};

/* One event of the batch of a session. */
struct many_member {
    uint32_t event;
    uint32_t bytes; /* of its record, with the session's items */
    uint32_t properties;
};

/* The batch of one session. */
struct many_batch {
    struct etwas_record_batch records;
    const struct etwas_many_call *call;
    struct many_event *events;
    struct many_member members[ETWAS_BATCH_EVENTS];
    struct etwas_session_key session;
    uint32_t given_bytes; /* the largest of its events */
    uint32_t flags;       /* of all its events together */
    bool is_too_long;     /* one of its events is */
    bool is_unattached;
    uint64_t bytes;
    struct etwas_event_items items;
    union {
        struct etwas_event_record event;
        struct etwas_classic_record classic;
    } built;
};

/* ---- one record ------------------------------------------------------------------------------ */

/*
 * Builds the record of an event of a modern provider, without a session's items. If the event is
 * not possible, or no longer, the record has no data.
 */
static uint32_t many_build_event(struct etwas_event_record *built, const etwas_batch_event *event,
                                 const struct etwas_recipients *recipients)
{
    struct etwas_event_arguments arguments = etwas_many_arguments(event);
    uint32_t code = etwas_event_record_list(built, &arguments, recipients->options);

    if (code != ERROR_SUCCESS) {
        arguments.related = NULL;
        arguments.data_count = 0;
        (void)etwas_event_record_list(built, &arguments, recipients->options);
    }
    etwas_event_record_fill(built, &arguments, recipients);
    return code;
}

/* Does the same for a classic event. *counted_for receives the session that has it counted. */
static uint32_t many_build_classic(struct etwas_classic_record *built,
                                   const etwas_batch_event *event, uint32_t kind,
                                   uint64_t *counted_for)
{
    struct etwas_classic_event classic;
    struct etwas_payload_fields payload;
    MOF_FIELD whole;
    uint32_t code = kind == ETWAS_BATCH_KIND_INSTANCE
                        ? etwas_trace_instance_read(event->event, event->first, event->second, true,
                                                    &classic, &payload, &whole)
                        : etwas_trace_event_read(event->event, &classic, &payload, &whole);

    if (code == ERROR_SUCCESS) {
        code = etwas_classic_record_build(built, &classic, &payload);
    }
    if (code != ERROR_SUCCESS) {
        payload.count = 0;
        (void)etwas_classic_record_build(built, &classic, &payload);
    }
    *counted_for = classic.counted_for;
    return code;
}

/*
 * Gives a record the size that was reserved for it, if another thread has changed the caller's data
 * since then. What is missing stays zeroes.
 */
static const struct etwas_unstamped_record *many_fix_size(struct etwas_unstamped_record *record,
                                                          uint32_t bytes)
{
    record->bytes = bytes;
    record->header->full.size = (uint16_t)bytes;
    return record;
}

static const struct etwas_unstamped_record *many_build_member(struct etwas_record_batch *records,
                                                              uint32_t index)
{
    struct many_batch *batch = (struct many_batch *)(void *)records;
    const struct many_member *member = &batch->members[index];
    const struct many_event *known = &batch->events[member->event];
    const etwas_batch_event *event = &batch->call->events[member->event];
    struct etwas_event_record *built = &batch->built.event;
    uint64_t counted_for;

    if (known->kind != ETWAS_BATCH_KIND_WRITE) {
        (void)many_build_classic(&batch->built.classic, event, known->kind, &counted_for);
        return many_fix_size(&batch->built.classic.record, member->bytes);
    }
    (void)many_build_event(built, event, &known->recipients);
    if (member->properties != 0) {
        const struct etwas_event_context context = {.key = known->key, .inside = batch->call};

        if (batch->items.properties != member->properties) {
            etwas_event_items_build(&batch->items, member->properties, &context);
        }
        etwas_event_items_set_key(&batch->items, known->key);
        etwas_event_record_reserve_items(built);
        (void)etwas_event_record_set_items(built, &batch->items);
    }
    return many_fix_size(&built->record, member->bytes);
}

/* ---- CHECK ----------------------------------------------------------------------------------- */

/* Sums the data of an event that is too large for any record. */
static uint32_t many_sum_data(const etwas_batch_event *event)
{
    const EVENT_DATA_DESCRIPTOR *data = event->data;
    uint64_t bytes = sizeof(struct etwas_etl_event_header);

    for (uint32_t index = 0; index < event->data_count; index++) {
        bytes += data[index].Size;
    }
    return bytes < ETWAS_ETL_LARGEST_BUFFER_BYTES ? (uint32_t)bytes
                                                  : (uint32_t)ETWAS_ETL_LARGEST_BUFFER_BYTES;
}

static uint32_t many_check_write(const etwas_batch_event *event, struct many_event *known,
                                 struct etwas_event_record *built)
{
    const EVENT_DESCRIPTOR *descriptor = event->event;
    const struct etwas_event_provider *provider = etwas_event_provider_at(event->handle);
    uint32_t code;

    known->recipients.count = 0;
    if (provider == NULL || ck_pr_load_64(&provider->handle) != event->handle) {
        return event->handle == 0 ? (uint32_t)ERROR_SUCCESS : (uint32_t)ERROR_INVALID_HANDLE;
    }
    if ((ck_pr_load_32(&provider->state) & ETWAS_PROVIDER_ANY_LISTENER) == 0) {
        return ERROR_SUCCESS;
    }
    if (descriptor == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_event_provider_recipients(provider, event->handle, descriptor->Level,
                                         descriptor->Keyword, &known->recipients)) {
        return ERROR_INVALID_HANDLE;
    }
    if (known->recipients.count == 0) {
        return ERROR_SUCCESS;
    }
    code = many_build_event(built, event, &known->recipients);
    known->bytes = built->record.bytes;
    known->given_bytes = built->data_bytes;
    if (code == ERROR_ARITHMETIC_OVERFLOW) {
        known->bytes = many_sum_data(event);
        known->given_bytes = ETWAS_PUBLISH_TOO_LARGE;
        known->is_too_long = true;
        return ERROR_SUCCESS;
    }
    return code;
}

static uint32_t many_check_classic(const etwas_batch_event *event, struct many_event *known,
                                   struct etwas_classic_record *built)
{
    struct etwas_session_key key;
    uint64_t counted_for;
    uint32_t code;

    if (event->handle == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    code = many_build_classic(built, event, known->kind, &counted_for);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (!etwas_writer_key_of(event->handle, &key) ||
        (etwas_publish_check(key.index, key.generation, 0, &built->record) ==
             ERROR_INVALID_HANDLE &&
         !etwas_unattached_is_counting(key.index, key.generation))) {
        return ERROR_INVALID_HANDLE;
    }
    known->bytes = built->record.bytes;
    known->given_bytes = built->given_bytes;
    known->recipients.count = 1;
    known->recipients.sessions[0].session = etwas_session_handle(key);
    known->recipients.sessions[0].flags =
        counted_for == etwas_session_handle(key) ? ETWAS_LISTENER_COUNTED : 0;
    return ERROR_SUCCESS;
}

static uint32_t many_check(struct many_batch *batch, uint32_t index)
{
    const etwas_batch_event *event = &batch->call->events[index];
    struct many_event *known = &batch->events[index];

    known->kind = ck_pr_load_32(&event->kind);
    known->key = 0;
    known->is_too_long = false;
    switch (known->kind) {
    case ETWAS_BATCH_KIND_WRITE:
        return many_check_write(event, known, &batch->built.event);
    case ETWAS_BATCH_KIND_TRACE:
    case ETWAS_BATCH_KIND_INSTANCE:
        return many_check_classic(event, known, &batch->built.classic);
    default:
        return ERROR_INVALID_PARAMETER;
    }
}

static uint32_t many_check_all(struct many_batch *batch)
{
    for (uint32_t index = 0; index < batch->call->count; index++) {
        uint32_t code = many_check(batch, index);

        if (code != ERROR_SUCCESS) {
            if (batch->call->refused != NULL) {
                *batch->call->refused = index;
            }
            return code;
        }
    }
    return ERROR_SUCCESS;
}

/* ---- ASSIGN ---------------------------------------------------------------------------------- */

/* Removes the sessions whose filter does not let an event pass, and stores descriptions. */
static void many_filter(struct many_batch *batch)
{
    for (uint32_t index = 0; index < batch->call->count; index++) {
        const etwas_batch_event *event = &batch->call->events[index];
        struct etwas_recipients *recipients = &batch->events[index].recipients;
        const struct etwas_event_arguments arguments = etwas_many_arguments(event);
        uint32_t flags = 0;

        if (batch->events[index].kind != ETWAS_BATCH_KIND_WRITE || recipients->count == 0) {
            continue;
        }
        if (etwas_manifest_chunk_is_possible(arguments.descriptor)) {
            etwas_guid provider;

            etwas_pair_store(&provider, recipients->guid);
            etwas_manifest_chunk_store(&provider, &arguments);
        }
        for (uint32_t at = 0; at < recipients->count; at++) {
            flags |= recipients->sessions[at].flags;
        }
        if ((flags & ETWAS_LISTENER_FILTERED) != 0) {
            etwas_event_filter_apply(etwas_event_provider_at(event->handle), recipients->options,
                                     &arguments, recipients);
        }
    }
}

/* Returns a session's place among the recipients of an event, or their number: it is none. */
static uint32_t many_find_session(const struct etwas_recipients *recipients, uint64_t session)
{
    uint32_t at = 0;

    while (at < recipients->count && recipients->sessions[at].session != session) {
        at++;
    }
    return at;
}

static bool many_was_earlier(const struct many_batch *batch, uint32_t index, uint64_t session)
{
    for (uint32_t earlier = 0; earlier < index; earlier++) {
        const struct etwas_recipients *recipients = &batch->events[earlier].recipients;

        if (many_find_session(recipients, session) < recipients->count) {
            return true;
        }
    }
    return false;
}

/* Collects the events of a session, which gets the one at `index` first. */
static void many_collect(struct many_batch *batch, uint32_t index, uint64_t session)
{
    batch->records = (struct etwas_record_batch){.build = many_build_member};
    batch->flags = 0;
    batch->given_bytes = 0;
    batch->is_too_long = false;
    for (; index < batch->call->count; index++) {
        struct many_event *event = &batch->events[index];
        uint32_t at = many_find_session(&event->recipients, session);
        struct many_member *member = &batch->members[batch->records.records];
        uint32_t flags;

        if (at == event->recipients.count) {
            continue;
        }
        flags = event->recipients.sessions[at].flags;
        *member = (struct many_member){index, event->bytes, etwas_listener_properties(flags)};
        if (event->given_bytes > batch->given_bytes) {
            batch->given_bytes = event->given_bytes;
        }
        if ((member->properties & EVENT_ENABLE_PROPERTY_EVENT_KEY) != 0 && event->key == 0) {
            struct etwas_event_context context;

            etwas_event_context_read(&context, EVENT_ENABLE_PROPERTY_EVENT_KEY, batch->call);
            event->key = context.key;
        }
        batch->flags |= flags;
        batch->is_too_long = batch->is_too_long || event->is_too_long;
        batch->records.records++;
    }
}

/* ---- PUBLISH --------------------------------------------------------------------------------- */

/* Sums the records with the items of the session. Returns false if one of them is too long. */
static bool many_measure(struct many_batch *batch)
{
    bool fits = true;

    batch->bytes = 0;
    batch->items.properties = 0;
    for (uint32_t index = 0; index < batch->records.records; index++) {
        struct many_member *member = &batch->members[index];
        const struct many_event *event = &batch->events[member->event];

        member->bytes = event->bytes;
        if (member->properties != 0) {
            const struct etwas_event_context context = {.inside = batch->call};

            if (batch->items.properties != member->properties) {
                etwas_event_items_build(&batch->items, member->properties, &context);
            }
            member->bytes += batch->items.bytes;
        }
        fits = fits && member->bytes <= ETWAS_ETL_LARGEST_RECORD_BYTES;
        batch->bytes += etwas_etl_round_up_8(member->bytes);
    }
    batch->records.units = (uint32_t)(batch->bytes / ETWAS_UNIT_BYTES);
    return fits;
}

/* Leaves away items, the stacks first. Returns false if there are none. */
static bool many_drop_items(struct many_batch *batch)
{
    bool dropped = false;

    for (uint32_t index = 0; index < batch->records.records; index++) {
        struct many_member *member = &batch->members[index];

        dropped = dropped || member->properties != 0;
        member->properties = etwas_fewer_properties(member->properties);
    }
    return dropped;
}

/*
 * Builds the record that stands for the batch: the first one. A batch of one is published as the
 * event alone is.
 */
static struct etwas_unstamped_record many_head(struct many_batch *batch)
{
    struct etwas_unstamped_record head = *many_build_member(&batch->records, 0);

    head.batch = batch->records.records > 1 ? &batch->records : NULL;
    return head;
}

static void many_log_counters(struct many_batch *batch, uint8_t type)
{
    const struct etwas_counter_hooks *counting = ck_pr_load_ptr(&etwas_counter_hooks);

    for (uint32_t index = 0; index < batch->records.records && counting != NULL; index++) {
        const struct many_member *member = &batch->members[index];
        const struct etwas_recipients *recipients = &batch->events[member->event].recipients;
        uint32_t at = many_find_session(recipients, etwas_session_handle(batch->session));

        if ((recipients->sessions[at].flags & ETWAS_LISTENER_COUNTED) != 0) {
            counting->log(batch->session.index, batch->session.generation, type,
                          many_build_member(&batch->records, index));
        }
    }
}

/* Publishes the collected events. */
static uint32_t many_publish(struct many_batch *batch)
{
    const bool is_counted = (batch->flags & ETWAS_LISTENER_COUNTED) != 0;
    struct etwas_unstamped_record head;
    uint32_t code;

    do {
        bool fits = many_measure(batch);

        head = many_head(batch);
        code = fits ? etwas_publish_check(batch->session.index, batch->session.generation,
                                          batch->given_bytes, &head)
                    : (uint32_t)ERROR_MORE_DATA;
    } while (code == ERROR_MORE_DATA && many_drop_items(batch));
    batch->is_unattached = code == ERROR_INVALID_HANDLE;
    if (is_counted && code == ERROR_SUCCESS) {
        many_log_counters(batch, EVENT_TRACE_TYPE_END);
        head = many_head(batch);
    }
    code =
        etwas_publish(batch->session.index, batch->session.generation, batch->given_bytes, &head);
    if (is_counted && code == ERROR_SUCCESS) {
        many_log_counters(batch, EVENT_TRACE_TYPE_START);
    }
    return code;
}

static uint32_t many_publish_to(struct many_batch *batch, uint32_t index, uint32_t at)
{
    const struct etwas_recipients *recipients = &batch->events[index].recipients;
    const uint64_t session = recipients->sessions[at].session;
    uint32_t code;

    if (!etwas_writer_key_of(session, &batch->session)) {
        return ERROR_INVALID_HANDLE;
    }
    many_collect(batch, index, session);
    code = many_publish(batch);
    if ((batch->flags & ETWAS_LISTENER_TRIGGERS) != 0 &&
        batch->session.index < ETWAS_SESSION_ENTRIES) {
        (void)etwas_trigger_pull(batch->session); /* does nothing if the session is not armed */
    }
    return code == ERROR_MORE_DATA && batch->is_too_long ? (uint32_t)ERROR_ARITHMETIC_OVERFLOW
                                                         : code;
}

/* What became of a batch, over its sessions. */
struct many_result {
    uint32_t recorded;    /* sessions that have their events */
    uint32_t code;        /* of the first one that has not */
    uint32_t independent; /* likewise, of independent and unattached sessions (R77) */
};

static void many_add_result(struct many_result *result, const struct many_batch *batch,
                            uint32_t kind, uint32_t code)
{
    uint32_t *first;

    /* A session of a provider that has just ended no longer listens. */
    if (code == ERROR_INVALID_HANDLE && kind == ETWAS_BATCH_KIND_WRITE) {
        return;
    }
    first = (batch->flags & ETWAS_LISTENER_INDEPENDENT) != 0 || batch->is_unattached
                ? &result->independent
                : &result->code;
    if (code == ERROR_SUCCESS) {
        result->recorded++;
    } else if (*first == ERROR_SUCCESS) {
        *first = code;
        if (code == ERROR_MORE_DATA && batch->call->bytes != NULL) {
            *batch->call->bytes = (uint32_t)batch->bytes;
        }
    }
}

/* Publishes to each session. */
static uint32_t many_publish_all(struct many_batch *batch)
{
    struct many_result result = {0};

    for (uint32_t index = 0; index < batch->call->count; index++) {
        const struct etwas_recipients *recipients = &batch->events[index].recipients;

        for (uint32_t at = 0; at < recipients->count; at++) {
            if (!many_was_earlier(batch, index, recipients->sessions[at].session)) {
                uint32_t code = many_publish_to(batch, index, at);

                many_add_result(&result, batch, batch->events[index].kind, code);
            }
        }
    }
    if (result.code != ERROR_SUCCESS) {
        return result.code;
    }
    return result.recorded != 0 ? (uint32_t)ERROR_SUCCESS : result.independent;
}

__attribute__((noinline)) uint32_t etwas_write_many_general(const struct etwas_many_call *call)
{
    struct many_event events[ETWAS_BATCH_EVENTS];
    struct many_batch batch;
    uint32_t code;

    if (call->count > ETWAS_BATCH_EVENTS || (call->events == NULL && call->count != 0)) {
        if (call->refused != NULL) {
            *call->refused = ETWAS_BATCH_EVENTS;
        }
        return ERROR_INVALID_PARAMETER;
    }
    batch.call = call;
    batch.events = events;
    code = many_check_all(&batch);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    many_filter(&batch);
    return many_publish_all(&batch);
}
