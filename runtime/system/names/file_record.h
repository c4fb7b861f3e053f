/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes records of ETW's FileIo, version 3.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_RECORD_H
#define ETWAS_SYSTEM_NAMES_FILE_RECORD_H

#include <stdint.h>

#include "system/names/file_calls.h"
#include "system/stream/event_group.h"

/* An operation that begins. */
struct etwas_file_operation {
    uint8_t type;
    uint32_t info_class;
    uint64_t irp;
    uint64_t file; /* 0: not known */
    int64_t offset;
    uint32_t bytes;
    uint64_t extra;
    uint64_t open_flags; /* O_* */
    const char *path;    /* the path of an open; NULL: not known */
};

void etwas_file_record_begin(const struct etwas_source_event *event,
                             const struct etwas_file_operation *operation);

/*
 * Emits the path of an operation that has begun; of a rename or a link, the path that the file
 * gets.
 */
void etwas_file_record_path(const struct etwas_source_event *event,
                            const struct etwas_file_operation *operation);

/* Emits the name of a file that a call was given. */
void etwas_file_record_called(const struct etwas_source_event *event, uint64_t file,
                              const char *name);

/* Emits the end of a call with what it returned. */
void etwas_file_record_end(const struct etwas_source_event *event, uint64_t irp, int64_t result);

/*
 * Emits the name of a file, with the time of now: ETWAS_FILE_NAME when it becomes known,
 * ETWAS_FILE_NAME_RUNDOWN if the session found it at its start, or knows it at its end.
 */
void etwas_file_record_name(const struct etwas_event_group_host *host, uint8_t type, uint64_t file,
                            const char *name);

#endif
