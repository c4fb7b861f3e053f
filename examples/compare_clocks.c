/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Compares the clocks that a session can use.
 *
 * One workload is logged three times, once with each clock, and the files are read back: what does
 * an event cost, and how finely does the clock resolve time? Then every event is logged with all
 * three clocks at once: how far do they disagree?
 *
 * The argument is the prefix of the files: NAME.qpc.etl, NAME.system.etl and NAME.tsc.etl.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity, pthread_setaffinity_np */
#endif

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/tdh.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CLOCKS = 3,
    JOBS = 20000,
    EVENTS = 2 * JOBS, /* number 2 n is the start of job n, and 2 n + 1 its end */
    ROUNDS = 9,        /* after one warm-up round */
    JOBS_A_NAP = 64,   /* jobs between naps of 1 ms, which make the joint trace long */
    MOST_PROCESSORS = 256
};

static const struct {
    const char *name, *file;
    ULONG asked;
} clocks[CLOCKS] = {{"QPC", "qpc", ETWAS_CLOCK_QPC},
                    {"system time", "system", ETWAS_CLOCK_SYSTEM_TIME},
                    {"TSC", "tsc", ETWAS_CLOCK_TSC}};

static const GUID job_guid = {0x94d1f2a6, 0x3b07, 0x4c8e, {142, 21, 80, 197, 44, 233, 11, 122}};

static const etwas_field_description job_fields[] = {
    {.name = "number", .in_type = TDH_INTYPE_UINT64}};
static const etwas_type_description job_types[] = {
    {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = job_fields, .field_count = 1},
    {.name = "End", .type = EVENT_TRACE_TYPE_END, .fields = job_fields, .field_count = 1}};
static const etwas_class_description job_description = {.guid = &job_guid,
                                                        .provider_name = "Workload",
                                                        .name = "Job",
                                                        .types = job_types,
                                                        .type_count = 2};

static char files[CLOCKS][1024];
static TRACEHANDLE sessions[CLOCKS]; /* 0: not logged with that clock */

/* ---- the workload ---------------------------------------------------------------------------- */

static struct worker {
    pthread_t thread;
    unsigned processor;
    ULONG first, end; /* its share of the jobs, for work_alone */
    ULONG64 result;
    double cpu_ns; /* processor time of its jobs, which excludes other programs */
} workers[MOST_PROCESSORS];

static ULONG worker_count;
static pthread_barrier_t all_ready;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static ULONG next_job; /* under `turn` */

static double clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void log_event(UCHAR type, ULONG64 number)
{
    struct {
        EVENT_TRACE_HEADER header;
        ULONG64 number;
    } event = {.header = {.Size = sizeof event, .Guid = job_guid}, .number = number};

    event.header.Class.Type = type;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    /* The clocks take turns at being first; otherwise the last one would always seem late. */
    for (ULONG64 i = 0, clock = number / 2; i < CLOCKS; i++, clock++) {
        if (sessions[clock % CLOCKS] != 0) {
            TraceEvent(sessions[clock % CLOCKS], &event.header);
        }
    }
}

/* Does 1 to 512 multiplications, each of which waits for the one before. */
static ULONG64 calculate(ULONG64 job)
{
    ULONG64 value = job;

    for (int i = 0; i < 1 << job % 10; i++) {
        value = value * 6364136223846793005 + 1442695040888963407;
    }
    return value;
}

static void prepare(struct worker *worker)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(worker->processor, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    pthread_barrier_wait(&all_ready);
}

/* The workload whose cost is measured: threads that share nothing. */
static void *work_alone(void *argument)
{
    struct worker *worker = argument;
    double start_ns;

    prepare(worker);
    start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (ULONG64 job = worker->first; job < worker->end; job++) {
        log_event(EVENT_TRACE_TYPE_START, 2 * job);
        worker->result += calculate(job);
        log_event(EVENT_TRACE_TYPE_END, 2 * job + 1);
    }
    worker->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
    return NULL;
}

/* The same jobs, started one after the other, so that the order of their starts is known. */
static void *work_in_turn(void *argument)
{
    struct worker *worker = argument;

    prepare(worker);
    for (;;) {
        ULONG64 job;

        pthread_mutex_lock(&turn);
        if (next_job == JOBS) {
            break;
        }
        job = next_job++;
        if (job % JOBS_A_NAP == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        log_event(EVENT_TRACE_TYPE_START, 2 * job);
        pthread_mutex_unlock(&turn);
        worker->result += calculate(job);
        log_event(EVENT_TRACE_TYPE_END, 2 * job + 1);
    }
    pthread_mutex_unlock(&turn);
    return NULL;
}

/*
 * Finds the processors that this program may use, and gives each a worker with a share of the jobs.
 */
static void find_processors(void)
{
    cpu_set_t allowed;

    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (unsigned i = 0; i < CPU_SETSIZE && worker_count < MOST_PROCESSORS; i++) {
        if (CPU_ISSET(i, &allowed)) {
            workers[worker_count++].processor = i;
        }
    }
    for (ULONG i = 0; i < worker_count; i++) {
        workers[i].first = JOBS * i / worker_count;
        workers[i].end = JOBS * (i + 1) / worker_count;
    }
}

/*
 * Runs `work` in all workers. Returns the processor time per event, including its part of the job.
 */
static double run(void *(*work)(void *))
{
    double cpu_ns = 0;

    pthread_barrier_init(&all_ready, NULL, worker_count);
    for (ULONG i = 0; i < worker_count; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fputs("cannot create a thread\n", stderr);
            exit(1);
        }
    }
    for (ULONG i = 0; i < worker_count; i++) {
        pthread_join(workers[i].thread, NULL);
        cpu_ns += workers[i].cpu_ns;
    }
    pthread_barrier_destroy(&all_ready);
    return cpu_ns / EVENTS;
}

/* ---- sessions -------------------------------------------------------------------------------- */

/*
 * The session has buffers for all events and no flusher thread. etwas_stop writes the file, so that
 * the figures exclude the disk.
 */
static void start(int clock)
{
    const etwas_session_options options = {.clock = clocks[clock].asked,
                                           .minimum_buffers = 64 + 2 * worker_count,
                                           .flusher.no_thread = true};

    if (etwas_describe_class(&job_description, NULL) ||
        etwas_start(clocks[clock].name, files[clock], &options, &sessions[clock])) {
        fprintf(stderr, "cannot record to %s\n", files[clock]);
        exit(1);
    }
}

static void stop(int clock)
{
    etwas_session_counts counts;

    if (etwas_stop(sessions[clock], &counts) || counts.recorded != EVENTS) {
        fprintf(stderr, "%s: events are missing\n", files[clock]);
        exit(1);
    }
    sessions[clock] = 0;
}

/* ---- the files ------------------------------------------------------------------------------- */

static struct recording {
    LONG64 stamps[EVENTS];          /* raw stamps, not ProcessTrace's default units of 100 ns */
    etwas_clock_time times[EVENTS]; /* the stamps converted to QPC */
    USHORT processors[EVENTS];
    ULONG seen;
    TRACEHANDLE trace;
    ULONG clock; /* the clock that the session used */
    double tick_ns;
} recordings[CLOCKS];

static void WINAPI on_event(PEVENT_RECORD event)
{
    struct recording *recording = event->UserContext;
    ULONG64 number;

    if (event->UserDataLength != sizeof number ||
        !IsEqualGUID(&event->EventHeader.ProviderId, &job_guid)) {
        return; /* the file header */
    }
    memcpy(&number, event->UserData, sizeof number);
    if (number < EVENTS) {
        recording->stamps[number] = event->EventHeader.TimeStamp.QuadPart;
        recording->processors[number] = event->BufferContext.ProcessorIndex;
        recording->seen +=
            etwas_trace_convert_time(recording->trace, recording->stamps[number], ETWAS_CLOCK_QPC,
                                     &recording->times[number]) == ERROR_SUCCESS;
    }
}

static void read_back(int clock)
{
    struct recording *recording = &recordings[clock];
    EVENT_TRACE_LOGFILE file = {.LogFileName = files[clock],
                                .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD |
                                                    PROCESS_TRACE_MODE_RAW_TIMESTAMP,
                                .EventRecordCallback = on_event,
                                .Context = recording};
    etwas_trace_information information;

    recording->seen = 0;
    recording->trace = OpenTrace(&file);
    if (etwas_trace_query(recording->trace, &information) ||
        ProcessTrace(&recording->trace, 1, NULL, NULL) || recording->seen != EVENTS) {
        fprintf(stderr, "cannot read %s\n", files[clock]);
        exit(1);
    }
    CloseTrace(recording->trace);
    recording->clock = information.clock;
    recording->tick_ns = 1e9 / (double)information.clock_frequency;
}

/* Returns the time between two events by this recording's clock. */
static double elapsed_ns(const struct recording *recording, ULONG64 from, ULONG64 to)
{
    return (double)(recording->stamps[to] - recording->stamps[from]) * recording->tick_ns;
}

/* ---- figures --------------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* Sorts the values, so that the first is then the lowest and the last the highest. */
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], ascending);
    return values[count / 2];
}

/* Returns the time of one clock reading, including the loop. */
static double reading_ns(ULONG clock)
{
    const int readings = 20000;
    double start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    for (int i = 0; i < readings; i++) {
        etwas_clock_read(clock);
    }
    return (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / readings;
}

/* Measures the workload without a session and with each clock in turn, round after round. */
static void compare_costs(void)
{
    static double job[ROUNDS], event[CLOCKS][ROUNDS], reading[CLOCKS][ROUNDS];

    for (int round = -1; round < ROUNDS; round++) {
        int place = round < 0 ? 0 : round;

        job[place] = run(work_alone);
        for (int clock = 0; clock < CLOCKS; clock++) {
            start(clock);
            event[clock][place] = run(work_alone) - job[place];
            stop(clock);
            reading[clock][place] = reading_ns(etwas_clock_effective(clocks[clock].asked));
        }
    }
    printf("Cost: processor time an event, by one clock at a time; of %d rounds\n\n"
           "%-14s%12s%12s%12s%24s\n",
           ROUNDS, "", "median", "lowest", "highest", "reading the clock");
    for (int clock = 0; clock < CLOCKS; clock++) {
        double typical = median(event[clock], ROUNDS);

        printf("%-14s%9.1f ns%9.1f ns%9.1f ns%21.1f ns\n", clocks[clock].name, typical,
               event[clock][0], event[clock][ROUNDS - 1], median(reading[clock], ROUNDS));
    }
    printf("\nWithout a session an event's part of the job takes %.1f ns.\n"
           "Reading the clock is part of an event's cost; the rest is the same for all. A loop\n"
           "that only logs takes less an event: its buffers and code stay in the caches.\n\n",
           median(job, ROUNDS));
}

/* Compares consecutive events of one thread. */
static void compare_resolution(void)
{
    printf("Resolution: two events of one thread in a row, each clock by itself\n\n"
           "%-14s%14s%12s%16s%12s%12s\n",
           "asked for", "recorded", "one tick", "smallest step", "equal", "backwards");
    for (int clock = 0; clock < CLOCKS; clock++) {
        const struct recording *recording = &recordings[clock];
        ULONG pairs = 0, equal = 0, backwards = 0;
        double smallest_ns = 1e18;

        for (ULONG i = 0; i < worker_count; i++) {
            for (ULONG64 to = 2 * workers[i].first + 1; to < 2 * workers[i].end; to++, pairs++) {
                double step_ns = elapsed_ns(recording, to - 1, to);

                equal += step_ns == 0;
                backwards += step_ns < 0;
                smallest_ns = step_ns > 0 && step_ns < smallest_ns ? step_ns : smallest_ns;
            }
        }
        printf("%-14s%14s%9.2f ns%13.2f ns%10.2f %%%12u\n", clocks[clock].name,
               clocks[recording->clock - 1].name, recording->tick_ns, smallest_ns,
               100.0 * equal / pairs, backwards);
    }
    printf("\nA tick is the unit of a stamp; a clock may move by many at once. The smallest step\n"
           "cannot be smaller than what an event takes.\n"
           "ProcessTrace gives times in units of 100 ns, unless it is asked for raw stamps.\n\n");
}

/* Compares the starts of jobs: job n starts before job n + 1, often on another processor. */
static void compare_order(void)
{
    ULONG elsewhere = 0;

    for (ULONG64 job = 1; job < JOBS; job++) {
        elsewhere += recordings[0].processors[2 * job] != recordings[0].processors[2 * (job - 1)];
    }
    printf("Order: %u jobs that began after another, %u of them on another processor\n\n"
           "%-14s%18s%18s\n",
           JOBS - 1, elsewhere, "", "stamped equal", "stamped before");
    for (int clock = 0; clock < CLOCKS; clock++) {
        ULONG equal = 0, before = 0;

        for (ULONG64 job = 1; job < JOBS; job++) {
            double step_ns = elapsed_ns(&recordings[clock], 2 * (job - 1), 2 * job);

            equal += step_ns == 0;
            before += step_ns < 0;
        }
        printf("%-14s%18u%18u\n", clocks[clock].name, equal, before);
    }
    printf("\n");
}

/* Compares the durations of the same jobs. */
static void compare_durations(void)
{
    static double apart[JOBS];

    printf("Durations: the same job by two clocks, how far they differ\n\n%-24s%12s%12s%12s\n", "",
           "median", "99 %", "largest");
    for (int one = 0; one < CLOCKS; one++) {
        for (int other = one + 1; other < CLOCKS; other++) {
            char pair[64];

            for (ULONG64 job = 0; job < JOBS; job++) {
                double ns = elapsed_ns(&recordings[other], 2 * job, 2 * job + 1) -
                            elapsed_ns(&recordings[one], 2 * job, 2 * job + 1);

                apart[job] = ns < 0 ? -ns : ns;
            }
            snprintf(pair, sizeof pair, "%s, %s", clocks[one].name, clocks[other].name);
            printf("%-24s%9.0f ns", pair, median(apart, JOBS));
            printf("%9.0f ns%9.0f ns\n", apart[JOBS * 99 / 100], apart[JOBS - 1]);
        }
    }
    printf("\nAn event is stamped three times, one after the other: what holds a thread up in "
           "between\n"
           "shows here, as do the 100 ns of system time.\n\n");
}

/* Returns how many other clocks stamped the event before this one. */
static int place(int clock, ULONG64 number)
{
    return (int)((ULONG64)clock + CLOCKS - number / 2 % CLOCKS) % CLOCKS;
}

/*
 * Compares the positions of the same events in time. Each file gives its stamps as QPC times with
 * error bounds. Within both bounds, the earlier of two stamps must not convert to the later time.
 */
static void compare_positions(void)
{
    static double apart[EVENTS];

    printf("Positions: the same event by two clocks, both converted to QPC, how far they differ\n\n"
           "%-24s%12s%12s%12s%16s%16s\n",
           "", "median", "99 %", "largest", "stated errors", "beyond these");
    for (int one = 0; one < CLOCKS; one++) {
        for (int other = one + 1; other < CLOCKS; other++) {
            double largest_error_ns = 0;
            ULONG beyond = 0;
            char pair[64];

            for (ULONG64 i = 0; i < EVENTS; i++) {
                const etwas_clock_time *a = &recordings[one].times[i];
                const etwas_clock_time *b = &recordings[other].times[i];
                double error_ns = (double)a->error_ns + (double)b->error_ns;
                double ns = (double)(b->value - a->value);
                double early_ns = place(one, i) < place(other, i) ? -ns : ns;

                apart[i] = ns < 0 ? -ns : ns;
                beyond += early_ns > error_ns;
                largest_error_ns = error_ns > largest_error_ns ? error_ns : largest_error_ns;
            }
            snprintf(pair, sizeof pair, "%s, %s", clocks[one].name, clocks[other].name);
            printf("%-24s%9.0f ns", pair, median(apart, EVENTS));
            printf("%9.0f ns%9.0f ns%13.0f ns%16u\n", apart[EVENTS * 99 / 100], apart[EVENTS - 1],
                   largest_error_ns, beyond);
        }
    }
    printf(
        "\nThe trace is %.2f s long. `etwas stat FILE` says what a file knows of its clocks, and\n"
        "`etwas clocks` what this machine's are worth.\n",
        elapsed_ns(&recordings[0], 0, EVENTS - 1) / 1e9);
}

/* Reports when a session that requests the TSC gets system time instead. */
static void tell_fallback(void)
{
    etwas_clock_trust trust;

    if (etwas_clock_effective(ETWAS_CLOCK_TSC) == ETWAS_CLOCK_TSC ||
        etwas_clock_query_trust(&trust)) {
        return;
    }
    printf("A session that asks for the TSC gets system time here, and what is said of the\n"
           "TSC below is about that. What speaks against the cycle counter:\n");
    for (ULONG reason = ETWAS_CLOCK_REASON_HYPERVISOR; reason <= ETWAS_CLOCK_REASON_NO_COUNTER;
         reason <<= 1) {
        if ((trust.reasons & reason) != 0) {
            printf("    %s.\n", etwas_clock_reason_text(reason));
        }
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    for (int clock = 0; clock < CLOCKS; clock++) {
        snprintf(files[clock], sizeof files[clock], "%s.%s.etl",
                 argc > 1 ? argv[1] : "compare_clocks", clocks[clock].file);
    }
    find_processors();
    printf("%d jobs, two events each, on %u processors\n\n", JOBS, worker_count);
    tell_fallback();
    compare_costs();
    for (int clock = 0; clock < CLOCKS; clock++) {
        read_back(clock);
    }
    compare_resolution();

    for (int clock = 0; clock < CLOCKS; clock++) {
        start(clock);
    }
    run(work_in_turn);
    for (int clock = 0; clock < CLOCKS; clock++) {
        stop(clock);
        read_back(clock);
    }
    compare_order();
    compare_durations();
    compare_positions();
    return 0;
}
