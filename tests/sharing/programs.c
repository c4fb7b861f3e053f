/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/programs.h"

#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sharing/service.h"

enum {
    PAUSE_US = 500,
    TIMEOUT_US = 100000000,
    LEVEL = 4,
    KEYWORD = 0x30,
};

struct board *board;

static char runtime_folder[] = "/tmp/etwas-programs-XXXXXX";

int programs_begin_all(void **state)
{
    (void)state;
    return mkdtemp(runtime_folder) == NULL || setenv("ETWAS_SHARED", "1", 1) != 0 ||
                   setenv("ETWAS_RUNTIME_DIR", runtime_folder, 1) != 0
               ? -1
               : 0;
}

/* Processes that were killed have left files there. */
int programs_end_all(void **state)
{
    (void)state;
    etwas_service_end(); /* else this process makes the folder anew */
    return folder_remove(runtime_folder);
}

void *shared_memory(size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return mapped == MAP_FAILED ? NULL : mapped;
}

int programs_begin(void **state)
{
    (void)folder_setup(state);
    board = shared_memory(sizeof *board);
    return board == NULL ? -1 : 0;
}

int programs_end(void **state)
{
    (void)munmap(board, sizeof *board);
    return folder_teardown(state);
}

bool comes_to(const uint32_t *count, uint32_t wanted)
{
    for (uint32_t waited_us = 0; waited_us < TIMEOUT_US; waited_us += PAUSE_US) {
        if (ck_pr_load_32(count) >= wanted) {
            return true;
        }
        (void)usleep(PAUSE_US);
    }
    return false;
}

int start_program(int (*run)(void))
{
    int child = fork_child();

    if (child == 0) {
        exit(run());
    }
    return child;
}

void kill_program(int program)
{
    int status;

    assert_int_equal(kill(program, SIGKILL), 0);
    assert_int_equal(waitpid(program, &status, 0), program);
}

/* ---- providers ------------------------------------------------------------------------------- */

static uint64_t session; /* that enables the provider of this process */

uint64_t enabling_session(void)
{
    return ck_pr_load_64(&session);
}

static uint32_t note_request(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    etwas_trace_handle handle = GetTraceLoggerHandle(buffer);

    (void)context;
    (void)bytes;
    switch (request) {
    case WMI_ENABLE_EVENTS:
        ck_pr_store_32(&board->level, GetTraceEnableLevel(handle));
        ck_pr_store_64(&board->keyword, GetTraceEnableFlags(handle));
        ck_pr_store_64(&session, handle);
        ck_pr_inc_32(&board->enabled);
        break;
    case WMI_DISABLE_EVENTS:
        ck_pr_store_64(&session, 0);
        ck_pr_inc_32(&board->disabled);
        break;
    default:
        ck_pr_inc_32(&board->captured);
        break;
    }
    return ERROR_SUCCESS;
}

etwas_trace_handle register_provider(const etwas_guid *control)
{
    etwas_trace_handle registration;

    CHECK_IN_CHILD(RegisterTraceGuidsA(note_request, NULL, control, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    return registration;
}

/* Else it is counted lost, as the session does. */
static bool is_recorded(uint32_t code)
{
    CHECK_IN_CHILD(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
    if (code != ERROR_SUCCESS) {
        ck_pr_inc_32(&board->lost);
    }
    return code == ERROR_SUCCESS;
}

void log_until_recorded(uint64_t number)
{
    while (!is_recorded(log_number(enabling_session(), number))) {
        (void)usleep(PAUSE_US);
    }
    ck_pr_inc_32(&board->logged);
}

static uint64_t modern;

void write_modern(uint64_t provider, uint16_t id, uint64_t number)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = id, .Level = 1, .Keyword = 1};
    uint64_t process = (uint64_t)getpid();
    EVENT_DATA_DESCRIPTOR data[2];

    EventDataDescCreate(&data[0], &number, sizeof number);
    EventDataDescCreate(&data[1], &process, sizeof process);
    while (!is_recorded(EventWrite(provider, &descriptor, 2, data))) {
        (void)usleep(PAUSE_US);
    }
}

static void note_change(const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t any,
                        uint64_t all, EVENT_FILTER_DESCRIPTOR *filter, void *context)
{
    (void)source;
    (void)all;
    (void)filter;
    (void)context;
    switch (is_enabled) {
    case EVENT_CONTROL_CODE_ENABLE_PROVIDER:
        ck_pr_store_32(&board->level, level);
        ck_pr_store_64(&board->keyword, any);
        ck_pr_inc_32(&board->enabled);
        break;
    case EVENT_CONTROL_CODE_DISABLE_PROVIDER:
        ck_pr_inc_32(&board->disabled);
        break;
    default:
        write_modern(modern, 1, RUNDOWN);
        ck_pr_inc_32(&board->captured);
        break;
    }
}

static void join_group(uint64_t provider, const etwas_guid *group)
{
    uint8_t traits[4 + 3 + sizeof *group] = {
        sizeof traits, 0, 'N', 0, 3 + sizeof *group, 0, ETW_PROVIDER_TRAIT_TYPE_GROUP};

    memcpy(traits + 7, group, sizeof *group);
    CHECK_IN_CHILD(EventSetInformation(provider, EventProviderSetTraits, traits, sizeof traits) ==
                   ERROR_SUCCESS);
}

uint64_t register_modern(const etwas_guid *provider, const etwas_guid *group)
{
    CHECK_IN_CHILD(EventRegister(provider, note_change, NULL, &modern) == ERROR_SUCCESS);
    if (group != NULL) {
        join_group(modern, group);
    }
    ck_pr_inc_32(&board->registered);
    return modern;
}

static void log_and_note(uint64_t number)
{
    uint64_t handle = enabling_session();

    if (handle == 0) {
        (void)usleep(PAUSE_US);
        return;
    }
    switch (log_number(handle, number)) {
    case ERROR_SUCCESS:
        ck_pr_inc_32(&board->logged);
        break;
    case ERROR_INVALID_HANDLE:
        ck_pr_inc_32(&board->refused);
        break;
    default:
        ck_pr_inc_32(&board->lost);
        break;
    }
}

int logging_program(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);

    for (uint64_t number = 0; ck_pr_load_32(&board->end) == 0; number++) {
        log_and_note(number);
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

int idle_program(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);

    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

/* ---- sessions -------------------------------------------------------------------------------- */

etwas_trace_handle start_in_file(const char *name, const char *file)
{
    struct block block;

    prepare_block(&block, folder_path(file));
    return start_block(name, &block);
}

uint32_t stop_by_handle(etwas_trace_handle handle)
{
    struct block block;

    prepare_block(&block, NULL);
    assert_int_equal(StopTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
    return block.properties.EventsLost;
}

uint32_t query_all(uint32_t *count)
{
    static struct block blocks[MOST_SESSIONS];
    EVENT_TRACE_PROPERTIES *array[MOST_SESSIONS];

    for (uint32_t index = 0; index < MOST_SESSIONS; index++) {
        prepare_block(&blocks[index], NULL);
        array[index] = &blocks[index].properties;
    }
    return QueryAllTracesA(array, MOST_SESSIONS, count);
}

uint32_t enable_with_timeout(etwas_trace_handle handle, const etwas_guid *provider,
                             uint32_t timeout_ms)
{
    return EnableTraceEx2(handle, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, LEVEL, KEYWORD, 0,
                          timeout_ms, NULL);
}

uint32_t count_runtime_files(void)
{
    return folder_count_shown(runtime_folder);
}
