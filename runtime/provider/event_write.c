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
#include "provider/activity_id.h"
#include "provider/event_provider.h"
#include "provider/event_publish.h"
#include "provider/event_record.h"
#include "provider/quick.h"
#include "session/handle.h"

/* ---- the quick way --------------------------------------------------------------------------- */

#if ETWAS_QUICK_RSEQ

static inline struct etwas_quick_header quick_header(const struct etwas_event *event,
                                                     const struct etwas_event_record *built,
                                                     __m128i provider)
{
    struct etwas_quick_header header = {
        .start = etwas_quick_pair(etwas_event_record_start(built, event), etwas_quick_ids()),
        .second = provider,
        .third = _mm_loadu_si128((const __m128i *)(const void *)event->descriptor),
    };

    header.fourth = __builtin_expect(event->activity != NULL, 0)
                        ? _mm_loadu_si128((const __m128i *)(const void *)event->activity)
                        : (__m128i)etwas_guid_load(etwas_activity_words);
    return header;
}

/*
 * To sessions that take events as they are, if each has room: one copy for each, with the same stamp
 * where they have the same clock. Returns how many have the record; those are the first ones.
 */
static uint32_t publish_quickly(const struct etwas_event *event,
                                const struct etwas_audience *audience,
                                const struct etwas_event_record *built)
{
    const uint32_t units = (uint32_t)etwas_etl_round_up_8(built->record.bytes) / ETWAS_UNIT_BYTES;
    struct etwas_quick_target targets[ETWAS_LISTENERS];
    struct etwas_quick_header header;
    uint32_t clock = 0;
    int64_t stamp = 0;

    for (uint32_t index = 0; index < audience->count; index++) {
        if (!etwas_listener_is_plain(audience->sessions[index].flags) ||
            !etwas_quick_find(&targets[index], audience->sessions[index].session) ||
            !etwas_quick_has_room(&targets[index], units)) {
            return 0;
        }
    }
    header = quick_header(event, built, etwas_quick_pair(audience->guid[0], audience->guid[1]));
    for (uint32_t index = 0; index < audience->count; index++) {
        const struct etwas_quick_target *target = &targets[index];
        enum etwas_quick_rseq result;

        if (clock != target->clock) {
            clock = target->clock;
            stamp = etwas_clock_now(clock);
        }
        result = etwas_quick_write(target->slot, target->session, &header, stamp,
                                   built->record.fields, built->record.field_count, units);
        if (result != ETWAS_QUICK_COMMITTED) {
            if (result == ETWAS_QUICK_ABORTED) {
                etwas_quick_count_restart(target->slot);
            }
            return index;
        }
    }
    return audience->count;
}

#else

static uint32_t publish_quickly(const struct etwas_event *event,
                                const struct etwas_audience *audience,
                                const struct etwas_event_record *built)
{
    (void)event;
    (void)audience;
    (void)built;
    return 0;
}

#endif

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

/* Any event that sessions listen to, to all of them. */
static __attribute__((noinline)) uint32_t write_any(const struct etwas_event_provider *provider,
                                                    REGHANDLE handle, uint64_t filter,
                                                    uint32_t flags, const struct etwas_event *event)
{
    struct etwas_audience audience;
    struct etwas_event_record built;
    uint32_t recorded;
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
    code = etwas_event_record_list(&built, event, audience.options);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    recorded = publish_quickly(event, &audience, &built);
    if (recorded == audience.count) {
        return ERROR_SUCCESS;
    }
    etwas_event_record_fill(&built, event, &audience);
    return etwas_event_publish(provider, event, &audience, recorded, &built);
}

#if ETWAS_QUICK_RSEQ

/*
 * The commonest: one session listens, and is reached quickly. Everything else is left to write_any,
 * which finds out what it is.
 */
static inline __attribute__((always_inline)) uint32_t write_heard(
    const struct etwas_event_provider *provider, REGHANDLE handle, const struct etwas_event *event)
{
    struct etwas_event_record built;
    struct etwas_only_listener only;
    struct etwas_quick_target target;
    struct etwas_quick_header header;
    int64_t stamp;
    uint32_t code;

    if (__builtin_expect(event->descriptor == NULL, 0) ||
        !etwas_event_provider_only(provider, handle, event->descriptor->Level,
                                   event->descriptor->Keyword, &only)) {
        return write_any(provider, handle, 0, 0, event);
    }
    if (!only.wants) {
        return ERROR_SUCCESS;
    }
    if (!etwas_quick_find(&target, only.session)) {
        return write_any(provider, handle, 0, 0, event);
    }
    stamp = etwas_clock_now(target.clock);
    if (__builtin_expect(!etwas_event_record_list_plain(&built, event, only.options), 0)) {
        code = etwas_event_record_list(&built, event, only.options);
        if (code != ERROR_SUCCESS) {
            return code;
        }
    }
    header = quick_header(event, &built, (__m128i)only.guid);
    return etwas_quick_publish(etwas_quick_write, &target, &header, stamp, built.record.fields,
                               built.record.field_count, built.record.bytes, &code)
               ? code
               : write_any(provider, handle, 0, 0, event);
}

#else

static inline uint32_t write_heard(const struct etwas_event_provider *provider, REGHANDLE handle,
                                   const struct etwas_event *event)
{
    return write_any(provider, handle, 0, 0, event);
}

#endif

/*
 * The gate: a session listens, and *code is not set; or there is nothing to do but to return *code.
 */
static inline const struct etwas_event_provider *find_heard(REGHANDLE handle, uint32_t *code)
{
    const struct etwas_event_provider *provider = etwas_event_provider_of(handle);

    if (__builtin_expect(provider == NULL, 0)) {
        *code = handle == 0 ? (uint32_t)ERROR_SUCCESS : (uint32_t)ERROR_INVALID_HANDLE;
        return NULL;
    }
    *code = ERROR_SUCCESS;
    return ck_pr_load_32(&provider->listening) != 0 ? provider : NULL;
}

/* ---- the functions --------------------------------------------------------------------------- */

uint32_t EventWriteEx(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, uint64_t filter,
                      uint32_t flags, const etwas_guid *activity, const etwas_guid *related,
                      uint32_t data_count, EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event event = {descriptor, activity, related, data, data_count, 0};
    uint32_t code;
    const struct etwas_event_provider *provider = find_heard(handle, &code);

    return provider != NULL ? write_any(provider, handle, filter, flags, &event) : code;
}

static __attribute__((noinline)) uint32_t write_plain(
    REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, const etwas_guid *activity,
    const etwas_guid *related, uint32_t data_count, EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event event = {descriptor, activity, related, data, data_count, 0};
    uint32_t code;
    const struct etwas_event_provider *provider = find_heard(handle, &code);

    return provider != NULL ? write_heard(provider, handle, &event) : code;
}

uint32_t EventWriteTransfer(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor,
                            const etwas_guid *activity, const etwas_guid *related,
                            uint32_t data_count, EVENT_DATA_DESCRIPTOR *data)
{
    return write_plain(handle, descriptor, activity, related, data_count, data);
}

uint32_t EventWrite(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, uint32_t data_count,
                    EVENT_DATA_DESCRIPTOR *data)
{
    return write_plain(handle, descriptor, NULL, NULL, data_count, data);
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
    return write_any(provider, handle, 0, 0, &event);
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
