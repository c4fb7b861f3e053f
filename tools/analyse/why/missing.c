/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that were not recorded, but would show more about what an instance was blocked on.
 */

#include "analyse/why/why.h"

#include <etwas/evntrace.h>

/* Returns whether a list, which ends with NULL, has the name. */
static bool is_named_in(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

static bool is_on_file(const char *name)
{
    static const char *const names[] = {
        "read",      "write",           "readv",           "writev",  "pread64",
        "pwrite64",  "preadv",          "pwritev",         "preadv2", "pwritev2",
        "open",      "openat",          "openat2",         "close",   "fsync",
        "fdatasync", "sync_file_range", "sendfile",        "splice",  "ftruncate",
        "fallocate", "getdents64",      "copy_file_range", NULL};

    return is_named_in(name, names);
}

static bool is_on_socket(const char *name)
{
    static const char *const names[] = {"read",     "write",    "readv",    "writev",
                                        "recvfrom", "recvmsg",  "recvmmsg", "sendto",
                                        "sendmsg",  "sendmmsg", NULL};

    return is_named_in(name, names);
}

/* Adds what is not known about one kind of wait. */
static void add_missing(const struct etwas_why *why, const struct etwas_why_block *block,
                        bool missing[ETWAS_WHY_MISSING])
{
    char call[ETWAS_WHY_CALL_BYTES] = "";

    if (block->call >= 0) {
        (void)etwas_why_call_name(why, block->call, call);
    }
    missing[ETWAS_WHY_MISSING_CALL] |= block->call == ETWAS_WHY_NO_CALL;
    missing[ETWAS_WHY_MISSING_WAKER] |= block->waker == ETWAS_WHY_WAKER_UNKNOWN;
    missing[ETWAS_WHY_MISSING_FILE] |=
        block->files[0] == NULL && !block->has_socket && is_on_file(call);
    missing[ETWAS_WHY_MISSING_SOCKET] |=
        block->files[0] == NULL && !block->has_socket && is_on_socket(call);
    missing[ETWAS_WHY_MISSING_FAULT] |= block->call == ETWAS_WHY_NO_CALL && !block->is_fault;
    missing[ETWAS_WHY_MISSING_STACK] |= block->frame_count == 0;
}

static bool is_recorded(const struct etwas_why *why, enum etwas_why_missing what)
{
    static const uint32_t flags[ETWAS_WHY_MISSING] = {
        [ETWAS_WHY_MISSING_CALL] = EVENT_TRACE_FLAG_SYSTEMCALL,
        [ETWAS_WHY_MISSING_WAKER] = EVENT_TRACE_FLAG_DISPATCHER,
        [ETWAS_WHY_MISSING_SOCKET] = EVENT_TRACE_FLAG_NETWORK_TCPIP,
        [ETWAS_WHY_MISSING_FAULT] = EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS,
    };
    const bool seen[ETWAS_WHY_MISSING] = {
        [ETWAS_WHY_MISSING_CALL] = why->has_calls,
        [ETWAS_WHY_MISSING_WAKER] = why->schedule.has_ready_events,
        [ETWAS_WHY_MISSING_FILE] = why->has_files,
        [ETWAS_WHY_MISSING_SOCKET] = why->has_sockets,
        [ETWAS_WHY_MISSING_STACK] = why->has_stacks,
    };

    return seen[what] || (why->recorded_flags & flags[what]) != 0;
}

void etwas_why_find_missing(const struct etwas_why *why, const struct etwas_why_chosen *chosen,
                            bool missing[ETWAS_WHY_MISSING])
{
    (void)memset(missing, 0, ETWAS_WHY_MISSING * sizeof *missing);
    for (uint32_t i = 0; i < chosen->block_count; i++) {
        add_missing(why, &chosen->blocks[i], missing);
    }
    for (enum etwas_why_missing what = 0; what < ETWAS_WHY_MISSING; what++) {
        /* Whether page faults would show more is only known if system calls were recorded. */
        bool is_asked = what != ETWAS_WHY_MISSING_FAULT || why->has_calls;

        missing[what] &= is_asked && !is_recorded(why, what);
    }
}
