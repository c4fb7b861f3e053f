/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/members.h"

#include <ck_pr.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAUSE_US = 500,
    TIMEOUT_US = 20000000,
    NOISE = 16, /* mappings of an allocator */
};

struct member *members;

static struct member *map_members(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *mapped = MAP_FAILED;

    if (file >= 0 && ftruncate(file, MEMBERS * sizeof *members) == 0) {
        mapped = mmap(NULL, MEMBERS * sizeof *members, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    (void)close(file);
    return mapped == MAP_FAILED ? NULL : mapped;
}

int members_begin(void **state)
{
    if (programs_begin(state) != 0) {
        return -1;
    }
    members = map_members(folder_path("members"));
    return members == NULL ? -1 : 0;
}

int members_end(void **state)
{
    (void)munmap(members, MEMBERS * sizeof *members);
    return programs_end(state);
}

/* ---- members --------------------------------------------------------------------------------- */

static struct member *self;
static uint64_t session; /* that enables the provider of this process; 0: none does */

static uint32_t callback(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    (void)context;
    (void)bytes;
    if (request == WMI_ENABLE_EVENTS) {
        ck_pr_store_64(&session, GetTraceLoggerHandle(buffer));
        ck_pr_inc_32(&self->enabled);
    } else {
        /* R141: the session takes this one, too. */
        (void)log_number(ck_pr_load_64(&session), LAST);
        ck_pr_store_64(&session, 0);
        ck_pr_inc_32(&self->disabled);
    }
    return ERROR_SUCCESS;
}

static void fill_up(etwas_trace_handle sessions[PRIVATE_SESSIONS])
{
    for (uint32_t index = 0; index < PRIVATE_SESSIONS; index++) {
        struct block block;
        char name[32];

        (void)snprintf(name, sizeof name, "own %u", index);
        prepare_block(&block, NULL);
        block.properties.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_BUFFERING_MODE;
        CHECK_IN_CHILD(StartTraceA(&sessions[index], name, &block.properties) == ERROR_SUCCESS);
    }
}

static bool has_gained_nothing(const struct belongings *before)
{
    struct belongings now = count_belongings();

    for (uint32_t waited_us = 0; waited_us < TIMEOUT_US && (now.threads > before->threads ||
                                                            now.descriptors > before->descriptors);
         waited_us += PAUSE_US) {
        (void)usleep(PAUSE_US);
        now = count_belongings();
    }
    return now.threads <= before->threads && now.descriptors <= before->descriptors &&
           (FIXTURE_SANITIZER || now.mappings <= before->mappings + NOISE);
}

/* A host may have answered too late: then it is tried again. */
static void log_one(void)
{
    uint32_t code = log_number(ck_pr_load_64(&session), self->logged);

    CHECK_IN_CHILD(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
    if (code == ERROR_SUCCESS) {
        ck_pr_inc_32(&self->logged);
    } else {
        (void)usleep(PAUSE_US);
    }
}

int be_member(uint32_t index)
{
    etwas_trace_handle sessions[PRIVATE_SESSIONS];
    etwas_trace_handle registration;
    struct belongings before;

    self = &members[index];
    ck_pr_store_32((uint32_t *)&self->process, (uint32_t)getpid());
    CHECK_IN_CHILD(comes_to(&self->may_register, 1));
    if (ck_pr_load_32(&self->is_full) != 0) {
        fill_up(sessions);
    }
    CHECK_IN_CHILD(RegisterTraceGuidsA(callback, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    ck_pr_store_32(&self->enabled_at_once, ck_pr_load_32(&self->enabled));
    before = count_belongings();
    ck_pr_store_32(&self->registered, 1);
    while (ck_pr_load_32(&self->may_end) == 0) {
        if (ck_pr_load_64(&session) != 0 &&
            ck_pr_load_32(&self->logged) < ck_pr_load_32(&self->wanted)) {
            log_one();
        } else if (ck_pr_load_32(&self->may_have_room) > ck_pr_load_32(&self->has_room)) {
            CHECK_IN_CHILD(etwas_stop(sessions[0], NULL) == ERROR_SUCCESS);
            ck_pr_inc_32(&self->has_room);
        } else {
            (void)usleep(PAUSE_US);
        }
    }
    CHECK_IN_CHILD(ck_pr_load_32(&self->enabled) != 0 || has_gained_nothing(&before));
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static uint32_t started; /* the member to be */

static int be_started(void)
{
    return be_member(started);
}

int start_member(uint32_t index)
{
    int child;

    started = index;
    child = start_program(be_started);
    assert_true(comes_to((const uint32_t *)&members[index].process, 1));
    return child;
}

int start_registered(uint32_t index)
{
    int child;

    ck_pr_store_32(&members[index].may_register, 1);
    child = start_member(index);
    assert_true(comes_to(&members[index].registered, 1));
    return child;
}

void end_member(int child, uint32_t index)
{
    ck_pr_store_32(&members[index].may_end, 1);
    assert_int_equal(exit_code_of(child), 0);
}

bool log_events(uint32_t index, uint32_t count)
{
    ck_pr_add_32(&members[index].wanted, count);
    return comes_to(&members[index].logged, members[index].wanted);
}

int run_as(const char *path)
{
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    struct stat status;
    off_t at = 0;
    int child;

    assert_int_equal(fstat(from, &status), 0);
    while (at < status.st_size) {
        assert_true(sendfile(to, from, &at, (size_t)(status.st_size - at)) > 0);
    }
    assert_int_equal(close(from) | close(to), 0);
    child = fork_child();
    if (child == 0) {
        (void)execl(path, path, "member", folder_path("members"), (char *)NULL);
        _exit(1);
    }
    return child;
}

int run_member(int count, char **arguments)
{
    if (count != 3 || strcmp(arguments[1], "member") != 0) {
        return -1;
    }
    members = map_members(arguments[2]);
    return members != NULL ? be_member(1) : 1;
}

/* ---- the controller -------------------------------------------------------------------------- */

etwas_trace_handle controlled;
static uint32_t process_ids[MEMBERS];
static etwas_wchar programs[64];
static EVENT_FILTER_DESCRIPTOR filter;

void filter_by_processes(uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        process_ids[index] = (uint32_t)members[index].process;
    }
    filter =
        (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)process_ids,
                                  count * (uint32_t)sizeof process_ids[0], EVENT_FILTER_TYPE_PID};
}

void filter_by_programs(const char *names)
{
    (void)wide_of(names, programs, sizeof programs / sizeof programs[0]);
    filter = (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)programs,
                                       (uint32_t)((strlen(names) + 1) * sizeof programs[0]),
                                       EVENT_FILTER_TYPE_EXECUTABLE_NAME};
}

void prepare_private(struct block *block, const char *file, uint32_t mode)
{
    prepare_block(block, file);
    block->properties.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
    block->properties.Wnode.Guid = control_guid;
    block->properties.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE | mode;
    block->properties.MaximumFileSize = (mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0 ? 64 : 0;
    block->second.VersionNumber = 2;
    block->second.FilterDesc = &filter;
    block->second.FilterDescCount = 1;
}

uint32_t start_private(const char *name, const char *file, uint32_t mode)
{
    struct block block;

    prepare_private(&block, file, mode);
    return StartTraceA(&controlled, name, &block.properties);
}

uint32_t enable_members(uint8_t level)
{
    return EnableTraceEx2(controlled, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, 0,
                          0, 0, NULL);
}

uint32_t control_members(const char *name, const char *file, uint32_t code)
{
    struct block block;

    prepare_private(&block, file, 0);
    block.properties.LogFileMode = 0;
    return ControlTraceA(name == NULL ? controlled : 0, name, &block.properties, code);
}

int start_controller(int (*run)(void))
{
    int child = start_program(run);

    assert_true(comes_to(&board->steps, 1));
    return child;
}

/* ---- files ----------------------------------------------------------------------------------- */

const char *file_of(const char *name, int32_t process)
{
    static char text[64];

    (void)snprintf(text, sizeof text, "%s_%d", name, (int)process);
    return folder_path(text);
}

bool has_file(const char *name, int32_t process)
{
    return access(file_of(name, process), F_OK) == 0;
}

void expect_events(const char *name, uint32_t index, uint32_t first, uint32_t count, bool has_last)
{
    const int32_t process = members[index].process;
    struct events events;

    read_events(file_of(name, process), 0, &events);
    assert_int_equal(events.count, count + has_last);
    for (uint32_t at = 0; at < events.count; at++) {
        assert_int_equal(number_of(&events.items[at]), at == count ? (uint32_t)LAST : first + at);
        assert_int_equal(events.items[at].record.EventHeader.ProcessId, process);
    }
    free_events(&events);
}
