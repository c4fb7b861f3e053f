/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_clock_examine: runs the parts of the laboratory, one after the other, in the time given.
 *
 *     for each source   cost warm, cost cold, steps, and a burst of monotonicity   half of the time
 *     for each source   pairs, and a burst of monotonicity                         a third
 *     until time is up  bursts of monotonicity with pauses between them
 *
 * Between any two of these the drift takes a sample, so that its line covers the whole time.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock/lab/lab.h"
#include "platform/sized_struct.h"

#define DEFAULT_SECONDS 5.0
#define LEAST_SECONDS 1.0
#define MOST_SECONDS 3600.0
#define NS_PER_SECOND 1e9
#define NS_PER_MS UINT64_C(1000000)

/* Shares of the whole time, of all sources together. */
#define WARM_SHARE 0.14
#define COLD_SHARE 0.16
#define STEPS_SHARE 0.14
#define PAIRS_SHARE 0.30
#define BURSTS_SHARE 0.06 /* in each of the first two rows above */
#define SLOWEST_PACE 0.05 /* every part gets at least this share of its time */

enum {
    DEFAULT_MAXIMUM_PROCESSORS = 64,
    ALL_SOURCES = (1 << ETWAS_CLOCK_SOURCES) - 1,
    /* More time would not improve these results, however long the examination takes. */
    LONGEST_COST_MS = 500,
    LONGEST_COLD_MS = 2000,
    LONGEST_STEPS_MS = 500,
    LONGEST_BURST_MS = 20,
    PAUSE_MS = 30,
};

struct examination {
    uint64_t begin_ns;
    uint64_t total_ns;
    uint64_t planned_ns; /* how much of it is planned so far */
    uint32_t sources;    /* requested and available */
    uint32_t source_count;
    struct etwas_lab_cpus cpus;     /* allowed */
    struct etwas_lab_cpus compared; /* of these, as many as the limit permits */
    struct etwas_lab_cache_walk walk;
    struct etwas_lab_monotonicity *monotonicity;
    struct etwas_lab_drift *drift;
    etwas_clock_report *report;
    uint32_t error;
};

static uint64_t examination_left_ns(const struct examination *examination)
{
    uint64_t elapsed_ns = etwas_lab_now_ns() - examination->begin_ns;

    return elapsed_ns < examination->total_ns ? examination->total_ns - elapsed_ns : 0;
}

/*
 * Returns a source's part of a share of the time; less if a busy machine has delayed the
 * examination.
 */
static uint64_t examination_budget_ns(struct examination *examination, double share,
                                      uint64_t longest_ms)
{
    double ns = (double)examination->total_ns * share / examination->source_count;
    double longest_ns = (double)(longest_ms * NS_PER_MS);
    double planned_left_ns = (double)(examination->total_ns - examination->planned_ns);
    double pace = (double)examination_left_ns(examination) / planned_left_ns;

    ns = ns < longest_ns ? ns : longest_ns;
    examination->planned_ns += (uint64_t)ns;
    pace = pace > SLOWEST_PACE ? pace : SLOWEST_PACE;
    return (uint64_t)(pace < 1 ? ns * pace : ns);
}

static bool examination_has_source(const struct examination *examination, uint32_t source)
{
    return (examination->sources >> source & 1) != 0;
}

/* Stores the first error. Returns false when there is one. */
static bool examination_check(struct examination *examination, uint32_t error)
{
    if (examination->error == ERROR_SUCCESS) {
        examination->error = error;
    }
    return examination->error == ERROR_SUCCESS;
}

static void examination_describe_sources(struct examination *examination, uint32_t asked)
{
    for (uint32_t number = 0; number < ETWAS_CLOCK_SOURCES; number++) {
        const struct etwas_lab_source *source = etwas_lab_source(number);
        etwas_clock_source_report *to = &examination->report->sources[number];

        to->source = number;
        to->name = source->name;
        to->available = source->available;
        if (source->available && (asked >> number & 1) != 0) {
            to->tick_ns = source->tick_ns;
            to->follows_thread = source->follows_thread;
            examination->sources |= 1u << number;
            examination->source_count++;
        }
    }
}

/*
 * Returns the number of processors online; one that was switched off meanwhile may still be
 * allowed.
 */
static uint32_t processors_online(uint32_t allowed)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > (long)allowed ? (uint32_t)online : allowed;
}

/* Chooses the processors to compare, evenly among those that may be used. */
static bool examination_describe_processors(struct examination *examination, uint32_t limit)
{
    const struct etwas_lab_cpus *cpus = &examination->cpus;
    etwas_clock_report *report = examination->report;
    uint32_t count = cpus->count < limit ? cpus->count : limit;
    uint32_t *numbers = calloc(count, sizeof *numbers);

    if (numbers == NULL) {
        return false;
    }
    for (uint32_t index = 0; index < count; index++) {
        numbers[index] = cpus->numbers[(uint64_t)index * cpus->count / count];
    }
    examination->compared = (struct etwas_lab_cpus){count, numbers};
    report->processors = count;
    report->processor_numbers = numbers;
    report->processors_allowed = cpus->count;
    report->processors_configured = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
    report->processors_online = processors_online(cpus->count);
    report->all_pairs = count == cpus->count;
    return true;
}

static bool examination_begin(struct examination *examination)
{
    if (!etwas_lab_cache_walk_begin(&examination->walk)) {
        return false;
    }
    examination->monotonicity =
        etwas_lab_monotonicity_begin(examination->sources, &examination->cpus);
    if (examination->monotonicity == NULL) {
        return false;
    }
    examination->drift = etwas_lab_drift_begin(examination->sources);
    return examination->drift != NULL;
}

/* Trust is filled before the drift ends, because the drift's conversions need the rate. */
static void examination_end(struct examination *examination)
{
    (void)etwas_clock_query_trust(&examination->report->trust);
    if (examination->drift != NULL) {
        etwas_lab_drift_end(examination->drift, examination->report);
    }
    if (examination->monotonicity != NULL) {
        etwas_lab_monotonicity_end(examination->monotonicity, examination->report);
    }
    etwas_lab_cache_walk_end(&examination->walk);
}

static bool examination_burst(struct examination *examination, uint64_t ns)
{
    uint32_t error = etwas_lab_monotonicity_run(examination->monotonicity, ns, examination->report);

    etwas_lab_drift_sample(examination->drift);
    return examination_check(examination, error);
}

/* Measures on one processor, so that a reading is not timed with the counters of two. */
static bool examination_measure(struct examination *examination, uint32_t source)
{
    etwas_clock_source_report *report = &examination->report->sources[source];
    int processor = sched_getcpu();
    bool pinned = processor >= 0 && etwas_lab_pin((uint32_t)processor);
    uint32_t error;

    error = etwas_lab_cost_warm(
        source, examination_budget_ns(examination, WARM_SHARE, LONGEST_COST_MS), report);
    etwas_lab_drift_sample(examination->drift);
    etwas_lab_cost_cold(source, &examination->walk,
                        examination_budget_ns(examination, COLD_SHARE, LONGEST_COLD_MS), report);
    etwas_lab_drift_sample(examination->drift);
    if (error == ERROR_SUCCESS) {
        error = etwas_lab_steps(
            source, examination_budget_ns(examination, STEPS_SHARE, LONGEST_STEPS_MS), report);
    }
    etwas_lab_drift_sample(examination->drift);
    if (pinned && !etwas_lab_unpin(&examination->cpus)) {
        error = ERROR_NO_SYSTEM_RESOURCES;
    }
    return examination_check(examination, error);
}

static bool examination_compare(struct examination *examination, uint32_t source)
{
    etwas_clock_source_report *report = &examination->report->sources[source];
    uint32_t error;

    if (report->follows_thread) {
        return true;
    }
    error = etwas_lab_pairs(
        source, &examination->compared,
        examination_budget_ns(examination, PAIRS_SHARE, (uint64_t)MOST_SECONDS * 1000), report);
    etwas_lab_drift_sample(examination->drift);
    return examination_check(examination, error);
}

/* Runs one part for each source, with a burst after each. Returns false after an error. */
static bool examination_for_each_source(struct examination *examination,
                                        bool (*part)(struct examination *examination,
                                                     uint32_t source))
{
    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        if (examination_has_source(examination, source) &&
            !(part(examination, source) &&
              examination_burst(examination, examination_budget_ns(examination, BURSTS_SHARE,
                                                                   LONGEST_BURST_MS)))) {
            return false;
        }
    }
    return true;
}

/*
 * Runs bursts until time is up, at least one, so that each source is watched with its steps known.
 */
static bool examination_run_bursts(struct examination *examination)
{
    while (examination_burst(examination, LONGEST_BURST_MS * NS_PER_MS)) {
        uint64_t pause_ns = examination_left_ns(examination);
        struct timespec pause = {0};

        if (pause_ns == 0) {
            return true;
        }
        pause.tv_nsec = (long)(pause_ns < PAUSE_MS * NS_PER_MS ? pause_ns : PAUSE_MS * NS_PER_MS);
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

static void *examination_thread(void *argument)
{
    struct examination *examination = argument;
    etwas_clock_report *report = examination->report;

    (void)pthread_setname_np(pthread_self(), "etwas-clocks");
    if (!examination_begin(examination)) {
        examination->error = ERROR_NOT_ENOUGH_MEMORY;
    } else {
        etwas_lab_drift_sample(examination->drift);
        (void)(examination_for_each_source(examination, examination_measure) &&
               examination_for_each_source(examination, examination_compare) &&
               examination_run_bursts(examination));
    }
    examination_end(examination);
    report->seconds = (double)(etwas_lab_now_ns() - examination->begin_ns) / NS_PER_SECOND;
    if (examination->error == ERROR_SUCCESS) {
        etwas_lab_conclude(report);
    }
    return NULL;
}

/*
 * Runs the examination on a thread of its own, because it is pinned at times and no signal handler
 * of the program shall run there.
 */
static uint32_t examination_run(struct examination *examination)
{
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, examination_thread, examination);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    (void)pthread_join(thread, NULL);
    return examination->error;
}

static bool examination_options_are_valid(const etwas_clock_options *options)
{
    bool seconds_valid = options->seconds == 0 ||
                         (options->seconds >= LEAST_SECONDS && options->seconds <= MOST_SECONDS);

    return seconds_valid && (options->sources & ~(uint32_t)ALL_SOURCES) == 0;
}

uint32_t etwas_clock_examine_sized(const etwas_clock_options *given, size_t given_bytes,
                                   etwas_clock_report **report)
{
    etwas_clock_options options;
    struct examination examination = {.begin_ns = etwas_lab_now_ns()};
    uint32_t limit;
    uint32_t error = ERROR_NOT_ENOUGH_MEMORY;

    if (!etwas_sized_read(&options, sizeof options, given, given_bytes)) {
        return ERROR_NOT_SUPPORTED;
    }
    if (report == NULL || !examination_options_are_valid(&options)) {
        return ERROR_INVALID_PARAMETER;
    }
    limit =
        options.maximum_processors != 0 ? options.maximum_processors : DEFAULT_MAXIMUM_PROCESSORS;
    examination.total_ns =
        (uint64_t)((options.seconds != 0 ? options.seconds : DEFAULT_SECONDS) * NS_PER_SECOND);
    examination.report = calloc(1, sizeof *examination.report);
    if (examination.report != NULL) {
        error = etwas_lab_cpus_read(&examination.cpus);
    }
    if (error == ERROR_SUCCESS && !examination_describe_processors(&examination, limit)) {
        error = ERROR_NOT_ENOUGH_MEMORY;
    }
    if (error == ERROR_SUCCESS) {
        examination_describe_sources(&examination, options.sources != 0 ? options.sources
                                                                        : (uint32_t)ALL_SOURCES);
        error = examination_run(&examination);
    }
    etwas_lab_cpus_free(&examination.cpus);
    if (error != ERROR_SUCCESS) {
        etwas_clock_report_free(examination.report);
        return error;
    }
    *report = examination.report;
    return ERROR_SUCCESS;
}

void etwas_clock_report_free(etwas_clock_report *report)
{
    if (report == NULL) {
        return;
    }
    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        free(report->sources[source].offsets);
    }
    free(report->processor_numbers);
    free(report);
}
