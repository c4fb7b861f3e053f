/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_places: what a crash-safe recorder costs its writers, by the place of its buffers.
 *
 *     places/private          no crash-safe session: private memory
 *     places/memory           a pool file in the user's runtime folder
 *     places/memfd            a memfd
 *     places/folder           a pool file in $ETWAS_BENCH_DISK, else /var/tmp, on a disk's file
 *                             system
 *     places/folder/syncing   the same, while a neighbour writes 4 MB at a time there and syncs
 *                             them
 *
 * 250 events of 112 bytes per millisecond go round in a recorder of 64 MB, so that pages which the
 * kernel has written back are written to again. A row takes 10 seconds, or a minute with --long, in
 * which the kernel comes to every page twice. A ROW is followed by:
 *
 *     /p50 … /max   calls in which the thread did not lose its processor to another
 *     /waited       calls in which the thread slept in the kernel, per million
 *     /waited_ms    total time of these calls, per minute
 *     /faults       page faults, per million calls
 *     /said         the longest touch that the session itself reports
 *                   (etwas_crash_safe_query_place)
 */
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "latency.h"
#include "rows_json.h"
#include "session.h"

enum {
    PAYLOAD_BYTES = 64,
    BUFFERS = 1024,
    BURST = 250,
    PAUSE_US = 1000,
    SLOW_NS = 5000,
    SECONDS = 10,
    LONG_SECONDS = 60,
    NEIGHBOUR_BYTES = 4 << 20,
    NEIGHBOUR_PAUSE_US = 100000,
    TMPFS = 0x01021994,
};

struct row {
    const char *name;
    uint32_t crash_safe;
    bool on_disk;
    bool neighbour;
};

static const struct row rows[] = {
    {"places/private", 0, false, false},
    {"places/memory", ETWAS_CRASH_SAFE_POOL_FILE, false, false},
    {"places/memfd", ETWAS_CRASH_SAFE_MEMFD, false, false},
    {"places/folder", ETWAS_CRASH_SAFE_POOL_FILE, true, false},
    {"places/folder/syncing", ETWAS_CRASH_SAFE_POOL_FILE, true, true},
};

struct event {
    EVENT_TRACE_HEADER header;
    uint8_t payload[PAYLOAD_BYTES];
};

struct measured {
    struct bench_latency calls;
    uint64_t attempted;
    uint64_t waited;
    uint64_t waited_ticks;
    uint64_t faults;
    uint64_t longest_touch_ns;
};

static struct measured measured; /* 60 KB, too large for the stack */

static struct rusage thread_usage(void)
{
    struct rusage usage = {0};

    (void)getrusage(RUSAGE_THREAD, &usage);
    return usage;
}

static void log_burst(etwas_trace_handle session, struct event *event, uint64_t slow_ticks)
{
    struct rusage before = thread_usage();

    for (uint32_t count = 0; count < BURST; count++) {
        uint64_t begin = bench_tick_begin();
        uint64_t ticks;

        event->header.Size = sizeof *event;
        (void)TraceEvent(session, &event->header);
        ticks = bench_tick_end() - begin;
        measured.attempted++;
        if (ticks > slow_ticks) {
            struct rusage after = thread_usage();
            bool preempted = after.ru_nivcsw != before.ru_nivcsw;

            if (after.ru_nvcsw != before.ru_nvcsw) {
                measured.waited++;
                measured.waited_ticks += ticks;
                preempted = false;
            }
            measured.faults += (uint64_t)(after.ru_minflt - before.ru_minflt);
            before = after;
            if (preempted) {
                continue;
            }
        }
        bench_latency_add(&measured.calls, ticks);
    }
    measured.faults += (uint64_t)(thread_usage().ru_minflt - before.ru_minflt);
}

static void measure(const struct bench_timer *timer, etwas_trace_handle session, double seconds)
{
    static struct event event;
    uint64_t slow_ticks = (uint64_t)(SLOW_NS / timer->ns_per_tick);
    uint64_t end = bench_tick_begin() + (uint64_t)(seconds * 1e9 / timer->ns_per_tick);

    memset(&measured, 0, sizeof measured);
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Guid = bench_class_guid;
    while (bench_tick_begin() < end) {
        log_burst(session, &event, slow_ticks);
        (void)usleep(PAUSE_US);
    }
}

/* ---- where ----------------------------------------------------------------------------------- */

/* Makes a private folder on the file system of a disk. Returns NULL, or why there is none. */
static const char *make_disk_folder(char *path, size_t room)
{
    const char *given = getenv("ETWAS_BENCH_DISK");
    struct statfs facts;

    (void)snprintf(path, room, "%s/etwas_bench_places.%ld", given != NULL ? given : "/var/tmp",
                   (long)getpid());
    if (mkdir(path, 0700) != 0) {
        return "cannot make a folder on the disk";
    }
    if (statfs(path, &facts) == 0 && facts.f_type == TMPFS) {
        (void)rmdir(path);
        return BENCH_SKIPPED "/var/tmp lies in memory; name a folder by ETWAS_BENCH_DISK";
    }
    return NULL;
}

/* Writes and syncs until it is killed, or until a write fails. */
static _Noreturn void write_and_sync(const char *folder)
{
    static char block[NEIGHBOUR_BYTES];
    char path[300];
    int file;

    (void)snprintf(path, sizeof path, "%s/neighbour", folder);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    (void)unlink(path);
    while (file >= 0 && pwrite(file, block, sizeof block, 0) == (ssize_t)sizeof block &&
           fsync(file) == 0) {
        (void)ftruncate(file, 0); /* new blocks each time, which keep the journal busy */
        (void)usleep(NEIGHBOUR_PAUSE_US);
    }
    _exit(1);
}

/* Returns false if there was none, or if it has ended by itself. */
static bool end_neighbour(pid_t neighbour)
{
    int status;

    if (neighbour < 0) {
        return false;
    }
    (void)kill(neighbour, SIGKILL);
    return waitpid(neighbour, &status, 0) == neighbour && WIFSIGNALED(status);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print_value(const char *row, const char *what, const char *unit, double value)
{
    char name[96];

    (void)snprintf(name, sizeof name, "%s/%s", row, what);
    bench_row_value(name, unit, value);
}

static void print_row(const struct row *row, const struct bench_timer *timer, double seconds)
{
    double millions = (double)measured.attempted / 1e6;

    bench_latency_print(&measured.calls, timer, row->name);
    print_value(row->name, "waited", "per million", (double)measured.waited / millions);
    print_value(row->name, "waited_ms", "ms a minute",
                (double)measured.waited_ticks * timer->ns_per_tick / 1e6 * 60 / seconds);
    print_value(row->name, "faults", "per million", (double)measured.faults / millions);
    print_value(row->name, "said", "ns", (double)measured.longest_touch_ns);
}

static const char *run_session(const struct row *row, const char *folder,
                               const struct bench_timer *timer, double seconds)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .clock = ETWAS_CLOCK_TSC,
        .buffer_size_kb = BENCH_BUFFER_KB,
        .minimum_buffers = BUFFERS,
        .maximum_buffers = BUFFERS,
        .crash_safe = row->crash_safe,
        .crash_safe_folder = row->on_disk ? folder : NULL,
    };
    etwas_crash_safe_place place;
    etwas_session_counts counts;
    etwas_trace_handle session;

    if (etwas_start("etwas_bench", NULL, &options, &session) != ERROR_SUCCESS) {
        return "cannot start the session";
    }
    measure(timer, session, seconds);
    if (etwas_crash_safe_query_place(session, &place) == ERROR_SUCCESS) {
        measured.longest_touch_ns = place.longest_touch_ns;
    }
    if (etwas_stop(session, &counts) != ERROR_SUCCESS) {
        return "cannot stop the session";
    }
    return counts.recorded + counts.overwritten == measured.attempted ? NULL : "events are missing";
}

static const char *run_row(const struct row *row, const struct bench_timer *timer, double seconds)
{
    char folder[256];
    const char *reason = row->on_disk ? make_disk_folder(folder, sizeof folder) : NULL;
    pid_t neighbour = -1;

    if (reason != NULL) {
        return reason;
    }
    if (row->neighbour) {
        neighbour = fork();
        if (neighbour == 0) {
            write_and_sync(folder);
        }
    }
    reason = run_session(row, folder, timer, seconds);
    if (row->neighbour && !end_neighbour(neighbour)) {
        reason = "the neighbour did not write";
    }
    if (row->on_disk) {
        (void)rmdir(folder);
    }
    return reason;
}

int main(int argc, char **argv)
{
    bool is_long = argc > 1 && strcmp(argv[1], "--long") == 0;
    struct bench_part_options options = bench_part_parse(argc - is_long, argv + is_long);
    double seconds = is_long ? LONG_SECONDS : options.quick ? 0.02 : SECONDS;
    struct bench_timer timer = bench_timer_calibrate();
    bool failed = false;

    for (unsigned round = 0; round < options.rounds; round++) {
        for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
            const char *reason;

            if (!bench_row_selected(&options, rows[index].name)) {
                continue;
            }
            reason = run_row(&rows[index], &timer, seconds);
            if (reason != NULL) {
                failed |= bench_row_refused(rows[index].name, reason);
            } else {
                print_row(&rows[index], &timer, seconds);
            }
        }
    }
    return failed ? 1 : 0;
}
