/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What became of the events of each source on each processor, and which records were made of them:
 *
 *     counted = taken + lost for lack of room + unread + never handed over
 *
 * The kernel counts, and says for how many there was no room; the board takes. What remains is what the kernel counted and
 * has never handed over, or what was in a ring that was damaged. Of what the kernel samples in intervals, and of
 * the sideband, it counts the lost ones alone, so there is no remainder.
 *
 * A record belongs to the source whose event is being taken, or to nobody: then the logger says it by
 * itself. When the session ends the accounts are told in its file (etl/own_record.h), so that who reads
 * it can count the records and compare. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_STREAM_ACCOUNTS_H
#define ETWAS_SYSTEM_STREAM_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/emit.h"
#include "system/stream/source_tags.h"

enum {
    ETWAS_ACCOUNT_OF_CLASS = 1 << 16
};

/* Records of one kind in one stream. */
struct etwas_account_records {
    uint32_t hook;         /* group and type; of a class ETWAS_ACCOUNT_OF_CLASS and the type */
    etwas_guid class_guid; /* of a class */
    uint64_t made;
    uint64_t refused; /* no buffer had room; so it is in the session's losses */
};

/* Of a source on a processor; of its records, in that processor's stream. */
struct etwas_account {
    bool was_open;
    bool is_damaged;  /* of ETWAS_CPU_STREAM_OWNER: the processor's ring is */
    uint64_t counted; /* by the kernel; of sources whose events it counts */
    uint64_t lost;    /* for lack of room, as the kernel says */
    uint64_t taken;
    uint64_t without_record; /* of these */
    uint64_t unread;         /* came, and made no sense */
    uint32_t kind_count;
    struct etwas_account_records *kinds;
};

struct etwas_accounts {
    struct etwas_account *all; /* of each slot, the extra one too, one for each tag */
    uint32_t tag;              /* whose event is being taken; ETWAS_CPU_STREAM_OWNER: nobody's */
    bool has_record;           /* something was made of it */
    bool is_emitted;           /* nothing is counted any more */
    bool is_own;               /* of the own process */
};

bool etwas_accounts_open(struct etwas_accounts *accounts);
void etwas_accounts_free(struct etwas_accounts *accounts);

static inline struct etwas_account *etwas_account_of(const struct etwas_accounts *accounts,
                                                     uint32_t slot, uint32_t tag)
{
    return &accounts->all[(size_t)slot * ETWAS_TAGS + tag];
}

/* The events of a source are counted by the kernel, each. */
bool etwas_accounts_is_counted(uint32_t tag);

/* What the kernel says of an event: of one that is closed, or of all when nothing happens any more. */
void etwas_accounts_add(struct etwas_accounts *accounts, uint32_t slot, uint32_t tag,
                        const struct etwas_cpu_stream_totals *totals);

/* Between these, an event of the source is being taken. */
static inline void etwas_accounts_begin(struct etwas_accounts *accounts, uint32_t tag)
{
    accounts->tag = tag;
    accounts->has_record = false;
}

static inline void etwas_accounts_end(struct etwas_accounts *accounts, uint32_t slot, bool is_taken)
{
    struct etwas_account *account = etwas_account_of(accounts, slot, accounts->tag);

    account->taken += is_taken;
    account->without_record += is_taken && !accounts->has_record;
    account->unread += !is_taken;
    accounts->tag = ETWAS_CPU_STREAM_OWNER;
}

/* A record was logged into this slot, or there was no room for it. */
void etwas_accounts_add_record(struct etwas_accounts *accounts, uint32_t slot,
                               const uint8_t *record, bool is_refused);

/* Of all sources, with what the kernel has said of them. */
uint64_t etwas_accounts_lost(const struct etwas_accounts *accounts);

/* Into the session, behind all else. */
void etwas_accounts_emit(struct etwas_accounts *accounts, struct etwas_record_builder *record,
                         struct etwas_emitter *emitter);

#endif
