/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The soak program: random sessions from several threads until the time is over. */
#include <ck_pr.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live.h"
#include "soak.h"

#ifdef SOAK_CLOCK_SNAPSHOTS
#include "clock/clock_reading.h"
#endif

enum {
    DEFAULT_SECONDS = 3,
    DEFAULT_CONTROLLERS = 3,
    ILLEGAL_TIMES = 30,
    ILLEGAL_EVERY = 8,     /* rounds of a controller */
    LIVE_EVERY = 3,        /* likewise */
    LONGEST_ROUND_S = 100, /* then it hangs */
    NANOSECONDS = 1000000000
};

static const char help[] =
    "usage: etwas_soak [--seconds N] [--seed S] [--controllers C] [--folder PATH]\n"
    "\n"
    "Starts, updates, flushes, queries, increments, snapshots and stops sessions of random legal\n"
    "configurations from C threads (3), while other threads write, for N seconds (3); minutes "
    "find\n"
    "more: --seconds 600. Every session's account must be exact, and its files must hold what it\n"
    "recorded, says the independent walker. Every third session has consumers that come and go, "
    "are\n"
    "closed and cancelled, forks, a modern provider, CONVERT_TO_REALTIME or snapshots, and each "
    "of\n"
    "its events is accounted for by number. In between, illegal configurations must get their "
    "error\n"
    "and leave nothing behind.\n"
    "\n"
    "The seed is printed first; --seed S asks for the same sessions and operations again, with "
    "the\n"
    "timing of the day. After a fault the folder with the files stays, and the exit code is 1.\n"
    "\n"
    "It runs for seconds as the test `soak`; after a change of sessions, buffers or files run it\n"
    "for minutes in the presets default, asan-ubsan and tsan.\n";

static struct {
    uint64_t seed;
    uint64_t seconds;
    uint32_t controllers;
    char folder[SOAK_PATH_BYTES];
} options = {.seconds = DEFAULT_SECONDS, .controllers = DEFAULT_CONTROLLERS};

static uint64_t end_ns;
static uint32_t faults;
static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t illegal_rounds;

/* A round holds it for reading, a thread that must be alone for writing. */
static pthread_rwlock_t world;

struct controller {
    pthread_t thread;
    uint32_t index;
    uint32_t rounds;   /* done */
    uint64_t began_ns; /* the round under way; 0: none */
};

static struct controller controllers[SOAK_CONTROLLERS];

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

void soak_pause_us(uint32_t microseconds)
{
    const struct timespec pause = {.tv_sec = microseconds / 1000000,
                                   .tv_nsec = microseconds % 1000000 * 1000};

    (void)nanosleep(&pause, NULL);
}

void soak_fault(const char *where, const char *format, ...)
{
    va_list arguments;

    (void)pthread_mutex_lock(&fault_lock);
    (void)fprintf(stderr, "FAULT: ");
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "\n  at %s\n", where);
    ck_pr_inc_32(&faults);
    (void)pthread_mutex_unlock(&fault_lock);
}

bool soak_has_faults(void)
{
    return ck_pr_load_32(&faults) != 0;
}

bool soak_is_over(void)
{
    return soak_has_faults() || now_ns() >= end_ns;
}

/* ---- controllers ----------------------------------------------------------------------------- */

static void illegal_round(bool alone)
{
    uint32_t round = ck_pr_faa_32(&illegal_rounds, 1);
    struct soak_belongings before;

    if (!alone) {
        (void)pthread_rwlock_rdlock(&world);
        soak_illegal(options.seed, round, ILLEGAL_TIMES, options.folder, false);
        (void)pthread_rwlock_unlock(&world);
        return;
    }
    (void)pthread_rwlock_wrlock(&world);
    before = soak_count_belongings();
    soak_illegal(options.seed, round, ILLEGAL_TIMES, options.folder, true);
    if (!soak_has_faults()) {
        soak_expect_nothing_gained("the end of illegal sessions", &before);
    }
    (void)pthread_rwlock_unlock(&world);
}

static void *controller_main(void *argument)
{
    struct controller *controller = argument;

    while (!soak_is_over()) {
        ck_pr_store_64(&controller->began_ns, now_ns());
        if (controller->rounds % ILLEGAL_EVERY == controller->index % ILLEGAL_EVERY) {
            illegal_round(controller->index == 0);
        }
        (void)pthread_rwlock_rdlock(&world);
        (controller->rounds % LIVE_EVERY == LIVE_EVERY - 1 ? soak_live_round : soak_round)(
            options.seed, controller->index, controller->rounds, options.folder);
        (void)pthread_rwlock_unlock(&world);
        ck_pr_store_32(&controller->rounds, controller->rounds + 1);
    }
    ck_pr_store_64(&controller->began_ns, 0);
    return NULL;
}

/* A round that never ends is a fault that only a core file explains. */
static void watch(void)
{
    bool busy = true;

    while (busy) {
        soak_pause_us(100000);
        busy = false;
        for (uint32_t index = 0; index < options.controllers; index++) {
            uint64_t began_ns = ck_pr_load_64(&controllers[index].began_ns);

            busy = busy || began_ns != 0;
            if (began_ns != 0 && now_ns() > began_ns + (uint64_t)LONGEST_ROUND_S * NANOSECONDS) {
                soak_fault("watch", "seed %llu: round %u of controller %u does not end",
                           (unsigned long long)options.seed,
                           ck_pr_load_32(&controllers[index].rounds), index);
                abort();
            }
        }
    }
}

static void prepare_world(void)
{
    pthread_rwlockattr_t attributes;

    (void)pthread_rwlockattr_init(&attributes);
    (void)pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    (void)pthread_rwlock_init(&world, &attributes);
    (void)pthread_rwlockattr_destroy(&attributes);
}

static void run_controllers(void)
{
    end_ns = now_ns() + options.seconds * NANOSECONDS;
    for (uint32_t index = 0; index < options.controllers; index++) {
        controllers[index].index = index;
        ck_pr_store_64(&controllers[index].began_ns, now_ns());
    }
    /* Nobody counts threads before all of them are there. */
    (void)pthread_rwlock_wrlock(&world);
    for (uint32_t index = 0; index < options.controllers; index++) {
        if (pthread_create(&controllers[index].thread, NULL, controller_main,
                           &controllers[index]) != 0) {
            (void)fprintf(stderr, "no thread for a controller\n");
            exit(1);
        }
    }
    (void)pthread_rwlock_unlock(&world);
    watch();
    for (uint32_t index = 0; index < options.controllers; index++) {
        (void)pthread_join(controllers[index].thread, NULL);
    }
}

#ifdef SOAK_CLOCK_SNAPSHOTS

/* Sessions read the clocks as often as the seed says, each some 50 µs to 13 ms. */
static void choose_interval(void)
{
    enum {
        SHORTEST_NS = 50000
    };
    struct soak_random random = soak_random_of(options.seed, SOAK_CONTROLLERS, 0);
    uint64_t interval_ns = (uint64_t)SHORTEST_NS << soak_upto(&random, 8);

    ck_pr_store_64(&etwas_clock_snapshot_interval_ns, interval_ns);
    (void)printf("clock snapshots every %llu us\n", (unsigned long long)interval_ns / 1000);
}

#endif

/* ---- the command ----------------------------------------------------------------------------- */

static void read_options(int count, char **arguments)
{
    static const struct option names[] = {
        {"seconds", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"controllers", required_argument, NULL, 'c'},
        {"folder", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    options.seed = now_ns() ^ (uint64_t)getpid() << 40;
    while ((option = getopt_long(count, arguments, "", names, NULL)) != -1) {
        switch (option) {
        case 'n':
            options.seconds = strtoull(optarg, NULL, 10);
            break;
        case 's':
            options.seed = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            options.controllers = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'f':
            (void)snprintf(options.folder, sizeof options.folder, "%s", optarg);
            break;
        case 'h':
            (void)fputs(help, stdout);
            exit(0);
        default:
            (void)fputs(help, stderr);
            exit(2);
        }
    }
    if (options.controllers == 0 || options.controllers > SOAK_CONTROLLERS) {
        (void)fprintf(stderr, "--controllers: 1 to %d\n", SOAK_CONTROLLERS);
        exit(2);
    }
}

static void make_folder(void)
{
    const char *folder = getenv("TMPDIR");

    if (options.folder[0] == 0) {
        (void)snprintf(options.folder, sizeof options.folder, "%.300s",
                       folder != NULL ? folder : "/tmp");
    }
    (void)strncat(options.folder, "/etwas-soak-XXXXXX",
                  sizeof options.folder - strlen(options.folder) - 1);
    if (mkdtemp(options.folder) == NULL) {
        perror(options.folder);
        exit(1);
    }
}

/*
 * Every entry of the session table keeps the bookkeeping of its largest pool: let each have had one
 * before mappings are counted.
 */
static void fill_entries(void)
{
    enum {
        ENTRIES = 72
    };
    const etwas_session_options largest = {.buffer_size_kb = 4};
    etwas_trace_handle session;
    char path[SOAK_PATH_BYTES + 16];
    uint32_t code = ERROR_SUCCESS;

    (void)snprintf(path, sizeof path, "%s/first.etl", options.folder);
    for (uint32_t entry = 0; entry < ENTRIES && code == ERROR_SUCCESS; entry++) {
        code = etwas_start("soak first", path, &largest, &session);
        code = code == ERROR_SUCCESS ? etwas_stop(session, NULL) : code;
    }
    if (code != ERROR_SUCCESS) {
        soak_fault("the first sessions", "code %u", code);
    }
}

static void report(void)
{
    uint32_t rounds = 0;

    for (uint32_t index = 0; index < options.controllers; index++) {
        rounds += controllers[index].rounds;
    }
    soak_print_totals();
    soak_print_live();
    soak_print_untried();
    (void)printf("%u rounds, %u of illegal sessions, %u faults\n", rounds, illegal_rounds, faults);
    if (soak_has_faults()) {
        (void)printf("the files are in %s\n", options.folder);
    } else {
        soak_remove_folder(options.folder);
    }
}

int main(int count, char **arguments)
{
    struct soak_belongings before;

    read_options(count, arguments);
    (void)printf("seed %llu, %llu seconds, %u controllers\n", (unsigned long long)options.seed,
                 (unsigned long long)options.seconds, options.controllers);
#ifdef SOAK_CLOCK_SNAPSHOTS
    choose_interval();
#endif
    (void)fflush(stdout);
    make_folder();
    if (!soak_audit_begin()) {
        (void)fprintf(stderr, "cannot run the walker\n");
        return 1;
    }
    soak_writers_prepare();
    prepare_world();
    fill_entries();
    soak_illegal(options.seed, ck_pr_faa_32(&illegal_rounds, 1), 0, options.folder, true);
    before = soak_count_belongings();
    run_controllers();
    if (!soak_has_faults()) {
        soak_expect_nothing_gained("the end", &before);
    }
    soak_audit_end();
    report();
    return soak_has_faults() ? 1 : 0;
}
