/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events of the class FileIo for tests: those of the calling thread.
 */
#ifndef ETWAS_TESTS_SYSTEM_FILE_EVENTS_H
#define ETWAS_TESTS_SYSTEM_FILE_EVENTS_H

#include "system/kernel_fixture.h"

enum {
    FILE_NAMED = 0,
    FILE_RUNDOWN = 36,
    CREATE = 64,
    CLEANUP = 65,
    CLOSE = 66,
    READ = 67,
    WRITE = 68,
    SET_INFO = 69,
    DELETE = 70,
    RENAME = 71,
    DIR_ENUM = 72,
    FLUSH = 73,
    QUERY_INFO = 74,
    FS_CONTROL = 75,
    OPERATION_END = 76,
};

extern const etwas_guid file_class;

/* A session of beginnings and ends. */
etwas_trace_handle start_files(void);

/* The nth of this thread's; NULL: there are not so many. */
const struct event *nth(const struct events *events, uint8_t type, uint32_t number);
uint32_t count_files(const struct events *events, uint8_t type);

/* Returns the Irp of any event but an end. */
uint64_t irp_of(const struct event *event);
uint64_t file_of(const struct event *event);

/* The one end it has, behind it, and what that says. */
void expect_end(const struct events *events, const struct event *begin, int64_t result);

/* A read or a write, and its end. */
void expect_transfer(const struct events *events, const struct event *event, uint64_t file,
                     int64_t offset, uint32_t asked, int64_t done);

/* What asks or sets something, and its end. */
void expect_info(const struct events *events, const struct event *event, uint64_t file,
                 uint64_t extra, uint32_t info_class, int64_t result);

/* A file of the test's folder, by a system call alone, so that nothing else is there. */
int open_file(const char *name, int flags);

#endif
