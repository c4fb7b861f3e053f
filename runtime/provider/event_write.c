/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

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
#include <string.h>

#include "buffer/publish.h"
#include "provider/event_provider.h"
#include "provider/event_record.h"
#include "provider/manifest_chunk.h"
#include "provider/quick.h"
#include "session/handle.h"

/* ---- the sessions that get an event ---------------------------------------------------------- */

/* Removes the sessions that the caller excludes, and those that exclude private events. */
static void event_write_exclude(struct etwas_recipients *recipients, uint64_t filter,
                                uint32_t flags)
{
    uint32_t kept = 0;

    for (uint32_t index = 0; index < recipients->count; index++) {
        uint32_t entry = (uint32_t)(recipients->sessions[index].session &
                                    ((1u << ETWAS_HANDLE_INDEX_BITS) - 1)) -
                         1;
        bool is_private = (flags & EVENT_WRITE_FLAG_INPRIVATE) != 0;

        if ((entry < 64 && (filter >> entry & 1) != 0) ||
            (is_private &&
             (recipients->sessions[index].flags & ETWAS_LISTENER_EXCLUDE_PRIVATE) != 0)) {
            continue;
        }
        recipients->sessions[kept++] = recipients->sessions[index];
    }
    recipients->count = kept;
}

/* ---- the fast path --------------------------------------------------------------------------- */

#if ETWAS_RSEQ

/* A list of pieces, in the form that a quick sequence copies. */
struct event_listing {
    const void *pieces;
    uint32_t count;
    bool is_described; /* two extended items of TraceLogging's macros precede the data */
};

/*
 * Uses the caller's own list, if it can be copied as it is; returns false if not. The sequence
 * finds other types in it, and refuses TraceLogging's items where they are not allowed.
 */
static inline __attribute__((always_inline)) bool event_listing_fill(
    struct event_listing *listing, const struct etwas_event_arguments *event, uint32_t options,
    const bool may_be_described)
{
    const EVENT_DATA_DESCRIPTOR *data = event->data;

    *listing = (struct event_listing){data, event->data_count, false};
    if (__builtin_expect(event->related != NULL, 0) ||
        __builtin_expect(event->data_count > MAX_EVENT_DATA_DESCRIPTORS, 0)) {
        return false;
    }
    if (__builtin_expect(data == NULL, 0)) {
        return event->data_count == 0;
    }
    if (may_be_described && event->data_count > 1 &&
        data[0].Reserved == EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_ITEM) {
        listing->is_described = true;
        return data[1].Reserved == EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM &&
               (options & ETWAS_EVENT_PROVIDER_TYPED) != 0;
    }
    return true;
}

/* Fills the start of the header. Returns false if the thread's ids are not known. */
static inline __attribute__((always_inline)) bool event_write_start_header(
    struct etwas_quick_header *header, const struct etwas_event_arguments *event, bool is_extended)
{
    const uint64_t flags =
        event->header_flags | (is_extended ? (uint64_t)ETWAS_ETL_EVENT_EXTENDED_INFO : 0);

    header->start = flags << 32 | etwas_etl_marker(ETWAS_ETL_EVENT_HEADER64, 0);
    header->ids = etwas_thread_ids_word();
    header->third = etwas_pair_load(event->descriptor);
    header->fourth = __builtin_expect(event->activity != NULL, 0)
                         ? etwas_pair_load(event->activity)
                         : etwas_pair_load(etwas_activity_words);
    return __builtin_expect((uint32_t)header->ids != 0, 1);
}

/* Returns the least units of the record, if the list does not change meanwhile. */
static inline __attribute__((always_inline)) uint32_t event_listing_units(
    const struct event_listing *listing)
{
    const EVENT_DATA_DESCRIPTOR *piece = listing->pieces;
    uint64_t bytes = sizeof(struct etwas_etl_event_header);

    for (uint32_t index = 0; index < listing->count; index++) {
        bytes += piece[index].Size;
    }
    return bytes <= ETWAS_ETL_LARGEST_RECORD_BYTES
               ? (uint32_t)etwas_etl_round_up_8(bytes) / ETWAS_UNIT_BYTES
               : (uint32_t)ETWAS_NO_ROOM;
}

static inline __attribute__((always_inline)) uint32_t publish_listing(
    const struct etwas_quick_target *target, const struct etwas_quick_header *header, int64_t stamp,
    const struct event_listing *listing)
{
    return listing->is_described ? etwas_quick_publish(etwas_quick_described, target, header, stamp,
                                                       listing->pieces, listing->count)
                                 : etwas_quick_publish(etwas_quick_write, target, header, stamp,
                                                       listing->pieces, listing->count);
}

static uint32_t event_write_general(const struct etwas_event_provider *provider,
                                    const struct etwas_event_arguments *event,
                                    struct etwas_recipients *recipients, uint32_t recorded);

static inline __attribute__((always_inline)) struct etwas_class_attributes event_write_class_facts(
    const struct etwas_event_provider *provider, const EVENT_DESCRIPTOR *descriptor)
{
    return (struct etwas_class_attributes){
        .type_and_level = etwas_class_of_event(descriptor->Opcode, descriptor->Level),
        .guid = provider->guid,
        .keywords = descriptor->Keyword,
    };
}

/*
 * Writes to several plain listeners. The sessions that want the event get it with one stamp, if all
 * have the same clock, and each has room.
 */
static __attribute__((noinline)) uint32_t write_to_several(
    REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, const etwas_guid *activity,
    const etwas_guid *related, uint32_t data_count, const EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event_provider *provider = etwas_event_provider_at(handle);
    const struct etwas_event_arguments event = {descriptor, activity, related, data, data_count, 0};
    const uint32_t state = ck_pr_load_32(&provider->state);
    const struct etwas_listener *listener =
        &provider->listeners[etwas_event_provider_list_index(state)][0];
    const struct etwas_class_attributes facts = event_write_class_facts(provider, descriptor);
    struct etwas_quick_target targets[ETWAS_LISTENERS];
    struct etwas_quick_header header;
    struct etwas_recipients recipients;
    struct event_listing listing;
    uint32_t clock = 0;
    uint32_t count = 0;
    uint32_t units;
    int64_t stamp;
    uint32_t place;

    ck_pr_fence_load();
    recipients.options = ck_pr_load_32(&provider->options);
    recipients.guid = etwas_pair_load(provider->guid);
    if ((state & ETWAS_PROVIDER_SEVERAL_LISTENERS) == 0 ||
        ck_pr_load_64(&provider->handle) != handle ||
        etwas_manifest_chunk_is_possible(descriptor) ||
        !event_listing_fill(&listing, &event, recipients.options, true) ||
        !event_write_start_header(&header, &event, listing.is_described) ||
        !etwas_slot_index_here(etwas_attachments.of, &place)) {
        return ETWAS_QUICK_NOT;
    }
    units = event_listing_units(&listing);
    for (uint32_t index = 0; index < ETWAS_LISTENERS; index++) {
        struct etwas_slot *slots = ck_pr_load_ptr(&listener->slots);
        struct etwas_quick_target target;

        if (slots == NULL) {
            break;
        }
        if (etwas_listener_wants(listener, descriptor->Level, descriptor->Keyword)) {
            uint32_t kind = ck_pr_load_32(&listener->kind);

            if ((!etwas_quick_find_listener(&target, slots, place,
                                            ck_pr_load_32(&listener->generation), kind) &&
                 !etwas_quick_find_class(&target, etwas_kind_table(kind), &facts, &stamp)) ||
                !etwas_quick_has_room(target.slot, units) ||
                (clock != 0 && clock != target.clock)) {
                return ETWAS_QUICK_NOT;
            }
            clock = target.clock;
            targets[count] = target;
            recipients.sessions[count].session = ck_pr_load_64(&listener->session);
            recipients.sessions[count].flags = ck_pr_load_32(&listener->flags);
            count++;
        }
        listener++;
    }
    ck_pr_fence_load();
    if (ck_pr_load_32(&provider->state) != state) {
        return ETWAS_QUICK_NOT;
    }
    recipients.count = count;
    stamp = count != 0 ? etwas_clock_now(clock) : 0;
    header.second = recipients.guid;
    for (uint32_t index = 0; index < count; index++) {
        if (publish_listing(&targets[index], &header, stamp, &listing) != ERROR_SUCCESS) {
            return event_write_general(provider, &event, &recipients, index);
        }
    }
    return ERROR_SUCCESS;
}

static inline __attribute__((always_inline)) uint32_t event_write_to(
    const struct etwas_quick_target *target, const struct etwas_single_listener *single,
    const struct etwas_event_arguments *event, int64_t stamp, const bool may_be_described)
{
    struct etwas_quick_header header;
    struct event_listing listing;

    if (__builtin_expect(etwas_manifest_chunk_is_possible(event->descriptor), 0) ||
        __builtin_expect(!event_listing_fill(&listing, event, single->options, may_be_described),
                         0) ||
        __builtin_expect(!event_write_start_header(&header, event, listing.is_described), 0)) {
        return ETWAS_QUICK_NOT;
    }
    header.second = single->guid;
    return publish_listing(target, &header, stamp, &listing);
}

/*
 * The commonest case: one session listens, on the fast path. Returns a code, or ETWAS_QUICK_NOT if
 * EventWriteEx has to decide. `may_be_described` is false where TraceLogging's items are not
 * expected. The stamp is read early: the code after it runs while the processor fetches it.
 */
static inline __attribute__((always_inline)) uint32_t event_write_quickly(
    REGHANDLE handle, const struct etwas_event_arguments *event, const bool may_be_described)
{
    const struct etwas_event_provider *provider = etwas_event_provider_at(handle);
    struct etwas_quick_target target;
    struct etwas_single_listener single;
    enum etwas_single_result wanted;
    uint32_t state;
    int64_t stamp;
    uint32_t place;

    if (__builtin_expect(provider == NULL, 0)) {
        return ETWAS_QUICK_NOT;
    }
    state = ck_pr_load_32(&provider->state);
    ck_pr_fence_load();
    if (__builtin_expect(ck_pr_load_64(&provider->handle) != handle, 0)) {
        return ETWAS_QUICK_NOT;
    }
    if (__builtin_expect((state & ETWAS_PROVIDER_ANY_LISTENER) == 0, 0)) {
        return ERROR_SUCCESS;
    }
    if (__builtin_expect(event->descriptor == NULL, 0)) {
        return ETWAS_QUICK_NOT;
    }
    if (__builtin_expect((state & ETWAS_PROVIDER_ONE_LISTENER) == 0, 0)) {
        return (state & ETWAS_PROVIDER_SEVERAL_LISTENERS) != 0
                   ? write_to_several(handle, event->descriptor, event->activity, event->related,
                                      event->data_count, event->data)
                   : ETWAS_QUICK_NOT;
    }
    wanted = etwas_event_provider_single(provider, state, event->descriptor->Level,
                                         event->descriptor->Keyword, &single);
    if (__builtin_expect(wanted != ETWAS_SINGLE_WANTS, 0)) {
        return wanted == ETWAS_SINGLE_DECLINES ? (uint32_t)ERROR_SUCCESS : ETWAS_QUICK_NOT;
    }
    if (__builtin_expect(!etwas_slot_index_here(etwas_attachments.of, &place), 0)) {
        return ETWAS_QUICK_NOT;
    }
    if (__builtin_expect(
            etwas_quick_find_listener(&target, single.slots, place, single.generation, single.kind),
            1)) {
        stamp = etwas_clock_now(target.clock);
        return event_write_to(&target, &single, event, stamp, may_be_described);
    } else {
        const struct etwas_class_attributes facts =
            event_write_class_facts(provider, event->descriptor);

        return etwas_quick_find_class(&target, etwas_kind_table(single.kind), &facts, &stamp)
                   ? event_write_to(&target, &single, event, stamp, may_be_described)
                   : ETWAS_QUICK_NOT;
    }
}

#else

static inline uint32_t event_write_quickly(REGHANDLE handle,
                                           const struct etwas_event_arguments *event,
                                           bool may_be_described)
{
    (void)handle;
    (void)event;
    (void)may_be_described;
    return ETWAS_QUICK_NOT;
}

#endif

/* Counts an event without a record if it would be larger than any buffer. */
static __attribute__((noinline, cold)) uint32_t event_write_refuse_unlisted(
    uint32_t code, const struct etwas_event_provider *provider,
    const struct etwas_event_arguments *event, struct etwas_recipients *recipients,
    uint32_t recorded, struct etwas_event_record *built)
{
    if (code == ERROR_ARITHMETIC_OVERFLOW) {
        etwas_event_record_fill(built, event, recipients);
        etwas_event_count_too_large(provider, event, recipients, recorded, built);
    }
    return code;
}

/* Writes to the recipients that do not have the event yet: all but the first `recorded` ones. */
static __attribute__((noinline)) uint32_t event_write_general(
    const struct etwas_event_provider *provider, const struct etwas_event_arguments *event,
    struct etwas_recipients *recipients, uint32_t recorded)
{
    struct etwas_event_record built;
    uint32_t code = etwas_event_record_list(&built, event, recipients->options);

    if (__builtin_expect(code != ERROR_SUCCESS, 0)) {
        return event_write_refuse_unlisted(code, provider, event, recipients, recorded, &built);
    }
    etwas_event_record_fill(&built, event, recipients);
    if (__builtin_expect(etwas_manifest_chunk_is_possible(event->descriptor), 0)) {
        etwas_manifest_chunk_store(&built.header.provider_id, event);
    }
    return etwas_event_publish(provider, event, recipients, recorded, &built);
}

/* Writes any event to all sessions that listen. */
static uint32_t event_write_any(const struct etwas_event_provider *provider, REGHANDLE handle,
                                uint64_t filter, uint32_t flags,
                                const struct etwas_event_arguments *event)
{
    struct etwas_recipients recipients;

    if (event->descriptor == NULL ||
        (flags & ~(EVENT_WRITE_FLAG_NO_FAULTING | EVENT_WRITE_FLAG_INPRIVATE)) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_event_provider_recipients(provider, handle, event->descriptor->Level,
                                         event->descriptor->Keyword, &recipients)) {
        return ERROR_INVALID_HANDLE;
    }
    if (filter != 0 || flags != 0) {
        event_write_exclude(&recipients, filter, flags);
    }
    return recipients.count == 0 ? (uint32_t)ERROR_SUCCESS
                                 : event_write_general(provider, event, &recipients, 0);
}

/* The gate: returns the provider if a session listens; NULL: the caller returns *code. */
static inline const struct etwas_event_provider *event_write_find_listeners(REGHANDLE handle,
                                                                            uint32_t *code)
{
    const struct etwas_event_provider *provider = etwas_event_provider_at(handle);

    if (provider == NULL || ck_pr_load_64(&provider->handle) != handle) {
        *code = handle == 0 ? (uint32_t)ERROR_SUCCESS : (uint32_t)ERROR_INVALID_HANDLE;
        return NULL;
    }
    *code = ERROR_SUCCESS;
    return (ck_pr_load_32(&provider->state) & ETWAS_PROVIDER_ANY_LISTENER) != 0 ? provider : NULL;
}

/* ---- the functions --------------------------------------------------------------------------- */

uint32_t EventWriteEx(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, uint64_t filter,
                      uint32_t flags, const etwas_guid *activity, const etwas_guid *related,
                      uint32_t data_count, EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event_arguments event = {descriptor, activity, related, data, data_count, 0};
    uint32_t code;
    const struct etwas_event_provider *provider = event_write_find_listeners(handle, &code);

    return provider != NULL ? event_write_any(provider, handle, filter, flags, &event) : code;
}

uint32_t EventWriteTransfer(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor,
                            const etwas_guid *activity, const etwas_guid *related,
                            uint32_t data_count, EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event_arguments event = {descriptor, activity, related, data, data_count, 0};
    uint32_t code = event_write_quickly(handle, &event, true);

    return __builtin_expect(code != ETWAS_QUICK_NOT, 1)
               ? code
               : EventWriteEx(handle, descriptor, 0, 0, activity, related, data_count, data);
}

uint32_t EventWrite(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, uint32_t data_count,
                    EVENT_DATA_DESCRIPTOR *data)
{
    const struct etwas_event_arguments event = {descriptor, NULL, NULL, data, data_count, 0};
    uint32_t code = event_write_quickly(handle, &event, false);

    return __builtin_expect(code != ETWAS_QUICK_NOT, 1)
               ? code
               : EventWriteEx(handle, descriptor, 0, 0, NULL, NULL, data_count, data);
}

/* Returns the bytes of a string with its NUL, or more than any record has. */
static uint32_t event_string_bytes(const etwas_wchar *string)
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
    struct etwas_event_arguments event = {&descriptor, NULL, NULL,
                                          &block,      1,    EVENT_HEADER_FLAG_STRING_ONLY};
    uint32_t code;
    const struct etwas_event_provider *provider = event_write_find_listeners(handle, &code);

    if (provider == NULL) {
        return code;
    }
    if (string == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    EventDataDescCreate(&block, string, event_string_bytes(string));
    return event_write_any(provider, handle, 0, 0, &event);
}

uint8_t EventProviderEnabled(REGHANDLE handle, uint8_t level, uint64_t keyword)
{
    uint32_t code;
    const struct etwas_event_provider *provider = event_write_find_listeners(handle, &code);
    struct etwas_recipients recipients;

    return provider != NULL &&
           etwas_event_provider_recipients(provider, handle, level, keyword, &recipients) &&
           recipients.count != 0;
}

uint8_t EventEnabled(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor)
{
    return descriptor != NULL &&
           EventProviderEnabled(handle, descriptor->Level, descriptor->Keyword);
}
