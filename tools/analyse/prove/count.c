/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counts the records of a session for `etwas stat --prove`.
 */

#include "analyse/prove/prove.h"

#include "event/event.h"
#include "event/names.h"

#include <search.h>
#include <stdlib.h>

/* Types of etwas' own class, and the offsets of their fields: docs/reference/file-format.md. */
enum {
    TYPE_MESSAGE_FORMAT = 4,
    TYPE_MANIFEST_CHUNK = 17,
    TYPE_ACCOUNT = 5,
    TYPE_RECORDS = 6,
    VERSION = 1,

    NUMBER_AT = 4,
    COUNT_AT = 8,
    SOURCE_AT = 12,
    PROCESSOR_AT = 16,

    COUNTED_AT = 20,
    FLAGS_AT = 24,
    DAMAGED_AT = 28,
    ATTEMPTED_AT = 32,
    TAKEN_AT = 40,
    WITHOUT_AT = 48,
    NO_ROOM_AT = 56,
    UNREAD_AT = 64,
    NOT_HANDED_AT = 72,
    NAME_AT = 80,

    RECORD_TYPE_AT = 20,
    CLASS_AT = 24,
    MADE_AT = 40,
    REFUSED_AT = 48,
    RECORDS_BYTES = 56,

    LEAST_BYTES = 32, /* for all of them */

    KERNEL_IMAGE_VERSION = 3, /* version 2: images that only describe other events */
    MORE_ACCOUNTS = 64,
};

static bool is_classic(const EVENT_RECORD *record)
{
    return (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static int compare_kinds(const void *left, const void *right)
{
    return memcmp(&((const struct etwas_prove_kind *)left)->key,
                  &((const struct etwas_prove_kind *)right)->key,
                  offsetof(struct etwas_prove_key, version));
}

/* Finds the kind with the key of `wanted`, or adds it. Returns NULL if there are too many. */
static struct etwas_prove_kind *find_kind(struct etwas_prove_session *session,
                                          const struct etwas_prove_kind *wanted)
{
    void *node;
    struct etwas_prove_kind *kind;

    if (session->latest != NULL && compare_kinds(session->latest, wanted) == 0) {
        return session->latest;
    }
    node = tfind(wanted, &session->kinds, compare_kinds);
    if (node != NULL) {
        return session->latest = *(struct etwas_prove_kind **)node;
    }
    kind = session->kind_count == ETWAS_PROVE_KINDS ? NULL : malloc(sizeof *kind);
    if (kind == NULL) {
        session->out_of_memory = session->out_of_memory || session->kind_count != ETWAS_PROVE_KINDS;
        return NULL;
    }
    *kind = *wanted;
    if (tsearch(kind, &session->kinds, compare_kinds) == NULL) {
        session->out_of_memory = true;
        free(kind);
        return NULL;
    }
    session->kind_count++;
    return session->latest = kind;
}

static void count_kind(struct etwas_prove_session *session, const EVENT_RECORD *record)
{
    const EVENT_DESCRIPTOR *descriptor = &record->EventHeader.EventDescriptor;
    bool classic = is_classic(record);
    struct etwas_prove_kind wanted;
    struct etwas_prove_kind *kind;

    memset(&wanted, 0, sizeof wanted); /* keys are compared as bytes */
    wanted.key.class_guid = record->EventHeader.ProviderId;
    wanted.key.processor = record->BufferContext.ProcessorIndex;
    wanted.key.type = classic ? descriptor->Opcode : descriptor->Id;
    wanted.key.classic = classic;
    wanted.key.version = descriptor->Version;
    kind = find_kind(session, &wanted);
    if (kind != NULL) {
        kind->found++;
    } else {
        session->other_kinds++;
    }
}

/* ---- accounts -------------------------------------------------------------------------------- */

/* Returns NULL if there are too many. */
static struct etwas_prove_account *add_account(struct etwas_prove_session *session)
{
    if (session->account_count == ETWAS_PROVE_ACCOUNTS) {
        return NULL;
    }
    if (session->account_count % MORE_ACCOUNTS == 0) {
        struct etwas_prove_account *more =
            realloc(session->accounts, (session->account_count + MORE_ACCOUNTS) * sizeof *more);

        if (more == NULL) {
            session->out_of_memory = true;
            return NULL;
        }
        session->accounts = more;
    }
    return &session->accounts[session->account_count++];
}

static void take_account(struct etwas_prove_session *session, const EVENT_RECORD *record)
{
    struct etwas_prove_account *account = add_account(session);
    size_t name_bytes = record->UserDataLength - (size_t)NAME_AT;

    if (account == NULL) {
        return;
    }
    *account = (struct etwas_prove_account){
        .source = etwas_event_u32(record, SOURCE_AT),
        .processor = etwas_event_u32(record, PROCESSOR_AT),
        .counted = etwas_event_u32(record, COUNTED_AT),
        .flags = etwas_event_u32(record, FLAGS_AT),
        .damaged = etwas_event_u32(record, DAMAGED_AT) != 0,
        .attempted = etwas_event_u64(record, ATTEMPTED_AT),
        .taken = etwas_event_u64(record, TAKEN_AT),
        .without_record = etwas_event_u64(record, WITHOUT_AT),
        .lost_no_room = etwas_event_u64(record, NO_ROOM_AT),
        .lost_unread = etwas_event_u64(record, UNREAD_AT),
        .lost_not_handed = etwas_event_u64(record, NOT_HANDED_AT),
    };
    if (name_bytes > sizeof account->name - 1) {
        name_bytes = sizeof account->name - 1;
    }
    memcpy(account->name, (const char *)record->UserData + NAME_AT, name_bytes);
}

/*
 * Takes the number of records of a class and type that were made. It belongs to the previous
 * account, which has the same source and processor.
 */
static void take_records(struct etwas_prove_session *session, const EVENT_RECORD *record)
{
    struct etwas_prove_account *account =
        session->account_count == 0 ? NULL : &session->accounts[session->account_count - 1];
    struct etwas_prove_kind wanted;
    struct etwas_prove_kind *kind;

    memset(&wanted, 0, sizeof wanted);
    memcpy(&wanted.key.class_guid, (const uint8_t *)record->UserData + CLASS_AT,
           sizeof wanted.key.class_guid);
    wanted.key.processor = etwas_event_u32(record, PROCESSOR_AT);
    wanted.key.type = etwas_event_u32(record, RECORD_TYPE_AT);
    wanted.key.classic = true;
    kind = find_kind(session, &wanted);
    if (kind == NULL) {
        session->other_kinds++;
        return;
    }
    kind->is_known = true;
    kind->made += etwas_event_u64(record, MADE_AT);
    kind->refused += etwas_event_u64(record, REFUSED_AT);
    if (account != NULL && account->source == etwas_event_u32(record, SOURCE_AT) &&
        account->processor == wanted.key.processor) {
        account->made += etwas_event_u64(record, MADE_AT);
    }
}

static void take_loss(struct etwas_prove_session *session, const EVENT_RECORD *record,
                      const struct etwas_event_loss *loss)
{
    uint32_t processor = record->BufferContext.ProcessorIndex;

    session->is_kernel = true;
    if (!loss->is_off) {
        session->losses++;
        session->losses_events += loss->events;
        return;
    }
    session->are_more_unrecorded |=
        session->not_recorded != 0 && session->first_unrecorded != processor;
    session->first_unrecorded = session->not_recorded == 0 ? processor : session->first_unrecorded;
    session->not_recorded++;
}

/*
 * Takes a record of etwas' own class. Returns whether it is part of an account; accounts do not
 * count those.
 */
static bool take_own(struct etwas_prove_session *session, const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    bool is_account = type == TYPE_ACCOUNT && record->UserDataLength > NAME_AT;
    bool is_records = type == TYPE_RECORDS && record->UserDataLength >= RECORDS_BYTES;
    struct etwas_event_loss loss;

    if (record->UserDataLength < LEAST_BYTES || etwas_event_u32(record, 0) != VERSION) {
        return false;
    }
    if (etwas_event_ring_loss(record, &loss)) {
        take_loss(session, record, &loss);
    }
    if (!is_account && !is_records) {
        return false;
    }
    session->is_kernel = true;
    session->account_records++;
    if (etwas_event_u32(record, NUMBER_AT) == 0) {
        session->account_expected +=
            etwas_event_u32(record, COUNT_AT); /* for each session of the file */
    }
    if (is_account) {
        take_account(session, record);
    } else {
        take_records(session, record);
    }
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Returns whether a record describes the trace or its events, and is no event of the session. */
static bool is_beside_events(const EVENT_RECORD *record)
{
    return etwas_event_is_header_class(record) || etwas_trace_coverage_is_window(record) ||
           etwas_event_is_of_class(record, &etwas_names_metadata_class) ||
           (etwas_event_is_of_class(record, &etwas_names_own_class) &&
            (record->EventHeader.EventDescriptor.Opcode == TYPE_MESSAGE_FORMAT ||
             record->EventHeader.EventDescriptor.Opcode == TYPE_MANIFEST_CHUNK));
}

void etwas_prove_add(struct etwas_prove_session *session, const EVENT_RECORD *record)
{
    if (is_beside_events(record)) {
        return;
    }
    if (etwas_event_is_of_class(record, &etwas_names_own_class) && take_own(session, record)) {
        session->in_files++;
        return;
    }
    if (etwas_event_is_image(record)) {
        session->images++;
        session->is_kernel |= record->EventHeader.EventDescriptor.Version == KERNEL_IMAGE_VERSION;
    } else {
        session->in_files++;
    }
    count_kind(session, record);
}

struct visitor {
    void (*visit)(struct etwas_prove_kind *kind, void *context);
    void *context;
};

static void visit_node(const void *node, VISIT visit, void *context)
{
    const struct visitor *visitor = context;

    if (visit == postorder || visit == leaf) {
        visitor->visit(*(struct etwas_prove_kind *const *)node, visitor->context);
    }
}

void etwas_prove_visit_kinds(const struct etwas_prove_session *session,
                             void (*visit)(struct etwas_prove_kind *kind, void *context),
                             void *context)
{
    struct visitor visitor = {visit, context};

    twalk_r(session->kinds, visit_node, &visitor);
}

void etwas_prove_clear(struct etwas_prove_session *session)
{
    tdestroy(session->kinds, free);
    free(session->accounts);
    free(session->paths);
    free(session->name);
}
