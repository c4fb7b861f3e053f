/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A round: a session from start to stop, or several that extend one file, and its account. */
#include <ck_pr.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soak.h"

enum {
    MOST_GENERATIONS = 3,
    MOST_EVENTS_BITS = 13
};

/* What the files of a round must hold. */
struct account {
    char tags[160]; /* "tag": recorded, … */
    uint64_t lost;
    uint64_t overwritten;
    uint64_t buffers;
    bool has_final;
};

static const char *const kinds[SOAK_KINDS] = {"sequential", "limited", "circular",
                                              "append",     "newfile", "buffering"};

/* The totals of all sessions of a kind. */
struct totals {
    uint64_t sessions;
    uint64_t ended; /* by themselves */
    uint64_t recorded;
    uint64_t overwritten;
    uint64_t lost;
    uint64_t refused; /* events after the end */
};

static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
static struct totals totals[SOAK_KINDS];
static uint32_t last_tag;

static void add_to_totals(const struct soak_session *session, const etwas_session_counts *counts)
{
    struct totals *kind = &totals[session->request->kind];

    (void)pthread_mutex_lock(&totals_lock);
    kind->sessions++;
    kind->ended += counts->lost_file_full != 0;
    kind->recorded += counts->recorded;
    kind->overwritten += counts->overwritten;
    kind->lost += counts->lost;
    kind->refused += soak_writers_total(&session->writers).refused;
    (void)pthread_mutex_unlock(&totals_lock);
}

void soak_print_totals(void)
{
    (void)printf("%-10s %9s %9s %12s %12s %12s %9s\n", "", "sessions", "full", "recorded",
                 "overwritten", "lost", "refused");
    for (int kind = 0; kind < SOAK_KINDS; kind++) {
        (void)printf(
            "%-10s %9llu %9llu %12llu %12llu %12llu %9llu\n", kinds[kind],
            (unsigned long long)totals[kind].sessions, (unsigned long long)totals[kind].ended,
            (unsigned long long)totals[kind].recorded, (unsigned long long)totals[kind].overwritten,
            (unsigned long long)totals[kind].lost, (unsigned long long)totals[kind].refused);
    }
}

/* Returns a tag of 16 bits, not 0, that comes again only after 65,535 sessions. */
static uint32_t next_tag(void)
{
    return ck_pr_faa_32(&last_tag, 1) % UINT16_MAX + 1;
}

/* ---- stop ------------------------------------------------------------------------------------ */

struct stop {
    struct soak_session *session;
    uint32_t way;
    uint32_t code;
    EVENT_TRACE_PROPERTIES last; /* what STOP returned; zeroes where etwas_stop was called */
};

static void *stop_main(void *argument)
{
    struct stop *stop = argument;
    const struct soak_request *request = stop->session->request;
    struct soak_block block;

    soak_block_begin(&block, request->wide, "");
    switch (stop->way) {
    case 0:
        stop->code = etwas_stop(stop->session->handle, NULL);
        break;
    case 1:
        stop->code = soak_control(stop->session->handle, NULL, request->wide, &block,
                                  EVENT_TRACE_CONTROL_STOP);
        break;
    default:
        stop->code =
            soak_control(0, request->name, request->wide, &block, EVENT_TRACE_CONTROL_STOP);
        break;
    }
    if (stop->way != 0 && stop->code == ERROR_SUCCESS) {
        stop->last = block.properties;
    }
    return NULL;
}

static bool is_too_late(uint32_t code)
{
    return code == ERROR_WMI_INSTANCE_NOT_FOUND || code == ERROR_INVALID_HANDLE ||
           code == ERROR_ACTIVE_CONNECTIONS;
}

/* Waits until nobody finds the session: another thread may still be stopping it. */
static void wait_for_the_end(struct soak_session *session)
{
    struct soak_block block;
    uint32_t code;

    do {
        soak_block_begin(&block, false, "");
        code = soak_control(session->handle, NULL, false, &block, EVENT_TRACE_CONTROL_QUERY);
        if (code == ERROR_SUCCESS) {
            soak_pause_us(100);
        }
    } while (code == ERROR_SUCCESS);
    if (code != ERROR_WMI_INSTANCE_NOT_FOUND &&
        (code != ERROR_INVALID_HANDLE || !soak_may_end(session->request))) {
        soak_fault(session->where, "QUERY after the end: code %u", code);
    }
}

/* Stops the session in one thread, or in two at once, one of which succeeds. */
static void stop(struct soak_session *session)
{
    bool two = soak_once_in(session->random, 4);
    struct stop first = {.session = session, .way = soak_upto(session->random, 2)};
    struct stop second = {.session = session, .way = soak_upto(session->random, 2)};
    pthread_t thread;

    two = two && pthread_create(&thread, NULL, stop_main, &second) == 0;
    (void)stop_main(&first);
    if (two) {
        (void)pthread_join(thread, NULL);
        if ((first.code == ERROR_SUCCESS) == (second.code == ERROR_SUCCESS) &&
            !soak_may_end(session->request)) {
            soak_fault(session->where, "two stops: codes %u and %u", first.code, second.code);
        }
        if (second.code != ERROR_SUCCESS && !is_too_late(second.code)) {
            soak_fault(session->where, "STOP: code %u", second.code);
        }
    }
    if (first.code != ERROR_SUCCESS &&
        (!is_too_late(first.code) || (!two && !soak_may_end(session->request)))) {
        soak_fault(session->where, "STOP: code %u", first.code);
    }
    session->last = first.last.Wnode.BufferSize != 0 ? first.last : second.last;
    wait_for_the_end(session);
}

/* ---- the account ----------------------------------------------------------------------------- */

static void check_counts(const struct soak_session *session, const etwas_session_counts *counts)
{
    const struct soak_request *request = session->request;
    struct soak_writer total = soak_writers_total(&session->writers);
    uint64_t attempted = total.recorded + total.lost + total.too_large;
    bool overwrites = request->kind == SOAK_CIRCULAR || request->kind == SOAK_BUFFERING;
    const char *wrong = NULL;

    if (attempted != counts->recorded + counts->overwritten + counts->lost) {
        wrong = "attempted is not recorded + overwritten + lost";
    } else if (counts->lost != counts->lost_no_buffer + counts->lost_write_error +
                                   counts->lost_file_full + counts->lost_abandoned +
                                   counts->lost_backlog_full + counts->lost_undelivered +
                                   counts->lost_too_large) {
        wrong = "lost is not the sum of its causes";
    } else if (total.too_large != counts->lost_too_large) {
        wrong = "writers were refused other events than the session counted";
    } else if (total.lost < counts->lost_no_buffer ||
               total.lost > counts->lost_no_buffer + counts->lost_abandoned) {
        wrong = "writers lost other events than the session";
    } else if (counts->committed_rseq + counts->committed_shared + counts->lost_no_buffer +
                   counts->lost_too_large !=
               attempted) {
        wrong = "attempted is not committed + lost by writers";
    } else if (counts->lost_write_error + counts->sync_errors != 0) {
        wrong = "nothing was wrong with the disk";
    } else if (counts->lost_file_full != 0 && !soak_may_end(request)) {
        wrong = "its file cannot be full";
    } else if (counts->lost_backlog_full != 0 ||
               (counts->lost_undelivered != 0 && !soak_may_end(request))) {
        wrong = "the backlog has room, and the file has what is in it";
    } else if (counts->overwritten != 0 && !overwrites) {
        wrong = "it overwrites nothing";
    } else if (request->filtered_out && attempted != 0) {
        wrong = "events of a process that is filtered out";
    }
    if (wrong != NULL) {
        soak_fault(
            session->where,
            "%s: %llu recorded and %llu lost by writers; %llu recorded, %llu overwritten, "
            "lost %llu = %llu + %llu + %llu + %llu, committed %llu and %llu, %llu sync errors",
            wrong, (unsigned long long)total.recorded, (unsigned long long)total.lost,
            (unsigned long long)counts->recorded, (unsigned long long)counts->overwritten,
            (unsigned long long)counts->lost, (unsigned long long)counts->lost_no_buffer,
            (unsigned long long)counts->lost_write_error,
            (unsigned long long)counts->lost_file_full, (unsigned long long)counts->lost_abandoned,
            (unsigned long long)counts->committed_rseq,
            (unsigned long long)counts->committed_shared, (unsigned long long)counts->sync_errors);
    }
}

/* Writers that come late may still be counted lost after STOP has returned. */
static void check_last(const struct soak_session *session, const etwas_session_counts *counts)
{
    const EVENT_TRACE_PROPERTIES *last = &session->last;

    if (last->Wnode.BufferSize != 0 &&
        (last->EventsLost > counts->lost || last->BuffersWritten != counts->buffers_written ||
         last->LogBuffersLost != counts->buffers_lost ||
         last->RealTimeBuffersLost != counts->realtime_buffers_lost)) {
        soak_fault(session->where,
                   "STOP says %u events lost, %u buffers written, %u lost; the counts %llu, %llu "
                   "and %llu",
                   last->EventsLost, last->BuffersWritten, last->LogBuffersLost,
                   (unsigned long long)counts->lost, (unsigned long long)counts->buffers_written,
                   (unsigned long long)counts->buffers_lost);
    }
}

static void keep_account(struct soak_session *session, struct account *account)
{
    size_t length = strlen(account->tags);
    etwas_session_counts counts;

    if (!soak_expect(session, "etwas_counts after the end", etwas_counts(session->handle, &counts),
                     ERROR_SUCCESS)) {
        return;
    }
    check_counts(session, &counts);
    check_last(session, &counts);
    add_to_totals(session, &counts);
    account->lost += counts.lost;
    account->overwritten += counts.overwritten;
    account->buffers += counts.buffers_written;
    (void)snprintf(account->tags + length, sizeof account->tags - length, "%s\"%u\": %llu",
                   length != 0 ? ", " : "", session->tag, (unsigned long long)counts.recorded);
}

static void audit(const struct soak_request *request, const struct account *account,
                  const char *where)
{
    char question[SOAK_PATH_BYTES + 512];
    bool private = (request->mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0;

    (void)snprintf(
        question, sizeof question,
        "{\"folder\": \"%s\", \"kind\": \"%s\", \"tags\": {%s}, \"lost\": %llu, "
        "\"overwritten\": %llu, \"final\": %d, \"filtered\": %d, \"times\": %d, \"one_stream\": "
        "%d, "
        "\"private\": %d, \"preallocate\": %d, \"clock\": %u, \"buffers\": %llu, \"process\": %d, "
        "\"parts\": %d}",
        request->folder, kinds[request->kind], account->tags, (unsigned long long)account->lost,
        (unsigned long long)account->overwritten, account->has_final, request->filtered_out,
        request->process_times, (request->mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) != 0,
        private, (request->mode & EVENT_TRACE_FILE_MODE_PREALLOCATE) != 0, request->clock,
        (unsigned long long)account->buffers, (int)getpid(), request->kind == SOAK_NEWFILE);
    (void)soak_audit(where, question);
}

/* ---- the round ------------------------------------------------------------------------------- */

static void use(struct soak_session *session, struct account *account)
{
    bool stop_under_writers = soak_once_in(session->random, 2);
    uint32_t operations = soak_upto(session->random, 12);
    uint32_t events =
        1 + soak_upto(session->random, 1u << soak_upto(session->random, MOST_EVENTS_BITS));

    soak_writers_start(&session->writers, session->random, session->handle, session->tag,
                       soak_buffer_bytes(session->request), events, session->where);
    while (operations-- != 0 && !session->ended && !soak_has_faults()) {
        soak_operate(session);
    }
    if (!stop_under_writers) {
        if (soak_once_in(session->random, 2)) {
            soak_writers_end(&session->writers);
        }
        soak_writers_join(&session->writers);
        if (session->request->kind == SOAK_BUFFERING && !session->request->filtered_out) {
            soak_snapshot(session, "final.etl");
            account->has_final = true;
        }
    }
    stop(session);
    if (stop_under_writers) {
        soak_writers_join(&session->writers);
    }
}

/* Starts a session, uses and stops it. */
static void live(const struct soak_request *request, struct soak_random *random,
                 uint32_t controller, const char *where, struct account *account)
{
    struct soak_session session = {.request = request, .random = random, .tag = next_tag()};
    uint32_t code;

    (void)snprintf(session.where, sizeof session.where, "%s", where);
    code = soak_start(request, &session.handle);
    if (code != ERROR_SUCCESS) {
        soak_fault(where, "start: code %u", code);
        return;
    }
    soak_names_set(controller, request->name);
    use(&session, account);
    soak_names_set(controller, "");
    keep_account(&session, account);
}

void soak_round(uint64_t seed, uint32_t controller, uint32_t round, const char *folder)
{
    struct soak_random random = soak_random_of(seed, controller, round);
    struct soak_request request;
    struct account account = {.lost = 0};
    char own_folder[SOAK_PATH_BYTES];
    char name[SOAK_NAME_BYTES];
    char text[900];
    char where[1100];
    uint32_t generations;

    (void)snprintf(own_folder, sizeof own_folder, "%.300s/c%u-r%u", folder, controller, round);
    (void)snprintf(name, sizeof name, "soak session %u.%u", controller, round);
    soak_request_make(&request, &random, own_folder, name);
    (void)snprintf(where, sizeof where, "seed %llu, controller %u, round %u: %s",
                   (unsigned long long)seed, controller, round,
                   soak_describe(&request, text, sizeof text));
    generations = request.kind == SOAK_APPEND ? 1 + soak_upto(&random, MOST_GENERATIONS - 1) : 1;
    if (!soak_private_take(request.mode)) {
        return;
    }
    if (mkdir(own_folder, 0777) != 0) {
        soak_fault(where, "cannot make its folder");
    }
    for (uint32_t generation = 0; generation < generations && !soak_has_faults(); generation++) {
        live(&request, &random, controller, where, &account);
    }
    soak_private_give(request.mode);
    if (!soak_has_faults()) {
        audit(&request, &account, where);
    }
    if (!soak_has_faults()) {
        soak_remove_folder(own_folder);
    }
}
