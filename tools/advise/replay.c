/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "advise/replay.h"

#include "cli/quiet.h"

#include <etwas/evntrace.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 256,
    PATH_BYTES = 4096,
    START_AFTER_NS = 20000000, /* so that all threads exist by then */
    NS_A_SECOND = 1000000000,
    MESSAGE_BYTES = 16, /* size of a message with its time and without data */
    LARGEST_MESSAGE = 65528,
    TOLD_FROM_S = 60,  /* a replay of at least this length is announced, */
    LONGEST_S = 86400, /* and a longer one than this is refused */
    BUFFERS_A_THREAD = 2,
    MUCH_KB = 65536,
};

struct run;

struct thread {
    struct run *run;
    pthread_t thread;
    uint32_t index;
    size_t processor;
    uint64_t latest_ns;
    uint64_t refused; /* neither recorded nor lost */
};

struct run {
    const struct etwas_advise_question *question;
    const struct etwas_load *load;
    struct etwas_advise_replay *replay;
    etwas_trace_handle session;
    uint64_t start_ns; /* local time of the first event; set again after the stop */
    bool has_stop;     /* all threads stop at a time of the trace, for a snapshot */
    uint64_t stop_ns;  /* later pieces are logged after the snapshot */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t stopped; /* number of threads; protected by the lock */
    bool goes_on;     /* the snapshot was taken; likewise */
    uint32_t thread_count;
    struct thread threads[THREADS];
    char folder[PATH_BYTES];
    char path[PATH_BYTES + 16];
    uint8_t *held;               /* per piece: it is in the snapshot */
    size_t newest_held[THREADS]; /* each thread's newest held piece, from 1; 0: none */
};

static void fail(struct run *run, const char *what, uint32_t code)
{
    if (run->replay->failed == NULL) {
        run->replay->failed = what;
        run->replay->code = code;
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_A_SECOND + (uint64_t)now.tv_nsec;
}

/* Returns the local time at which a time of the trace is due. */
static uint64_t due_ns(const struct run *run, uint64_t time_ns)
{
    return run->start_ns + (uint64_t)((double)time_ns / run->question->pace);
}

/* Returns whether the replay takes at most a day. Otherwise the file or the pace is wrong. */
static bool is_bearable(struct run *run)
{
    double seconds = (double)run->load->span_ns / run->question->pace / NS_A_SECOND;

    if (seconds > LONGEST_S) {
        fail(run,
             "it would take more than a day, for a stamp of the trace is damaged, or it is that "
             "long: --replay=PACE makes it shorter",
             ERROR_INVALID_PARAMETER);
    } else if (seconds >= TOLD_FROM_S && !etwas_is_quiet) {
        fprintf(stderr, "etwas advise: note: the replay takes %.0f minutes\n", seconds / 60);
    }
    return run->replay->failed == NULL;
}

/* Waits, and returns the delay: 0 if there was time to sleep. */
static uint64_t wait_until(uint64_t due)
{
    uint64_t now = now_ns();

    if (now < due) {
        const struct timespec until = {.tv_sec = (time_t)(due / NS_A_SECOND),
                                       .tv_nsec = (long)(due % NS_A_SECOND)};

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
        }
        now = now_ns();
    }
    return now > due ? now - due : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint32_t thread_of(const struct run *run, uint32_t slot)
{
    return slot % run->thread_count;
}

/* Logs one event of a piece, with that size. */
static void log_event(struct thread *thread, uint64_t piece, uint32_t bytes)
{
    static const uint8_t nothing[LARGEST_MESSAGE];
    uint32_t data_bytes = MESSAGE_BYTES + sizeof piece;
    uint32_t code;

    bytes = bytes > LARGEST_MESSAGE ? LARGEST_MESSAGE : bytes;
    data_bytes = bytes > data_bytes ? bytes - data_bytes : 0;
    code = data_bytes > 0
               ? TraceMessage(thread->run->session, TRACE_MESSAGE_TIMESTAMP, NULL, 1, &piece,
                              sizeof piece, nothing, (size_t)data_bytes, NULL, (size_t)0)
               : TraceMessage(thread->run->session, TRACE_MESSAGE_TIMESTAMP, NULL, 1, &piece,
                              sizeof piece, NULL, (size_t)0);
    if (code != ERROR_SUCCESS && code != ERROR_NOT_ENOUGH_MEMORY) {
        thread->refused++;
    }
}

/* Called when a thread has logged everything before the stop. */
static void stop_for_snapshot(struct run *run)
{
    (void)pthread_mutex_lock(&run->lock);
    run->stopped++;
    (void)pthread_cond_broadcast(&run->changed);
    while (!run->goes_on) {
        (void)pthread_cond_wait(&run->changed, &run->lock);
    }
    (void)pthread_mutex_unlock(&run->lock);
}

static void *write_pieces(void *argument)
{
    struct thread *thread = argument;
    struct run *run = thread->run;
    bool will_stop = run->has_stop;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(thread->processor, &set);
    (void)sched_setaffinity(0, sizeof set, &set); /* if not permitted, it runs anywhere */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    for (size_t i = 0; i < run->load->count; i++) {
        const struct etwas_load_piece *piece = &run->load->pieces[i];
        uint64_t late_ns;

        if (thread_of(run, piece->slot) != thread->index) {
            continue;
        }
        if (will_stop && piece->time_ns > run->stop_ns) {
            stop_for_snapshot(run);
            will_stop = false;
        }
        late_ns = wait_until(due_ns(run, piece->time_ns));
        thread->latest_ns = late_ns > thread->latest_ns ? late_ns : thread->latest_ns;
        for (uint32_t event = 0; event < piece->events; event++) {
            log_event(thread, i, piece->bytes / piece->events);
        }
    }
    if (will_stop) {
        stop_for_snapshot(run);
    }
    return NULL;
}

/*
 * Chooses as many threads as the trace has processors, each on a processor of its own if there are
 * enough.
 */
static void choose_threads(struct run *run)
{
    cpu_set_t set;
    uint32_t count = 0;

    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    for (size_t processor = 0; processor < CPU_SETSIZE && count < THREADS; processor++) {
        if (count < run->load->slot_count && CPU_ISSET(processor, &set)) {
            run->threads[count] =
                (struct thread){.run = run, .index = count, .processor = processor};
            count++;
        }
    }
    if (count == 0) {
        run->threads[count++] = (struct thread){.run = run};
    }
    run->thread_count = count;
}

/* ---- what a snapshot holds ------------------------------------------------------------------- */

static void on_held(EVENT_RECORD *record)
{
    struct run *run = record->UserContext;
    uint64_t piece;
    uint32_t thread;

    if (record->UserDataLength < sizeof piece ||
        (record->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) == 0) {
        return;
    }
    memcpy(&piece, record->UserData, sizeof piece);
    if (piece >= run->load->count) {
        return;
    }
    thread = thread_of(run, run->load->pieces[piece].slot);
    run->held[piece] = 1;
    if (piece + 1 > run->newest_held[thread]) {
        run->newest_held[thread] = piece + 1;
    }
}

/*
 * Measures from the newest event in the snapshot back to the newest missing one. Events that a
 * thread logged after its newest held one do not count as missing. Returns false if none is
 * missing.
 */
static bool measure_held(const struct run *run, uint64_t *held_ns, uint64_t *at_ns)
{
    const struct etwas_load *load = run->load;
    uint64_t newest_lost_ns = 0;
    bool has_lost = false;

    *at_ns = 0;
    for (size_t i = 0; i < load->count; i++) {
        const struct etwas_load_piece *piece = &load->pieces[i];

        if (run->held[i] != 0) {
            *at_ns = piece->time_ns;
        } else if (i < run->newest_held[thread_of(run, piece->slot)]) {
            newest_lost_ns = piece->time_ns;
            has_lost = true;
        }
    }
    *held_ns = *at_ns > newest_lost_ns ? *at_ns - newest_lost_ns : 0;
    return has_lost;
}

static bool read_snapshot(struct run *run)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = run->path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_held,
        .Context = run,
    };
    etwas_trace_handle trace;
    uint32_t code;

    memset(run->held, 0, run->load->count);
    memset(run->newest_held, 0, sizeof run->newest_held);
    trace = OpenTraceA(&logfile);
    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        fail(run, "the snapshot could not be opened", GetLastError());
        return false;
    }
    code = ProcessTrace(&trace, 1, NULL, NULL);
    CloseTrace(trace);
    if (code != ERROR_SUCCESS) {
        fail(run, "the snapshot could not be read", code);
    }
    return code == ERROR_SUCCESS;
}

static void take_snapshot(struct run *run)
{
    uint32_t code = etwas_snapshot(run->session, run->path);

    if (code != ERROR_SUCCESS) {
        fail(run, "a snapshot could not be written", code);
    }
}

/* Reads the snapshot, then removes it. */
static bool look_at_snapshot(struct run *run, uint64_t *held_ns, uint64_t *at_ns)
{
    bool has_lost =
        run->replay->failed == NULL && read_snapshot(run) && measure_held(run, held_ns, at_ns);

    (void)unlink(run->path);
    return has_lost;
}

/* ---- the session ----------------------------------------------------------------------------- */

static bool make_folder(struct run *run)
{
    const char *folder = getenv("TMPDIR");

    folder = folder != NULL && folder[0] != '\0' ? folder : "/var/tmp";
    if ((size_t)snprintf(run->folder, sizeof run->folder, "%s/etwas-advise-XXXXXX", folder) >=
            sizeof run->folder ||
        mkdtemp(run->folder) == NULL) {
        run->folder[0] = '\0';
        fail(run, "no folder for its files could be made: see TMPDIR", ERROR_ACCESS_DENIED);
        return false;
    }
    (void)snprintf(run->path, sizeof run->path, "%s/replay.etl", run->folder);
    return true;
}

static void query_sizes(struct run *run)
{
    struct {
        EVENT_TRACE_PROPERTIES properties;
        char names[2][1024];
    } query = {.properties.Wnode.BufferSize = sizeof query};

    query.properties.LoggerNameOffset = offsetof(__typeof__(query), names[0]);
    query.properties.LogFileNameOffset = offsetof(__typeof__(query), names[1]);
    if (ControlTraceA(run->session, NULL, &query.properties, EVENT_TRACE_CONTROL_QUERY) ==
        ERROR_SUCCESS) {
        run->replay->sizes = (struct etwas_model_sizes){
            .buffer_kb = query.properties.BufferSize,
            .minimum = query.properties.MinimumBuffers,
            .maximum = query.properties.MaximumBuffers,
        };
    }
}

/*
 * Limits large pools to the buffers that all events can fill, since a damaged file may have far too
 * many processors. Two successive buffers of a slot have together more than the room of one.
 */
static uint32_t fillable(const struct run *run, const struct etwas_model_sizes *sizes,
                         uint32_t buffers)
{
    const struct etwas_load_sum *sum = &run->load->sum;
    uint64_t bytes = sum->bytes + sum->events * (MESSAGE_BYTES + sizeof(uint64_t));
    uint64_t most = bytes / (etwas_model_room(sizes) / 2 + 1) +
                    (uint64_t)BUFFERS_A_THREAD * (run->load->slot_count + 1);

    return buffers < most || (uint64_t)buffers * sizes->buffer_kb <= MUCH_KB ? buffers
                                                                             : (uint32_t)most;
}

static bool start_session(struct run *run, const struct etwas_model_sizes *sizes)
{
    bool is_recorder = run->question->is_recorder;
    uint64_t flush_ms = run->question->flusher.flush_timer_ns / 1000000;
    const etwas_session_options options = {
        .log_file_mode = is_recorder
                             ? EVENT_TRACE_BUFFERING_MODE
                             : EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_USE_MS_FLUSH_TIMER,
        .buffer_size_kb = sizes->buffer_kb,
        .minimum_buffers = fillable(run, sizes, sizes->minimum),
        .maximum_buffers = fillable(run, sizes, sizes->maximum),
        .flush_timer = is_recorder ? 0 : (uint32_t)flush_ms,
    };
    uint32_t code =
        etwas_start("etwas advise", is_recorder ? NULL : run->path, &options, &run->session);

    if (code != ERROR_SUCCESS) {
        fail(run, "the session could not be started", code);
        return false;
    }
    if (!is_recorder) {
        (void)unlink(run->path); /* written while it is open, then gone */
    }
    query_sizes(run);
    return true;
}

static void stop_session(struct run *run)
{
    etwas_session_counts counts = {0};
    uint32_t code = etwas_stop(run->session, &counts);

    if (code != ERROR_SUCCESS) {
        fail(run, "the session could not be stopped", code);
    }
    run->replay->events = counts.recorded + counts.overwritten + counts.lost;
    run->replay->lost_events = counts.lost;
    for (uint32_t i = 0; i < run->thread_count; i++) {
        if (run->threads[i].refused > 0) {
            fail(run, "the session refused events", ERROR_MORE_DATA);
        }
        if (run->threads[i].latest_ns > run->replay->latest_ns) {
            run->replay->latest_ns = run->threads[i].latest_ns;
        }
    }
}

/* Takes the snapshot when all started threads have stopped, then lets them continue. */
static void snapshot_at_stop(struct run *run, uint32_t started)
{
    (void)pthread_mutex_lock(&run->lock);
    while (run->stopped < started) {
        (void)pthread_cond_wait(&run->changed, &run->lock);
    }
    take_snapshot(run);
    run->start_ns += now_ns() - due_ns(run, run->stop_ns);
    run->goes_on = true;
    (void)pthread_cond_broadcast(&run->changed);
    (void)pthread_mutex_unlock(&run->lock);
}

static void write_all(struct run *run, const struct etwas_recorder_result *expected)
{
    uint32_t started = 0;

    run->has_stop = run->question->is_recorder && expected->overwritten_buffers > 0;
    run->stop_ns = expected->least_at_ns;
    run->start_ns = now_ns() + START_AFTER_NS;
    for (; started < run->thread_count; started++) {
        if (pthread_create(&run->threads[started].thread, NULL, write_pieces,
                           &run->threads[started]) != 0) {
            fail(run, "there are not enough threads", ERROR_NO_SYSTEM_RESOURCES);
            break;
        }
    }
    if (run->has_stop) {
        snapshot_at_stop(run, started);
    }
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(run->threads[i].thread, NULL);
    }
    if (run->has_stop) {
        run->replay->has_overwritten =
            look_at_snapshot(run, &run->replay->held_ns, &run->replay->held_at_ns);
    }
}

void etwas_advise_run_replay(const struct etwas_advise_question *question,
                             const struct etwas_load *load, const struct etwas_advice *advice,
                             struct etwas_advise_replay *replay)
{
    static struct run run;

    *replay = (struct etwas_advise_replay){.sizes = advice->advised.sizes};
    run = (struct run){.question = question,
                       .load = load,
                       .replay = replay,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .changed = PTHREAD_COND_INITIALIZER};
    run.held = malloc(load->count + 1);
    choose_threads(&run);
    replay->threads = run.thread_count;
    if (run.held == NULL) {
        fail(&run, "there is not enough memory", ERROR_NOT_ENOUGH_MEMORY);
    } else if (is_bearable(&run) && make_folder(&run) &&
               start_session(&run, &advice->advised.sizes)) {
        write_all(&run, &advice->advised.recorder);
        if (question->is_recorder) {
            uint64_t end_ns;

            take_snapshot(&run);
            if (look_at_snapshot(&run, &replay->held_at_end_ns, &end_ns) &&
                !replay->has_overwritten) {
                replay->has_overwritten = true;
                replay->held_ns = replay->held_at_end_ns;
                replay->held_at_ns = end_ns;
            }
        }
        stop_session(&run);
    }
    if (run.folder[0] != '\0') {
        (void)rmdir(run.folder);
    }
    free(run.held);
}
