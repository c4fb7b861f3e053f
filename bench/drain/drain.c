/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_drain: the highest rate at which every event reaches a new file. A producer that
 * finds no buffer waits a moment and logs the event again. At the end the file is read back, and
 * must hold every event once. TSC, 16 bytes.
 *
 *     drain/FOLDER/METHOD/N         events/s of N producers, until the file is finished and durable
 *     drain/FOLDER/METHOD/bytes     MB/s of the file with one producer
 *     drain/FOLDER/METHOD/plain     MB/s of plain writes of as many bytes, durable too
 *     drain/FOLDER/METHOD/flusher   processor time of the flusher / the time that one producer logs
 *     drain/FOLDER/METHOD/waits     waits for a buffer, of one producer
 *
 * FOLDER is `disk` ($ETWAS_BENCH_DISK, else /var/tmp) or `tmpfs` (/dev/shm). METHOD is how the
 * library writes there: `direct` past the page cache, or `buffered`. Plain writes are also measured
 * in the other way. --long: 8 GB, 10 s at most.
 */
#include <etwas/etwas.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "drain.h"
#include "rows_json.h"
#include "session.h"

enum {
    PAYLOAD_NUMBERS = 2,
    BUFFERS = 1024, /* 64 MB */
    MOST_PRODUCERS = 2,
    CHECK_EVERY = 1024, /* events between two checks of the clock */
    WAIT_NS = 20000,
    QUICK_MB = 32,
    SHORT_MB = 1024,
    LONG_MB = 8192,
    LONGEST_S = 10,
};

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[PAYLOAD_NUMBERS];
};
_Static_assert(sizeof(struct event) - sizeof(EVENT_INSTANCE_HEADER) + BENCH_INSTANCE_HEADER_BYTES ==
                   DRAIN_RECORD_BYTES,
               "the record in the file");

struct producer {
    _Alignas(128) struct event event;
    EVENT_INSTANCE_INFO instance;
    etwas_trace_handle session;
    pthread_t thread;
    uint64_t limit_events;
    uint64_t end_ns; /* no batch of events begins later */
    bool pinned;
    struct drain_sum sum;
    uint64_t waits;
    uint32_t code;
};

/* Where a part of the run writes its files. */
struct place {
    const char *folder; /* "disk", "tmpfs" */
    const char *method; /* how the library writes there */
    char path[512];     /* of a file, which has a name only until it is open */
    uint64_t bytes;
};

struct outcome {
    double events_per_s;
    double mb_per_s;
    double flusher_share;
    uint64_t waits;
};

static bool log_one(struct producer *producer)
{
    const struct timespec wait = {.tv_nsec = WAIT_NS};
    uint32_t code;

    while ((code = TraceEventInstance(producer->session, &producer->event.header,
                                      &producer->instance, NULL)) == ERROR_NOT_ENOUGH_MEMORY) {
        producer->waits++;
        (void)nanosleep(&wait, NULL);
    }
    producer->code = code;
    return code == ERROR_SUCCESS;
}

static void *produce(void *argument)
{
    struct producer *producer = argument;
    uint64_t number = 0;

    if (producer->pinned) {
        bench_pin_last();
    }
    while (number < producer->limit_events && drain_now_ns() < producer->end_ns) {
        for (uint32_t count = 0; count < CHECK_EVERY; count++, number++) {
            producer->event.payload[1] = number;
            if (!log_one(producer)) {
                return NULL;
            }
        }
    }
    producer->sum.events = number;
    return NULL;
}

/* Returns the processor time of a thread of this process; 0 if the system does not report it. */
static uint64_t thread_cpu_ns(uint32_t thread_id)
{
    char path[64];
    unsigned long long time_ns = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/task/%u/schedstat", thread_id);
    file = fopen(path, "re");
    if (file != NULL) {
        (void)(fscanf(file, "%llu", &time_ns) == 1);
        (void)fclose(file);
    }
    return time_ns;
}

static uint32_t flusher_thread(etwas_trace_handle session)
{
    struct {
        EVENT_TRACE_PROPERTIES properties;
        char names[4096];
    } block = {.properties.Wnode.BufferSize = sizeof block};

    if (ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_QUERY) !=
        ERROR_SUCCESS) {
        return 0;
    }
    return (uint32_t)(uintptr_t)block.properties.LoggerThreadId;
}

static const char *run_producers(etwas_trace_handle session, uint64_t bytes,
                                 struct producer *producers, uint32_t count)
{
    uint64_t end_ns = drain_now_ns() + LONGEST_S * UINT64_C(1000000000);
    const char *wrong = NULL;

    for (uint32_t index = 0; index < count; index++) {
        struct producer *producer = &producers[index];

        *producer = (struct producer){
            .session = session,
            .limit_events = bytes / DRAIN_RECORD_BYTES / count,
            .end_ns = end_ns,
            .pinned = count == 1,
            .event.payload = {index},
        };
        bench_prepare_instance_header(&producer->event.header, sizeof producer->event.payload);
        if (!bench_make_instance(&producer->instance)) {
            return "cannot register the provider";
        }
    }
    for (uint32_t index = 0; index < count; index++) {
        if (pthread_create(&producers[index].thread, NULL, produce, &producers[index]) != 0) {
            (void)fprintf(stderr, "etwas_bench_drain: a thread cannot be started\n");
            exit(1);
        }
    }
    for (uint32_t index = 0; index < count; index++) {
        (void)pthread_join(producers[index].thread, NULL);
        if (producers[index].code != ERROR_SUCCESS) {
            wrong = "an event was refused";
        }
    }
    return wrong;
}

/*
 * Checks that every logged event is once in the counts and in the file. Returns NULL, or what is
 * wrong.
 */
static const char *verify(const char *path, const etwas_session_counts *counts,
                          const struct producer *producers, uint32_t count)
{
    struct drain_sum expected = {0};
    struct drain_sum found;
    uint64_t waits = 0;
    const char *wrong = drain_check(path, &found);

    for (uint32_t index = 0; index < count; index++) {
        for (uint64_t number = 0; number < producers[index].sum.events; number++) {
            drain_add(&expected, index, number);
        }
        waits += producers[index].waits;
    }
    if (wrong != NULL) {
        return wrong;
    }
    if (counts->recorded != expected.events || counts->lost != waits ||
        counts->lost_no_buffer != waits) {
        return "the counts are wrong";
    }
    return found.events == expected.events && found.mixed == expected.mixed
               ? NULL
               : "the file does not hold every event once";
}

static const char *run_session(const struct place *place, uint32_t count, struct outcome *outcome)
{
    static struct producer producers[MOST_PRODUCERS];
    uint32_t first = bench_first_processor();
    const etwas_session_options options = {
        .clock = ETWAS_CLOCK_TSC,
        .buffer_size_kb = DRAIN_BUFFER_BYTES >> 10,
        .minimum_buffers = BUFFERS,
        .maximum_buffers = BUFFERS,
        .flusher.cpus = count == 1 ? &first : NULL,
        .flusher.cpu_count = count == 1 ? 1 : 0,
    };
    etwas_session_counts counts;
    etwas_trace_handle session;
    uint64_t begun_ns;
    uint64_t produced_ns;
    uint64_t ended_ns;
    uint64_t flusher_ns;
    const char *wrong;
    char path[sizeof place->path];
    int file;

    if (etwas_start("etwas_bench_drain", place->path, &options, &session) != ERROR_SUCCESS) {
        return "cannot start the session";
    }
    memcpy(path, place->path, sizeof path);
    file = bench_take_name(path, sizeof path);
    begun_ns = drain_now_ns();
    wrong = run_producers(session, place->bytes, producers, count);
    produced_ns = drain_now_ns();
    flusher_ns = thread_cpu_ns(flusher_thread(session));
    if (etwas_stop(session, &counts) != ERROR_SUCCESS) {
        return "cannot stop the session";
    }
    ended_ns = drain_now_ns();
    wrong = wrong != NULL ? wrong : verify(path, &counts, producers, count);
    *outcome = (struct outcome){
        .events_per_s = (double)counts.recorded * 1e9 / (double)(ended_ns - begun_ns),
        .mb_per_s = (double)counts.buffers_written * DRAIN_BUFFER_BYTES * 1e3 /
                    (double)(ended_ns - begun_ns),
        .flusher_share = (double)flusher_ns / (double)(produced_ns - begun_ns),
        .waits = counts.lost_no_buffer,
    };
    if (file >= 0) {
        (void)close(file);
    }
    return wrong;
}

static void print(const struct place *place, const char *method, const char *what, const char *unit,
                  double value)
{
    char row[96];

    (void)snprintf(row, sizeof row, "drain/%s/%s/%s", place->folder, method, what);
    bench_row_value(row, unit, value);
}

/* Returns whether the row failed. */
static bool run_count(const struct bench_part_options *options, const struct place *place,
                      uint32_t count)
{
    struct outcome outcome;
    const char *wrong;
    char row[96];

    (void)snprintf(row, sizeof row, "drain/%s/%s/%u", place->folder, place->method, count);
    if (!bench_row_selected(options, row)) {
        return false;
    }
    wrong = run_session(place, count, &outcome);
    if (wrong != NULL) {
        bench_row_failed(row, wrong);
        return true;
    }
    bench_row_value(row, "events/s", outcome.events_per_s);
    if (count == 1) {
        print(place, place->method, "bytes", "MB/s", outcome.mb_per_s);
        print(place, place->method, "flusher", "share", outcome.flusher_share);
        print(place, place->method, "waits", "events", (double)outcome.waits);
    }
    return false;
}

static void run_plain(const struct bench_part_options *options, const struct place *place,
                      bool direct)
{
    const char *method = direct ? "direct" : "buffered";
    char row[96];
    double mb_per_s;

    (void)snprintf(row, sizeof row, "drain/%s/%s/plain", place->folder, method);
    if (!bench_row_selected(options, row)) {
        return;
    }
    mb_per_s = drain_plain(place->path, place->bytes, direct);
    if (mb_per_s > 0) {
        bench_row_value(row, "MB/s", mb_per_s);
    } else {
        bench_row_skipped(row, "the file system does not write so");
    }
}

/* Decides as the library does: whether the file system reports an alignment for direct writes. */
static bool takes_direct_writes(const char *folder_path)
{
#ifdef STATX_DIOALIGN
    char path[512];
    struct statx status;
    bool takes;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/etwas_bench_drain.%ld", folder_path, (long)getpid());
    file = fopen(path, "we");
    if (file == NULL) {
        return false;
    }
    takes = statx(fileno(file), "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 &&
            (status.stx_mask & STATX_DIOALIGN) != 0 && status.stx_dio_offset_align != 0;
    (void)fclose(file);
    (void)unlink(path);
    return takes;
#else
    (void)folder_path;
    return false;
#endif
}

/* Returns whether a row failed. */
static bool run_place(const struct bench_part_options *options, const char *folder,
                      const char *folder_path, uint64_t bytes)
{
    bool direct = takes_direct_writes(folder_path);
    struct place place = {
        .folder = folder, .method = direct ? "direct" : "buffered", .bytes = bytes};
    struct statvfs system;
    char row[64];
    bool failed = false;

    (void)snprintf(row, sizeof row, "drain/%s", folder);
    if (statvfs(folder_path, &system) != 0 ||
        (uint64_t)system.f_bavail * system.f_frsize < 2 * bytes) {
        bench_row_skipped(row, "not enough space for two such files");
        return false;
    }
    (void)snprintf(place.path, sizeof place.path, "%s/etwas_bench_drain.%ld.etl", folder_path,
                   (long)getpid());
    if (direct) {
        run_plain(options, &place, true);
    }
    failed |= run_count(options, &place, 1);
    run_plain(options, &place, false);
    failed |= run_count(options, &place, MOST_PRODUCERS);
    return failed;
}

/* Removes --long from the arguments. Returns whether it was there. */
static bool take_long(int *argc, char **argv)
{
    for (int index = 1; index < *argc; index++) {
        if (strcmp(argv[index], "--long") == 0) {
            memmove(&argv[index], &argv[index + 1], (size_t)(*argc - index) * sizeof *argv);
            (*argc)--;
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    bool is_long = take_long(&argc, argv);
    struct bench_part_options options = bench_part_parse(argc, argv);
    const char *disk = getenv("ETWAS_BENCH_DISK");
    uint64_t bytes = (uint64_t)(options.quick ? QUICK_MB : is_long ? LONG_MB : SHORT_MB) << 20;
    bool failed = false;

    for (unsigned round = 0; round < options.rounds; round++) {
        failed |= run_place(&options, "disk", disk != NULL ? disk : "/var/tmp", bytes);
        failed |= run_place(&options, "tmpfs", "/dev/shm", bytes);
    }
    return failed ? 1 : 0;
}
