/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat --prove` as text: the verdict of a session, and the counts that lead to it. Kinds of
 * records are summed up over the processors.
 */

#include "event/names.h"
#include "show/prove.h"

#include "print/human.h"
#include "print/table.h"
#include "print/terminal.h"
#include "print/text.h"

#include <etwas/decode.h>
#include <inttypes.h>
#include <stdlib.h>

static void put_line(struct etwas_output *output, const char *label, uint64_t value)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_label(output, label);
    etwas_output_format(output, "%s\n", etwas_human_count(text, value));
}

static void put_line_or_unknown(struct etwas_output *output, const char *label, uint64_t value,
                                bool is_known)
{
    if (is_known) {
        put_line(output, label, value);
    } else {
        etwas_label(output, label);
        etwas_output_text(output, "unknown\n");
    }
}

/* ---- records --------------------------------------------------------------------------------- */

struct collection {
    struct etwas_prove_kind **kinds;
    size_t count;
};

static void collect(struct etwas_prove_kind *kind, void *context)
{
    struct collection *collection = context;

    collection->kinds[collection->count++] = kind;
}

/* Makes kinds adjacent that differ only in the processor. */
static int compare_kinds(const void *left, const void *right)
{
    const struct etwas_prove_key *one = &(*(struct etwas_prove_kind *const *)left)->key;
    const struct etwas_prove_key *other = &(*(struct etwas_prove_kind *const *)right)->key;
    int order = memcmp(&one->class_guid, &other->class_guid, sizeof one->class_guid);

    if (order != 0) {
        return order;
    }
    if (one->type != other->type) {
        return one->type < other->type ? -1 : 1;
    }
    return (int)one->classic - (int)other->classic;
}

static void put_name(struct etwas_output *output, etwas_decoder *decoder,
                     const struct etwas_prove_key *key)
{
    const EVENT_RECORD record = {
        .EventHeader = {
            .Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER,
            .ProviderId = key->class_guid,
            .EventDescriptor = {.Opcode = (uint8_t)key->type, .Version = key->version}}};
    const etwas_schema *schema;

    if (key->classic && etwas_decoder_schema(decoder, &record, &schema) == ERROR_SUCCESS &&
        schema->event[0] != '\0') {
        etwas_text_plain(output, schema->event);
    } else {
        etwas_text_guid(output, &key->class_guid);
        etwas_output_format(output, "/%" PRIu32, key->type);
    }
}

static void put_kinds(struct etwas_output *output, const struct collection *collection,
                      etwas_decoder *decoder)
{
    static const char *const titles[] = {"records made of them", "made", "refused", "in the files"};
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0xE);
    for (size_t index = 0; index < collection->count;) {
        struct etwas_prove_kind *const *first = &collection->kinds[index];
        struct etwas_prove_kind sum = {.key = (*first)->key};

        do {
            sum.made += collection->kinds[index]->made;
            sum.refused += collection->kinds[index]->refused;
            sum.found += collection->kinds[index]->found;
            index++;
        } while (index < collection->count && compare_kinds(first, &collection->kinds[index]) == 0);
        put_name(etwas_table_cell(&table), decoder, &sum.key);
        etwas_table_next(&table);
        etwas_table_count(&table, sum.made);
        etwas_table_losses(&table, sum.refused);
        etwas_table_count(&table, sum.found);
    }
    etwas_output_char(output, '\n');
    etwas_table_print(&table, output);
}

static void put_records(struct etwas_output *output, const struct etwas_prove_session *session)
{
    struct collection collection = {calloc(session->kind_count + 1, sizeof *collection.kinds), 0};
    etwas_decoder *decoder;

    if (collection.kinds != NULL && etwas_decoder_open(&decoder) == ERROR_SUCCESS) {
        etwas_prove_visit_kinds(session, collect, &collection);
        qsort(collection.kinds, collection.count, sizeof *collection.kinds, compare_kinds);
        put_kinds(output, &collection, decoder);
        etwas_decoder_close(decoder);
    }
    free(collection.kinds);
}

/* ---- the session ----------------------------------------------------------------------------- */

static void put_verdict(struct etwas_output *output, const struct etwas_prove_session *session)
{
    const char *label = "NOT PROVED";

    if (session->is_proved) {
        etwas_label(output, "proved");
        etwas_output_text(output, "each event attempted is in the files, or counted\n");
    }
    for (uint32_t index = 0; index < session->reason_count && index < ETWAS_PROVE_REASONS;
         index++) {
        etwas_label(output, label);
        etwas_text_plain(output, session->reasons[index]);
        etwas_output_char(output, '\n');
        label = "";
    }
    if (session->reason_count > ETWAS_PROVE_REASONS) {
        etwas_label(output, label);
        etwas_output_format(output, "and %" PRIu32 " more\n",
                            session->reason_count - ETWAS_PROVE_REASONS);
    }
}

void etwas_prove_text(struct etwas_output *output, const struct etwas_prove_session *session)
{
    size_t units = 0;

    if (session->first_file > 1) {
        etwas_output_char(output, '\n');
    }
    for (uint32_t index = 0; index < session->files; index++) {
        etwas_text_plain(output, session->paths[index]);
        etwas_output_char(output, '\n');
    }
    put_verdict(output, session);
    while (session->name[units] != 0) {
        units++;
    }
    etwas_label(output, "session");
    etwas_text_utf16(output, ETWAS_TEXT_PLAIN, session->name, units);
    etwas_output_char(output, '\n');
    put_line_or_unknown(output, "attempted", session->told.attempted,
                        etwas_prove_knows_attempted(session));
    put_line(output, "in the files", session->in_files);
    put_line_or_unknown(output, "overwritten", session->told.overwritten,
                        etwas_prove_knows_losses(session));
    put_line_or_unknown(output, "lost", session->told.lost, etwas_prove_knows_losses(session));
    if (session->unattached_code != 0) {
        etwas_label(output, "MISSING");
        etwas_names_put_unattached(output, session->unattached_processes,
                                   "could not log into the session", session->unattached_code);
    }
    if (session->account_count != 0) {
        put_line(output, "  in the kernel", session->kernel_lost);
        put_line(output, "  no buffer", session->refused);
        etwas_prove_sources(output, session);
        put_records(output, session);
    }
}
