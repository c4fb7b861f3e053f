/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/unavailability.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "platform/machine.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

#define MONITOR (UINT64_C(1) << CAP_PERFMON)
#define ADMINISTER (UINT64_C(1) << CAP_SYS_ADMIN)

enum {
    PARANOID_ROOM = 16,
    LEAST_LINUX = 6,
    MOST_PARANOID = 2, /* in Linux itself; distributions add higher values */
};

static bool is_denial(int error)
{
    return error == EACCES || error == EPERM;
}

static uint32_t code_of(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return ERROR_ACCESS_DENIED;
    case ENODEV:
        return ERROR_NOT_FOUND;
    case ENOMEM:
        return ERROR_NOT_ENOUGH_MEMORY;
    case ENOSYS:
    case ENOENT:
    case EINVAL:
    case E2BIG:
    case EOPNOTSUPP:
        return ERROR_NOT_SUPPORTED;
    default:
        return ERROR_NO_SYSTEM_RESOURCES;
    }
}

uint32_t etwas_unavailability_code(const struct etwas_unavailability *reason)
{
    if (reason->cause == ETWAS_UNAVAILABLE_NOTHING) {
        return ERROR_SUCCESS;
    }
    if (reason->cause == ETWAS_UNAVAILABLE_THREADS ||
        (reason->cause == ETWAS_UNAVAILABLE_TRACEFS && reason->error == ENOENT)) {
        return ERROR_PATH_NOT_FOUND;
    }
    if (reason->cause == ETWAS_UNAVAILABLE_OWN) {
        return ERROR_ACCESS_DENIED;
    }
    return code_of(reason->error);
}

bool etwas_unavailability_is_memory(const struct etwas_unavailability *reason)
{
    return reason->cause == ETWAS_UNAVAILABLE_RING && is_denial(reason->error);
}

/* The effective capabilities of this thread. */
static bool has_any(uint64_t capabilities)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    uint64_t effective;

    if (syscall(SYS_capget, &header, data) != 0) {
        return false;
    }
    effective = (uint64_t)data[1].effective << 32 | data[0].effective;
    return (effective & capabilities) != 0;
}

static void read_paranoid(char paranoid[PARANOID_ROOM])
{
    if (!etwas_this_machine.text("/proc/sys/kernel/perf_event_paranoid", paranoid, PARANOID_ROOM)) {
        (void)strcpy(paranoid, "unknown");
    }
    paranoid[strcspn(paranoid, "\n")] = 0;
}

static void explain_denied_event(char *text, size_t room)
{
    char paranoid[PARANOID_ROOM];

    read_paranoid(paranoid);
    if (strtol(paranoid, NULL, 10) > MOST_PARANOID && !has_any(ADMINISTER)) {
        (void)snprintf(text, room,
                       "The process needs CAP_PERFMON to see the whole system's events; while "
                       "kernel.perf_event_paranoid is above 2, Debian's kernels want "
                       "CAP_SYS_ADMIN instead: it is %s",
                       paranoid);
        return;
    }
    if (has_any(MONITOR | ADMINISTER)) {
        (void)snprintf(text, room,
                       "The kernel refuses perf events although the process has CAP_PERFMON: "
                       "perhaps a container's seccomp filter or a security module forbids "
                       "perf_event_open");
        return;
    }
    (void)snprintf(text, room,
                   "The process needs CAP_PERFMON to see the whole system's events, or "
                   "kernel.perf_event_paranoid has to be -1: it is %s",
                   paranoid);
}

static void explain_denied_own_event(char *text, size_t room)
{
    char paranoid[PARANOID_ROOM];

    read_paranoid(paranoid);
    (void)snprintf(
        text, room,
        "The kernel refuses the process its own perf events: kernel.perf_event_paranoid is "
        "%s, and above 2 some kernels do; else a container's seccomp filter may forbid "
        "perf_event_open",
        paranoid);
}

static const char *name_of_flag(int bit)
{
    static const struct {
        uint8_t bit;
        char name[19];
    } names[] = {{3, "PROCESS_COUNTERS"},
                 {5, "DPC"},
                 {6, "INTERRUPT"},
                 {7, "SYSTEMCALL"},
                 {8, "DISK_IO"},
                 {9, "DISK_FILE_IO"},
                 {10, "DISK_IO_INIT"},
                 {11, "DISPATCHER"},
                 {13, "MEMORY_HARD_FAULTS"},
                 {15, "VAMAP"},
                 {16, "NETWORK_TCPIP"},
                 {18, "DBGPRINT"},
                 {19, "JOB"},
                 {21, "SPLIT_IO"},
                 {25, "FILE_IO"},
                 {26, "FILE_IO_INIT"}};

    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        if (names[index].bit == bit) {
            return names[index].name;
        }
    }
    return "INTERRUPT"; /* for bits that are parts of that flag (keywords.h) */
}

static void explain_flag(int bit, char *text, size_t room)
{
    (void)snprintf(text, room,
                   "EVENT_TRACE_FLAG_%s needs events of the whole system, and "
                   "ETWAS_KERNEL_SCOPE_PROCESS has only the own process's",
                   name_of_flag(bit));
}

/*
 * Returns false if the kernel is not too old. Some kernels before 6.0 support what most events
 * need, but not all.
 */
static bool explain_old_kernel(const struct etwas_unavailability *reason, char *text, size_t room)
{
    struct utsname here = {0};

    if ((reason->cause != ETWAS_UNAVAILABLE_EVENT &&
         reason->cause != ETWAS_UNAVAILABLE_OWN_EVENT) ||
        (reason->error != EINVAL && reason->error != E2BIG) || uname(&here) != 0 ||
        strtol(here.release, NULL, 10) >= LEAST_LINUX) {
        return false;
    }
    (void)snprintf(text, room,
                   "This kernel does not know what its perf events are asked for: the system "
                   "logger needs Linux 6.0, and this is %.64s",
                   here.release);
    return true;
}

static void explain_refusal(const struct etwas_unavailability *reason, char *text, size_t room)
{
    static const char *const refused[] = {
        [ETWAS_UNAVAILABLE_NOTHING] = "Nothing is missing",
        [ETWAS_UNAVAILABLE_EVENT] = "The kernel refuses a perf event",
        [ETWAS_UNAVAILABLE_RING] = "The kernel refuses memory for events",
        [ETWAS_UNAVAILABLE_TRACEFS] = "tracefs cannot be read",
        [ETWAS_UNAVAILABLE_TRACEPOINT] = "This kernel does not have the tracepoint",
        [ETWAS_UNAVAILABLE_TASKSTATS] = "This kernel does not say what processes used (taskstats)",
        [ETWAS_UNAVAILABLE_THREADS] = "/proc does not say which threads the process has",
        [ETWAS_UNAVAILABLE_OWN_EVENT] = "The kernel refuses a perf event of the process's own",
    };

    if (reason->error == 0) {
        (void)snprintf(text, room, "%s", refused[reason->cause]);
    } else {
        (void)snprintf(text, room, "%s: error %d", refused[reason->cause], reason->error);
    }
}

/* Returns the whole sentence; NULL: there is none without values. */
static const char *sentence_of(const struct etwas_unavailability *reason)
{
    if (etwas_unavailability_is_memory(reason)) {
        return "The process may not lock memory for events: it needs CAP_IPC_LOCK, a greater "
               "RLIMIT_MEMLOCK, or a greater kernel.perf_event_mlock_kb";
    }
    if (reason->error == EMFILE || reason->error == ENFILE) {
        return "There are too few descriptors: each event of the kernel takes one on each "
               "processor. RLIMIT_NOFILE has to be greater, or fewer flags asked for";
    }
    if (reason->cause == ETWAS_UNAVAILABLE_TRACEFS && is_denial(reason->error)) {
        return "The process may not read tracefs: it needs CAP_DAC_READ_SEARCH, or tracefs "
               "mounted with gid= and mode= that let it";
    }
    if (reason->cause == ETWAS_UNAVAILABLE_TRACEFS && reason->error == ENOENT) {
        return "tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing";
    }
    if (reason->cause == ETWAS_UNAVAILABLE_TASKSTATS && is_denial(reason->error)) {
        return "The process may not be told what other processes used when they end "
               "(taskstats): it needs CAP_NET_ADMIN in the first user namespace, and to be "
               "in the first PID namespace";
    }
    return NULL;
}

void etwas_unavailability_explain(const struct etwas_unavailability *reason, char *text,
                                  size_t room)
{
    const char *sentence = sentence_of(reason);

    if (reason->cause == ETWAS_UNAVAILABLE_OWN) {
        explain_flag(reason->error, text, room);
    } else if (reason->cause == ETWAS_UNAVAILABLE_EVENT && is_denial(reason->error)) {
        explain_denied_event(text, room);
    } else if (reason->cause == ETWAS_UNAVAILABLE_OWN_EVENT &&
               (is_denial(reason->error) || reason->error == ENOSYS)) {
        explain_denied_own_event(text, room);
    } else if (sentence != NULL) {
        (void)snprintf(text, room, "%s", sentence);
    } else if (!explain_old_kernel(reason, text, room)) {
        explain_refusal(reason, text, room);
    }
}
