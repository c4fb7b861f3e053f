/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Compares the counts that a session states with those of its files.
 */

#include "analyse/prove/prove.h"

#include <etwas/evntrace.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static void complain(struct etwas_prove_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(struct etwas_prove_session *session, const char *format, ...)
{
    va_list arguments;

    if (session->reason_count < ETWAS_PROVE_REASONS) {
        va_start(arguments, format);
        (void)vsnprintf(session->reasons[session->reason_count], ETWAS_PROVE_REASON_BYTES, format,
                        arguments);
        va_end(arguments);
    }
    session->reason_count++;
}

/* ---- sessions without a proof ---------------------------------------------------------------- */

static void judge_parts(struct etwas_prove_session *session, const struct etwas_parts *parts)
{
    uint32_t first;
    uint32_t last = 0;

    while (etwas_parts_next_missing(parts, session->first_file, &first, &last)) {
        complain(session, "parts %" PRIu32 " to %" PRIu32 " are missing", first, last);
    }
}

bool etwas_prove_knows_losses(const struct etwas_prove_session *session)
{
    return !session->is_unfinished || session->recovered != 0;
}

bool etwas_prove_knows_attempted(const struct etwas_prove_session *session)
{
    return etwas_prove_knows_losses(session) &&
           (session->told.attempted != 0 ||
            session->in_files + session->images + session->told.lost == 0);
}

static bool has_proof(struct etwas_prove_session *session)
{
    if ((session->mode & EVENT_TRACE_BUFFERING_MODE) != 0) {
        complain(session, "a snapshot has the newest events of a session that went on, and does "
                          "not say how many were attempted");
        return false;
    }
    if (!etwas_prove_knows_losses(session)) {
        complain(session, "the session did not write its end: it runs, or was killed. Of a "
                          "crash-safe one 'etwas recover' makes the file that is missing");
        return false;
    }
    if (session->recovered > 1) {
        complain(session, "it was recovered more than once: name one of these files");
        return false;
    }
    if (!etwas_prove_knows_attempted(session)) {
        complain(session, session->recovered != 0
                              ? "the recovered file does not say how many events were attempted: "
                                "the process went on, died while it booked what became of a "
                                "buffer, or was one of an older etwas"
                              : "the file does not say how many events were attempted: it is of "
                                "another system, of an older etwas, or not all of it was relogged");
        return false;
    }
    return true;
}

/* ---- the session ----------------------------------------------------------------------------- */

static void judge_total(struct etwas_prove_session *session)
{
    uint64_t known = session->in_files + session->told.overwritten + session->told.lost;
    bool is_short = known < session->told.attempted;

    if (known == session->told.attempted) {
        return;
    }
    complain(session, "%" PRIu64 " events %s",
             is_short ? session->told.attempted - known : known - session->told.attempted,
             is_short ? "are neither in the files nor counted as overwritten or lost"
                      : "are more than were attempted");
    if ((session->mode & EVENT_TRACE_REAL_TIME_MODE) != 0) {
        complain(session,
                 "the session delivered in real time too: what consumers had counts as recorded");
    }
    if ((session->mode & EVENT_TRACE_FILE_MODE_APPEND) != 0 && !is_short) {
        complain(session, "the session was appended to others: a file of another system, or of an "
                          "older etwas, does not say how many were attempted");
    }
    if ((session->mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0 && session->recovered != 0) {
        complain(session, "what the process had just replaced in its circular file when it died "
                          "is not counted");
    }
    if (is_short && !session->has_ended) {
        complain(session, "no file says that the session ended with it: one is missing, or they "
                          "are of an older etwas");
    }
    complain(session, "if the session wrote other files, name all of them");
}

/* ---- sources of the kernel ------------------------------------------------------------------- */

static uint64_t lost_of(const struct etwas_prove_account *account)
{
    return account->lost_no_room + account->lost_unread + account->lost_not_handed;
}

static void judge_account(struct etwas_prove_session *session,
                          const struct etwas_prove_account *account)
{
    if (account->attempted != account->taken + lost_of(account)) {
        complain(session,
                 "%s on processor %" PRIu32 ": %" PRIu64 " attempted, but %" PRIu64
                 " taken and %" PRIu64 " lost",
                 account->name, account->processor, account->attempted, account->taken,
                 lost_of(account));
    }
}

/* The accounts of a source follow one another. */
static void judge_sources(struct etwas_prove_session *session)
{
    const struct etwas_prove_account *accounts = session->accounts;
    uint64_t with_record = 0;
    uint64_t made = 0;

    for (size_t index = 0; index < session->account_count; index++) {
        bool is_last = index + 1 == session->account_count ||
                       accounts[index + 1].source != accounts[index].source;

        judge_account(session, &accounts[index]);
        with_record += accounts[index].taken - accounts[index].without_record;
        made += accounts[index].made;
        if (is_last && with_record > made) {
            complain(session, "%s: %" PRIu64 " were taken, but only %" PRIu64 " records were made",
                     accounts[index].name, with_record, made);
        }
        with_record = is_last ? 0 : with_record;
        made = is_last ? 0 : made;
    }
}

struct gaps {
    struct etwas_prove_session *session;
    bool are_allowed; /* events were overwritten, or lost on the way to the file */
    uint64_t sum;     /* records that were made and are not in the files */
    bool has_more;    /* a kind has more records in the files than were made */
};

static void put_guid(const etwas_guid *guid, char text[40])
{
    (void)snprintf(text, 40, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", guid->Data1,
                   guid->Data2, guid->Data3, guid->Data4[0], guid->Data4[1], guid->Data4[2],
                   guid->Data4[3], guid->Data4[4], guid->Data4[5], guid->Data4[6], guid->Data4[7]);
}

static void judge_kind(struct etwas_prove_kind *kind, void *context)
{
    struct gaps *gaps = context;
    uint64_t expected = kind->made - kind->refused;
    char guid[40];

    gaps->session->refused += kind->refused;
    gaps->sum += expected - kind->found;
    gaps->has_more = gaps->has_more || kind->found > expected;
    if (kind->found == expected || (gaps->are_allowed && kind->found < expected)) {
        return;
    }
    put_guid(&kind->key.class_guid, guid);
    complain(gaps->session,
             "%" PRIu64 " records of %s/%" PRIu32 " on processor %" PRIu32
             " are in the files, but %" PRIu64 " by the accounts",
             kind->found, guid, kind->key.type, kind->key.processor, expected);
}

static void sum_refused(struct etwas_prove_kind *kind, void *context)
{
    *(uint64_t *)context += kind->refused;
}

static void judge_records(struct etwas_prove_session *session)
{
    uint64_t refused = 0;
    struct gaps gaps = {.session = session};

    etwas_prove_visit_kinds(session, sum_refused, &refused);
    gaps.are_allowed =
        session->told.overwritten != 0 || session->told.lost > session->kernel_lost + refused;
    etwas_prove_visit_kinds(session, judge_kind, &gaps);
    if (!gaps.has_more && session->kernel_lost + refused + gaps.sum !=
                              session->told.lost + session->told.overwritten) {
        complain(session,
                 "by the accounts %" PRIu64
                 " events were lost or overwritten, by the session %" PRIu64,
                 session->kernel_lost + refused + gaps.sum,
                 session->told.lost + session->told.overwritten);
    }
}

static uint64_t no_room_of(const struct etwas_prove_session *session)
{
    uint64_t no_room = 0;

    for (size_t index = 0; index < session->account_count; index++) {
        no_room += session->accounts[index].lost_no_room;
    }
    return no_room;
}

static void judge_kernel(struct etwas_prove_session *session)
{
    if (session->account_records == 0 || session->account_records != session->account_expected ||
        session->account_count == ETWAS_PROVE_ACCOUNTS || session->other_kinds != 0) {
        complain(
            session,
            "the accounts of the kernel's sources, which end a session, are not whole: %" PRIu64
            " records of %" PRIu64,
            session->account_records, session->account_expected);
        return;
    }
    for (size_t index = 0; index < session->account_count; index++) {
        session->kernel_lost += lost_of(&session->accounts[index]);
    }
    judge_sources(session);
    judge_records(session);
    if (session->not_recorded != 0) {
        complain(session,
                 "processor %" PRIu32 "%s was off, or came and was not recorded yet: what it did "
                 "then nobody counted. 'etwas stat' says when",
                 session->first_unrecorded, session->are_more_unrecorded ? ", and another," : "");
    }
    if (session->told.overwritten == 0 &&
        session->told.lost == session->kernel_lost + session->refused && session->refused == 0 &&
        session->losses_events != no_room_of(session)) {
        complain(session,
                 "rings had no room for %" PRIu64 " events, and it is said of %" PRIu64 " when",
                 no_room_of(session), session->losses_events);
    }
}

void etwas_prove_judge(struct etwas_prove_session *session, const struct etwas_parts *parts)
{
    if (session->is_kernel) {
        session->in_files += session->images;
        session->images = 0;
    }
    if (session->recovered != 0) {
        session->told = session->told_by_recovered;
    }
    if (session->is_damaged) {
        complain(session, "the file is damaged");
    }
    judge_parts(session, parts);
    if (has_proof(session)) {
        judge_total(session);
        if (session->is_kernel) {
            judge_kernel(session);
        }
    }
    session->is_proved = session->reason_count == 0;
}
