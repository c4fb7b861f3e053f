/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/*
 * The proof: one query that works on all server versions. It is also in docs/howto/ask-a-fleet.md.
 *
 * The query works from the inside out. It joins events and rows of buffers by buffer. It sums
 * buffers by file, in which they are numbered from 1. It sums files by session, with the totals of
 * their ends. For a killed session it uses the totals of the recovered file. All events of a buffer
 * are there exactly once if three numbers are those of 0, 1 … n - 1: their count, the sum of their
 * positions, and the sum of the squares. This is sufficient because missing or duplicate events are
 * a run of positions. Events of a buffer without a row are still in flight.
 */
#include "ship/state/prove.h"

#include "math/array.h"
#include "ship/wire/send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Placeholders begin with @. @local_buffers is the table of a shard, not the one over all of them.
 * Sessions are looked up where their events are, so that the order of the table is used. Servers of
 * 18.16 do not use it for the results of other servers. The text is in parts because C guarantees
 * no more than 4,095 characters in a string literal.
 */
static const char *const query_parts[] = {
    "select host, session_id,\n"
    "    multiIf(gone > 0, 'gone',\n"
    "        missing_buffers > 0 or wrong_buffers > 0, 'incomplete',\n"
    "        ended = 0, 'unfinished',\n"
    "        events = recorded and events = by_buffers\n"
    "            and (parts_ended = parts or recovered), 'complete',\n"
    "        'incomplete') as verdict,\n"
    "    recorded + overwritten + lost as attempted, recorded, overwritten, lost, events,\n"
    "    by_buffers, missing_buffers, wrong_buffers, gone, parts, parts_ended, recovered,\n"
    "    damages, lost_no_buffer, lost_backlog_full, lost_write_error, lost_file_full,\n"
    "    lost_abandoned, lost_undelivered, lost_unattached, lost_too_large,\n"
    "    lost_withheld, lost_other\n"
    "from\n"
    "(\n"
    "    select host, session_id, sum(there) as events, sum(told) as by_buffers,\n"
    "        sum(absent) as missing_buffers, sum(wrong) as wrong_buffers, sum(went) as gone,\n"
    "        sum(broken) as damages, greatest(max(number), 1) as parts,\n"
    "        sum(has_end) as parts_ended, max(is_over) as ended, max(kind) = 3 as recovered,\n"
    "        sum(l0) as recorded, sum(l1) as overwritten, sum(l2) as lost,\n"
    "        sum(l3) as lost_no_buffer, sum(l4) as lost_backlog_full,\n"
    "        sum(l5) as lost_write_error, sum(l6) as lost_file_full,\n"
    "        sum(l7) as lost_abandoned, sum(l8) as lost_undelivered,\n"
    "        sum(l9) as lost_unattached, sum(l10) as lost_too_large,\n"
    "        sum(l11) as lost_withheld, sum(l12) as lost_other\n"
    "    from\n"
    "    (\n",
    "        select host, session_id, if(part = 4294967295, 0, part) as number, sum(n) as there,\n"
    "            sum(row_events) as told,\n"
    "            toUInt64(maxIf(buffer, rows > 0) - countIf(rows > 0)) as absent,\n"
    "            toUInt64(countIf(rows > 1 or rows = 1 and (n != row_events\n"
    "                or 2 * places != n * (n - 1)\n"
    "                or 6 * squares != n * (n - 1) * (2 * n - 1)))) as wrong,\n"
    "            sum(gone_events) as went, sum(damaged) as broken,\n"
    "            toUInt64(max(ends)) as has_end, toUInt8(0) as is_over, toUInt8(0) as kind,\n"
    "            toUInt64(0) as l0, toUInt64(0) as l1, toUInt64(0) as l2, toUInt64(0) as l3,\n"
    "            toUInt64(0) as l4, toUInt64(0) as l5, toUInt64(0) as l6, toUInt64(0) as l7,\n"
    "            toUInt64(0) as l8, toUInt64(0) as l9, toUInt64(0) as l10, toUInt64(0) as l11,\n"
    "            toUInt64(0) as l12\n"
    "        from\n"
    "        (\n"
    "            select host, session_id, part, buffer, sum(a) as n, sum(b) as places,\n"
    "                sum(c) as squares, sum(d) as row_events, sum(e) as rows, max(f) as ends,\n"
    "                sum(g) as gone_events, sum(h) as damaged\n"
    "            from\n"
    "            (\n"
    "                select host, session_id, part, buffer, count() as a, sum(position) as b,\n"
    "                    sum(toUInt64(position) * position) as c, toUInt64(0) as d, toUInt8(0) as "
    "e,\n"
    "                    toUInt8(0) as f, toUInt64(0) as g, toUInt64(0) as h\n"
    "                from @events\n"
    "                where session_id in (select session_id from @local_buffers\n"
    "                    where day >= today() - least(@days, toUInt16(today())))\n"
    "                group by host, session_id, part, buffer\n"
    "                union all\n"
    "                select host, session_id, part, buffer, toUInt64(0), toUInt64(0),\n"
    "                    toUInt64(0), if(state = 0, events, 0), state = 0, state = 1,\n"
    "                    if(state = 2, events, 0), damages\n"
    "                from @buffers\n"
    "                where session_id in (select session_id from @local_buffers\n"
    "                    where day >= today() - least(@days, toUInt16(today())))\n"
    "            )\n"
    "            group by host, session_id, part, buffer\n"
    "        )\n"
    "        group by host, session_id, part\n"
    "        union all\n"
    "        select host, session_id, toUInt32(0), toUInt64(0), toUInt64(0), toUInt64(0),\n"
    "            toUInt64(0), toUInt64(0), toUInt64(0), toUInt64(0), max(ended or state = 3),\n"
    "            state, sum(recorded), sum(overwritten), sum(lost), sum(lost_no_buffer),\n"
    "            sum(lost_backlog_full), sum(lost_write_error), sum(lost_file_full),\n"
    "            sum(lost_abandoned), sum(lost_undelivered), sum(lost_unattached),\n"
    "            sum(lost_too_large), sum(lost_withheld), sum(lost_other)\n"
    "        from @buffers\n"
    "        where state in (1, 3) and session_id in (select session_id\n"
    "            from @local_buffers where day >= today() - least(@days, toUInt16(today())))\n"
    "        group by host, session_id, state\n"
    "        order by state desc\n"
    "        limit 1 by host, session_id\n"
    "    )\n"
    "    group by host, session_id\n"
    ")\n"
    "order by host, session_id\n",
    NULL,
};

const char *const etwas_ship_proof_names[ETWAS_SHIP_PROOF_NUMBERS] = {
    [ETWAS_SHIP_PROOF_ATTEMPTED] = "attempted",
    [ETWAS_SHIP_PROOF_RECORDED] = "recorded",
    [ETWAS_SHIP_PROOF_OVERWRITTEN] = "overwritten",
    [ETWAS_SHIP_PROOF_LOST] = "lost",
    [ETWAS_SHIP_PROOF_EVENTS] = "events",
    [ETWAS_SHIP_PROOF_BY_BUFFERS] = "by_buffers",
    [ETWAS_SHIP_PROOF_MISSING] = "missing_buffers",
    [ETWAS_SHIP_PROOF_WRONG] = "wrong_buffers",
    [ETWAS_SHIP_PROOF_GONE] = "gone",
    [ETWAS_SHIP_PROOF_PARTS] = "parts",
    [ETWAS_SHIP_PROOF_PARTS_ENDED] = "parts_ended",
    [ETWAS_SHIP_PROOF_RECOVERED] = "recovered",
    [ETWAS_SHIP_PROOF_DAMAGES] = "damages",
    [ETWAS_SHIP_PROOF_CAUSES] = "lost_no_buffer",
    "lost_backlog_full",
    "lost_write_error",
    "lost_file_full",
    "lost_abandoned",
    "lost_undelivered",
    "lost_unattached",
    "lost_too_large",
    "lost_withheld",
    "lost_other",
};

static const char *const verdict_words[ETWAS_SHIP_VERDICTS] = {
    [ETWAS_SHIP_COMPLETE] = "complete",
    [ETWAS_SHIP_UNFINISHED] = "unfinished",
    [ETWAS_SHIP_INCOMPLETE] = "incomplete",
    [ETWAS_SHIP_GONE] = "gone",
};

const char *etwas_ship_verdict_word(enum etwas_ship_verdict verdict)
{
    return verdict_words[verdict];
}

/* ---- the question ---------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t used;
    bool is_too_long;
};

static void append(struct text *text, const char *more, size_t bytes)
{
    if (text->is_too_long || bytes >= ETWAS_SHIP_PROOF_QUERY_BYTES - text->used) {
        text->is_too_long = true;
        return;
    }
    memcpy(text->bytes + text->used, more, bytes);
    text->used += bytes;
    text->bytes[text->used] = '\0';
}

/* Replaces the placeholder at `at`. Returns the position behind it. */
static const char *append_name(struct text *text, const char *at, const char *const names[4])
{
    static const char *const marks[] = {"@events", "@buffers", "@local_buffers", "@days"};

    for (uint32_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strncmp(at, marks[i], strlen(marks[i])) == 0) {
            append(text, names[i], strlen(names[i]));
            return at + strlen(marks[i]);
        }
    }
    append(text, at, 1);
    return at + 1;
}

bool etwas_ship_proof_query(char query[ETWAS_SHIP_PROOF_QUERY_BYTES], const char *events,
                            const char *buffers, const char *local_buffers, uint32_t days)
{
    struct text text = {.bytes = query};
    char number[16];
    const char *const names[] = {events, buffers, local_buffers, number};

    (void)snprintf(number, sizeof number, "%u", (unsigned)days);
    for (const char *const *part = query_parts; *part != NULL; part++) {
        const char *at = *part;

        while (*at != '\0') {
            size_t plain = strcspn(at, "@");

            append(&text, at, plain);
            at += plain;
            if (*at == '@') {
                at = append_name(&text, at, names);
            }
        }
    }
    return !text.is_too_long;
}

/* ---- the answer ------------------------------------------------------------------------------ */

void etwas_ship_proofs_free(struct etwas_ship_proofs *proofs)
{
    for (size_t i = 0; i < proofs->count; i++) {
        free(proofs->list[i].host);
    }
    free(proofs->list);
    memset(proofs, 0, sizeof *proofs);
}

static bool read_verdict(const struct etwas_ship_field *field, enum etwas_ship_verdict *verdict)
{
    for (uint32_t i = 0; i < ETWAS_SHIP_VERDICTS; i++) {
        if (strlen(verdict_words[i]) == field->bytes &&
            memcmp(field->text, verdict_words[i], field->bytes) == 0) {
            *verdict = (enum etwas_ship_verdict)i;
            return true;
        }
    }
    return false;
}

static bool read_proof(const struct etwas_ship_field *fields, struct etwas_ship_proof *proof)
{
    bool is_right = etwas_ship_field_number(&fields[1], &proof->session) &&
                    read_verdict(&fields[2], &proof->verdict);

    for (uint32_t i = 0; is_right && i < ETWAS_SHIP_PROOF_NUMBERS; i++) {
        is_right = etwas_ship_field_number(&fields[3 + i], &proof->numbers[i]);
    }
    return is_right;
}

/* Returns the place for one more, or NULL if there is not enough memory. */
static struct etwas_ship_proof *next_proof(struct etwas_ship_proofs *proofs)
{
    if (!etwas_array_reserve(&proofs->list, &proofs->room, proofs->count + 1,
                             sizeof *proofs->list)) {
        return NULL;
    }
    return &proofs->list[proofs->count];
}

bool etwas_ship_proof_row(void *context, const struct etwas_ship_field *fields)
{
    struct etwas_ship_proofs *proofs = context;
    struct etwas_ship_proof *proof = next_proof(proofs);

    if (proof == NULL) {
        proofs->wrong = "has more sessions than there is memory for";
        return false;
    }
    if (!read_proof(fields, proof)) {
        proofs->wrong = "is no proof";
        return false;
    }
    proof->shards = 1;
    proof->host = strndup(fields[0].text, fields[0].bytes);
    if (proof->host == NULL) {
        proofs->wrong = "has more sessions than there is memory for";
        return false;
    }
    proofs->count++;
    return true;
}
