/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Where events were lost, and what helps: against loss in the kernel no larger buffer does. Why they were lost
 * there the accounts say with which the session ends its file.
 */

#include "record/record.h"

#include "event.h"
#include "people.h"

#include <etwas/etwas.h>
#include <etwas/evntcons.h>

#include <stdio.h>

struct in_kernel {
    uint64_t no_room;
    uint64_t others;
};

static void add_account(EVENT_RECORD *record)
{
    struct in_kernel *lost = record->UserContext;
    uint64_t no_room;
    uint64_t others;

    if (etwas_event_kernel_loss(record, &no_room, &others)) {
        lost->no_room += no_room;
        lost->others += others;
    }
}

/* Of a file that cannot be read, nothing. */
static struct in_kernel read_accounts(const char *path)
{
    struct in_kernel lost = {0};
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = add_account,
        .Context = &lost,
    };
    TRACEHANDLE trace = OpenTraceA(&logfile);

    if (trace != INVALID_PROCESSTRACE_HANDLE) {
        (void)ProcessTrace(&trace, 1, NULL, NULL);
        (void)CloseTrace(trace);
    }
    return lost;
}

static void say(uint64_t count, const char *why)
{
    char lost[ETWAS_PEOPLE_CHARACTERS];

    if (count != 0) {
        fprintf(stderr, "%s of them %s\n", etwas_people_count(lost, count), why);
    }
}

static void say_in_kernel(uint64_t count, const char *path)
{
    struct in_kernel lost = read_accounts(path);

    say(lost.no_room, "since the kernel's rings were full: ask for fewer flags or stacks");
    say(lost.others, "that the kernel counted and did not hand over: fewer flags do not help");
    if (lost.no_room == 0 && lost.others == 0) {
        say(count, "in the kernel");
    }
}

void etwas_record_say_losses(TRACEHANDLE session, const char *path, const char *help)
{
    etwas_session_counts counts;

    if (etwas_counts(session, &counts) == ERROR_SUCCESS) {
        if (counts.lost_in_kernel != 0) {
            say_in_kernel(counts.lost_in_kernel, path);
        }
        say(counts.lost_write_error,
            "since the file could not be written: the disk is full, or fails");
        say(counts.lost_no_buffer, help);
        say(counts.lost_too_large, "since they do not fit into a buffer: --buffer-size");
        say(counts.lost_withheld, "since another session of theirs had no buffer for them");
        say(counts.lost_abandoned, "since their programs did not finish them");
        say(counts.lost_unattached, "before their programs were attached to the session");
    }
}
