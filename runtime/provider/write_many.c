/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * The fast path of etwas_write_many: all events go to one session, which takes them as they are.
 * Their records are made one behind the other in an image on the stack, which one sequence copies
 * and commits (etwas_quick_image). The clock is read first: the code after it runs while the
 * processor fetches it.
 *
 * No lock, no allocation, no system call. Everything is checked before the sequence, which writes
 * nothing that is visible unless it commits.
 */
#include "provider/write_many.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/publish_batch.h"
#include "provider/event_provider.h"
#include "provider/manifest_chunk.h"
#include "provider/quick.h"
#include "provider/trace_event.h"
#include "session/handle.h"

#if ETWAS_RSEQ

struct many {
    struct etwas_quick_target target;
    uint64_t session;
    uint64_t handle; /* the last event's, which leads to the target */
    uint64_t ids;
    int64_t stamp;
    etwas_handle class_handle; /* the last instance's; NULL: none yet */
    etwas_pair class_guid;
    /* The only provider among the events, and what was read of it. provider NULL: none yet. */
    const struct etwas_event_provider *provider;
    const struct etwas_listener *listener;
    uint64_t provider_handle;
    uint32_t provider_state;
    uint32_t options;
    etwas_pair guid;
    struct etwas_batch_image image;
};

/* ---- the session ----------------------------------------------------------------------------- */

/* Sets the batch's session, or compares it. Returns false if it is another. */
static bool many_set_target(struct many *many, struct etwas_slot *slot, uint32_t generation,
                            uint32_t kind, uint64_t session, uint64_t handle)
{
    if (many->handle == 0) {
        many->target =
            (struct etwas_quick_target){.slot = slot, .generation = generation, .kind = kind};
        many->session = session;
    }
    many->handle = handle;
    return many->target.slot == slot && many->target.generation == generation;
}

static __attribute__((noinline)) bool many_set_session(struct many *many, uint64_t handle)
{
    const uint32_t generation = etwas_handle_generation(handle);
    struct etwas_slot *slot;

    return generation != 0 && etwas_slot_here(handle, &slot) &&
           many_set_target(many, slot, generation, etwas_slot_kind_of(slot), handle, handle);
}

/* Reads the provider's only listener. Returns false if the fast path does not take it. */
static __attribute__((noinline)) bool many_set_provider(struct many *many, uint64_t handle)
{
    const struct etwas_event_provider *provider = etwas_event_provider_at(handle);
    const struct etwas_listener *listener;
    struct etwas_slot *slots;
    uint32_t place;

    if (many->provider != NULL && many->provider_handle == handle) {
        many->handle = handle;
        return true;
    }
    if (provider == NULL || many->provider != NULL ||
        !etwas_slot_index_here(etwas_attachments.of, &place)) {
        return false;
    }
    many->provider_state = ck_pr_load_32(&provider->state);
    ck_pr_fence_load();
    if (ck_pr_load_64(&provider->handle) != handle ||
        (many->provider_state & ETWAS_PROVIDER_ONE_LISTENER) == 0) {
        return false;
    }
    listener = &provider->listeners[etwas_event_provider_list_index(many->provider_state)][0];
    many->provider = provider;
    many->provider_handle = handle;
    many->listener = listener;
    slots = ck_pr_load_ptr(&listener->slots);
    many->options = ck_pr_load_32(&provider->options);
    many->guid = etwas_pair_load(provider->guid);
    /* Passed in registers: two stores that are read back as one word cost a dozen nanoseconds. */
    return many_set_target(many, &slots[place], ck_pr_load_32(&listener->generation),
                           ck_pr_load_32(&listener->kind), ck_pr_load_64(&listener->session),
                           handle);
}

/* Whether what was read of the provider was of one moment. */
static inline bool many_provider_is_unchanged(const struct many *many)
{
    ck_pr_fence_load();
    return many->provider == NULL || ck_pr_load_32(&many->provider->state) == many->provider_state;
}

/* ---- records --------------------------------------------------------------------------------- */

static inline void many_put(uint8_t *to, uint64_t word)
{
    memcpy(to, &word, sizeof word);
}

/* Copies short pieces, which most are, by moves of constant size that may overlap. */
static inline __attribute__((always_inline)) void many_copy(uint8_t *to, const void *piece,
                                                            uint32_t bytes)
{
    const uint8_t *from = piece;

    if (__builtin_expect(bytes - 16 <= 16, 1)) {
        const etwas_pair first = etwas_pair_load(from);
        const etwas_pair last = etwas_pair_load(from + bytes - 16);

        etwas_pair_store(to, first);
        etwas_pair_store(to + bytes - 16, last);
    } else if (bytes == 8) {
        memcpy(to, from, 8);
    } else if (bytes == 4) {
        memcpy(to, from, 4);
    } else {
        memcpy(to, from, bytes);
    }
}

/* Whether the image has room for `bytes` at `next`, and for a word of zeroes behind them. */
static inline bool many_has_room(const struct many *many, const uint8_t *next, uint64_t bytes)
{
    return bytes <= (uint64_t)(many->image.data + ETWAS_BATCH_IMAGE_BYTES - next);
}

/* Copies the pieces behind the header, and stores the first word. Returns the end, or NULL. */
static inline __attribute__((always_inline)) uint8_t *many_add_pieces(
    const struct many *many, uint8_t *record, uint32_t header_bytes, uint64_t start,
    const void *pieces, uint32_t count)
{
    const MOF_FIELD *piece = pieces;
    uint8_t *next = record + header_bytes;

    for (uint32_t index = 0; index < count; index++) {
        const uint32_t bytes = ck_pr_load_32(&piece[index].Length);
        const void *from = (const void *)(uintptr_t)ck_pr_load_64(&piece[index].DataPtr);

        if (__builtin_expect(from == NULL, 0) ||
            __builtin_expect(!many_has_room(many, next, bytes), 0)) {
            return NULL;
        }
        many_copy(next, from, bytes);
        next += bytes;
    }
    many_put(next, 0);
    many_put(record, start + (uint64_t)(next - record));
    return record + etwas_etl_round_up_8((size_t)(next - record));
}

static inline void many_start_header(const struct many *many, uint8_t *record, etwas_pair guid)
{
    many_put(record + 8, many->ids);
    many_put(record + 16, (uint64_t)many->stamp);
    etwas_pair_store(record + 24, guid);
}

/* ---- classic events -------------------------------------------------------------------------- */

/* Adds any classic event. Returns the end of its record; NULL: the general path has to decide. */
static __attribute__((noinline)) uint8_t *many_add_classic(struct many *many,
                                                           const etwas_batch_event *event,
                                                           uint8_t *record)
{
    const bool has_instance = event->kind == ETWAS_BATCH_KIND_INSTANCE;
    struct etwas_classic_event classic;
    struct etwas_payload_fields payload;
    MOF_FIELD whole;
    uint32_t code = has_instance
                        ? etwas_trace_instance_read(event->event, event->first, event->second, true,
                                                    &classic, &payload, &whole)
                        : etwas_trace_event_read(event->event, &classic, &payload, &whole);
    uint8_t type = has_instance ? ETWAS_ETL_INSTANCE64 : ETWAS_ETL_FULL_HEADER64;

    /* R63: a TraceEvent whose record fits may still be too large for the smallest buffer. */
    if (code != ERROR_SUCCESS || classic.takes_general_path ||
        classic.size >= ETWAS_ETL_SMALLEST_BUFFER_BYTES - ETWAS_ETL_BUFFER_HEADER_BYTES ||
        !many_has_room(many, record, classic.header_bytes)) {
        return NULL;
    }
    many_start_header(many, record, classic.guid);
    many_put(record + 40, 0);
    if (has_instance) {
        many_put(record + 48, (uint64_t)classic.parent_instance_id << 32 | classic.instance_id);
        etwas_pair_store(record + 56, classic.parent_guid);
    }
    return many_add_pieces(many, record, classic.header_bytes,
                           (uint64_t)classic.class_word << 32 | etwas_etl_marker(type, 0),
                           payload.fields, payload.count);
}

/* Adds an instance. The common one has no parent, and its payload follows its header. */
static inline __attribute__((always_inline)) uint8_t *many_add_instance(
    struct many *many, const etwas_batch_event *event, uint8_t *record)
{
    const uint32_t header_bytes = sizeof(struct etwas_etl_instance_header);
    const EVENT_INSTANCE_HEADER *header = event->event;
    const EVENT_INSTANCE_INFO *instance = event->first;
    etwas_handle class_handle = NULL;
    uint32_t class_word;
    uint32_t bytes;

    if (instance != NULL) {
        class_handle = ck_pr_load_ptr(&instance->RegHandle);
    }
    if (__builtin_expect(header == NULL, 0) || __builtin_expect(class_handle == NULL, 0) ||
        __builtin_expect(event->second != NULL, 0) ||
        __builtin_expect((header->Flags & (WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR)) !=
                             WNODE_FLAG_TRACED_GUID,
                         0) ||
        (__builtin_expect(class_handle != many->class_handle, 0) &&
         !etwas_class_look_up(class_handle, &many->class_guid))) {
        return many_add_classic(many, event, record);
    }
    many->class_handle = class_handle;
    bytes = (uint32_t)ck_pr_load_16(&header->Size) - (uint32_t)sizeof *header;
    if (__builtin_expect(instance->InstanceId == 0, 0) ||
        __builtin_expect(!many_has_room(many, record, (uint64_t)header_bytes + bytes), 0)) {
        return NULL;
    }
    memcpy(&class_word, &header->Class, sizeof class_word);
    many_start_header(many, record, many->class_guid);
    many_put(record + 40, 0);
    many_put(record + 48, instance->InstanceId);
    etwas_pair_store(record + 56, etwas_pair_of(0, 0));
    many_copy(record + header_bytes, header + 1, bytes);
    many_put(record + header_bytes + bytes, 0);
    many_put(record, (uint64_t)class_word << 32 |
                         (etwas_etl_marker(ETWAS_ETL_INSTANCE64, 0) + header_bytes + bytes));
    return record + etwas_etl_round_up_8(header_bytes + bytes);
}

/* ---- events of modern providers -------------------------------------------------------------- */

/*
 * Whether the caller's list can be copied as it is: data, which may follow the two items of
 * TraceLogging's macros. *flags receives the record's.
 */
static inline __attribute__((always_inline)) bool many_list_is_plain(const etwas_batch_event *event,
                                                                     uint32_t options,
                                                                     uint64_t *flags)
{
    const EVENT_DATA_DESCRIPTOR *data = event->data;
    uint32_t first = 0;

    *flags = 0;
    if (__builtin_expect(event->data_count > MAX_EVENT_DATA_DESCRIPTORS, 0) ||
        (data == NULL && event->data_count != 0)) {
        return false;
    }
    if (event->data_count > 1 && data[0].Reserved == EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_ITEM &&
        data[1].Reserved == EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM) {
        if ((options & ETWAS_EVENT_PROVIDER_TYPED) == 0) {
            return false;
        }
        *flags = ETWAS_ETL_EVENT_EXTENDED_INFO;
        first = 2;
    }
    for (uint32_t index = first; index < event->data_count; index++) {
        if (__builtin_expect(data[index].Reserved != EVENT_DATA_DESCRIPTOR_TYPE_NONE, 0)) {
            return false;
        }
    }
    return true;
}

static inline __attribute__((always_inline)) uint8_t *many_add_write(struct many *many,
                                                                     const etwas_batch_event *event,
                                                                     uint8_t *record)
{
    const uint32_t header_bytes = sizeof(struct etwas_etl_event_header);
    const EVENT_DESCRIPTOR *descriptor = event->event;
    uint64_t flags;

    if (__builtin_expect(descriptor == NULL, 0) || __builtin_expect(event->second != NULL, 0) ||
        __builtin_expect(etwas_manifest_chunk_is_possible(descriptor), 0)) {
        return NULL;
    }
    if (__builtin_expect(
            !etwas_listener_wants(many->listener, descriptor->Level, descriptor->Keyword), 0)) {
        return record;
    }
    if (__builtin_expect(!many_list_is_plain(event, many->options, &flags), 0) ||
        __builtin_expect(!many_has_room(many, record, header_bytes), 0)) {
        return NULL;
    }
    many_start_header(many, record, many->guid);
    etwas_pair_store(record + 40, etwas_pair_load(descriptor));
    many_put(record + 56, 0);
    etwas_pair_store(record + 64,
                     etwas_pair_load(event->first != NULL ? event->first : etwas_activity_words));
    return many_add_pieces(many, record, header_bytes,
                           flags << 32 | etwas_etl_marker(ETWAS_ETL_EVENT_HEADER64, 0), event->data,
                           event->data_count);
}

/* ---- the batch ------------------------------------------------------------------------------- */

/* Finds the session of an event whose handle differs from the last one's. */
static bool many_find_session(struct many *many, const etwas_batch_event *event)
{
    return event->kind == ETWAS_BATCH_KIND_WRITE ? many_set_provider(many, event->handle)
                                                 : many_set_session(many, event->handle);
}

/* Makes the records of all events. Returns false if the general path has to decide. */
static inline bool many_fill(struct many *many, const struct etwas_many_call *call)
{
    uint8_t *next = many->image.data;
    uint32_t records = 0;

    for (uint32_t index = 0; index < call->count; index++) {
        const etwas_batch_event *event = &call->events[index];
        const uint32_t kind = ck_pr_load_32(&event->kind);
        uint8_t *record = next;

        if (__builtin_expect(event->handle != many->handle, 0) && !many_find_session(many, event)) {
            return false;
        }
        /* The handle of a provider leads to the session, too, but is none of a session. */
        if (__builtin_expect(
                (kind == ETWAS_BATCH_KIND_WRITE) != (event->handle == many->provider_handle), 0)) {
            return false;
        }
        if (kind == ETWAS_BATCH_KIND_INSTANCE) {
            next = many_add_instance(many, event, record);
        } else if (kind == ETWAS_BATCH_KIND_WRITE) {
            next = many_add_write(many, event, record);
        } else {
            next = kind == ETWAS_BATCH_KIND_TRACE ? many_add_classic(many, event, record) : NULL;
        }
        if (__builtin_expect(next == NULL, 0)) {
            return false;
        }
        records += next != record;
    }
    many->image.bytes = (uint32_t)(next - many->image.data);
    many->image.records = records;
    return many_provider_is_unchanged(many) &&
           (many->image.bytes >= ETWAS_QUICK_BLOCK_BYTES || records == 0);
}

static __attribute__((noinline)) uint32_t many_publish_again(struct many *many,
                                                             enum etwas_quick_rseq result)
{
    uint32_t code;

    if (result == ETWAS_QUICK_ABORTED) {
        etwas_slot_count_restart(many->target.slot);
    }
    code = etwas_publish_image(etwas_handle_index(many->session) - 1, many->target.generation, 0,
                               &many->image);
    /* The general path counts what is too large. */
    return code == ERROR_INVALID_HANDLE || code == ERROR_MORE_DATA ? ETWAS_QUICK_NOT : code;
}

_Static_assert(ETWAS_PUBLISH_FALLBACK == ETWAS_QUICK_NOT, "the general path decides");

/* Whether all events are of one provider that no session enables. */
static __attribute__((noinline)) bool many_has_no_listener(const struct etwas_many_call *call)
{
    const uint64_t handle = call->events[0].handle;
    const struct etwas_event_provider *provider = etwas_event_provider_at(handle);

    if (provider == NULL || ck_pr_load_64(&provider->handle) != handle ||
        (ck_pr_load_32(&provider->state) & ETWAS_PROVIDER_ANY_LISTENER) != 0) {
        return false;
    }
    for (uint32_t index = 0; index < call->count; index++) {
        if (call->events[index].kind != ETWAS_BATCH_KIND_WRITE ||
            call->events[index].handle != handle) {
            return false;
        }
    }
    return true;
}

static __attribute__((noinline)) uint32_t many_write_quickly(const struct etwas_many_call *call)
{
    enum etwas_quick_rseq result;
    struct many many;

    many.ids = etwas_thread_ids_word();
    many.handle = 0;
    many.class_handle = NULL;
    many.provider = NULL;
    many.provider_handle = 0;
    if (__builtin_expect((uint32_t)many.ids == 0, 0) || call->count == 0) {
        return ETWAS_QUICK_NOT;
    }
    if (!many_find_session(&many, call->events)) {
        return many_has_no_listener(call) ? (uint32_t)ERROR_SUCCESS : ETWAS_QUICK_NOT;
    }
    if (!etwas_quick_clock(&many.target.clock, many.target.kind)) {
        return ETWAS_QUICK_NOT;
    }
    many.stamp = etwas_clock_now(many.target.clock);
    if (!many_fill(&many, call)) {
        return ETWAS_QUICK_NOT;
    }
    if (many.image.records == 0) {
        return ERROR_SUCCESS;
    }
    result = etwas_quick_image(many.target.slot, many.target.generation, many.stamp, &many.image);
    return __builtin_expect(result == ETWAS_QUICK_COMMITTED, 1) ? (uint32_t)ERROR_SUCCESS
                                                                : many_publish_again(&many, result);
}

#else

static inline uint32_t many_write_quickly(const struct etwas_many_call *call)
{
    (void)call;
    return ETWAS_QUICK_NOT;
}

#endif

uint32_t etwas_write_many(const etwas_batch_event *events, uint32_t count, uint32_t *refused,
                          uint32_t *bytes)
{
    const struct etwas_many_call call = {events, count, refused, bytes};
    uint32_t code = ETWAS_QUICK_NOT;

    if (__builtin_expect(events != NULL && count <= ETWAS_BATCH_EVENTS, 1)) {
        code = many_write_quickly(&call);
    }
    return __builtin_expect(code != ETWAS_QUICK_NOT, 1) ? code : etwas_write_many_general(&call);
}
