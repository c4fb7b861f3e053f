/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A program that locks its memory, and the buffers with it. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "session/fixture.h"

/* In KB, of /proc/self/status; 0: it does not say. */
static unsigned long status_value(const char *format)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long value = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL &&
           sscanf(line, format, &value) != 1) {
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return value;
}

static int log_with_locked_memory(void)
{
    enum {
        EVENTS = 10000,
        BYTES_A_KB = 1024,
    };
    etwas_trace_handle session;
    etwas_session_memory memory;
    unsigned long before;
    unsigned long locked;

    if (FIXTURE_SANITIZER || mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
        print_message("skipped: memory cannot be locked, or a sanitizer runs\n");
        return 77;
    }
    before = status_value("VmLck: %lu");
    CHECK_IN_CHILD(etwas_start("locked", folder_path("f.etl"), NULL, &session) == ERROR_SUCCESS);
    for (uint64_t number = 0; number < EVENTS; number++) {
        CHECK_IN_CHILD(log_number(session, number) == ERROR_SUCCESS);
    }
    CHECK_IN_CHILD(etwas_memory(session, &memory) == ERROR_SUCCESS);
    locked = status_value("VmLck: %lu") - before;
    /* All of the region is locked, and what nobody has touched takes no memory all the same. */
    CHECK_IN_CHILD(locked >= memory.region_bytes / BYTES_A_KB);
    CHECK_IN_CHILD(memory.region_resident_bytes < memory.region_bytes / 2);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    return 0;
}

static void a_program_may_lock_its_memory(void **state)
{
    struct rlimit limit;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if (geteuid() != 0 && limit.rlim_cur != RLIM_INFINITY) {
        print_message("skipped: memory cannot be locked here\n");
        skip();
    }
    expect_in_child(log_with_locked_memory);
    assert_int_equal(count_events(folder_path("f.etl")), 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_program_may_lock_its_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
