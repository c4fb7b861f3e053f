/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EventWrite and its companions: from a descriptor and blocks of data to a record in each session
 * that wants it (R194, R196).
 *
 * No lock, no allocation, no system call. What the caller gave is checked before anything is
 * published.
 */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <stddef.h>

#include "buffer/publish.h"
#include "provider/event_provider.h"
#include "provider/event_publish.h"
#include "provider/event_record.h"
#include "session/handle.h"

/* One session that wants the event as it is takes it at once. */
static uint32_t publish(const struct etwas_event_provider *provider,
                        const struct etwas_event *event, struct etwas_audience *audience,
                        struct etwas_event_record *built)
{
    struct etwas_session_key only;
    uint32_t code;

    if (audience->count != 1 || !etwas_listener_is_plain(audience->sessions[0].flags)) {
        return etwas_event_publish(provider, event, audience, built);
    }
    if (!etwas_session_key_of(audience->sessions[0].session, &only)) {
        return ERROR_SUCCESS;
    }
    code = etwas_publish(only.index, only.generation, built->data_bytes, &built->record);
    /* It has just ended, and listens no more. */
    return code != ERROR_INVALID_HANDLE ? code : (uint32_t)ERROR_SUCCESS;
}

/* ---- who gets an event ----------------------------------------------------------------------- */

/* Takes the sessions out that the caller, or a session itself, does not want it in. */
static void exclude(struct etwas_audience *audience, uint64_t filter, uint32_t flags)
{
    uint32_t kept = 0;

    for (uint32_t index = 0; index < audience->count; index++) {
        uint32_t entry =
            (uint32_t)(audience->sessions[index].session & ((1u << ETWAS_HANDLE_INDEX_BITS) - 1)) -
            1;
        bool is_private = (flags & EVENT_WRITE_FLAG_INPRIVATE) != 0;

        if ((entry < 64 && (filter >> entry & 1) != 0) ||
            (is_private &&
             (audience->sessions[index].flags & ETWAS_LISTENER_EXCLUDE_PRIVATE) != 0)) {
            continue;
        }
        audience->sessions[kept++] = audience->sessions[index];
    }
    audience->count = kept;
}

static uint32_t write_heard(const struct etwas_event_provider *provider, REGHANDLE handle,
                            uint64_t filter, uint32_t flags, const struct etwas_event *event)
{
    struct etwas_audience audience;
    struct etwas_event_record built;
    uint32_t code;

    if (event->descriptor == NULL ||
        (flags & ~(EVENT_WRITE_FLAG_NO_FAULTING | EVENT_WRITE_FLAG_INPRIVATE)) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_event_provider_audience(provider, handle, event->descriptor->Level,
                                       event->descriptor->Keyword, &audience)) {
        return ERROR_INVALID_HANDLE;
    }
    if (filter != 0 || flags != 0) {
        exclude(&audience, filter, flags);
    }
    if (audience.count == 0) {
        return ERROR_SUCCESS;
    }
    code = etwas_event_record_build(&built, event, &audience);
    return code == ERROR_SUCCESS ? publish(provider, event, &audience, &built) : code;
}

/*
 * The gate: a session listens, and *code is not set; or there is nothing to do but to return *code.
 */
static inline const struct etwas_event_provider *find_heard(REGHANDLE handle, uint32_t *code)
{
    const struct etwas_event_provider *provider = NULL;

    *code = ERROR_SUCCESS;
    if (handle != 0) {
        provider = etwas_event_provider_of(handle);
        if (provider == NULL) {
            *code = ERROR_INVALID_HANDLE;
        } else if (ck_pr_load_32(&provider->listening) == 0) {
            provider = NULL;
        }
    }
    return provider;
}

/* ---- the functions --------------------------------------------------------------------------- */

uint32_t EventWriteEx(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, uint64_t filter,
                      uint32_t flags, const etwas_guid *activity, const etwas_guid *related,
                      uint32_t data_count, EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event event = {descriptor, activity, related, data, data_count, 0};
    uint32_t code;
    const struct etwas_event_provider *provider = find_heard(handle, &code);

    return provider != NULL ? write_heard(provider, handle, filter, flags, &event) : code;
}

uint32_t EventWriteTransfer(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor,
                            const etwas_guid *activity, const etwas_guid *related,
                            uint32_t data_count, EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event event = {descriptor, activity, related, data, data_count, 0};
    uint32_t code;
    const struct etwas_event_provider *provider = find_heard(handle, &code);

    return provider != NULL ? write_heard(provider, handle, 0, 0, &event) : code;
}

uint32_t EventWrite(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, uint32_t data_count,
                    EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event event = {descriptor, NULL, NULL, data, data_count, 0};
    uint32_t code;
    const struct etwas_event_provider *provider = find_heard(handle, &code);

    return provider != NULL ? write_heard(provider, handle, 0, 0, &event) : code;
}

/* With its NUL, or one more than any record has. */
static uint32_t string_bytes(const etwas_wchar *string)
{
    uint32_t units = 0;

    while (units <= ETWAS_ETL_LARGEST_RECORD_BYTES / sizeof *string && string[units] != 0) {
        units++;
    }
    return (units + 1) * (uint32_t)sizeof *string;
}

uint32_t EventWriteString(REGHANDLE handle, uint8_t level, uint64_t keyword,
                          const etwas_wchar *string)
{
    const EVENT_DESCRIPTOR descriptor = {.Level = level, .Keyword = keyword};
    EVENT_DATA_DESCRIPTOR block;
    struct etwas_event event = {&descriptor, NULL, NULL, &block, 1, EVENT_HEADER_FLAG_STRING_ONLY};
    uint32_t code;
    const struct etwas_event_provider *provider = find_heard(handle, &code);

    if (provider == NULL) {
        return code;
    }
    if (string == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    EventDataDescCreate(&block, string, string_bytes(string));
    return write_heard(provider, handle, 0, 0, &event);
}

uint8_t EventProviderEnabled(REGHANDLE handle, uint8_t level, uint64_t keyword)
{
    uint32_t code;
    const struct etwas_event_provider *provider = find_heard(handle, &code);
    struct etwas_audience audience;

    return provider != NULL &&
           etwas_event_provider_audience(provider, handle, level, keyword, &audience) &&
           audience.count != 0;
}

uint8_t EventEnabled(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor)
{
    return descriptor != NULL &&
           EventProviderEnabled(handle, descriptor->Level, descriptor->Keyword);
}
