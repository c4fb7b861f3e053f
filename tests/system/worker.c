/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/worker.h"

#include <arpa/inet.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DO = 'd', /* orders */
    END = 'e',
};

static void *call_and_nap(void *argument)
{
    for (int index = 0; index < CALLS; index++) {
        (void)syscall(SYS_getpgid, -1);
    }
    (void)usleep(2000);
    return argument;
}

void send_datagrams(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    for (int index = 0; index < DATAGRAMS; index++) {
        (void)sendto(sender, &to, 4, 0, (const struct sockaddr *)(const void *)&to, sizeof to);
    }
    (void)close(sender);
}

static void do_all(void)
{
    pthread_t threads[THREADS];
    pid_t child;

    send_datagrams();
    (void)call_and_nap(NULL);
    for (int index = 0; index < THREADS; index++) {
        (void)pthread_create(&threads[index], NULL, call_and_nap, NULL);
    }
    for (int index = 0; index < THREADS; index++) {
        (void)pthread_join(threads[index], NULL);
    }
    child = fork();
    if (child == 0) {
        (void)call_and_nap(NULL);
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

static void work(const struct worker *worker)
{
    char order;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)!write(worker->answers[1], &(char){DO}, 1);
    while (read(worker->orders[0], &order, 1) == 1 && order == DO) {
        do_all();
        (void)!write(worker->answers[1], &order, 1);
    }
    _exit(0);
}

/* It waits for an order: nothing else that it does sleeps so that a signal would wake it. */
static bool is_asleep(pid_t process)
{
    char path[64];
    char line[256] = "";
    const char *after_name;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    after_name = strrchr(line, ')');
    return after_name != NULL && after_name[2] == 'S';
}

/* What it does to begin with is not what it is told: its calls must not be a test's. */
static void await_worker(const struct worker *worker)
{
    char byte;

    assert_int_equal(read(worker->answers[0], &byte, 1), 1);
    while (!is_asleep(worker->process)) {
        (void)usleep(100);
    }
}

void begin_worker(struct worker *worker)
{
    assert_int_equal(pipe(worker->orders), 0);
    assert_int_equal(pipe(worker->answers), 0);
    worker->process = fork();
    assert_true(worker->process >= 0);
    if (worker->process == 0) {
        work(worker);
    }
    await_worker(worker);
}

void order(const struct worker *worker)
{
    char byte = DO;

    assert_int_equal(write(worker->orders[1], &byte, 1), 1);
    assert_int_equal(read(worker->answers[0], &byte, 1), 1);
}

void end_worker(const struct worker *worker)
{
    const char end = END;

    assert_int_equal(write(worker->orders[1], &end, 1), 1);
    for (int index = 0; index < 2; index++) {
        (void)close(worker->orders[index]);
        (void)close(worker->answers[index]);
    }
    assert_int_equal(waitpid(worker->process, NULL, 0), worker->process);
}

bool begin_worker_with_number(struct worker *worker, pid_t number)
{
    struct clone_args arguments = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};
    long child;

    assert_int_equal(pipe(worker->orders), 0);
    assert_int_equal(pipe(worker->answers), 0);
    child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) {
        work(worker);
    }
    worker->process = (pid_t)child;
    if (child != number) {
        return false;
    }
    await_worker(worker);
    return true;
}

uint32_t count_calls(const struct events *events, uint8_t type, uint32_t process_id)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        count += is_kernel_event(event, &perf_info_class, type) &&
                 event->record.EventHeader.ProcessId == process_id &&
                 (type != ENTER || u32_at(event, 0) == SYS_getpgid);
    }
    return count;
}

uint32_t enable_with(etwas_trace_handle session, const etwas_guid *provider, uint64_t keywords,
                     uint32_t property, EVENT_FILTER_DESCRIPTOR *filters, uint32_t count)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableProperty = property,
                                          .EnableFilterDesc = filters,
                                          .FilterDescCount = count};

    return EnableTraceEx2(session, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, keywords, 0, 0,
                          &parameters);
}

EVENT_FILTER_DESCRIPTOR filter_of(uint32_t type, const void *data, size_t bytes)
{
    return (EVENT_FILTER_DESCRIPTOR){
        .Ptr = (uint64_t)(uintptr_t)data, .Size = (uint32_t)bytes, .Type = type};
}
