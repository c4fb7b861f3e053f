/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * A record is published to one session after the other, and cannot be taken back. So the first pass
 * checks for every session whether it can take the record at all. The second publishes it, first to
 * the sessions that may still fail. A session that does not get the record counts it, with the
 * cause.
 */
#include "provider/event_record.h"

#include <etwas/winerror.h>
#include <string.h>

#include "buffer/publish.h"
#include "buffer/unattached.h"
#include "provider/counted_class.h"
#include "provider/event_filter.h"
#include "provider/event_items.h"
#include "provider/quick.h"
#include "session/configuration.h"
#include "session/handle.h"
#include "session/trigger.h"

enum {
    FITS_ANYWHERE_BYTES =
        ETWAS_SMALLEST_BUFFER_KB * 1024 / 2 /* whatever else the smallest buffer holds */
};

/* ---- the items of each session --------------------------------------------------------------- */

/* An event whose record gets the items of each session in turn. */
struct variants {
    struct etwas_event_record *built;
    struct etwas_event_context context;
    struct etwas_event_items items; /* in the record now */
};

struct target {
    uint64_t session; /* its handle */
    struct etwas_session_key key;
    uint32_t properties; /* the properties with items in its record */
    bool independent;
    bool counted;      /* it wants counters beside START and STOP */
    bool needs_buffer; /* its current buffer is full, and there may be no other */
};

static void variants_begin(struct variants *variants, struct etwas_event_record *built,
                           const struct etwas_event_arguments *event, uint32_t properties)
{
    variants->built = built;
    variants->items.properties = 0;
    if (properties != 0) {
        etwas_event_context_read(&variants->context, properties, event);
        etwas_event_record_reserve_items(built);
    }
}

/* Gives the record the items of a session, or fewer where it would be too long with them. */
static void variant_choose(struct variants *variants, struct target *target)
{
    while (variants->items.properties != target->properties) {
        etwas_event_items_build(&variants->items, target->properties, &variants->context);
        if (!etwas_event_record_set_items(variants->built, &variants->items)) {
            target->properties = etwas_fewer_properties(target->properties);
        }
    }
}

/* ---- one record to several sessions ---------------------------------------------------------- */

/* The result for an event so far. */
struct publish_result {
    uint32_t recorded;    /* sessions that have it */
    uint32_t code;        /* from a session that stops the others; ERROR_SUCCESS: none */
    uint32_t too_large;   /* ERROR_MORE_DATA: too large for one session, which stops no other */
    uint32_t independent; /* from a session that does not stop the others */
};

static void publish_add_error(struct publish_result *result, const struct target *target,
                              uint32_t code)
{
    /* A session that has just ended no longer listens. */
    if (code == ERROR_SUCCESS) {
        result->recorded++;
    } else if (code != ERROR_INVALID_HANDLE) {
        *(target->independent ? &result->independent : &result->code) = code;
    }
}

static uint32_t publish_check(struct target *target, struct variants *variants)
{
    variant_choose(variants, target);
    return etwas_publish_check(target->key.index, target->key.generation,
                               variants->built->data_bytes, &variants->built->record);
}

static __attribute__((noinline, cold)) uint32_t publish_drop_items(struct target *target,
                                                                   struct variants *variants)
{
    uint32_t code = ERROR_MORE_DATA;

    while (code == ERROR_MORE_DATA && target->properties != 0) {
        target->properties = etwas_fewer_properties(target->properties);
        code = publish_check(target, variants);
    }
    return code;
}

/* Does the same, and drops items if the record does not fit into a buffer with all of them. */
static inline uint32_t publish_check_fewer(struct target *target, struct variants *variants)
{
    uint32_t code = publish_check(target, variants);

    return __builtin_expect(code == ERROR_MORE_DATA, 0) ? publish_drop_items(target, variants)
                                                        : code;
}

static bool publish_refuse(const struct target *target, enum etwas_slot_loss cause,
                           const struct etwas_event_record *built)
{
    return etwas_publish_refuse(target->key.index, target->key.generation, cause, &built->record);
}

/*
 * Stores the code of a session that does not take the record. A session that is not attached yet
 * does not stop the others.
 */
static __attribute__((noinline, cold)) void publish_add_refusal(
    struct publish_result *result, const struct target *target, uint32_t code,
    const struct etwas_event_record *built)
{
    if (code == ERROR_INVALID_HANDLE &&
        etwas_unattached_count(target->key.index, target->key.generation, 1)) {
        result->independent = ERROR_NOT_ENOUGH_MEMORY;
    } else if (code == ERROR_MORE_DATA && publish_refuse(target, ETWAS_SLOT_TOO_LARGE, built)) {
        *(target->independent ? &result->independent : &result->too_large) = code;
    }
}

/* Finds the sessions from index `first` on that can take the record. */
static uint32_t publish_find_targets(struct target targets[ETWAS_LISTENERS],
                                     const struct etwas_recipients *recipients, uint32_t first,
                                     struct variants *variants, struct publish_result *result)
{
    const struct etwas_event_record *built = variants->built;
    uint32_t count = 0;

    for (uint32_t index = first; index < recipients->count; index++) {
        struct target *target = &targets[count];
        uint32_t flags = recipients->sessions[index].flags;
        uint32_t code = ERROR_INVALID_HANDLE;

        target->session = recipients->sessions[index].session;
        target->independent = (flags & ETWAS_LISTENER_INDEPENDENT) != 0;
        target->counted = (flags & ETWAS_LISTENER_COUNTED) != 0;
        target->properties = etwas_listener_properties(flags);
        if (etwas_writer_key_of(target->session, &target->key)) {
            code = publish_check_fewer(target, variants);
        }
        if (__builtin_expect(code != ERROR_SUCCESS, 0)) {
            publish_add_refusal(result, target, code, built);
            continue;
        }
        target->needs_buffer =
            !target->independent &&
            !etwas_publish_has_room(target->key.index, target->key.generation, &built->record);
        count++;
    }
    return count;
}

/* Publishes by the inlined sequence. Returns false if the record must take the general path. */
static bool publish_quickly(uint64_t session, const struct etwas_event_record *built)
{
#if ETWAS_RSEQ
    const struct etwas_etl_event_header *from = &built->header;
    const struct etwas_class_attributes context = {
        .type_and_level = etwas_class_of_event(from->opcode, from->level),
        .guid = &from->provider_id,
        .keywords = from->keyword};
    struct etwas_quick_target target;
    struct etwas_quick_header header;
    int64_t stamp;

    if (etwas_quick_find(&target, session)) {
        stamp = etwas_clock_now(target.clock);
    } else if (!etwas_quick_find_class(&target, etwas_handle_index(session), &context, &stamp)) {
        return false;
    }
    memcpy(&header.start, from, sizeof header.start);
    header.start -= from->size; /* the sequence adds the size */
    memcpy(&header.ids, &from->thread_id, sizeof header.ids);
    memcpy(&header.second, &from->provider_id, sizeof header.second);
    memcpy(&header.third, &from->id, sizeof header.third);
    memcpy(&header.fourth, &from->activity_id, sizeof header.fourth);
    return etwas_quick_publish(etwas_quick_built, &target, &header, stamp, built->pieces,
                               built->record.field_count) == ERROR_SUCCESS;
#else
    (void)session;
    (void)built;
    return false;
#endif
}

static uint32_t publish_to(struct target *target, struct variants *variants)
{
    struct etwas_event_record *built = variants->built;

    variant_choose(variants, target);
    if (!target->counted && publish_quickly(target->session, built)) {
        return ERROR_SUCCESS;
    }
    /* The session before may have stored its times there. */
    built->header.kernel_time = 0;
    built->header.user_time = 0;
    return etwas_publisher_for(target->counted)(target->key.index, target->key.generation,
                                                built->data_bytes, &built->record);
}

/*
 * R77: once one session has the event, the others get it too, even if one of them fails. Otherwise
 * they count it.
 */
static uint32_t publish_to_all(const struct etwas_recipients *recipients, uint32_t recorded,
                               struct variants *variants)
{
    struct target targets[ETWAS_LISTENERS];
    struct publish_result result = {.recorded = recorded};
    uint32_t count = publish_find_targets(targets, recipients, recorded, variants, &result);

    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t index = 0; index < count; index++) {
            if (targets[index].needs_buffer != (turn == 0)) {
                continue;
            }
            if (__builtin_expect(result.code != ERROR_SUCCESS, 0) && result.recorded == 0) {
                (void)publish_refuse(&targets[index], ETWAS_SLOT_WITHHELD, variants->built);
            } else {
                publish_add_error(&result, &targets[index], publish_to(&targets[index], variants));
            }
        }
    }
    if (result.code != ERROR_SUCCESS) {
        return result.code;
    }
    return result.too_large != ERROR_SUCCESS || result.recorded != 0 ? result.too_large
                                                                     : result.independent;
}

/*
 * Drops items if the record may be too large with all of them. Publishing it as it is would count
 * it as lost at once.
 */
static void variant_make_fit(struct target *target, struct variants *variants)
{
    variant_choose(variants, target);
    if (variants->built->record.bytes > FITS_ANYWHERE_BYTES) {
        (void)publish_check_fewer(target, variants);
    }
}

/* Publishes to the only session, which takes the record at once, or refuses it. */
static uint32_t publish_alone(const struct etwas_recipients *recipients, struct variants *variants)
{
    struct target target = {
        .session = recipients->sessions[0].session,
        .properties = etwas_listener_properties(recipients->sessions[0].flags),
        .counted = (recipients->sessions[0].flags & ETWAS_LISTENER_COUNTED) != 0,
    };
    uint32_t code = ERROR_INVALID_HANDLE;

    if (etwas_writer_key_of(target.session, &target.key)) {
        if (target.properties != 0) {
            variant_make_fit(&target, variants);
        }
        code = publish_to(&target, variants);
    }
    /* The session has just ended, and no longer listens. */
    return code != ERROR_INVALID_HANDLE ? code : (uint32_t)ERROR_SUCCESS;
}

/* The flags of all sessions together. */
static uint32_t publish_flags_of(const struct etwas_recipients *recipients)
{
    uint32_t flags = 0;

    for (uint32_t index = 0; index < recipients->count; index++) {
        flags |= recipients->sessions[index].flags;
    }
    return flags;
}

/* Called when the event is recorded, so that a window that begins now contains it. */
static void publish_pull_triggers(const struct etwas_recipients *recipients)
{
    for (uint32_t index = 0; index < recipients->count; index++) {
        struct etwas_session_key key;

        if ((recipients->sessions[index].flags & ETWAS_LISTENER_TRIGGERS) != 0 &&
            etwas_session_key_of(recipients->sessions[index].session, &key)) {
            (void)etwas_trigger_pull(key); /* does nothing if the session is not armed */
        }
    }
}

uint32_t etwas_event_publish(const struct etwas_event_provider *provider,
                             const struct etwas_event_arguments *event,
                             struct etwas_recipients *recipients, uint32_t recorded,
                             struct etwas_event_record *built)
{
    struct variants variants;
    uint32_t code;

    if ((publish_flags_of(recipients) & ETWAS_LISTENER_FILTERED) != 0) {
        etwas_event_filter_apply(provider, recipients->options, event, recipients);
    }
    variants_begin(&variants, built, event,
                   etwas_listener_properties(publish_flags_of(recipients)));
    code = recipients->count == 1 && recorded == 0
               ? publish_alone(recipients, &variants)
               : publish_to_all(recipients, recorded, &variants);
    if ((publish_flags_of(recipients) & ETWAS_LISTENER_TRIGGERS) != 0) {
        publish_pull_triggers(recipients);
    }
    return code;
}

void etwas_event_count_too_large(const struct etwas_event_provider *provider,
                                 const struct etwas_event_arguments *event,
                                 struct etwas_recipients *recipients, uint32_t recorded,
                                 const struct etwas_event_record *built)
{
    struct etwas_session_key key;

    if ((publish_flags_of(recipients) & ETWAS_LISTENER_FILTERED) != 0) {
        etwas_event_filter_apply(provider, recipients->options, event, recipients);
    }
    for (uint32_t index = recorded; index < recipients->count; index++) {
        if (etwas_writer_key_of(recipients->sessions[index].session, &key)) {
            (void)etwas_publish_refuse(key.index, key.generation, ETWAS_SLOT_TOO_LARGE,
                                       &built->record);
        }
    }
}
