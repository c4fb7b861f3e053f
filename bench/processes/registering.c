/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The time of a process's first registration, and the resources that the process has afterwards. */
#include <dirent.h>
#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <unistd.h>

#include "machine.h"
#include "role.h"
#include "session.h"

enum {
    PROCESSES = 100,
    QUICK_PROCESSES = 2,
};

/* {6c0f2f7e-4a5d-4f0e-8f53-0d6f4b0d1a01} */
static const etwas_guid provider_guid = {
    0x6c0f2f7e, 0x4a5d, 0x4f0e, {0x8f, 0x53, 0x0d, 0x6f, 0x4b, 0x0d, 0x1a, 0x01}};

/* ---- a process that registers ---------------------------------------------------------------- */

struct belongings {
    uint64_t threads;
    uint64_t descriptors;
    uint64_t resident_kb;
};

static uint64_t count_entries(const char *path)
{
    DIR *folder = opendir(path);
    uint64_t count = 0;

    while (folder != NULL && readdir(folder) != NULL) {
        count++;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

static struct belongings look_around(void)
{
    return (struct belongings){
        .threads = count_entries("/proc/self/task"),
        .descriptors = count_entries("/proc/self/fd"),
        .resident_kb = bench_resident_kb(),
    };
}

static uint32_t ignore(WMIDPREQUESTCODE code, void *context, uint32_t *bytes, void *buffer)
{
    (void)code;
    (void)context;
    (void)bytes;
    (void)buffer;
    return ERROR_SUCCESS;
}

enum {
    REGISTER_ALONE,
    REGISTER_TAKING_PART,
    ASK_THREADS, /* and descriptors */
    ASK_RESIDENT,
};

static struct bench_answer play_provider(const struct bench_request *request)
{
    static struct belongings before;
    static struct belongings after;
    etwas_trace_handle registration;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t code;

    switch (request->what) {
    case ASK_THREADS:
        return (struct bench_answer){
            true, {after.threads - before.threads, after.descriptors - before.descriptors}};
    case ASK_RESIDENT:
        return (struct bench_answer){true, {after.resident_kb - before.resident_kb}};
    default:
        break;
    }
    if (request->what == REGISTER_ALONE) {
        (void)setenv("ETWAS_SHARED", "0", 1);
    }
    (void)look_around(); /* allocates what the call itself needs */
    before = look_around();
    begin_ns = bench_monotonic_ns();
    code = RegisterTraceGuidsA(ignore, NULL, &provider_guid, 0, NULL, NULL, NULL, &registration);
    end_ns = bench_monotonic_ns();
    after = look_around();
    return (struct bench_answer){code == ERROR_SUCCESS, {end_ns - begin_ns}};
}

/* ---- a session that it is attached to -------------------------------------------------------- */

static struct bench_answer play_host(const struct bench_request *request)
{
    const struct bench_session_request options = {.name = "etwas_bench_registering",
                                                  .buffering = true,
                                                  .is_shared = true,
                                                  .clock = ETWAS_CLOCK_TSC,
                                                  .buffers = 64};
    static struct bench_session session;

    (void)request;
    return (struct bench_answer){
        bench_session_start(&session, &options) == NULL &&
            EnableTraceEx2(session.handle, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                           TRACE_LEVEL_INFORMATION, 0, 0, 0, NULL) == ERROR_SUCCESS,
        {0}};
}

/* ---- the rows -------------------------------------------------------------------------------- */

static void print_belongings(const struct bench_role *role, const char *how)
{
    const struct bench_answer counts =
        bench_role_ask(role, &(struct bench_request){.what = ASK_THREADS});
    const struct bench_answer memory =
        bench_role_ask(role, &(struct bench_request){.what = ASK_RESIDENT});
    char row[96];

    (void)snprintf(row, sizeof row, "processes/has/%s/threads", how);
    bench_row_value(row, "threads", (double)counts.numbers[0]);
    (void)snprintf(row, sizeof row, "processes/has/%s/descriptors", how);
    bench_row_value(row, "descriptors", (double)counts.numbers[1]);
    (void)snprintf(row, sizeof row, "processes/has/%s/resident", how);
    bench_row_value(row, "KB", (double)memory.numbers[0]);
}

static bool measure(const char *how, uint32_t what)
{
    struct bench_role role;
    struct bench_answer answer;
    char row[96];

    (void)snprintf(row, sizeof row, "processes/register/%s", how);
    if (!bench_role_start(&role, play_provider)) {
        return bench_row_refused(row, "there are no more processes");
    }
    answer = bench_role_ask(&role, &(struct bench_request){.what = what});
    if (answer.is_done) {
        bench_row_value(row, "us", (double)answer.numbers[0] / 1e3);
        print_belongings(&role, how);
    }
    bench_role_end(&role);
    return !answer.is_done && bench_row_refused(row, "cannot register the provider");
}

bool bench_processes_registering(const struct bench_part_options *options)
{
    unsigned processes = options->quick ? QUICK_PROCESSES : PROCESSES;
    struct bench_role host;
    bool failed = false;

    if (!bench_row_selected(options, "processes/register")) {
        return false;
    }
    for (unsigned process = 0; process < processes; process++) {
        failed |= measure("alone", REGISTER_ALONE);
        failed |= measure("nothing", REGISTER_TAKING_PART);
    }
    if (!bench_role_start(&host, play_host)) {
        return bench_row_refused("processes/register/attaching", "there are no more processes");
    }
    if (!bench_role_ask(&host, &(struct bench_request){0}).is_done) {
        bench_role_end(&host);
        return bench_row_refused("processes/register/attaching",
                                 BENCH_SKIPPED "sessions cannot be shared here");
    }
    for (unsigned process = 0; process < processes; process++) {
        failed |= measure("attaching", REGISTER_TAKING_PART);
    }
    bench_role_end(&host);
    return failed;
}
