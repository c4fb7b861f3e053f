/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A loaded run with the kernel's context switches recorded: threads that compute, more than there
 * are processors, threads that sleep and threads that hand over to each other.
 *
 * usage: cpu_load FILE [own]
 *
 * Records into FILE, the process alone if `own` is there, and prints as JSON what the kernel itself
 * says of each thread (/proc/PID/task/TID/schedstat). Exits with 77 where the kernel's events
 * cannot be had.
 */

#include <etwas/etwas.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SKIPPED = 77,
    SPINNERS = 4,
    SLEEPERS = 2,
    THREADS = SPINNERS + SLEEPERS + 2,
    SPIN_MS = 250,
    SLEEPS = 150,
    HANDOVERS = 20000,
    NS_PER_MS = 1000000,
};

static pthread_barrier_t done;  /* all have worked */
static pthread_barrier_t leave; /* all have been looked at */
static int pipes[2][2];

struct worker {
    pthread_t thread;
    int number;
    long id;
    uint64_t run_ns;
    uint64_t wait_ns;
};

/* Processor time of the calling thread. */
static int64_t used_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / NS_PER_MS;
}

static void spin(int64_t ms)
{
    int64_t end = used_ms() + ms;

    while (used_ms() < end) {
    }
}

static void sleep_often(void)
{
    for (int i = 0; i < SLEEPS; i++) {
        const struct timespec pause = {.tv_nsec = NS_PER_MS};

        nanosleep(&pause, NULL);
        spin(1);
    }
}

/* Two threads: one asks, the other answers. */
static void hand_over(bool asks)
{
    char byte = 0;

    for (int i = 0; i < HANDOVERS; i++) {
        if ((asks && write(pipes[0][1], &byte, 1) != 1) ||
            read(pipes[asks ? 1 : 0][0], &byte, 1) != 1 ||
            (!asks && write(pipes[1][1], &byte, 1) != 1)) {
            abort();
        }
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    worker->id = syscall(SYS_gettid);
    if (worker->number < SPINNERS) {
        spin(SPIN_MS);
    } else if (worker->number < SPINNERS + SLEEPERS) {
        sleep_often();
    } else {
        hand_over(worker->number == SPINNERS + SLEEPERS);
    }
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&leave);
    return NULL;
}

/* While it waits at the barrier, the kernel's count stands still. */
static void look_at(struct worker *worker)
{
    char path[64];
    char text[128] = "";
    char *rest;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", worker->id);
    file = fopen(path, "r");
    if (file == NULL || fgets(text, sizeof text, file) == NULL) {
        abort();
    }
    (void)fclose(file);
    worker->run_ns = strtoull(text, &rest, 10);
    worker->wait_ns = strtoull(rest, NULL, 10);
}

/*
 * Returns what the kernel may take out of a thread's time, in ticks: interrupts, and what the
 * hypervisor took.
 */
static uint64_t taken_ticks(void)
{
    unsigned long long ticks[8] = {0};
    FILE *file = fopen("/proc/stat", "r");

    if (file == NULL ||
        fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2],
               &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) != 8) {
        abort();
    }
    (void)fclose(file);
    return ticks[5] + ticks[6] + ticks[7];
}

/* ---- recording ------------------------------------------------------------------------------- */

struct block {
    EVENT_TRACE_PROPERTIES properties;
    char session_name[64];
    char file_name[1024];
};

static void prepare(struct block *block, const char *path, ULONG flags)
{
    memset(block, 0, sizeof *block);
    block->properties.Wnode.BufferSize = sizeof *block;
    block->properties.Wnode.Guid = SystemTraceControlGuid;
    block->properties.Wnode.ClientContext = 1;
    block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block->properties.BufferSize = 64;
    block->properties.MinimumBuffers = 32;
    block->properties.MaximumBuffers = 128;
    block->properties.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    block->properties.EnableFlags = flags | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    block->properties.LoggerNameOffset = offsetof(struct block, session_name);
    block->properties.LogFileNameOffset = offsetof(struct block, file_name);
    (void)snprintf(block->file_name, sizeof block->file_name, "%s", path);
}

static ULONG start(etwas_trace_handle *session, const char *path, ULONG flags)
{
    struct block block;

    prepare(&block, path, flags);
    return StartTraceA(session, KERNEL_LOGGER_NAMEA, &block.properties);
}

static void stop(etwas_trace_handle session)
{
    struct block block;

    prepare(&block, "", 0);
    if (ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP) !=
        ERROR_SUCCESS) {
        abort();
    }
}

static void run(struct worker *workers)
{
    if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0) {
        abort();
    }
    pthread_barrier_init(&done, NULL, THREADS + 1);
    pthread_barrier_init(&leave, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            abort();
        }
    }
    pthread_barrier_wait(&done);
    usleep(20 * 1000); /* until the last one waits */
    for (int i = 0; i < THREADS; i++) {
        look_at(&workers[i]);
    }
    pthread_barrier_wait(&leave);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

int main(int argc, char **argv)
{
    struct worker workers[THREADS];
    etwas_trace_handle session;
    uint64_t taken;
    ULONG code = ERROR_INVALID_PARAMETER;

    if (argc == 3) {
        (void)etwas_kernel_scope(ETWAS_KERNEL_SCOPE_PROCESS);
    }
    if (argc > 1) {
        code = start(&session, argv[1], EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_CSWITCH);
    }
    if (code != ERROR_SUCCESS) {
        printf("skipped: the kernel's events cannot be had: error %u\n", code);
        return code == ERROR_ACCESS_DENIED || code == ERROR_NOT_SUPPORTED ||
                       code == ERROR_PATH_NOT_FOUND
                   ? SKIPPED
                   : 1;
    }
    taken = taken_ticks();
    run(workers);
    taken = taken_ticks() - taken;
    stop(session);
    printf("{\"process\":%d,\"taken_ns\":%llu,\"threads\":[", (int)getpid(),
           (unsigned long long)taken * (1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK)));
    for (int i = 0; i < THREADS; i++) {
        printf("%s{\"thread\":%ld,\"run_ns\":%llu,\"wait_ns\":%llu}", i > 0 ? "," : "",
               workers[i].id, (unsigned long long)workers[i].run_ns,
               (unsigned long long)workers[i].wait_ns);
    }
    puts("]}");
    return 0;
}
