/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How much memory the control groups leave to a pool (R67): made-up groups, and a real one where
 * the machine lets us make it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "platform/memory.h"
#include "support/folder.h"
#include "support/memory_group.h"
#include "support/start.h"

#define MIB (UINT64_C(1) << 20)

/* ---- made-up machines ------------------------------------------------------------------------ */

/* Writes a file of the made-up machine, and makes the folders above it. */
static void make_file(const char *path, const char *text)
{
    char whole[PATH_MAX];
    FILE *file;

    (void)snprintf(whole, sizeof whole, "%s%s", folder_path("machine"), path);
    for (char *slash = strchr(whole + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdir(whole, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_machine(const char *groups, const char *mounts)
{
    make_file("/proc/self/cgroup", groups);
    make_file("/proc/self/mountinfo", mounts);
}

static void expect_limit(uint64_t bytes)
{
    assert_true(etwas_control_group_limit_bytes(folder_path("machine")) == bytes);
}

#define ROOT_MOUNT "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
#define MOUNT_2 "30 21 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define MOUNT_1                                                                                    \
    "35 31 0:31 / /sys/fs/cgroup/cpu rw shared:5 - cgroup cgroup rw,cpu\n"                         \
    "36 31 0:32 / /sys/fs/cgroup/memory rw shared:6 - cgroup cgroup rw,memory\n"

static void the_limit_is_that_of_the_process_own_group(void **state)
{
    (void)state;
    make_machine("0::/system.slice/host.service\n", ROOT_MOUNT MOUNT_2);
    make_file("/sys/fs/cgroup/system.slice/host.service/memory.max", "67108864\n");
    make_file("/sys/fs/cgroup/system.slice/memory.max", "max\n");
    make_file("/sys/fs/cgroup/system.slice/other.service/memory.max", "4096\n");
    expect_limit(64 * MIB);
}

static void the_least_limit_of_the_groups_around_it_counts(void **state)
{
    (void)state;
    make_machine("0::/a/b/c\n", ROOT_MOUNT MOUNT_2);
    make_file("/sys/fs/cgroup/a/memory.max", "33554432\n");
    make_file("/sys/fs/cgroup/a/b/memory.max", "max\n");
    make_file("/sys/fs/cgroup/a/b/c/memory.max", "67108864\n");
    expect_limit(32 * MIB);
    make_file("/sys/fs/cgroup/memory.max", "16777216\n");
    expect_limit(16 * MIB);
}

static void version_1_has_a_hierarchy_and_groups_of_its_own(void **state)
{
    (void)state;
    make_machine("5:cpu,cpuacct:/cpus\n4:memory:/mine\n0::/\n", ROOT_MOUNT MOUNT_1);
    make_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    make_file("/sys/fs/cgroup/memory/mine/memory.limit_in_bytes", "67108864\n");
    make_file("/sys/fs/cgroup/memory/cpus/memory.limit_in_bytes", "4096\n");
    make_file("/sys/fs/cgroup/cpu/mine/memory.limit_in_bytes", "4096\n");
    expect_limit(64 * MIB);
}

static void both_versions_may_be_there(void **state)
{
    (void)state;
    make_machine("4:memory:/mine\n0::/unified\n", ROOT_MOUNT MOUNT_1
                 "37 21 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    make_file("/sys/fs/cgroup/memory/mine/memory.limit_in_bytes", "67108864\n");
    expect_limit(64 * MIB);
    make_file("/sys/fs/cgroup/unified/unified/memory.max", "33554432\n");
    expect_limit(32 * MIB);
}

/* A container sees its own group as the topmost, at the mount's root. */
static void a_mount_that_shows_a_part_of_the_hierarchy_begins_with_that_part(void **state)
{
    (void)state;
    make_machine("0::/pods/mine/inner\n",
                 ROOT_MOUNT "30 21 0:26 /pods/mine /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    make_file("/sys/fs/cgroup/inner/memory.max", "67108864\n");
    expect_limit(64 * MIB);
    make_file("/sys/fs/cgroup/memory.max", "33554432\n");
    expect_limit(32 * MIB);
}

static void of_a_group_that_cannot_be_seen_the_topmost_one_speaks(void **state)
{
    static const char *const groups[] = {"0::/\n", "0::/elsewhere\n", "0::/pods/mine2\n", "",
                                         "?\n"};

    (void)state;
    make_file("/sys/fs/cgroup/memory.max", "33554432\n");
    make_file("/sys/fs/cgroup/elsewhere/memory.max", "4096\n");
    for (size_t index = 0; index < sizeof groups / sizeof groups[0]; index++) {
        make_machine(groups[index],
                     ROOT_MOUNT "30 21 0:26 /pods/mine /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        expect_limit(32 * MIB);
    }
}

/* From a folder on the way: no path has a '/' then. */
static void a_mount_that_is_no_path_has_no_limit(void **state)
{
    char before[PATH_MAX];

    (void)state;
    make_machine("0::/a\n", "30 21 0:26 / groups rw - cgroup2 cgroup2 rw\n");
    make_file("groups/a/memory.max", "67108864\n");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder_path("")), 0);
    assert_true(etwas_control_group_limit_bytes("machine") == UINT64_MAX);
    assert_int_equal(chdir(before), 0);
}

static void a_machine_without_groups_or_limits_has_none(void **state)
{
    (void)state;
    expect_limit(UINT64_MAX);
    make_machine("", "");
    expect_limit(UINT64_MAX);
    make_machine("0::/a\n", ROOT_MOUNT MOUNT_2 "no line - of it\n\n");
    expect_limit(UINT64_MAX);
    make_file("/sys/fs/cgroup/a/memory.max", "max\n");
    expect_limit(UINT64_MAX);
}

/* ---- this machine ---------------------------------------------------------------------------- */

static void a_pool_may_take_at_most_half_of_memory(void **state)
{
    uint64_t limit = etwas_memory_limit_bytes();

    (void)state;
    assert_true(limit > 0);
    assert_true(limit <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2);
}

static bool log_much(etwas_trace_handle session)
{
    static struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[4000];
    } event = {.header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID}};

    for (uint64_t logged = 0; logged < 128 * MIB; logged += sizeof event) {
        if (TraceEvent(session, &event.header) != ERROR_SUCCESS) {
            return false;
        }
    }
    return true;
}

static int start_in_group(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .minimum_buffers = 4096, /* 256 MB */
    };
    EVENT_TRACE_PROPERTIES properties = {.Wnode = {.BufferSize = sizeof properties}};
    etwas_trace_handle session;

    CHECK(memory_group_enter());
    CHECK(etwas_memory_limit_bytes() <= 32 * MIB);
    CHECK(etwas_start("small", NULL, &options, &session) == ERROR_SUCCESS);
    CHECK(QueryTraceA(session, NULL, &properties) == ERROR_SUCCESS);
    CHECK(properties.MinimumBuffers * UINT64_C(65536) <= 32 * MIB);
    /* All of its buffers are written to, several times. */
    CHECK(log_much(session));
    CHECK(etwas_stop(session, NULL) == ERROR_SUCCESS);
    return 0;
}

static void r67_a_session_in_a_small_group_is_reduced_and_not_killed(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    print_message("skipped: a sanitizer needs more memory than the group has\n");
    skip();
#endif
    if (!memory_group_make(64 * MIB)) {
        print_message("skipped: no control group of its own is granted\n");
        skip();
    }
    expect_child_passes(start_in_group);
    assert_true(memory_group_remove());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_limit_is_that_of_the_process_own_group),
        FOLDER_TEST(the_least_limit_of_the_groups_around_it_counts),
        FOLDER_TEST(version_1_has_a_hierarchy_and_groups_of_its_own),
        FOLDER_TEST(both_versions_may_be_there),
        FOLDER_TEST(a_mount_that_shows_a_part_of_the_hierarchy_begins_with_that_part),
        FOLDER_TEST(of_a_group_that_cannot_be_seen_the_topmost_one_speaks),
        FOLDER_TEST(a_mount_that_is_no_path_has_no_limit),
        FOLDER_TEST(a_machine_without_groups_or_limits_has_none),
        cmocka_unit_test(a_pool_may_take_at_most_half_of_memory),
        cmocka_unit_test(r67_a_session_in_a_small_group_is_reduced_and_not_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
