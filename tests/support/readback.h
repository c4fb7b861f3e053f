/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reading a file back, with ProcessTrace or with the independent walker, and comparing it with what
 * the writers of its session (writer.h) remember: every payload byte by byte, every event at most
 * once.
 */
#ifndef ETWAS_SUPPORT_READBACK_H
#define ETWAS_SUPPORT_READBACK_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

struct readback {
    uint64_t events;     /* in the file, of writers of this session */
    uint64_t wrong;      /* unknown, of another session, changed, or there twice */
    uint64_t missing;    /* the library said recorded, and the file lacks it */
    uint64_t unexpected; /* the library said lost or refused, and the file has it */
    char first_wrong[160];

    /* From the log file header and the file's own totals. */
    uint64_t events_lost;
    uint64_t buffers_lost;
    uint64_t overwritten_events;
    uint64_t overwritten_buffers;
    uint32_t part;    /* of a new-file set */
    uint64_t buffers; /* in the file, buffer 0 included */
    uint32_t clock;

    /* ProcessTrace only. */
    uint64_t losses_reported; /* events that the file says when they were lost */
    uint32_t processors;      /* from the log file header */
    uint32_t computer_processors;
    uint64_t damages;
    bool unfinished;

    /* The walker only: the rules the file breaks. */
    char violations[512];
};

/* Reads `path` with OpenTrace and ProcessTrace. Fails the test when the file cannot be read. */
void read_back(etwas_trace_handle session, const char *path, struct readback *result);

/* The same with the independent walker; `strict` fails the test when the file breaks a rule. */
void walk_back(etwas_trace_handle session, const char *path, bool strict, struct readback *result);

/*
 * Both, one after the other, for the one file of a session that is stopped and lost nothing it had
 * called recorded: fails the test unless the file is in order, holds exactly what was recorded and
 * not overwritten, and says itself what is not in it.
 */
void expect_file_is_exact(etwas_trace_handle session, const char *path,
                          const etwas_session_counts *counts);

#endif
