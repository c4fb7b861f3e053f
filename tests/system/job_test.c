/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_JOB: a control group is made, a process is moved into it, and it is removed.
 * Runs in a private mount of cgroup2, and is skipped where there is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    GROUPS = 5,
    CREATE = 32,
    TERMINATE = 33,
    ASSIGN = 35,
    ID_AT = 16,
    PROCESS_AT = 20,
    STATUS_AT = 24,
    PATH_AT = 28,
    PATH_ROOM = 128,
};

static const etwas_guid job_class = {
    0x3282fc76, 0xfeed, 0x498e, {0x8a, 0xa7, 0xe7, 0x0f, 0x45, 0x9d, 0x43, 0x0e}};

static char mounted[] = "/tmp/etwas-cgroup-XXXXXX";

struct group {
    char path[PATH_ROOM]; /* below the mount, with its '/' */
    uint64_t id;
    uint32_t process_id; /* a process that was in it */
};

static void place_of(const struct group *group, const char *file, char place[2 * PATH_ROOM])
{
    (void)snprintf(place, 2 * PATH_ROOM, "%s%.*s%s", mounted, PATH_ROOM - 1, group->path, file);
}

static void make_group(struct group *group, uint32_t index)
{
    char place[2 * PATH_ROOM];
    struct stat status;

    (void)snprintf(group->path, sizeof group->path, "/etwas-%d-%u", getpid(), index);
    place_of(group, "", place);
    assert_int_equal(mkdir(place, 0700), 0);
    assert_int_equal(stat(place, &status), 0);
    group->id = status.st_ino;
}

/* A process that ends there. */
static void assign_process(struct group *group)
{
    char place[2 * PATH_ROOM];
    char number[16];
    int child = fork_child();
    int file;

    if (child == 0) {
        (void)pause();
        _exit(0);
    }
    group->process_id = (uint32_t)child;
    place_of(group, "/cgroup.procs", place);
    file = open(place, O_WRONLY | O_CLOEXEC);
    assert_true(file >= 0);
    (void)snprintf(number, sizeof number, "%d", child);
    assert_int_equal(write(file, number, strlen(number)), (ssize_t)strlen(number));
    (void)close(file);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* The kernel may need some time until it is empty. */
static void remove_group(const struct group *group)
{
    char place[2 * PATH_ROOM];

    place_of(group, "", place);
    while (rmdir(place) != 0) {
        assert_int_equal(errno, EBUSY);
        (void)usleep(1000);
    }
}

/* Its path is from the hierarchy's root, which may be above what is mounted. */
static bool has_path(const struct event *event, const struct group *group)
{
    size_t units = strlen(group->path) + 1;
    size_t bytes = units * sizeof(etwas_wchar);
    etwas_wchar path[PATH_ROOM];

    (void)wide_of(group->path, path, PATH_ROOM);
    return event->record.UserDataLength >= PATH_AT + bytes &&
           memcmp(event->payload + event->record.UserDataLength - bytes, path, bytes) == 0;
}

static uint32_t count_of(const struct events *events, uint8_t type, const struct group *group)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (!is_kernel_event(event, &job_class, type) || u64_at(event, 0) != group->id ||
            !has_path(event, group)) {
            continue;
        }
        assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
        assert_int_equal(event->record.EventHeader.ProcessId, getpid());
        assert_int_equal(u32_at(event, ID_AT), (uint32_t)group->id);
        assert_int_equal(u32_at(event, PROCESS_AT), type == ASSIGN ? group->process_id : 0);
        assert_int_equal(u32_at(event, STATUS_AT), 0);
        count++;
    }
    return count;
}

static void a_control_group_is_recorded_from_beginning_to_end(void **state)
{
    struct group groups[GROUPS];
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_JOB | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    for (uint32_t index = 0; index < GROUPS; index++) {
        make_group(&groups[index], index);
        assign_process(&groups[index]);
        remove_group(&groups[index]);
    }
    read_and_account(session, &events);
    for (uint32_t index = 0; index < GROUPS; index++) {
        assert_int_equal(count_of(&events, CREATE, &groups[index]), 1);
        assert_int_equal(count_of(&events, ASSIGN, &groups[index]), 1);
        assert_int_equal(count_of(&events, TERMINATE, &groups[index]), 1);
    }
    free_events(&events);
}

/* False: not here. Whatever is mounted goes with the process. */
static bool mount_groups(void)
{
    if (mkdtemp(mounted) == NULL) {
        return false;
    }
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", mounted, "cgroup2", 0, NULL) != 0) {
        (void)rmdir(mounted);
        return false;
    }
    return true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_control_group_is_recorded_from_beginning_to_end),
    };
    int result;

    if (!mount_groups()) {
        (void)printf("skipped: control groups cannot be mounted in a private namespace\n");
        return 77;
    }
    result = RUN_KERNEL_TESTS("system job", tests);
    (void)umount(mounted);
    (void)rmdir(mounted);
    return result;
}
