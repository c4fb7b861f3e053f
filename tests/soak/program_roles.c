/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the programs of the soak do: hosts, providers, controllers. */
#include <ck_pr.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

enum {
    NAMES = 4,     /* of sessions: fewer than want one at times */
    PROVIDERS = 3, /* control GUIDs */
    TIMEOUT_MS = 50,
    PAUSES = 2000, /* of 1 ms, until descriptors of others' connections are closed */
    BUFFER_KB = 4, /* and few of them, so that events are lost */
    BUFFERS = 4,
    TEXT = 512,
    OF_SHARING = 8, /* descriptors at most */
};

static const etwas_guid event_class = {0x50A50A50, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};

static etwas_guid provider_of(uint32_t number)
{
    return (etwas_guid){0x50A50A51 + number, 3, 4, {8, 7, 6, 5, 4, 3, 2, 1}};
}

static bool is_over(void)
{
    return ck_pr_load_32(&soak_board->end) != 0;
}

static void name_of(struct soak_random *random, char name[TEXT])
{
    (void)snprintf(name, TEXT, "soak %u", soak_upto(random, NAMES - 1));
}

struct block {
    EVENT_TRACE_PROPERTIES properties;
    char name[TEXT];
    char file[TEXT];
};

static EVENT_TRACE_PROPERTIES *prepare(struct block *block)
{
    memset(block, 0, sizeof *block);
    block->properties.Wnode.BufferSize = sizeof *block;
    block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block->properties.LoggerNameOffset = offsetof(struct block, name);
    return &block->properties;
}

static uint32_t count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint32_t count = 0;

    while (folder != NULL && readdir(folder) != NULL) {
        count++;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

/*
 * Connections of others end when they are through, and threads open files: once there are no more
 * is enough.
 */
static int expect_descriptors(const char *where, uint32_t most)
{
    uint32_t count = count_descriptors();

    /* Where there was no space at first, the process takes part from a later call on. */
    most += soak_is_full ? OF_SHARING : 0;
    for (uint32_t pause = 0; pause < PAUSES && count > most; pause++) {
        soak_pause_us(1000);
        count = count_descriptors();
    }
    if (count > most) {
        soak_fault(where, "%u descriptors are open, and %u were", count, most);
    }
    return soak_has_faults();
}

/* ---- a host ---------------------------------------------------------------------------------- */

static void steer(etwas_trace_handle session, uint32_t number, struct soak_random *random)
{
    const etwas_guid provider = provider_of(soak_upto(random, PROVIDERS - 1));
    struct block block;

    switch (soak_upto(random, 5)) {
    case 0:
        (void)FlushTraceA(session, NULL, prepare(&block));
        break;
    case 1:
        prepare(&block)->FlushTimer = soak_upto(random, 2);
        (void)UpdateTraceA(session, NULL, &block.properties);
        break;
    case 2:
        (void)EnableTrace(EVENT_CONTROL_CODE_DISABLE_PROVIDER, number, 4, &provider, session);
        break;
    default:
        /* Its number is what providers are enabled with. */
        (void)EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, number, 0,
                             soak_once_in(random, 2) ? TIMEOUT_MS : 0, NULL);
        break;
    }
}

/*
 * Somebody else may have stopped it, or may do so now: until it is through the counts are not the
 * last ones.
 */
static void stop(etwas_trace_handle session, struct soak_account *account)
{
    etwas_session_counts counts;
    struct block block;

    (void)StopTraceA(session, NULL, prepare(&block));
    while (QueryTraceA(session, NULL, prepare(&block)) == ERROR_SUCCESS) {
        soak_pause_us(1000);
    }
    if (etwas_counts(session, &counts) != ERROR_SUCCESS) {
        soak_fault("counts", "a session that has just been stopped has none");
        return;
    }
    account->recorded_by_count = counts.recorded;
    account->lost_by_count = counts.lost;
    ck_pr_fence_release();
    ck_pr_store_32(&account->has_ended, 1);
}

static bool host_one(uint32_t *hosting, struct soak_random *random)
{
    static const uint32_t modes[] = {0, 0, EVENT_TRACE_ADDTO_TRIAGE_DUMP,
                                     EVENT_TRACE_COMPRESSED_MODE,
                                     EVENT_TRACE_ADDTO_TRIAGE_DUMP | EVENT_TRACE_COMPRESSED_MODE};
    uint32_t number = ck_pr_faa_32(&soak_board->sessions, 1) + 1;
    etwas_trace_handle session;
    struct block block;
    char name[TEXT];
    uint32_t code;

    if (number >= SOAK_SESSIONS) {
        return false;
    }
    prepare(&block)->LogFileNameOffset = offsetof(struct block, file);
    block.properties.BufferSize = BUFFER_KB;
    block.properties.MaximumBuffers = BUFFERS;
    block.properties.LogFileMode = modes[soak_upto(random, sizeof modes / sizeof *modes - 1)];
    (void)snprintf(block.file, sizeof block.file, "%s/%u.etl", soak_folder, number);
    name_of(random, name);
    ck_pr_store_32(hosting, number);
    code = StartTraceA(&session, name, &block.properties);
    if (code == ERROR_ALREADY_EXISTS || (soak_is_full && code == ERROR_DISK_FULL)) {
        soak_pause_us(soak_upto(random, 20000));
        return true;
    }
    if (code != ERROR_SUCCESS) {
        soak_fault("start", "%u", code);
        return false;
    }
    for (uint32_t steps = 2 + soak_upto(random, 20); steps != 0 && !is_over(); steps--) {
        steer(session, number, random);
        soak_pause_us(soak_upto(random, 5000));
    }
    stop(session, &soak_board->accounts[number]);
    (void)unlink(block.file);
    return true;
}

int soak_host(uint32_t program, struct soak_random *random)
{
    uint32_t descriptors = 0;

    while (!is_over() && host_one(&soak_board->hosting[program], random)) {
        descriptors = descriptors == 0 ? count_descriptors() : descriptors;
    }
    return descriptors != 0 ? expect_descriptors("host", descriptors) : 0;
}

/* ---- a provider ------------------------------------------------------------------------------ */

/*
 * The session that enables the provider, and its number, published together: an entry is written
 * once.
 */
struct enabled {
    etwas_trace_handle session;
    uint32_t number;
};

enum {
    ENABLED = 4096,
};

static struct enabled all_enabled[ENABLED];
static uint32_t enabled_count;
static struct enabled *current; /* NULL: no session enables it */

static uint32_t receive(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    etwas_trace_handle session = GetTraceLoggerHandle(buffer);
    struct enabled *entry;

    (void)context;
    (void)bytes;
    if (request == WMI_DISABLE_EVENTS || enabled_count == ENABLED) {
        ck_pr_store_ptr(&current, NULL);
    } else if (request == WMI_ENABLE_EVENTS) {
        entry = &all_enabled[enabled_count++];
        *entry = (struct enabled){session, GetTraceEnableFlags(session)};
        ck_pr_fence_release();
        ck_pr_store_ptr(&current, entry);
    }
    return ERROR_SUCCESS;
}

/*
 * A process that is killed in between may have recorded or lost one event that is counted nowhere.
 */
static void log_one(uint32_t *calling)
{
    const struct enabled *entry = ck_pr_load_ptr(&current);
    struct {
        EVENT_TRACE_HEADER header;
        uint64_t payload;
    } event = {.header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID}};
    struct soak_account *account;
    uint32_t code;

    /* Flags of a session that has just gone are 0. */
    if (entry == NULL || entry->number == 0 || entry->number >= SOAK_SESSIONS) {
        soak_pause_us(200);
        return;
    }
    account = &soak_board->accounts[entry->number];
    event.header.Guid = event_class;
    ck_pr_store_32(calling, entry->number);
    code = TraceEvent(entry->session, &event.header);
    if (code == ERROR_SUCCESS) {
        ck_pr_inc_32(&account->recorded);
    } else if (code != ERROR_INVALID_HANDLE) {
        ck_pr_inc_32(&account->lost);
    } else {
        soak_pause_us(200);
    }
    ck_pr_store_32(calling, 0);
}

static int provide(uint32_t *calling, uint32_t events, struct soak_random *random)
{
    const etwas_guid provider = provider_of(soak_upto(random, PROVIDERS - 1));
    etwas_trace_handle registration;
    uint32_t code =
        RegisterTraceGuidsA(receive, NULL, &provider, 0, NULL, NULL, NULL, &registration);

    if (code != ERROR_SUCCESS) {
        soak_fault("register", "%u", code);
        return 1;
    }
    for (uint32_t event = 0; event < events && !is_over(); event++) {
        log_one(calling);
    }
    (void)UnregisterTraceGuids(registration);
    return soak_has_faults();
}

/* A child has none of its parent's sessions, and takes part again by registering. */
static int provide_in_child(struct soak_random *random)
{
    static uint32_t calling; /* the child is killed by nobody */
    const struct enabled *parents = ck_pr_load_ptr(&current);
    EVENT_TRACE_HEADER header = {.Size = sizeof header, .Flags = WNODE_FLAG_TRACED_GUID};

    if (parents != NULL && TraceEvent(parents->session, &header) != ERROR_INVALID_HANDLE) {
        soak_fault("fork", "a child logs to a session of its parent");
    }
    ck_pr_store_ptr(&current, NULL);
    return provide(&calling, 100, random);
}

int soak_provider(uint32_t program, struct soak_random *random)
{
    int code = 0;

    while (!is_over() && code == 0) {
        int child = soak_once_in(random, 4) ? fork() : -1;

        if (child == 0) {
            _exit(provide_in_child(random));
        }
        code = provide(&soak_board->calling[program], 1 + soak_upto(random, 20000), random);
        if (child > 0) {
            int status;

            (void)waitpid(child, &status, 0);
            code = code == 0 && status == 0 ? 0 : 1;
        }
    }
    return code;
}

/* ---- a controller ---------------------------------------------------------------------------- */

static void control_one(struct soak_random *random)
{
    const etwas_guid provider = provider_of(soak_upto(random, PROVIDERS - 1));
    EVENT_TRACE_PROPERTIES *array[2 * NAMES];
    struct block blocks[2 * NAMES];
    struct block block;
    uint32_t count;
    char name[TEXT];

    name_of(random, name);
    switch (soak_upto(random, 7)) {
    case 0:
        for (uint32_t index = 0; index < 2 * NAMES; index++) {
            array[index] = prepare(&blocks[index]);
        }
        (void)QueryAllTracesA(array, 2 * NAMES, &count);
        break;
    case 1:
        (void)FlushTraceA(0, name, prepare(&block));
        break;
    case 2:
        prepare(&block)->FlushTimer = 1;
        (void)UpdateTraceA(0, name, &block.properties);
        break;
    case 3:
        (void)StopTraceA(0, name, prepare(&block));
        break;
    case 4:
        if (QueryTraceA(0, name, prepare(&block)) == ERROR_SUCCESS) {
            (void)EnableTrace(EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 4, &provider,
                              block.properties.Wnode.HistoricalContext);
        }
        break;
    default:
        (void)QueryTraceA(0, name, prepare(&block));
        break;
    }
}

int soak_controller(uint32_t program, struct soak_random *random)
{
    uint32_t descriptors = 0;

    (void)program;
    while (!is_over()) {
        control_one(random);
        descriptors = descriptors == 0 ? count_descriptors() : descriptors;
        soak_pause_us(soak_upto(random, 3000));
    }
    return descriptors != 0 ? expect_descriptors("controller", descriptors) : 0;
}
