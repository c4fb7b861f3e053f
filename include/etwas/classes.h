/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_CLASSES_H
#define ETWAS_CLASSES_H

/*
 * Retention classes: separate streams inside one session, so that rare important events outlast
 * noisy ones. This header is a part of <etwas/etwas.h>, which states what holds for all of its
 * functions.
 */

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/* The maximum number of classes in a session. */
#define ETWAS_RETENTION_CLASSES 7

/*
 * A set of events that are kept together, and their share of the session's buffers. An event
 * belongs to the first class in the session's list all of whose conditions it meets. If there is
 * none, it belongs to the rest, which is class 0. A class without conditions has every event that
 * reaches it.
 *
 * Each class has a current buffer on each processor, and earlier ones. At least three buffers for
 * each processor are its own, and three for the extra stream of a session with ETWAS_PROTOCOL_RSEQ.
 * It has its share of the other buffers of MaximumBuffers; class 0 has what the shares leave. The
 * minimum is added up first: MaximumBuffers is raised to it, and MinimumBuffers in buffering mode.
 * The share is
 *
 *     in a flight recorder   what other classes cannot take from it. Any class may take unused
 *                            buffers. If there are none, a class that has its share or more
 *                            replaces its own oldest buffer. A class that has less replaces the
 *                            oldest buffer of the class that is most above its share.
 *     in any other session   the most that it has at once. The others keep room for theirs. Events
 *                            that a class logs beyond its share before the flusher has come are
 *                            lost.
 */
typedef struct etwas_retention_class {
    /*
     * Events of this class (RegisterTraceGuids), events of this modern provider, or messages with
     * this GUID. All 0: any GUID.
     */
    etwas_guid guid;
    uint64_t keywords; /* modern events with one of these; 0: any event */
    /* Events of a level from 1 to this one; 0: any level. Messages have no level. */
    uint8_t level;
    /*
     * Only events of the type `type` (Class.Type, a modern event's Opcode). Messages have no type.
     */
    bool by_type;
    uint8_t type;
    uint8_t reserved_byte;  /* 0 */
    uint32_t share_percent; /* 0 to 100; at most 100 for all classes together */
    uint64_t reserved;      /* 0 */
} etwas_retention_class;

/*
 * How many events of one class were kept, replaced and lost, and how far back they go. attempted =
 * recorded + overwritten + lost. The sum over the classes is the session's count, with one
 * exception. Events that a circular file replaces, that a disk drops later, or that no consumer
 * takes in real time are recorded here, because they have left the class's buffers. Only
 * etwas_counts counts them otherwise.
 */
typedef struct etwas_retention_class_state {
    uint64_t attempted;
    /* In memory, or passed on to the file or to consumers. */
    uint64_t recorded;
    /* Flight recorder: replaced by newer events, of this or of another class. */
    uint64_t overwritten;
    /* There was no buffer, within the share or at all, or it was not written. */
    uint64_t lost;
    /*
     * Flight recorder: the period, back from now, that is held completely for every processor; see
     * etwas_retention. It is 0 for any other session, and for one that has stopped.
     */
    uint64_t covered_ns;
    /* The approximate number of its buffers now; 0 for a session that has stopped. */
    uint32_t buffers;
    uint32_t share; /* the number of buffers in its share */
} etwas_retention_class_state;

/* etwas_retention_class_query with the size of the caller's struct. */
uint32_t etwas_retention_class_query_sized(etwas_trace_handle session, uint32_t class_number,
                                           etwas_retention_class_state *state, size_t state_bytes)
    ETWAS_API(etwas_retention_class_query_sized);

/*
 * Reports one class of a running session, or the last counts of a stopped one, as long as
 * etwas_counts has them. `class_number` is 0, or the number of a class in the session's list, from
 * 1 on. In a session without classes, class 0 has all events. Writers may log during the call; each
 * class is counted at one moment.
 *
 * ERROR_INVALID_PARAMETER: `state` is NULL, or the session has no class with that number.
 * ERROR_INVALID_HANDLE: the handle is unknown or forgotten.
 */
static inline uint32_t etwas_retention_class_query(etwas_trace_handle session,
                                                   uint32_t class_number,
                                                   etwas_retention_class_state *state)
{
    return etwas_retention_class_query_sized(session, class_number, state, sizeof *state);
}

ETWAS_END_DECLS

#endif
