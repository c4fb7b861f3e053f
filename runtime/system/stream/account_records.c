/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The accounts as records: one for each source on each processor where it counted something, and on one
 * where nothing was counted anywhere; one for each kind of record that was made of it there.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "etl/group.h"
#include "etl/own_record.h"
#include "platform/processor.h"
#include "system/stream/accounts.h"
#include "system/stream/record_builder.h"

enum {
    GROUP_SHIFT = 8,
    NAME_ROOM = 64,
};

/* Where the accounts go; without a record they are counted. */
struct teller {
    struct etwas_record *record;
    struct etwas_emitter *emitter;
    uint32_t number;
    uint32_t count;
};

/* ---- sources --------------------------------------------------------------------------------- */

static const char *software_name(uint64_t config)
{
    static const char *const names[] = {
        [PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
        [PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
        [PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
        [PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
        [PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
        [PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
        [PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
    };

    return config < sizeof names / sizeof *names ? names[config] : "software";
}

static const char *sideband_name(uint32_t kind)
{
    switch (kind) {
    case ETWAS_SIDEBAND_TASKS:
        return "FORK, EXIT";
    case ETWAS_SIDEBAND_NAMES:
        return "COMM";
    case ETWAS_SIDEBAND_IMAGES:
        return "MMAP2";
    case ETWAS_SIDEBAND_SWITCHES:
        return "SWITCH_CPU_WIDE";
    case ETWAS_SIDEBAND_ARGUMENTS:
        return "BPF sched_process_exec";
    case ETWAS_SIDEBAND_PATHS:
        return "BPF sys_enter, sys_exit";
    case ETWAS_SIDEBAND_LENGTHS:
        return "BPF tcp_sendmsg, tcp_recvmsg, udp_sendmsg, udp_recvmsg";
    default:
        return "MMAP2 of files";
    }
}

/* As the kernel calls it, a tracepoint as in the table of flags. */
static void put_name(struct etwas_record *record, uint32_t tag)
{
    const struct etwas_source *source;
    char name[NAME_ROOM];
    char *slash;

    if (tag < ETWAS_FIRST_SOURCE_TAG) {
        etwas_record_put_ansi(record, tag == ETWAS_FEED_OWNER ? "logger" : sideband_name(tag));
        return;
    }
    source = &etwas_topics[etwas_tag_topic(tag)]->sources[etwas_tag_source(tag)];
    (void)snprintf(name, sizeof name, "%s",
                   source->tracepoint != NULL ? source->tracepoint : software_name(source->config));
    slash = strchr(name, '/');
    if (slash != NULL) {
        *slash = ':';
    }
    etwas_record_put_ansi(record, name);
}

static uint32_t counted_of(uint32_t tag)
{
    if (tag == ETWAS_FEED_OWNER) {
        return ETWAS_ETL_COUNTED_BY_NOBODY;
    }
    return etwas_accounts_is_counted(tag) ? ETWAS_ETL_COUNTED_EACH : ETWAS_ETL_COUNTED_LOST_ALONE;
}

/* EnableFlags that ask for it. */
static uint32_t flags_of(const struct etwas_accounts *accounts, uint32_t tag)
{
    uint64_t flags = 0;

    if (tag >= ETWAS_FIRST_SOURCE_TAG) {
        const struct etwas_topic *topic = etwas_topics[etwas_tag_topic(tag)];
        uint64_t asked = topic->sources[etwas_tag_source(tag)].flags;

        return (uint32_t)(asked != 0 ? asked : topic->flags);
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        const struct etwas_topic *topic = etwas_topics[number];
        uint32_t sideband = accounts->is_own ? topic->own_sideband : topic->sideband;

        flags |= (sideband & tag) != 0 ? topic->flags : 0;
    }
    return (uint32_t)flags;
}

/* ---- records --------------------------------------------------------------------------------- */

static void tell_account(struct teller *teller, const struct etwas_accounts *accounts,
                         uint32_t slot, uint32_t tag)
{
    const struct etwas_account *account = etwas_account_of(accounts, slot, tag);
    bool is_counted = etwas_accounts_is_counted(tag);
    uint64_t known = account->taken + account->lost + account->unread;
    const struct etwas_etl_account told = {
        .version = ETWAS_ETL_ACCOUNT_VERSION,
        .number = teller->number++,
        .count = teller->count,
        .source = tag,
        .processor = slot,
        .counted = counted_of(tag),
        .flags = flags_of(accounts, tag),
        .damaged = etwas_account_of(accounts, slot, ETWAS_FEED_OWNER)->is_damaged,
        .attempted = is_counted ? account->counted : known,
        .taken = account->taken,
        .without_record = account->without_record,
        .lost_no_room = account->lost,
        .lost_unread = account->unread,
        .lost_not_handed = is_counted && account->counted > known ? account->counted - known : 0,
    };

    if (teller->record != NULL) {
        etwas_record_begin_class(teller->record, &etwas_etl_own_class, ETWAS_ETL_ACCOUNT_TYPE,
                                 ETWAS_ETL_ACCOUNT_VERSION);
        etwas_record_put(teller->record, &told, sizeof told);
        put_name(teller->record, tag);
        etwas_emit_now(teller->emitter, etwas_record_end(teller->record));
    }
}

static void tell_records(struct teller *teller, const struct etwas_made *made, uint32_t slot,
                         uint32_t tag)
{
    struct etwas_etl_account_records told = {
        .version = ETWAS_ETL_ACCOUNT_VERSION,
        .number = teller->number++,
        .count = teller->count,
        .source = tag,
        .processor = slot,
        .type = (uint8_t)made->hook,
        .class_guid = made->class_guid,
        .made = made->made,
        .refused = made->refused,
    };

    if (made->hook < ETWAS_MADE_OF_CLASS) {
        told.class_guid =
            *etwas_class_of_hook((uint8_t)(made->hook >> GROUP_SHIFT), (uint8_t)made->hook);
    }
    if (teller->record != NULL) {
        etwas_record_begin_class(teller->record, &etwas_etl_own_class,
                                 ETWAS_ETL_ACCOUNT_RECORDS_TYPE, ETWAS_ETL_ACCOUNT_VERSION);
        etwas_record_put(teller->record, &told, sizeof told);
        etwas_emit_now(teller->emitter, etwas_record_end(teller->record));
    }
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool says_something(const struct etwas_account *account)
{
    return account->counted + account->lost + account->taken + account->unread != 0 ||
           account->kind_count != 0;
}

/* One of which nothing was counted has an account on the first processor where it was open. */
static bool is_wanted(const struct etwas_accounts *accounts, uint32_t slot, uint32_t tag)
{
    const struct etwas_account *account = etwas_account_of(accounts, slot, tag);

    if (says_something(account) || !account->was_open) {
        return says_something(account);
    }
    for (uint32_t before = 0; before < slot; before++) {
        if (etwas_account_of(accounts, before, tag)->was_open) {
            return false;
        }
    }
    return true;
}

static void tell_all(struct teller *teller, const struct etwas_accounts *accounts)
{
    for (uint32_t tag = 0; tag < ETWAS_TAGS; tag++) {
        for (uint32_t slot = 0; slot <= etwas_slot_count; slot++) {
            const struct etwas_account *account = etwas_account_of(accounts, slot, tag);

            if (!is_wanted(accounts, slot, tag)) {
                continue;
            }
            tell_account(teller, accounts, slot, tag);
            for (uint32_t kind = 0; kind < account->kind_count; kind++) {
                tell_records(teller, &account->kinds[kind], slot, tag);
            }
        }
    }
}

void etwas_accounts_tell(struct etwas_accounts *accounts, struct etwas_record *record,
                         struct etwas_emitter *emitter)
{
    struct teller teller = {0};

    tell_all(&teller, accounts);
    teller = (struct teller){.record = record, .emitter = emitter, .count = teller.number};
    accounts->is_told = true;
    tell_all(&teller, accounts);
}
