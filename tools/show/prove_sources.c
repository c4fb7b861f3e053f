/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The table of the kernel's sources in `etwas stat --prove`, each summed up over the processors. If
 * several flags opened the same tracepoint, it has one line that names the flags.
 */

#include "show/prove.h"

#include "kernel/flags.h"
#include "print/table.h"
#include "print/text.h"

#include <stdlib.h>

struct source {
    struct etwas_prove_account sum;
    struct source *next; /* next source of the same name; NULL: the last */
    bool is_first;
};

static void add_account(struct etwas_prove_account *sum, const struct etwas_prove_account *account)
{
    sum->attempted += account->attempted;
    sum->taken += account->taken;
    sum->without_record += account->without_record;
    sum->lost_no_room += account->lost_no_room;
    sum->lost_unread += account->lost_unread;
    sum->lost_not_handed += account->lost_not_handed;
    sum->damaged = sum->damaged || account->damaged;
}

/*
 * Sums up the accounts of each source, which are adjacent. Returns the number of counted sources.
 */
static size_t sum_up(const struct etwas_prove_session *session, struct source *sources)
{
    const struct etwas_prove_account *accounts = session->accounts;
    size_t count = 0;

    for (size_t index = 0; index < session->account_count;) {
        struct source *source = &sources[count];

        *source = (struct source){.sum = accounts[index++], .is_first = true};
        while (index < session->account_count && accounts[index].source == source->sum.source) {
            add_account(&source->sum, &accounts[index++]);
        }
        count += source->sum.counted != 0;
    }
    return count;
}

/* Sorts by name, and then by first appearance. */
static int compare_sources(const void *left, const void *right)
{
    const struct source *one = *(struct source *const *)left;
    const struct source *other = *(struct source *const *)right;
    int order = strcmp(one->sum.name, other->sum.name);

    return order != 0 ? order : one < other ? -1 : 1;
}

/* Links the sources that have the same name. */
static void join(struct source *sources, struct source **by_name, size_t count)
{
    for (size_t index = 0; index < count; index++) {
        by_name[index] = &sources[index];
    }
    qsort(by_name, count, sizeof *by_name, compare_sources);
    for (size_t index = 1; index < count; index++) {
        if (strcmp(by_name[index - 1]->sum.name, by_name[index]->sum.name) == 0) {
            by_name[index - 1]->next = by_name[index];
            by_name[index]->is_first = false;
        }
    }
}

/* Writes " (2 times: systemcall; file_io, file_io_init)". */
static void put_uses(struct etwas_output *output, const struct source *first)
{
    const char *before = ": ";
    const char *name;
    unsigned count = 0;

    for (const struct source *source = first; source != NULL; source = source->next) {
        count++;
    }
    etwas_output_format(output, " (%u times", count);
    for (const struct source *source = first; source != NULL; source = source->next) {
        uint32_t flags = source->sum.flags;

        while ((name = etwas_flags_next(&flags)) != NULL) {
            etwas_output_text(output, before);
            etwas_output_text(output, name);
            before = ", ";
        }
        before = "; ";
    }
    etwas_output_char(output, ')');
}

static void put_source(struct etwas_table *table, const struct source *first)
{
    struct etwas_output *cell = etwas_table_cell(table);
    struct etwas_prove_account sum = first->sum;

    for (const struct source *source = first->next; source != NULL; source = source->next) {
        add_account(&sum, &source->sum);
    }
    etwas_text_plain(cell, sum.name);
    if (first->next != NULL) {
        put_uses(cell, first);
    }
    if (sum.counted == ETWAS_PROVE_COUNTED_LOST_ALONE) {
        etwas_output_text(cell, " (the kernel counts lost ones alone)");
    }
    etwas_output_text(cell, sum.damaged ? " (a ring was damaged)" : "");
    etwas_table_next(table);
    etwas_table_count(table, sum.attempted);
    etwas_table_count(table, sum.taken);
    etwas_table_count(table, sum.without_record);
    etwas_table_losses(table, sum.lost_no_room);
    etwas_table_losses(table, sum.lost_unread);
    etwas_table_losses(table, sum.lost_not_handed);
}

void etwas_prove_sources(struct etwas_output *output, const struct etwas_prove_session *session)
{
    static const char *const titles[] = {"source in the kernel",
                                         "attempted",
                                         "taken",
                                         "no record",
                                         "no room",
                                         "unread",
                                         "not handed"};
    struct source *sources = calloc(session->account_count, sizeof *sources);
    struct source **by_name = calloc(session->account_count, sizeof *by_name);
    struct etwas_table table;
    size_t count = 0;

    if (sources != NULL && by_name != NULL) {
        count = sum_up(session, sources);
        join(sources, by_name, count);
    }
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0x7E);
    for (size_t index = 0; index < count; index++) {
        if (sources[index].is_first) {
            put_source(&table, &sources[index]);
        }
    }
    etwas_output_char(output, '\n');
    etwas_table_print(&table, output);
    free(by_name);
    free(sources);
}
