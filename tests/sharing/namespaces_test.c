/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Programs in PID namespaces of their own, as in containers that have the runtime folder: each is
 * process 1 there, and events have the ids that the host of their session sees. Needs root.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sharing/programs.h"

enum {
    CONTAINERS = 2,
    EVENTS = 100,
};

static int (*contained)(void);
static int32_t *processes; /* by the container's number, as this test sees them */
static uint32_t container; /* of the program that is started next */

/* ---- containers ------------------------------------------------------------------------------ */

/* The first process of a PID namespace, which sees /proc as it is there. */
static int run_inside(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", 0, NULL) != 0) {
        print_message("skipped: mounts in a private namespace are not granted\n");
        return 77;
    }
    CHECK_IN_CHILD(getpid() == 1);
    return contained();
}

static int run_container(void)
{
    int child;

    if (unshare(CLONE_NEWPID) != 0) {
        print_message("skipped: a PID namespace is not granted\n");
        return 77;
    }
    child = start_program(run_inside);
    processes[container] = child;
    return exit_code_of(child);
}

static int start_contained(uint32_t number, int (*run)(void))
{
    container = number;
    contained = run;
    return start_program(run_container);
}

static int do_nothing(void)
{
    return 0;
}

static int namespaces_begin(void **state)
{
    int code = programs_begin(state);

    processes = shared_memory(CONTAINERS * sizeof *processes);
    return processes != NULL ? code : -1;
}

static int namespaces_end(void **state)
{
    (void)munmap(processes, CONTAINERS * sizeof *processes);
    return programs_end(state);
}

/* ---- what they run --------------------------------------------------------------------------- */

/* Events of its number. */
static int contained_provider(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);

    while (enabling_session() == 0) {
        (void)usleep(1000); /* the host answered late */
    }
    for (uint32_t event = 0; event < EVENTS; event++) {
        log_until_recorded(container);
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static int contained_host_and_provider(void)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE};
    etwas_trace_handle own;

    CHECK_IN_CHILD(etwas_start("own", NULL, &options, &own) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_number(own, 0) == ERROR_SUCCESS);
    return contained_provider();
}

/* ---- tests ----------------------------------------------------------------------------------- */

/*
 * Checks that all events of each container are there, with the id of its process and the thread's
 * own.
 */
static void expect_ids(const char *path, const int32_t ids[CONTAINERS])
{
    uint32_t found[CONTAINERS] = {0};
    struct events events;

    read_events(path, 0, &events);
    for (size_t index = 0; index < events.count; index++) {
        const EVENT_HEADER *header = &events.items[index].record.EventHeader;
        uint64_t number = number_of(&events.items[index]);

        assert_in_range(number, 0, CONTAINERS - 1);
        assert_int_equal(header->ProcessId, ids[number]);
        assert_int_equal(header->ThreadId, 1);
        found[number]++;
    }
    for (uint32_t number = 0; number < CONTAINERS; number++) {
        assert_int_equal(found[number], EVENTS);
    }
    free_events(&events);
}

static void run_containers(int (*run)(void))
{
    etwas_trace_handle session;
    int programs[CONTAINERS];

    expect_child(start_contained(0, do_nothing));
    session = start_in_file("outside", "outside.etl");
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    for (uint32_t number = 0; number < CONTAINERS; number++) {
        programs[number] = start_contained(number, run);
    }
    for (uint32_t number = 0; number < CONTAINERS; number++) {
        assert_int_equal(exit_code_of(programs[number]), 0);
    }
    stop_session(session, NULL);
}

/* Else process 1 of one and process 1 of another would be one in the file. */
static void events_have_the_ids_that_their_host_sees(void **state)
{
    (void)state;
    run_containers(contained_provider);
    assert_int_not_equal(processes[0], processes[1]);
    expect_ids(folder_path("outside.etl"), processes);
}

/* A process has one id all the time: its own, if it needed that first. */
static void a_process_that_logged_before_keeps_its_id(void **state)
{
    static const int32_t own[CONTAINERS] = {1, 1};

    (void)state;
    run_containers(contained_host_and_provider);
    expect_ids(folder_path("outside.etl"), own);
}

#define NAMESPACES_TEST(test)                                                                      \
    cmocka_unit_test_setup_teardown(test, namespaces_begin, namespaces_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NAMESPACES_TEST(events_have_the_ids_that_their_host_sees),
        NAMESPACES_TEST(a_process_that_logged_before_keeps_its_id),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
