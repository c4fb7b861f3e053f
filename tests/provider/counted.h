/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of threads' counters share: a classic provider with two classes of instances,
 * sessions that have them counted, and the readings of a file.
 */
#ifndef ETWAS_TESTS_PROVIDER_COUNTED_H
#define ETWAS_TESTS_PROVIDER_COUNTED_H

#include "etl/own_record.h"
#include "session/fixture.h"

#define COUNTED ETWAS_ENABLE_PROPERTY_COUNTERS

/* Registrations of first_class and second_class, under control_guid. */
extern TRACE_GUID_REGISTRATION counted_classes[2];
etwas_trace_handle register_counted(void);

/* EnableTraceEx2, of every level and keyword. Fails the test unless it succeeds. */
void ask(etwas_trace_handle session, const etwas_guid *guid, uint32_t property);
void ask_no_more(etwas_trace_handle session, const etwas_guid *guid);

/* An event of an instance; async-signal-safe. `parent` may be NULL. */
uint32_t log_of(etwas_trace_handle session, uint8_t type, EVENT_INSTANCE_INFO *instance,
                EVENT_INSTANCE_INFO *parent);

EVENT_INSTANCE_INFO new_instance(uint32_t class_index);

/* START, `work`, END. */
void log_around(etwas_trace_handle session, uint32_t class_index, void (*work)(void));

struct reading {
    struct etwas_etl_counters counters;
    uint32_t thread;
    size_t at; /* among the events of the file */
};

struct readings {
    struct events events;
    struct reading *list;
    size_t count;
};

/*
 * A file of a session that has stopped, with its counts; fails the test unless all that was
 * recorded is in it and each reading makes sense.
 */
void read_counted(const char *path, const etwas_session_counts *counts, struct readings *readings);
void free_counted(struct readings *readings);

/* The reading of an instance's START or END; fails the test unless there is exactly one. */
const struct etwas_etl_counters *reading_of(const struct readings *readings, uint32_t instance,
                                            uint8_t type);

/* What became of a counter in an instance. */
#define SINCE_START(readings, instance, counter)                                                   \
    (reading_of(readings, instance, EVENT_TRACE_TYPE_END)->counter -                               \
     reading_of(readings, instance, EVENT_TRACE_TYPE_START)->counter)

/* Descriptors of this process that are a thread's file of counters. */
uint32_t kept_files(void);

#endif
