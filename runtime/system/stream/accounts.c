/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stream/accounts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "etl/layout.h"
#include "platform/processor.h"

enum {
    GROUP_SHIFT = 8,
    MORE_KINDS = 8,
};

static size_t account_count(void)
{
    return (size_t)(etwas_slot_count + 1) * ETWAS_TAGS;
}

bool etwas_accounts_open(struct etwas_accounts *accounts)
{
    *accounts = (struct etwas_accounts){.tag = ETWAS_CPU_STREAM_OWNER};
    accounts->all = calloc(account_count(), sizeof *accounts->all);
    return accounts->all != NULL;
}

void etwas_accounts_free(struct etwas_accounts *accounts)
{
    for (size_t index = 0; accounts->all != NULL && index < account_count(); index++) {
        free(accounts->all[index].kinds);
    }
    free(accounts->all);
}

bool etwas_accounts_is_counted(uint32_t tag)
{
    return tag >= ETWAS_FIRST_SOURCE_TAG &&
           etwas_event_source_is_counted(
               &etwas_event_groups[etwas_tag_group(tag)]->sources[etwas_tag_source(tag)]);
}

void etwas_accounts_add(struct etwas_accounts *accounts, uint32_t slot, uint32_t tag,
                        const struct etwas_cpu_stream_totals *totals)
{
    struct etwas_account *account = etwas_account_of(accounts, slot, tag);

    account->counted += totals->counted;
    account->lost += totals->lost;
}

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t hook_of(const uint8_t *record)
{
    struct etwas_etl_perfinfo_header header; /* SYSTEM begins in the same way */

    memcpy(&header, record, sizeof header);
    return header.header_type == ETWAS_ETL_FULL_HEADER64
               ? ETWAS_ACCOUNT_OF_CLASS | record[offsetof(struct etwas_etl_full_header, type)]
               : (uint32_t)header.group << GROUP_SHIFT | header.type;
}

static bool is_kind(const struct etwas_account_records *made, uint32_t hook, const uint8_t *record)
{
    return made->hook == hook &&
           (hook < ETWAS_ACCOUNT_OF_CLASS ||
            memcmp(&made->class_guid, record + offsetof(struct etwas_etl_full_header, guid),
                   sizeof made->class_guid) == 0);
}

/* NULL: there is no memory. */
static struct etwas_account_records *add_kind(struct etwas_account *account, uint32_t hook,
                                              const uint8_t *record)
{
    struct etwas_account_records *made;

    if (account->kind_count % MORE_KINDS == 0) {
        struct etwas_account_records *more =
            realloc(account->kinds, (account->kind_count + MORE_KINDS) * sizeof *more);

        if (more == NULL) {
            return NULL;
        }
        account->kinds = more;
    }
    made = &account->kinds[account->kind_count++];
    *made = (struct etwas_account_records){.hook = hook};
    if (hook >= ETWAS_ACCOUNT_OF_CLASS) {
        memcpy(&made->class_guid, record + offsetof(struct etwas_etl_full_header, guid),
               sizeof made->class_guid);
    }
    return made;
}

/* Without memory a record is not counted, and a reader that counts the file notices that. */
void etwas_accounts_add_record(struct etwas_accounts *accounts, uint32_t slot,
                               const uint8_t *record, bool is_refused)
{
    struct etwas_account *account = etwas_account_of(accounts, slot, accounts->tag);
    uint32_t hook = hook_of(record);
    struct etwas_account_records *found = NULL;

    if (accounts->is_emitted) {
        return;
    }
    for (uint32_t index = 0; found == NULL && index < account->kind_count; index++) {
        found = is_kind(&account->kinds[index], hook, record) ? &account->kinds[index] : NULL;
    }
    found = found == NULL ? add_kind(account, hook, record) : found;
    if (found != NULL) {
        found->made++;
        found->refused += is_refused;
    }
    accounts->has_record = true;
}

/* ---- losses ---------------------------------------------------------------------------------- */

uint64_t etwas_accounts_lost(const struct etwas_accounts *accounts)
{
    uint64_t lost = 0;

    for (uint32_t slot = 0; slot < etwas_slot_count; slot++) {
        for (uint32_t tag = 0; tag < ETWAS_TAGS; tag++) {
            const struct etwas_account *account = etwas_account_of(accounts, slot, tag);

            if (!account->was_open) {
                continue;
            }
            if (!etwas_accounts_is_counted(tag)) {
                lost += account->lost + account->unread;
            } else if (account->counted >
                       account->taken) { /* the count may be less, if it is not known */
                lost += account->counted - account->taken;
            }
        }
    }
    return lost;
}
