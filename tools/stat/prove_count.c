/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counting for `etwas stat --prove`.
 */

#include "stat/prove.h"

#include "event.h"

#include <search.h>
#include <stdlib.h>

/* Records of etwas' own class, and where their fields are: docs/file-format.md. */
static const etwas_guid own_class = {
    0x7be5a508, 0xdb35, 0x4ec9, {0xb6, 0x50, 0xa9, 0x72, 0x0e, 0xcb, 0x3b, 0x69}};

enum {
    TYPE_MESSAGE_FORMAT = 4,
    TYPE_ACCOUNT = 5,
    TYPE_RECORDS = 6,
    TYPE_LOSS = 7,
    VERSION = 1,

    NUMBER_AT = 4,
    COUNT_AT = 8,
    SOURCE_AT = 12,
    PROCESSOR_AT = 16,

    COUNTED_AT = 20,
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

    LOSS_EVENTS_AT = 8,
    LOSS_BYTES = 32,

    KERNEL_IMAGE_VERSION = 3, /* images that describe others are of version 2 */
    MORE_ACCOUNTS = 64,
};

/* Event metadata: what describes events. */
static const etwas_guid metadata_class = {
    0xbbccf6c1, 0x6cd1, 0x48c4, {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};

static uint32_t u32_at(const EVENT_RECORD *record, size_t offset)
{
    uint32_t value;

    memcpy(&value, (const uint8_t *)record->UserData + offset, sizeof value);
    return value;
}

static uint64_t u64_at(const EVENT_RECORD *record, size_t offset)
{
    uint64_t value;

    memcpy(&value, (const uint8_t *)record->UserData + offset, sizeof value);
    return value;
}

static bool is_classic(const EVENT_RECORD *record)
{
    return (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
}

static bool is_of_class(const EVENT_RECORD *record, const etwas_guid *class_guid)
{
    return is_classic(record) &&
           memcmp(&record->EventHeader.ProviderId, class_guid, sizeof *class_guid) == 0;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static int compare_kinds(const void *left, const void *right)
{
    return memcmp(&((const struct etwas_prove_kind *)left)->key,
                  &((const struct etwas_prove_kind *)right)->key,
                  offsetof(struct etwas_prove_key, version));
}

/* Made if it is new; NULL where there are too many. */
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

/* NULL where there are too many. */
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
        .source = u32_at(record, SOURCE_AT),
        .processor = u32_at(record, PROCESSOR_AT),
        .counted = u32_at(record, COUNTED_AT),
        .damaged = u32_at(record, DAMAGED_AT) != 0,
        .attempted = u64_at(record, ATTEMPTED_AT),
        .taken = u64_at(record, TAKEN_AT),
        .without_record = u64_at(record, WITHOUT_AT),
        .lost_no_room = u64_at(record, NO_ROOM_AT),
        .lost_unread = u64_at(record, UNREAD_AT),
        .lost_not_handed = u64_at(record, NOT_HANDED_AT),
    };
    if (name_bytes > sizeof account->name - 1) {
        name_bytes = sizeof account->name - 1;
    }
    memcpy(account->name, (const char *)record->UserData + NAME_AT, name_bytes);
}

/* Of the last account that was told, which is that of its source and processor. */
static void take_records(struct etwas_prove_session *session, const EVENT_RECORD *record)
{
    struct etwas_prove_account *account =
        session->account_count == 0 ? NULL : &session->accounts[session->account_count - 1];
    struct etwas_prove_kind wanted;
    struct etwas_prove_kind *kind;

    memset(&wanted, 0, sizeof wanted);
    memcpy(&wanted.key.class_guid, (const uint8_t *)record->UserData + CLASS_AT,
           sizeof wanted.key.class_guid);
    wanted.key.processor = u32_at(record, PROCESSOR_AT);
    wanted.key.type = u32_at(record, RECORD_TYPE_AT);
    wanted.key.classic = true;
    kind = find_kind(session, &wanted);
    if (kind == NULL) {
        session->other_kinds++;
        return;
    }
    kind->is_known = true;
    kind->made += u64_at(record, MADE_AT);
    kind->refused += u64_at(record, REFUSED_AT);
    if (account != NULL && account->source == u32_at(record, SOURCE_AT) &&
        account->processor == wanted.key.processor) {
        account->made += u64_at(record, MADE_AT);
    }
}

/* Whether it is one of an account, which no account counts. */
static bool take_own(struct etwas_prove_session *session, const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    bool is_account = type == TYPE_ACCOUNT && record->UserDataLength > NAME_AT;
    bool is_records = type == TYPE_RECORDS && record->UserDataLength >= RECORDS_BYTES;

    if (record->UserDataLength < LOSS_BYTES || u32_at(record, 0) != VERSION) {
        return false;
    }
    if (type == TYPE_LOSS) {
        session->is_kernel = true;
        session->losses++;
        session->losses_events += u64_at(record, LOSS_EVENTS_AT);
    }
    if (!is_account && !is_records) {
        return false;
    }
    session->is_kernel = true;
    session->account_records++;
    if (u32_at(record, NUMBER_AT) == 0) {
        session->account_expected += u32_at(record, COUNT_AT); /* of each session of the file */
    }
    if (is_account) {
        take_account(session, record);
    } else {
        take_records(session, record);
    }
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/* What describes the trace or its events, and is no event of the session. */
static bool is_beside_events(const EVENT_RECORD *record)
{
    return etwas_event_is_header_class(record) || is_of_class(record, &metadata_class) ||
           (is_of_class(record, &own_class) &&
            record->EventHeader.EventDescriptor.Opcode == TYPE_MESSAGE_FORMAT);
}

void etwas_prove_add(struct etwas_prove_session *session, const EVENT_RECORD *record)
{
    if (is_beside_events(record)) {
        return;
    }
    if (is_of_class(record, &own_class) && take_own(session, record)) {
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
