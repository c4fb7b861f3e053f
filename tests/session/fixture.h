/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of sessions, providers and control share beside support/: properties blocks,
 * single events, files read back event by event, what a process owns, and children.
 */
#ifndef ETWAS_TESTS_SESSION_FIXTURE_H
#define ETWAS_TESTS_SESSION_FIXTURE_H

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "support/folder.h"
#include "support/start.h"

/* A sanitizer maps memory and makes system calls of its own. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FIXTURE_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define FIXTURE_SANITIZER 1
#endif
#endif
#ifndef FIXTURE_SANITIZER
#define FIXTURE_SANITIZER 0
#endif

/* ---- sessions -------------------------------------------------------------------------------- */

enum {
    NAME_AREA_BYTES = 4 * 1024
};

/* A properties block with room for two names of full length in UTF-8 or UTF-16. */
struct block {
    union {
        EVENT_TRACE_PROPERTIES properties;
        EVENT_TRACE_PROPERTIES_V2 second;
    };
    char session_name[NAME_AREA_BYTES];
    char file_name[NAME_AREA_BYTES];
};

/*
 * A zeroed block with sizes, flags and offsets set, and the file's name (NULL: no file) in UTF-8.
 */
void prepare_block(struct block *block, const char *file);

/* StartTraceA with the block; fails the test when it does not start. */
etwas_trace_handle start_block(const char *name, struct block *block);

/* What a test asks for that starts many sessions: few and small buffers. */
extern const etwas_session_options small_session;
extern const etwas_session_options small_recorder;

/* A session in memory. */
etwas_trace_handle start_recorder(void);

/* ASCII as UTF-16. Returns `buffer`. */
etwas_wchar *wide_of(const char *text, etwas_wchar *buffer, size_t units);

/* ---- events ---------------------------------------------------------------------------------- */

extern const etwas_guid event_class;  /* what log_number writes */
extern const etwas_guid control_guid; /* a provider */
extern const etwas_guid first_class;  /* two classes of instances */
extern const etwas_guid second_class;

/*
 * One TraceEvent of event_class, type 10, level 4, whose payload is the number. Async-signal-safe.
 */
uint32_t log_number(etwas_trace_handle session, uint64_t number);

/* A control callback. */
uint32_t ignore_request(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer);

/* ---- reading back ---------------------------------------------------------------------------- */

/* A copy of an event, without the log file's own first one. */
struct event {
    EVENT_RECORD record; /* its pointers are NULL */
    EVENT_EXTENDED_ITEM_INSTANCE instance;
    uint32_t instance_items;
    uint8_t *payload;
};

struct events {
    struct event *items;
    size_t count;
    uint32_t header_events;
    int64_t header_stamp; /* the time stamp of the header event */
    TRACE_LOGFILE_HEADER header;
    etwas_trace_information information;
};

/* Reads a file; fails the test unless it is undamaged. `mode`: more PROCESS_TRACE_MODE_* bits. */
void read_events(const char *path, uint32_t mode, struct events *events);
void free_events(struct events *events);
uint64_t number_of(const struct event *event);

/* The number of events in the file; each must be one of log_number. */
size_t count_events(const char *path);

/* ---- what the process owns ------------------------------------------------------------------- */

struct belongings {
    uint32_t descriptors;
    uint32_t threads;
    uint32_t mappings;
    uint32_t files; /* in the folder */
};

struct belongings count_belongings(void);

/* The same descriptors, threads and files, and no more mappings than an allocator's noise. */
void assert_nothing_gained(const struct belongings *before);

/* ---- children -------------------------------------------------------------------------------- */

/* In a child: cmocka's assertions would go on with the next test there. */
#define CHECK_IN_CHILD(condition)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            child_failed(#condition, __FILE__, __LINE__);                                          \
        }                                                                                          \
    } while (0)

/* fork(); a child that hangs is killed, which fails the test. */
int fork_child(void);

/* The same for a child that was made in another way. */
void limit_child(void);

_Noreturn void child_failed(const char *condition, const char *file, int line);

/* Waits for a child; returns its exit code, or fails the test when it was killed. */
int exit_code_of(int child);

/* The same: 0 is well; 77 skips the test, since it cannot be had here. */
void expect_child(int child);

/* Such a child, which runs this. */
void expect_in_child(int (*run)(void));

/* In a child: it gets no more than so many bytes of address space besides what it has. */
void limit_address_space(uint64_t more);

#endif
