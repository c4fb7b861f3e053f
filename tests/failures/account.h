/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The files that a session left, one or several, against its counts and what its writers know. */
#ifndef ETWAS_FAILURES_ACCOUNT_H
#define ETWAS_FAILURES_ACCOUNT_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

struct writer;

enum {
    ACCOUNT_DAMAGED = 1, /* the reader may have to report damage */
    /* Part of a buffer may be in a file, before what was there: events that count as lost are
     * found, one of them with another end. */
    ACCOUNT_TORN = 2,
    ACCOUNT_WALKED = 4, /* each file keeps every rule the walker knows */
    ACCOUNT_LOSSES = 8, /* what the headers say of losses is right: every file is finished */
    ACCOUNT_PART = 16,  /* the files may hold less than was recorded */
};

struct account {
    etwas_trace_handle session;
    const char *const *paths; /* those that do not exist are passed over */
    uint32_t path_count;
    struct writer *earlier; /* of the session before, whose events are in the files too; or NULL */
    int flags;              /* ACCOUNT_* */
};

/*
 * For a session that has stopped: attempted = recorded + overwritten + lost; the files hold what
 * was recorded and nothing else, no event twice. Fails the test. Returns how many files there are.
 */
uint32_t expect_accounted_files(const struct account *account, const etwas_session_counts *counts);

/* Open descriptors of this process. */
uint32_t open_descriptors(void);

#endif
