/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_BATCH_H
#define ETWAS_BATCH_H

/*
 * Several events of one moment in one call:
 *
 *     const etwas_batch_event events[] = {
 *         etwas_batch_instance(session, &content_end, &content, NULL),
 *         etwas_batch_instance(session, &send_start, &send, NULL),
 *     };
 *
 *     etwas_write_many(events, 2, NULL, NULL);
 *
 * Each session that gets events of a batch records all of those or none. They are neighbours in one
 * buffer, in their order, and have the same time stamp. So a batch is for events that happen
 * together. Many cost less than one call for each with restartable sequences, two about the same.
 * They cost more by the shared protocol. No event is held back: when the call returns, its events
 * are recorded.
 *
 * <etwas/etwas.h> includes this header.
 */

#include <etwas/evntprov.h>
#include <etwas/evntrace_types.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most events of a batch. */
#define ETWAS_BATCH_EVENTS 16u

/*
 * One event of a batch. The functions below make it; its members are for the library only. It
 * points to the arguments of those functions, which must stay unchanged until etwas_write_many
 * returns.
 */
typedef struct etwas_batch_event {
    uint64_t handle;
    const void *event;
    const void *first;
    const void *second;
    const void *data;
    uint32_t data_count;
    uint32_t kind;
} etwas_batch_event;

#define ETWAS_BATCH_KIND_WRITE 1u
#define ETWAS_BATCH_KIND_TRACE 2u
#define ETWAS_BATCH_KIND_INSTANCE 3u

/* Returns the event that EventWriteTransfer writes with these arguments. */
static inline etwas_batch_event etwas_batch_write(REGHANDLE provider,
                                                  const EVENT_DESCRIPTOR *descriptor,
                                                  const etwas_guid *activity,
                                                  const etwas_guid *related, uint32_t data_count,
                                                  const EVENT_DATA_DESCRIPTOR *data)
{
    const etwas_batch_event event = {
        provider, descriptor, activity, related, data, data_count, ETWAS_BATCH_KIND_WRITE};

    return event;
}

/* Returns the event that TraceEvent logs with these arguments. */
static inline etwas_batch_event etwas_batch_trace(etwas_trace_handle session,
                                                  const EVENT_TRACE_HEADER *event)
{
    const etwas_batch_event made = {session, event, NULL, NULL, NULL, 0, ETWAS_BATCH_KIND_TRACE};

    return made;
}

/* Returns the event that TraceEventInstance logs with these arguments. */
static inline etwas_batch_event etwas_batch_instance(etwas_trace_handle session,
                                                     const EVENT_INSTANCE_HEADER *event,
                                                     const EVENT_INSTANCE_INFO *instance,
                                                     const EVENT_INSTANCE_INFO *parent)
{
    const etwas_batch_event made = {
        session, event, instance, parent, NULL, 0, ETWAS_BATCH_KIND_INSTANCE};

    return made;
}

/*
 * Writes up to ETWAS_BATCH_EVENTS events, of any kinds, for any sessions. Each event goes to the
 * sessions that get it when it is written alone, with the same content. In a session with retention
 * classes a batch belongs to the class of its first event there.
 *
 * All events are checked first. If one is not possible, none is recorded: the call returns the code
 * that this event gets when it is written alone, and *refused receives its index. `refused` may be
 * NULL.
 *
 * ERROR_INVALID_PARAMETER with *refused set to ETWAS_BATCH_EVENTS: there are more events.
 * ERROR_MORE_DATA: the events of a session do not fit into one of its buffers together; they are
 * counted lost there, and *bytes receives the room that they need in a buffer, without the buffer's
 * header. `bytes` may be NULL. ERROR_ARITHMETIC_OVERFLOW: likewise, because an event of a provider
 * is too large for any buffer. ERROR_NOT_ENOUGH_MEMORY, ERROR_LOG_FILE_FULL: the events of a
 * session are counted lost. What other sessions record does not depend on this. Only independent
 * sessions that fail give no error if another session has its events.
 *
 * Takes no lock and allocates nothing, and makes the system calls that the events' own functions
 * make. Thread-safe and async-signal-safe; needs up to 18 KB of stack.
 */
uint32_t etwas_write_many(const etwas_batch_event *events, uint32_t count, uint32_t *refused,
                          uint32_t *bytes) ETWAS_API(etwas_write_many);

#ifdef __cplusplus
}
#endif

#endif
