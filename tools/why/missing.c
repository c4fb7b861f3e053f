/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What would have told more of what an instance was blocked on, and was not recorded.
 */

#include "why/why.h"

#include <etwas/evntrace.h>

/* Calls that work on a file or socket which a descriptor names. */
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

enum what {
    WHAT_CALL,
    WHAT_WAKER,
    WHAT_FILE,
    WHAT_SOCKET,
    WHAT_FAULT,
    WHAT_STACK,
    WHATS,
};

/* What one kind of waiting leaves open. */
static void look_at_block(const struct etwas_why *why, const struct etwas_why_block *block,
                          bool open[WHATS])
{
    char call[ETWAS_WHY_CALL_BYTES] = "";

    if (block->call >= 0) {
        (void)etwas_why_call_name(why, block->call, call);
    }
    open[WHAT_CALL] |= block->call == ETWAS_WHY_NO_CALL;
    open[WHAT_WAKER] |= block->waker == ETWAS_WHY_WAKER_UNKNOWN;
    open[WHAT_FILE] |= block->files[0] == NULL && !block->has_socket && is_on_file(call);
    open[WHAT_SOCKET] |= block->files[0] == NULL && !block->has_socket && is_on_socket(call);
    open[WHAT_FAULT] |= block->call == ETWAS_WHY_NO_CALL && !block->is_fault;
    open[WHAT_STACK] |= block->frame_count == 0;
}

static bool is_recorded(const struct etwas_why *why, enum what what)
{
    static const uint32_t flags[WHATS] = {
        [WHAT_CALL] = EVENT_TRACE_FLAG_SYSTEMCALL,
        [WHAT_WAKER] = EVENT_TRACE_FLAG_DISPATCHER,
        [WHAT_SOCKET] = EVENT_TRACE_FLAG_NETWORK_TCPIP,
        [WHAT_FAULT] = EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS,
    };
    const bool seen[WHATS] = {
        [WHAT_CALL] = why->has_calls,   [WHAT_WAKER] = why->schedule.has_ready_events,
        [WHAT_FILE] = why->has_files,   [WHAT_SOCKET] = why->has_sockets,
        [WHAT_STACK] = why->has_stacks,
    };

    return seen[what] || (why->recorded_flags & flags[what]) != 0;
}

void etwas_why_print_missing(struct etwas_output *output, const struct etwas_why *why,
                             const struct etwas_why_chosen *chosen)
{
    static const char *const texts[WHATS] = {
        [WHAT_CALL] = "systemcall (which call)",
        [WHAT_WAKER] = "dispatcher (who woke it)",
        [WHAT_FILE] = "file_io and file_io_init (which file)",
        [WHAT_SOCKET] = "network_tcpip (which socket)",
        [WHAT_FAULT] = "memory_hard_faults (page faults that wait for a disk)",
        [WHAT_STACK] = "stacks of cswitch (where)",
    };
    bool open[WHATS] = {false};
    bool is_first = true;

    for (uint32_t i = 0; i < chosen->block_count; i++) {
        look_at_block(why, &chosen->blocks[i], open);
    }
    for (enum what what = 0; what < WHATS; what++) {
        /* In which calls it was says whether these would tell more. */
        bool is_asked = what != WHAT_FAULT || why->has_calls;

        if (open[what] && is_asked && !is_recorded(why, what)) {
            etwas_output_text(output, is_first ? "  Not recorded: " : ", ");
            etwas_output_text(output, texts[what]);
            is_first = false;
        }
    }
    etwas_output_text(output, is_first ? "" : ".\n");
}
