/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Prints where events were lost, and what helps: a larger buffer does not help against loss in the
 * kernel. The accounts at the end of the session's file contain the reasons.
 */

#include "record/record.h"

#include "cli/no_room.h"
#include "event/event.h"
#include "event/names.h"
#include "kernel/flags.h"
#include "print/human.h"

#include <etwas/etwas.h>
#include <etwas/evntcons.h>

#include <stdio.h>
#include <string.h>

enum {
    SOURCES = 64, /* sources that are counted separately */
    NAME_BYTES = 64,
    ATTEMPTED_AT = 32, /* offset in an account: docs/reference/file-format.md */
    NAME_AT = 80,
};

/* A source of one kind of event, on all processors. */
struct source {
    uint32_t flags;
    uint64_t attempted;
    uint64_t others; /* lost for another reason than a full ring */
    char name[NAME_BYTES];
};

struct in_kernel {
    uint64_t no_room;
    uint64_t others;
    uint64_t attempted;
    bool has_switches; /* context switches were requested, … */
    uint64_t switches; /* … and this many were lost */
    uint32_t source_count;
    struct source sources[SOURCES];
};

/* Returns the entry of a source; NULL if there are too many. */
static struct source *source_of(struct in_kernel *lost, const char *name, uint32_t flags)
{
    struct source *source = lost->sources;

    while (source < lost->sources + lost->source_count && strcmp(source->name, name) != 0) {
        source++;
    }
    if (source == lost->sources + SOURCES) {
        return NULL;
    }
    if (source == lost->sources + lost->source_count) {
        lost->source_count++;
        snprintf(source->name, sizeof source->name, "%s", name);
    }
    source->flags |= flags;
    return source;
}

static void add_account(EVENT_RECORD *record)
{
    struct in_kernel *lost = record->UserContext;
    uint64_t no_room;
    uint64_t others;
    char name[NAME_BYTES];
    struct source *source;

    if (!etwas_event_kernel_loss(record, &no_room, &others)) {
        return;
    }
    lost->no_room += no_room;
    lost->others += others;
    snprintf(name, sizeof name, "%.*s", record->UserDataLength - NAME_AT,
             (const char *)record->UserData + NAME_AT);
    source = source_of(lost, name, etwas_event_kernel_flags(record));
    lost->attempted += etwas_event_u64(record, ATTEMPTED_AT);
    if (etwas_event_is_account_of_switches(record)) {
        lost->has_switches = true;
        lost->switches += no_room + others;
    }
    if (source != NULL) {
        source->attempted += etwas_event_u64(record, ATTEMPTED_AT);
        source->others += others;
    }
}

/* Prints which flag caused most of the events. */
static void say_what_helps(const struct in_kernel *lost)
{
    const struct source *most = NULL;
    const char *flag;
    uint32_t flags;

    for (uint32_t i = 0; i < lost->source_count; i++) {
        if (most == NULL || lost->sources[i].attempted > most->attempted) {
            most = &lost->sources[i];
        }
    }
    flags = most != NULL ? most->flags : 0;
    flag = etwas_flags_next(&flags);
    if (flag != NULL && most->attempted > 0) {
        fprintf(stderr, "  without '%s' there are fewer: %.0f %% of all events were %s\n", flag,
                100.0 * (double)most->attempted / (double)lost->attempted, most->name);
    }
}

/* Prints which sources lost events that were not delivered; without them there is no such loss. */
static void say_which(const struct in_kernel *lost)
{
    char count[ETWAS_HUMAN_CHARACTERS];

    for (uint32_t i = 0; i < lost->source_count; i++) {
        const struct source *source = &lost->sources[i];

        if (source->others != 0) {
            fprintf(stderr, "  %s of %s\n", etwas_human_count(count, source->others), source->name);
        }
    }
}

/* Returns the losses in a file's kernel accounts; none if the file cannot be read. */
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

static void print_count(uint64_t count, const char *why)
{
    char lost[ETWAS_HUMAN_CHARACTERS];

    if (count != 0) {
        fprintf(stderr, "%s of them %s\n", etwas_human_count(lost, count), why);
    }
}

static void say_in_kernel(uint64_t count, const char *path)
{
    static struct in_kernel lost;

    lost = read_accounts(path);

    print_count(lost.no_room, etwas_names_lost_no_room);
    if (lost.no_room != 0) {
        say_what_helps(&lost);
    }
    print_count(lost.others, etwas_names_lost_not_handed_over);
    if (lost.others != 0) {
        say_which(&lost);
    }
    if (lost.no_room == 0 && lost.others == 0) {
        print_count(count, "in the kernel");
    } else if (lost.has_switches) {
        struct etwas_output *errors = etwas_standard_error();

        etwas_names_put_lost_switches(errors, lost.switches);
        etwas_output_flush(errors);
    }
}

bool etwas_record_report_losses(TRACEHANDLE session, const char *path, const char *help)
{
    etwas_session_counts counts = {.lost_write_error = 0};
    char unwritten[256];

    if (etwas_counts(session, &counts) == ERROR_SUCCESS) {
        if (counts.lost_in_kernel != 0) {
            say_in_kernel(counts.lost_in_kernel, path);
        }
        (void)snprintf(unwritten, sizeof unwritten,
                       "since the file could not be written: %s, or the disk fails",
                       etwas_no_room_reason(0));
        print_count(counts.lost_write_error, unwritten);
        print_count(counts.lost_no_buffer, help);
        print_count(
            counts.lost_too_large,
            "since they do not fit into a buffer ('etwas start --buffer-size' has larger ones)");
        print_count(counts.lost_withheld, "since another session of theirs had no buffer for them");
        print_count(counts.lost_abandoned, "since their programs did not finish them");
        print_count(counts.lost_unattached, "before their programs were attached to the session");
        if (counts.unattached_code != 0) {
            struct etwas_output *errors = etwas_standard_error();

            etwas_output_text(errors, "etwas record: ");
            etwas_names_put_unattached(errors, counts.unattached_total, "could not log",
                                       counts.unattached_code);
            etwas_output_flush(errors);
        }
    }
    return counts.lost_write_error == 0;
}
