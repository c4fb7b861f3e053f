/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Emits the accounts: a record for each source on each processor where it counted something, and on
 * one processor for a source that counted nothing anywhere; and a record for each kind of record
 * that was made of it.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "etl/kernel_class.h"
#include "etl/own_record.h"
#include "platform/processor.h"
#include "system/stream/accounts.h"
#include "system/stream/record_builder.h"

enum {
    GROUP_SHIFT = 8,
    NAME_ROOM = 64,
};

/* Where the accounts are emitted; without a record builder they are only counted. */
struct account_emitter {
    struct etwas_record_builder *record;
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

static const char *process_record_name(uint32_t kind)
{
    switch (kind) {
    case ETWAS_PROCESS_RECORD_TASKS:
        return "FORK, EXIT";
    case ETWAS_PROCESS_RECORD_NAMES:
        return "COMM";
    case ETWAS_PROCESS_RECORD_IMAGES:
        return "MMAP2";
    case ETWAS_PROCESS_RECORD_SWITCHES:
        return "SWITCH_CPU_WIDE";
    case ETWAS_PROCESS_RECORD_ARGUMENTS:
        return "BPF sched_process_exec";
    case ETWAS_PROCESS_RECORD_PATHS:
        return "BPF sys_enter, sys_exit";
    case ETWAS_PROCESS_RECORD_LENGTHS:
        return "BPF tcp_sendmsg, tcp_recvmsg, udp_sendmsg, udp_recvmsg";
    default:
        return "MMAP2 of files";
    }
}

/* The kernel's name of the source, with a colon in that of a tracepoint. */
static void put_source_name(struct etwas_record_builder *record, uint32_t tag)
{
    const struct etwas_event_source *source;
    char name[NAME_ROOM];
    char *slash;

    if (tag < ETWAS_FIRST_SOURCE_TAG) {
        etwas_record_builder_put_ansi(
            record, tag == ETWAS_CPU_STREAM_OWNER ? "logger" : process_record_name(tag));
        return;
    }
    source = &etwas_event_groups[etwas_tag_group(tag)]->sources[etwas_tag_source(tag)];
    (void)snprintf(name, sizeof name, "%s",
                   source->tracepoint != NULL ? source->tracepoint : software_name(source->config));
    slash = strchr(name, '/');
    if (slash != NULL) {
        *slash = ':';
    }
    etwas_record_builder_put_ansi(record, name);
}

static uint32_t counted_of(uint32_t tag)
{
    if (tag == ETWAS_CPU_STREAM_OWNER) {
        return ETWAS_ETL_COUNTED_BY_NOBODY;
    }
    return etwas_accounts_is_counted(tag) ? ETWAS_ETL_COUNTED_EACH : ETWAS_ETL_COUNTED_LOST_ALONE;
}

/* The EnableFlags that request the source. */
static uint32_t flags_of(const struct etwas_accounts *accounts, uint32_t tag)
{
    uint64_t flags = 0;

    if (tag >= ETWAS_FIRST_SOURCE_TAG) {
        const struct etwas_event_group *group = etwas_event_groups[etwas_tag_group(tag)];
        uint64_t asked = group->sources[etwas_tag_source(tag)].flags;

        return (uint32_t)(asked != 0 ? asked : group->flags);
    }
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        const struct etwas_event_group *group = etwas_event_groups[number];
        uint32_t records = accounts->is_own ? group->own_process_records : group->process_records;

        flags |= (records & tag) != 0 ? group->flags : 0;
    }
    return (uint32_t)flags;
}

/* ---- records --------------------------------------------------------------------------------- */

static void emit_account(struct account_emitter *account_emitter,
                         const struct etwas_accounts *accounts, uint32_t slot, uint32_t tag)
{
    const struct etwas_account *account = etwas_account_of(accounts, slot, tag);
    bool is_counted = etwas_accounts_is_counted(tag);
    uint64_t known = account->taken + account->lost + account->unread;
    const struct etwas_etl_account emitted = {
        .version = ETWAS_ETL_ACCOUNT_VERSION,
        .number = account_emitter->number++,
        .count = account_emitter->count,
        .source = tag,
        .processor = slot,
        .counted = counted_of(tag),
        .flags = flags_of(accounts, tag),
        .damaged = etwas_account_of(accounts, slot, ETWAS_CPU_STREAM_OWNER)->is_damaged,
        .attempted = is_counted ? account->counted : known,
        .taken = account->taken,
        .without_record = account->without_record,
        .lost_no_room = account->lost,
        .lost_unread = account->unread,
        .lost_not_handed = is_counted && account->counted > known ? account->counted - known : 0,
    };

    if (account_emitter->record != NULL) {
        etwas_record_builder_begin_class(account_emitter->record, &etwas_etl_own_class,
                                         ETWAS_ETL_ACCOUNT_TYPE, ETWAS_ETL_ACCOUNT_VERSION);
        etwas_record_builder_put(account_emitter->record, &emitted, sizeof emitted);
        put_source_name(account_emitter->record, tag);
        etwas_emit_now(account_emitter->emitter, etwas_record_builder_end(account_emitter->record));
    }
}

static void emit_account_records(struct account_emitter *account_emitter,
                                 const struct etwas_account_records *made, uint32_t slot,
                                 uint32_t tag)
{
    struct etwas_etl_account_records emitted = {
        .version = ETWAS_ETL_ACCOUNT_RECORDS_VERSION,
        .number = account_emitter->number++,
        .count = account_emitter->count,
        .source = tag,
        .processor = slot,
        .type = (uint8_t)made->hook,
        .class_guid = made->class_guid,
        .made = made->made,
        .refused = made->refused,
    };

    if (made->hook < ETWAS_ACCOUNT_OF_CLASS) {
        emitted.class_guid =
            *etwas_class_of_hook((uint8_t)(made->hook >> GROUP_SHIFT), (uint8_t)made->hook);
    }
    if (account_emitter->record != NULL) {
        etwas_record_builder_begin_class(account_emitter->record, &etwas_etl_own_class,
                                         ETWAS_ETL_ACCOUNT_RECORDS_TYPE,
                                         ETWAS_ETL_ACCOUNT_RECORDS_VERSION);
        etwas_record_builder_put(account_emitter->record, &emitted, sizeof emitted);
        etwas_emit_now(account_emitter->emitter, etwas_record_builder_end(account_emitter->record));
    }
}

/* ---- which accounts are emitted -------------------------------------------------------------- */

static bool has_counts(const struct etwas_account *account)
{
    return account->counted + account->lost + account->taken + account->unread != 0 ||
           account->kind_count != 0;
}

/* A source that counted nothing has an account on the first processor where it was open. */
static bool is_emitted(const struct etwas_accounts *accounts, uint32_t slot, uint32_t tag)
{
    const struct etwas_account *account = etwas_account_of(accounts, slot, tag);

    if (has_counts(account) || !account->was_open) {
        return has_counts(account);
    }
    for (uint32_t before = 0; before < slot; before++) {
        if (etwas_account_of(accounts, before, tag)->was_open) {
            return false;
        }
    }
    return true;
}

static void emit_accounts(struct account_emitter *account_emitter,
                          const struct etwas_accounts *accounts)
{
    for (uint32_t tag = 0; tag < ETWAS_TAGS; tag++) {
        for (uint32_t slot = 0; slot <= etwas_slot_count; slot++) {
            const struct etwas_account *account = etwas_account_of(accounts, slot, tag);

            if (!is_emitted(accounts, slot, tag)) {
                continue;
            }
            emit_account(account_emitter, accounts, slot, tag);
            for (uint32_t kind = 0; kind < account->kind_count; kind++) {
                emit_account_records(account_emitter, &account->kinds[kind], slot, tag);
            }
        }
    }
}

void etwas_accounts_emit(struct etwas_accounts *accounts, struct etwas_record_builder *record,
                         struct etwas_emitter *emitter)
{
    struct account_emitter account_emitter = {0};

    emit_accounts(&account_emitter, accounts);
    account_emitter = (struct account_emitter){
        .record = record, .emitter = emitter, .count = account_emitter.number};
    accounts->is_emitted = true;
    emit_accounts(&account_emitter, accounts);
}
