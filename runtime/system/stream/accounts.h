/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What became of the events of each source on each processor, and which records were made of them:
 *
 *     counted = taken + lost for lack of room + unread + never handed over
 *
 * The kernel counts events and reports how many found no room; the kernel sources take the others.
 * The rest is what the kernel counted and never handed over, or what was in a damaged ring. For
 * sources that are sampled in intervals, and for process records, the kernel counts only the
 * losses, so there is no rest.
 *
 * A record belongs to the source whose event is being handled, or to no source if the logger emits
 * it by itself. When the session ends the accounts are emitted into its file (etl/own_record.h), so
 * that a reader can count the records and compare. Not thread-safe.
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

/* Records of one kind in the stream of one processor. */
struct etwas_account_records {
    uint32_t hook;         /* group and type; for a class ETWAS_ACCOUNT_OF_CLASS and the type */
    etwas_guid class_guid; /* of a class; else zeros */
    uint64_t made;
    uint64_t refused; /* no buffer had room; these are in the session's losses */
};

/* One source on one processor, and its records in that processor's stream. */
struct etwas_account {
    bool was_open;
    bool is_damaged;  /* of ETWAS_CPU_STREAM_OWNER: the processor's ring is damaged */
    uint64_t counted; /* by the kernel; 0 for sources whose events it does not count */
    uint64_t lost;    /* for lack of room in the ring, as the kernel says */
    uint64_t taken;
    uint64_t without_record; /* part of `taken` */
    uint64_t unread;         /* could not be decoded */
    uint32_t kind_count;
    struct etwas_account_records *kinds;
};

struct etwas_accounts {
    struct etwas_account *all; /* one account for each slot, the extra one too, and each tag */
    uint32_t tag;    /* of the event that is being handled; ETWAS_CPU_STREAM_OWNER: none is */
    bool has_record; /* the event has become a record */
    bool is_emitted; /* the accounts are emitted; nothing is counted any more */
    bool is_own;     /* of the own process alone */
};

bool etwas_accounts_open(struct etwas_accounts *accounts);
void etwas_accounts_free(struct etwas_accounts *accounts);

static inline struct etwas_account *etwas_account_of(const struct etwas_accounts *accounts,
                                                     uint32_t slot, uint32_t tag)
{
    return &accounts->all[(size_t)slot * ETWAS_TAGS + tag];
}

/* Whether the kernel counts every event of the source. */
bool etwas_accounts_is_counted(uint32_t tag);

/*
 * Adds counts of the kernel: those of one event when it is closed, or of all events when the
 * streams are stopped.
 */
void etwas_accounts_add(struct etwas_accounts *accounts, uint32_t slot, uint32_t tag,
                        const struct etwas_cpu_stream_totals *totals);

/* Between begin and end, an event of this source is being handled. */
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

/* Counts a record that was published into this slot, or refused for lack of a buffer. */
void etwas_accounts_add_record(struct etwas_accounts *accounts, uint32_t slot,
                               const uint8_t *record, bool is_refused);

/* Returns how many events were lost by all sources, after the kernel's counts were added. */
uint64_t etwas_accounts_lost(const struct etwas_accounts *accounts);

/* Emits all accounts into the session. No other record follows. */
void etwas_accounts_emit(struct etwas_accounts *accounts, struct etwas_record_builder *record,
                         struct etwas_emitter *emitter);

#endif
