/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A round with readers: real time, with a file or without, or a file that becomes real time, or
 * snapshots of a recorder; while consumers come and go, writers are cancelled and the process
 * forks.
 */
#include "live.h"

#include <ck_pr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
    LIVE_REALTIME,
    LIVE_REALTIME_AND_FILE,
    LIVE_CONVERTED, /* a file until CONVERT_TO_REALTIME */
    LIVE_RECORDER,
    LIVE_KINDS
};

static const char *const kinds[LIVE_KINDS] = {"real time", "real time and a file",
                                              "converted to real time", "snapshots"};

/* The totals of all rounds of a kind. */
static struct {
    uint64_t rounds;
    uint64_t recorded;
    uint64_t lost;
    uint64_t visits; /* of readers, and files read */
} totals[LIVE_KINDS];

/* ---- operations ------------------------------------------------------------------------------ */

static void expect(const struct live *live, const char *what, uint32_t code, uint32_t expected)
{
    if (code != expected) {
        soak_fault(live->where, "%s: code %u where %u is right", what, code, expected);
    }
}

/* The child has none of its parent's sessions, and may have its own. Returns its exit code. */
static int live_as_child(const struct live *live)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1};
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4};
    EVENT_TRACE_HEADER event = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID};
    etwas_session_counts counts;
    etwas_trace_handle session;

    if (TraceEvent(live->session, &event) != ERROR_INVALID_HANDLE ||
        EventWrite(live->provider, &descriptor, 0, NULL) != ERROR_SUCCESS ||
        etwas_start(live->name, NULL, &options, &session) != ERROR_SUCCESS ||
        TraceEvent(session, &event) != ERROR_SUCCESS) {
        return 1;
    }
    return etwas_stop(session, &counts) == ERROR_SUCCESS && counts.recorded == 1 ? 0 : 2;
}

static void fork_once(struct live *live)
{
    pid_t child = LIVE_MAY_FORK ? fork() : -1;
    int status = 0;

    if (child == 0) {
        _exit(live_as_child(live));
    }
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) {
        soak_fault(live->where, "a forked child ended with wait status %#x", (unsigned)status);
    }
}

static void take_snapshot(struct live *live, uint64_t expected)
{
    uint64_t found;

    expect(live, "etwas_snapshot", etwas_snapshot(live->session, live->file), ERROR_SUCCESS);
    found = live_read_file(live, live->file);
    if (expected != UINT64_MAX && found != expected) {
        soak_fault(live->where, "%llu events in the snapshot, %llu recorded",
                   (unsigned long long)found, (unsigned long long)expected);
    }
}

static void operate(struct live *live, enum kind kind)
{
    etwas_session_counts counts;
    struct soak_block block;

    switch (soak_upto(&live->random, 4)) {
    case 0:
        fork_once(live);
        break;
    case 1:
        expect(live, "etwas_counts", etwas_counts(live->session, &counts), ERROR_SUCCESS);
        break;
    case 2:
        soak_block_begin(&block, false, "");
        expect(live, "QUERY",
               soak_control(live->session, NULL, false, &block, EVENT_TRACE_CONTROL_QUERY),
               ERROR_SUCCESS);
        break;
    case 3:
        /* Once in so many a writer ends before its time. */
        if (LIVE_MAY_CANCEL && soak_once_in(&live->random, 4)) {
            (void)pthread_cancel(live->writers[0].thread);
        }
        break;
    default:
        if (kind == LIVE_RECORDER) {
            take_snapshot(live, UINT64_MAX);
        } else {
            uint32_t code = etwas_flush(live->session);

            if (code != ERROR_LOG_FILE_FULL) { /* the backlog, while nobody reads */
                expect(live, "etwas_flush", code, ERROR_SUCCESS);
            }
        }
        break;
    }
    soak_pause_us(soak_upto(&live->random, 3000));
}

/* ---- the account ----------------------------------------------------------------------------- */

/* Checks by number that what is recorded was seen by a consumer or is in a file, or is counted. */
static void check(const struct live *live, const etwas_session_counts *counts, enum kind kind)
{
    uint64_t recorded = 0;
    uint64_t lost = 0;
    uint64_t missing = 0;
    const char *wrong = NULL;

    for (uint32_t index = 0; index < live->writer_count; index++) {
        const struct live_writer *writer = &live->writers[index];

        for (uint32_t number = 0; number < live->events; number++) {
            recorded += writer->fate[number] == LIVE_RECORDED;
            lost += writer->fate[number] == LIVE_LOST;
            missing += writer->fate[number] == LIVE_RECORDED && writer->seen[number] == 0;
            if (writer->fate[number] != LIVE_RECORDED && writer->seen[number] != 0) {
                soak_fault(live->where, "event %u of writer %u is there and was not recorded",
                           number, index);
                return;
            }
        }
    }
    if (recorded + lost != counts->recorded + counts->overwritten + counts->lost) {
        wrong = "attempted is not recorded + overwritten + lost";
    } else if (lost < counts->lost_no_buffer + counts->lost_backlog_full ||
               lost > counts->lost_no_buffer + counts->lost_backlog_full + counts->lost_abandoned) {
        wrong = "writers lost other events than the session";
    } else if (kind == LIVE_REALTIME_AND_FILE && counts->lost_undelivered != 0) {
        wrong = "the file has what no consumer took";
    } else if (kind != LIVE_RECORDER &&
               (missing < counts->lost_undelivered ||
                missing > counts->lost_undelivered + counts->lost_abandoned)) {
        wrong = "events that nobody saw are not those counted undelivered";
    }
    if (wrong != NULL) {
        soak_fault(live->where,
                   "%s: writers %llu recorded, %llu lost, %llu missing; session %llu recorded, "
                   "%llu overwritten, lost %llu: no buffer %llu, backlog %llu, undelivered %llu, "
                   "abandoned %llu",
                   wrong, (unsigned long long)recorded, (unsigned long long)lost,
                   (unsigned long long)missing, (unsigned long long)counts->recorded,
                   (unsigned long long)counts->overwritten, (unsigned long long)counts->lost,
                   (unsigned long long)counts->lost_no_buffer,
                   (unsigned long long)counts->lost_backlog_full,
                   (unsigned long long)counts->lost_undelivered,
                   (unsigned long long)counts->lost_abandoned);
    }
}

static void add_to_totals(const struct live *live, const etwas_session_counts *counts,
                          enum kind kind)
{
    ck_pr_inc_64(&totals[kind].rounds);
    ck_pr_add_64(&totals[kind].recorded, counts->recorded);
    ck_pr_add_64(&totals[kind].lost, counts->lost);
    for (uint32_t index = 0; index <= LIVE_READERS; index++) {
        ck_pr_add_64(&totals[kind].visits, live->readers[index].visit);
    }
}

void soak_print_live(void)
{
    for (int kind = 0; kind < LIVE_KINDS; kind++) {
        (void)printf(
            "%s: %llu sessions, %llu visits of readers, %llu recorded, %llu lost\n", kinds[kind],
            (unsigned long long)totals[kind].rounds, (unsigned long long)totals[kind].visits,
            (unsigned long long)totals[kind].recorded, (unsigned long long)totals[kind].lost);
    }
}

/* ---- the round ------------------------------------------------------------------------------- */

static uint32_t start(struct live *live, enum kind kind)
{
    static const uint32_t modes[LIVE_KINDS] = {
        [LIVE_REALTIME] = EVENT_TRACE_REAL_TIME_MODE,
        [LIVE_REALTIME_AND_FILE] = EVENT_TRACE_REAL_TIME_MODE,
        [LIVE_CONVERTED] = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
        [LIVE_RECORDER] = EVENT_TRACE_BUFFERING_MODE,
    };
    bool has_file = kind == LIVE_REALTIME_AND_FILE || kind == LIVE_CONVERTED;
    bool is_tight = soak_once_in(&live->random, 2);
    const etwas_session_options options = {
        .log_file_mode = modes[kind] | EVENT_TRACE_USE_MS_FLUSH_TIMER,
        .clock = soak_upto(&live->random, 3),
        .buffer_size_kb = 4u << soak_upto(&live->random, 4),
        .maximum_buffers = is_tight ? 12 : 0,
        .flush_timer = 1 + soak_upto(&live->random, 10),
        .protocol = soak_once_in(&live->random, 3) ? ETWAS_PROTOCOL_SHARED : ETWAS_PROTOCOL_BEST,
        .consumer_queue_kb = is_tight ? 64 : 0,
        .backlog_kb = is_tight ? 128 : 0,
    };

    return etwas_start(live->name, has_file ? live->file : NULL, &options, &live->session);
}

static void begin(struct live *live)
{
    expect(live, "EventRegister", EventRegister(&live->provider_guid, NULL, NULL, &live->provider),
           ERROR_SUCCESS);
    expect(live, "EnableTraceEx2",
           EnableTraceEx2(live->session, &live->provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                          0, 0, 0, 0, NULL),
           ERROR_SUCCESS);
    for (uint32_t index = 0; index < live->writer_count; index++) {
        live->writers[index].live = live;
        live->writers[index].index = index;
        live->writers[index].random.state = soak_next(&live->random);
        if (pthread_create(&live->writers[index].thread, NULL, live_write, &live->writers[index]) !=
            0) {
            live->writer_count = index;
        }
    }
    for (uint32_t index = 0; index <= LIVE_READERS; index++) {
        live->readers[index].live = live;
        live->readers[index].random.state = soak_next(&live->random);
    }
    for (uint32_t index = 0; index < live->reader_count; index++) {
        if (pthread_create(&live->readers[index].thread, NULL, live_come_and_go,
                           &live->readers[index]) != 0) {
            live->reader_count = index;
        }
    }
}

static void join_readers(struct live *live)
{
    ck_pr_store_32(&live->end, 1);
    for (uint32_t index = 0; index < live->reader_count; index++) {
        (void)pthread_join(live->readers[index].thread, NULL);
    }
}

static void end(struct live *live, enum kind kind)
{
    struct live_reader *last = &live->readers[LIVE_READERS];
    etwas_session_counts counts;
    pthread_t thread;
    bool reads = false;

    if (soak_once_in(&live->random, 2)) {
        join_readers(live); /* and cuts the writers short */
    }
    for (uint32_t index = 0; index < live->writer_count; index++) {
        (void)pthread_join(live->writers[index].thread, NULL);
    }
    if (live->end == 0) {
        join_readers(live);
    }
    if (kind == LIVE_RECORDER) {
        expect(live, "etwas_counts", etwas_counts(live->session, &counts), ERROR_SUCCESS);
        take_snapshot(live, counts.recorded);
    } else {
        live_open(last, NULL);
        reads = last->trace != INVALID_PROCESSTRACE_HANDLE &&
                pthread_create(&thread, NULL, live_process, last) == 0;
    }
    expect(live, "etwas_stop", etwas_stop(live->session, &counts), ERROR_SUCCESS);
    if (reads) {
        (void)pthread_join(thread, NULL);
        (void)CloseTrace(last->trace);
    }
    if (kind == LIVE_REALTIME_AND_FILE || kind == LIVE_CONVERTED) {
        (void)live_read_file(live, live->file);
    }
    expect(live, "EventUnregister", EventUnregister(live->provider), ERROR_SUCCESS);
    check(live, &counts, kind);
    add_to_totals(live, &counts, kind);
}

static void run(struct live *live, enum kind kind)
{
    uint32_t operations = 2 + soak_upto(&live->random, 10);
    uint32_t convert_at = soak_upto(&live->random, operations - 1);
    uint32_t code = start(live, kind);
    struct soak_block block;

    if (code != ERROR_SUCCESS) {
        soak_fault(live->where, "start: code %u", code);
        return;
    }
    begin(live);
    for (uint32_t operation = 0; operation < operations && !soak_has_faults(); operation++) {
        if (kind == LIVE_CONVERTED && operation == convert_at) {
            soak_block_begin(&block, false, "");
            expect(live, "CONVERT_TO_REALTIME",
                   soak_control(live->session, NULL, false, &block,
                                EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME),
                   ERROR_SUCCESS);
        }
        operate(live, kind);
    }
    end(live, kind);
}

void soak_live_round(uint64_t seed, uint32_t controller, uint32_t round, const char *folder)
{
    struct live *live = calloc(1, sizeof *live);
    char where[300];
    char name[SOAK_NAME_BYTES];
    char own_folder[SOAK_PATH_BYTES];
    enum kind kind;

    if (live == NULL) {
        soak_fault("a round with readers", "no memory");
        return;
    }
    live->random = soak_random_of(seed, controller, round);
    kind = soak_upto(&live->random, LIVE_KINDS - 1);
    (void)snprintf(where, sizeof where, "seed %llu, controller %u, round %u: %s",
                   (unsigned long long)seed, controller, round, kinds[kind]);
    (void)snprintf(name, sizeof name, "soak readers %u.%u", controller, round);
    (void)snprintf(own_folder, sizeof own_folder, "%.300s/c%u-r%u", folder, controller, round);
    (void)snprintf(live->file, sizeof live->file, "%.400s/live.etl", own_folder);
    live->where = where;
    live->name = name;
    live->tag = soak_upto(&live->random, 0xFF);
    live->provider_guid = (etwas_guid){0x50a40006, (uint16_t)controller, (uint16_t)round, {0}};
    live->writer_count = 1 + soak_upto(&live->random, LIVE_WRITERS - 1);
    live->reader_count = kind == LIVE_RECORDER ? 0 : soak_upto(&live->random, LIVE_READERS);
    live->events = 1 + soak_upto(&live->random, LIVE_MOST_EVENTS - 1);
    if (mkdir(own_folder, 0777) != 0) {
        soak_fault(where, "cannot make its folder");
    } else {
        run(live, kind);
    }
    if (!soak_has_faults()) {
        soak_remove_folder(own_folder);
    }
    free(live);
}
