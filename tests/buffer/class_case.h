/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What tests of retention classes share: events with a tag and a number, a storm with errors in it,
 * and readers of a session or a file that note which of them are there.
 */
#ifndef ETWAS_TESTS_BUFFER_CLASS_CASE_H
#define ETWAS_TESTS_BUFFER_CLASS_CASE_H

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>
#include <stdint.h>

enum {
    ERRORS = 40,
    STORM = 40000,
    VERBOSE = 5,
    ERROR = 2,
    MOST_TAGS = 8,
    MOST_EVENTS = 100000,
};

/* The class of the events that are counted. */
extern const etwas_guid class_case_guid;

/* A flight recorder with one class, of errors. */
extern const etwas_session_options recorder;

struct payload {
    uint64_t tag;
    uint64_t number;
    uint8_t rest[48];
};

uint32_t log_as(etwas_trace_handle session, const etwas_guid *guid, uint8_t level, uint8_t type,
                uint64_t tag, uint64_t number);

/* Its tag is its level. */
uint32_t log_one(etwas_trace_handle session, uint8_t level, uint64_t number);

/* Before, among and after ERRORS errors a STORM of what nobody would miss. */
void log_errors_in_a_storm(etwas_trace_handle session);

/* What `take`, an event callback, saw. */
struct found {
    uint64_t count[MOST_TAGS];
    uint8_t seen[MOST_TAGS][MOST_EVENTS];
    int64_t last;
    uint64_t next[MOST_TAGS];  /* one more than the number of the event before, of each tag */
    int64_t before[MOST_TAGS]; /* and its stamp */
    uint64_t wrong;
    uint64_t out_of_turn; /* behind a later number of their tag, which one thread may have logged */
    uint64_t out_of_order;
    uint64_t elsewhere; /* on no processor of this machine, nor in the extra stream */
};
extern struct found found;
void take(EVENT_RECORD *record);

/* Fails the test for what is there twice, out of order, or on no processor. */
void read_file(const char *path);

etwas_retention_class_state state_of(etwas_trace_handle session, uint32_t class_number);

/* The session's counts are the sums of its classes'. */
void expect_sums(etwas_trace_handle session, uint32_t classes);

#endif
