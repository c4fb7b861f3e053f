/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Private sessions whose filters name other processes: each of these has a session of its own, with its own file, and
 * does what the controller says; others have nothing. By public calls alone, each process with ETWAS_SHARED and a
 * runtime folder of the test's.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    MEMBERS = 3,
    EVENTS = 1000,
    LAST = 1000000, /* what a provider logs when it is disabled */
    PAUSE_US = 500,
    PATIENCE_US = 20000000,
    NOISE = 16, /* mappings of an allocator */
    PRIVATE_SESSIONS = 8,
};

/* A provider's process. */
struct member {
    int32_t process;
    uint32_t may_register;
    uint32_t registered;
    uint32_t enabled_at_once; /* when registering it returned */
    uint32_t enabled;
    uint32_t disabled;
    uint32_t wanted; /* so many events */
    uint32_t logged;
    uint32_t is_full; /* it has all the private sessions that it may … */
    uint32_t may_have_room;
    uint32_t has_room; /* … and one less */
    uint32_t may_end;
};

/* In a file, which all processes of a test share. */
struct board {
    struct member members[MEMBERS];
    uint32_t started; /* the controller's session is */
};

static struct board *board;

static struct board *map_board(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *mapped = MAP_FAILED;

    if (file >= 0 && ftruncate(file, sizeof *board) == 0) {
        mapped = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    (void)close(file);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static int begin(void **state)
{
    (void)folder_setup(state);
    board = map_board(folder_path("board"));
    return board == NULL || setenv("ETWAS_SHARED", "1", 1) != 0 ||
                   setenv("ETWAS_RUNTIME_DIR", folder_path("run"), 1) != 0
               ? -1
               : 0;
}

static int end(void **state)
{
    (void)munmap(board, sizeof *board);
    return folder_teardown(state);
}

static bool comes_to(const uint32_t *count, uint32_t wanted)
{
    for (uint32_t waited_us = 0; waited_us < PATIENCE_US; waited_us += PAUSE_US) {
        if (ck_pr_load_32(count) >= wanted) {
            return true;
        }
        (void)usleep(PAUSE_US);
    }
    return false;
}

/* ---- a provider's process ---------------------------------------------------------------------- */

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

    for (uint32_t waited_us = 0; waited_us < PATIENCE_US && now.threads > before->threads;
         waited_us += PAUSE_US) {
        (void)usleep(PAUSE_US);
        now = count_belongings();
    }
    return now.threads <= before->threads && now.descriptors == before->descriptors &&
           (FIXTURE_SANITIZER || now.mappings <= before->mappings + NOISE);
}

/* Registers, logs as many events as are wanted while it is enabled, and stays until it shall end. */
static int be_member(uint32_t index)
{
    etwas_trace_handle sessions[PRIVATE_SESSIONS];
    etwas_trace_handle registration;
    struct belongings before;

    self = &board->members[index];
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
            CHECK_IN_CHILD(log_number(ck_pr_load_64(&session), self->logged) == ERROR_SUCCESS);
            ck_pr_inc_32(&self->logged);
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

static int start_member(uint32_t index)
{
    int child = fork_child();

    if (child == 0) {
        exit(be_member(index));
    }
    assert_true(comes_to((const uint32_t *)&board->members[index].process, 1));
    return child;
}

static int start_registered(uint32_t index)
{
    int child;

    ck_pr_store_32(&board->members[index].may_register, 1);
    child = start_member(index);
    assert_true(comes_to(&board->members[index].registered, 1));
    return child;
}

static void end_member(int child, uint32_t index)
{
    ck_pr_store_32(&board->members[index].may_end, 1);
    assert_int_equal(exit_code_of(child), 0);
}

static bool log_events(uint32_t index, uint32_t count)
{
    ck_pr_add_32(&board->members[index].wanted, count);
    return comes_to(&board->members[index].logged, board->members[index].wanted);
}

/* ---- the controller ---------------------------------------------------------------------------- */

static etwas_trace_handle controlled;
static uint32_t process_ids[MEMBERS];
static etwas_wchar programs[64];
static EVENT_FILTER_DESCRIPTOR filter;

static void filter_by_processes(uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        process_ids[index] = (uint32_t)board->members[index].process;
    }
    filter =
        (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)process_ids,
                                  count * (uint32_t)sizeof process_ids[0], EVENT_FILTER_TYPE_PID};
}

static void filter_by_programs(const char *names)
{
    (void)wide_of(names, programs, sizeof programs / sizeof programs[0]);
    filter = (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)programs,
                                       (uint32_t)((strlen(names) + 1) * sizeof programs[0]),
                                       EVENT_FILTER_TYPE_EXECUTABLE_NAME};
}

static void prepare_private(struct block *block, const char *file, uint32_t mode)
{
    prepare_block(block, file);
    block->properties.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
    block->properties.Wnode.Guid = control_guid;
    block->properties.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE | mode;
    block->second.VersionNumber = 2;
    block->second.FilterDesc = &filter;
    block->second.FilterDescCount = 1;
}

static uint32_t start_private(const char *name, const char *file, uint32_t mode)
{
    struct block block;

    prepare_private(&block, file, mode);
    return StartTraceA(&controlled, name, &block.properties);
}

static uint32_t enable(uint8_t level)
{
    return EnableTraceEx2(controlled, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, 0,
                          0, 0, NULL);
}

/* R27: with the filters; R136: an UPDATE with the flag. */
static uint32_t control(const char *name, const char *file, uint32_t code)
{
    struct block block;

    prepare_private(&block, file, 0);
    block.properties.LogFileMode = 0;
    return ControlTraceA(name == NULL ? controlled : 0, name, &block.properties, code);
}

/* ---- files ------------------------------------------------------------------------------------- */

static const char *file_of(const char *name, int32_t process)
{
    static char text[64];

    (void)snprintf(text, sizeof text, "%s_%d", name, (int)process);
    return folder_path(text);
}

static bool has_file(const char *name, int32_t process)
{
    return access(file_of(name, process), F_OK) == 0;
}

/* The numbers from `first` on, and the one that is logged when the provider is disabled. */
static void expect_events(const char *name, int32_t process, uint32_t first, uint32_t count,
                          bool has_last)
{
    struct events events;

    read_events(file_of(name, process), 0, &events);
    assert_int_equal(events.count, count + has_last);
    for (uint32_t index = 0; index < events.count; index++) {
        assert_int_equal(number_of(&events.items[index]),
                         index == count ? (uint32_t)LAST : first + index);
        assert_int_equal(events.items[index].record.EventHeader.ProcessId, process);
    }
    free_events(&events);
}

/* ---- processes by their ids -------------------------------------------------------------------- */

/* It is none of those that are meant itself, and its file is named from its folder. */
static int control_processes(void)
{
    struct member *members = board->members;
    struct block block;

    CHECK_IN_CHILD(chdir(folder_path(".")) == 0);
    CHECK_IN_CHILD(start_private("by id", "log.etl", 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&members[0].enabled, 1));
    ck_pr_store_32(&members[1].may_register, 1);
    CHECK_IN_CHILD(comes_to(&members[1].registered, 1));
    CHECK_IN_CHILD(members[1].enabled_at_once == 1);
    CHECK_IN_CHILD(log_events(0, EVENTS) && log_events(1, EVENTS));
    prepare_private(&block, "", 0);
    CHECK_IN_CHILD(QueryTraceA(controlled, NULL, &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(block.properties.BuffersWritten == 0);
    CHECK_IN_CHILD(control(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&members[0].disabled, 1) && comes_to(&members[1].disabled, 1));
    CHECK_IN_CHILD(members[2].enabled == 0);
    CHECK_IN_CHILD(!has_file("log.etl", getpid()));
    return 0;
}

/* R24, R48, R98 */
static void processes_named_by_id_have_sessions_of_their_own(void **state)
{
    int children[MEMBERS];

    (void)state;
    children[0] = start_registered(0);
    children[1] = start_member(1);
    children[2] = start_registered(2);
    filter_by_processes(2);
    expect_in_child(control_processes);
    for (uint32_t index = 0; index < MEMBERS; index++) {
        end_member(children[index], index);
    }
    expect_events("log.etl", board->members[0].process, 0, EVENTS, true);
    expect_events("log.etl", board->members[1].process, 0, EVENTS, true);
    assert_false(has_file("log.etl", board->members[2].process));
}

/* ---- programs by their names ------------------------------------------------------------------- */

/* This program under another name, which is member 1. */
static int run_as(const char *path)
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
        (void)execl(path, path, "member", folder_path("board"), (char *)NULL);
        _exit(1);
    }
    return child;
}

static int control_programs(void)
{
    CHECK_IN_CHILD(start_private("by name", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable(4) == ERROR_SUCCESS);
    ck_pr_store_32(&board->started, 1);
    CHECK_IN_CHILD(comes_to(&board->members[1].registered, 1));
    CHECK_IN_CHILD(log_events(1, EVENTS));
    CHECK_IN_CHILD(control(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->members[1].disabled, 1));
    return 0;
}

/* R24, R26: without regard to case, one of several; a program that begins later has it from its first event on. */
static void programs_named_have_sessions_of_their_own(void **state)
{
    int other = start_registered(0);
    int controller;
    int program;

    (void)state;
    filter_by_programs("nobody;Shop-TILL");
    controller = fork_child();
    if (controller == 0) {
        exit(control_programs());
    }
    assert_true(comes_to(&board->started, 1));
    ck_pr_store_32(&board->members[1].may_register, 1);
    program = run_as(folder_path("shop-till"));
    expect_child(controller);
    end_member(program, 1);
    end_member(other, 0);
    assert_int_equal(board->members[1].enabled_at_once, 1);
    assert_int_equal(board->members[0].enabled, 0);
    expect_events("log.etl", board->members[1].process, 0, EVENTS, true);
    assert_false(has_file("log.etl", board->members[0].process));
}

/* ---- control ----------------------------------------------------------------------------------- */

static int control_by_name(void)
{
    CHECK_IN_CHILD(control("controlled", NULL, EVENT_TRACE_CONTROL_QUERY) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control("controlled", folder_path("other.etl"), EVENT_TRACE_CONTROL_UPDATE) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, 1) && log_events(1, 1));
    CHECK_IN_CHILD(control("controlled", NULL, EVENT_TRACE_CONTROL_FLUSH) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control("controlled", NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control("controlled", NULL, EVENT_TRACE_CONTROL_STOP) ==
                   ERROR_WMI_INSTANCE_NOT_FOUND);
    return 0;
}

static int control_them(void)
{
    CHECK_IN_CHILD(start_private("controlled", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->members[0].enabled, 1) &&
                   comes_to(&board->members[1].enabled, 1));
    CHECK_IN_CHILD(log_events(0, EVENTS) && log_events(1, EVENTS));
    ck_pr_store_32(&board->started, 1);
    CHECK_IN_CHILD(comes_to(&board->members[0].disabled, 1));
    CHECK_IN_CHILD(comes_to(&board->members[1].disabled, 1));
    return 0;
}

/* R27, R135: UPDATE, FLUSH and STOP, asked for by a process that is neither, reach all of them. */
static void control_reaches_every_process(void **state)
{
    int children[2] = {start_registered(0), start_registered(1)};
    int controller;

    (void)state;
    filter_by_processes(2);
    controller = fork_child();
    if (controller == 0) {
        exit(control_them());
    }
    assert_true(comes_to(&board->started, 1));
    expect_in_child(control_by_name);
    expect_child(controller);
    for (uint32_t index = 0; index < 2; index++) {
        end_member(children[index], index);
        expect_events("log.etl", board->members[index].process, 0, EVENTS, false);
        expect_events("other.etl", board->members[index].process, EVENTS, 1, true);
    }
}

static int control_recorders(void)
{
    CHECK_IN_CHILD(start_private("recorders", NULL, EVENT_TRACE_BUFFERING_MODE) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, EVENTS) && log_events(1, EVENTS));
    CHECK_IN_CHILD(control(NULL, folder_path("snapshot.etl"), EVENT_TRACE_CONTROL_FLUSH) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(control(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

static void a_flush_takes_a_snapshot_of_each_recorder(void **state)
{
    int children[2] = {start_registered(0), start_registered(1)};

    (void)state;
    filter_by_processes(2);
    expect_in_child(control_recorders);
    for (uint32_t index = 0; index < 2; index++) {
        end_member(children[index], index);
        expect_events("snapshot.etl", board->members[index].process, 0, EVENTS, false);
    }
}

/* ---- ends and limits --------------------------------------------------------------------------- */

static int control_until_killed(void)
{
    CHECK_IN_CHILD(start_private("killed", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable(4) == ERROR_SUCCESS);
    ck_pr_store_32(&board->started, 1);
    (void)pause();
    return 0;
}

/* The files are whole. Nobody has to look for that: another registration is not needed. */
static void sessions_end_when_the_controller_is_killed(void **state)
{
    int child = start_registered(0);
    int controller;

    (void)state;
    filter_by_processes(1);
    controller = fork_child();
    if (controller == 0) {
        exit(control_until_killed());
    }
    assert_true(comes_to(&board->started, 1));
    assert_true(log_events(0, EVENTS));
    assert_int_equal(kill(controller, SIGKILL), 0);
    assert_int_equal(waitpid(controller, NULL, 0), controller);
    assert_true(comes_to(&board->members[0].disabled, 1));
    end_member(child, 0);
    expect_events("log.etl", board->members[0].process, 0, EVENTS, true);
}

static int control_a_full_process(void)
{
    CHECK_IN_CHILD(start_private("full", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control(NULL, NULL, EVENT_TRACE_CONTROL_FLUSH) == ERROR_SUCCESS);
    CHECK_IN_CHILD(board->members[0].enabled == 0);
    ck_pr_store_32(&board->members[0].may_have_room, 1);
    CHECK_IN_CHILD(comes_to(&board->members[0].has_room, 1));
    CHECK_IN_CHILD(enable(5) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, EVENTS));
    CHECK_IN_CHILD(control(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->members[0].disabled, 1));
    return 0;
}

/* R47: a process that has all it may has none of these, until there is room and the controller asks for something. */
static void r47_a_process_without_room_is_passed_by(void **state)
{
    int child;

    (void)state;
    ck_pr_store_32(&board->members[0].is_full, 1);
    child = start_registered(0);
    filter_by_processes(1);
    expect_in_child(control_a_full_process);
    end_member(child, 0);
    expect_events("log.etl", board->members[0].process, 0, EVENTS, true);
}

static int start_what_there_is(void)
{
    const etwas_guid another = {0xabc, 1, 2, {3}};
    struct block block;

    CHECK_IN_CHILD(start_private("TAKEN", NULL, EVENT_TRACE_BUFFERING_MODE) ==
                   ERROR_ALREADY_EXISTS);
    CHECK_IN_CHILD(start_private("free", NULL, EVENT_TRACE_BUFFERING_MODE) == ERROR_ALREADY_EXISTS);
    prepare_private(&block, NULL, EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_PRIVATE_IN_PROC);
    CHECK_IN_CHILD(StartTraceA(&controlled, "free", &block.properties) == ERROR_INVALID_PARAMETER);
    prepare_private(&block, NULL, EVENT_TRACE_BUFFERING_MODE);
    block.properties.Wnode.Guid = another;
    CHECK_IN_CHILD(StartTraceA(&controlled, "free", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

/* R10, R41, R23; and one without filters is nobody's but its own process's. */
static int control_names(void)
{
    struct block block;

    prepare_private(&block, NULL, EVENT_TRACE_BUFFERING_MODE);
    block.second.FilterDescCount = 0;
    CHECK_IN_CHILD(StartTraceA(&controlled, "own", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(controlled, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(start_private("taken", NULL, EVENT_TRACE_BUFFERING_MODE) == ERROR_SUCCESS);
    ck_pr_store_32(&board->started, 1);
    CHECK_IN_CHILD(comes_to(&board->members[0].may_end, 1));
    CHECK_IN_CHILD(control(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

static void names_and_providers_are_taken_once(void **state)
{
    int child = start_registered(0);
    int controller;

    (void)state;
    filter_by_processes(1);
    controller = fork_child();
    if (controller == 0) {
        exit(control_names());
    }
    assert_true(comes_to(&board->started, 1));
    expect_in_child(start_what_there_is);
    end_member(child, 0);
    expect_child(controller);
    assert_int_equal(board->members[0].enabled, 0);
}

#define PRIVATE_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        PRIVATE_TEST(processes_named_by_id_have_sessions_of_their_own),
        PRIVATE_TEST(programs_named_have_sessions_of_their_own),
        PRIVATE_TEST(control_reaches_every_process),
        PRIVATE_TEST(a_flush_takes_a_snapshot_of_each_recorder),
        PRIVATE_TEST(sessions_end_when_the_controller_is_killed),
        PRIVATE_TEST(r47_a_process_without_room_is_passed_by),
        PRIVATE_TEST(names_and_providers_are_taken_once),
    };

    if (count == 3 && strcmp(arguments[1], "member") == 0) {
        board = map_board(arguments[2]);
        return board != NULL ? be_member(1) : 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
