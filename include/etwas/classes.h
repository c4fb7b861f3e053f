/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_CLASSES_H
#define ETWAS_CLASSES_H

/*
 * Retention classes: streams of their own inside one session, so that rare important events outlast the noisy
 * ones: a part of <etwas/etwas.h>, which says what holds for all of its functions.
 */

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/* At most so many in a session. */
#define ETWAS_RETENTION_CLASSES 7

/*
 * Which events of a session go together, and how much of its buffers they have. An event is of the first class
 * in the session's list whose every condition it meets; of none: then it goes with what is left, which is
 * class 0. A class with no condition has every event that reaches it.
 *
 * Each class has on each processor a buffer that is current and those before it, and at least three buffers for
 * each processor, and for the extra stream of a session with ETWAS_PROTOCOL_RSEQ, are its own; of the
 * others in MaximumBuffers it has its share, and class 0 what the shares leave. The minimum is added up first:
 * MaximumBuffers becomes so large, and in buffering mode MinimumBuffers. The share is
 *
 *     in a flight recorder   what the others cannot take from it. Buffers that nobody uses anybody may take;
 *                            when there are none, a class that has its share or more replaces its own oldest
 *                            buffer, and one that has less the oldest of the class that is most above its own
 *     in any other session   the most it has at once. The others keep room for theirs, and what a class
 *                            logs beyond it while the flusher has not come is lost
 */
typedef struct etwas_retention_class {
    etwas_guid
        guid; /* events of this class (RegisterTraceGuids), modern provider, or messages with this GUID;
                           zero: of any */
    uint64_t keywords; /* modern events with one of them; 0: any event */
    uint8_t level; /* events of a level from 1 to this; 0: of any level. Messages have no level */
    bool
        by_type; /* events of the one type (Class.Type, a modern event's Opcode) that `type` is. Messages
                           have no type */
    uint8_t type;
    uint8_t reserved_byte;  /* 0 */
    uint32_t share_percent; /* 0 to 100, of all classes together at most 100 */
    uint64_t reserved;      /* 0 */
} etwas_retention_class;

/*
 * What has become of the events of one class, and how far back it goes. attempted = recorded + overwritten + lost,
 * and the sum over the classes is the session's, but for this: what a circular file replaces, a disk drops later or
 * nobody fetches in real time has left the class's buffers well, so here it is recorded, and etwas_counts alone
 * knows better.
 */
typedef struct etwas_retention_class_state {
    uint64_t attempted;
    uint64_t recorded;    /* in memory, or handed on to the file or to consumers */
    uint64_t overwritten; /* flight recorder: replaced by newer ones, of this or of another class */
    uint64_t lost;        /* no buffer was to be had, within the share or at all; or not written */
    uint64_t
        covered_ns; /* flight recorder: for so long back everything is held, of every processor; see
                             etwas_retention. Else, and of a session that has stopped, 0 */
    uint32_t buffers; /* that it has now, about; of a session that has stopped, 0 */
    uint32_t share;   /* how many are its share */
} etwas_retention_class_state;

/* etwas_retention_class_query, told how large the caller knows the struct. */
uint32_t etwas_retention_class_query_sized(etwas_trace_handle session, uint32_t class_number,
                                           etwas_retention_class_state *state, size_t state_bytes)
    ETWAS_API(etwas_retention_class_query_sized);

/*
 * One class of a running session, or, as long as etwas_counts has them, the last counts of one that has stopped.
 * `class_number` is 0, or that of a class in the session's list, from 1 on. In a session without classes class 0 has
 * all events. Writers may write meanwhile; each class is counted at one moment. Errors: ERROR_INVALID_PARAMETER for
 * NULL and a number that the session has not, ERROR_INVALID_HANDLE for a handle unknown or forgotten.
 */
static inline uint32_t etwas_retention_class_query(etwas_trace_handle session,
                                                   uint32_t class_number,
                                                   etwas_retention_class_state *state)
{
    return etwas_retention_class_query_sized(session, class_number, state, sizeof *state);
}

ETWAS_END_DECLS

#endif
