/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_MEMORY_H
#define ETWAS_MEMORY_H

/*
 * The properties that a session may request for its memory. This header is a part of
 * <etwas/etwas.h>, which states what holds for all of its functions.
 */

#include <etwas/types.h>

#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * Requests: bits of etwas_session_options.memory. The session also starts if the system refuses
 * one. etwas_session_memory reports what was granted, and etwas_memory_refusal why the rest was
 * not. A request that is also in etwas_session_options.memory_required is a condition: without it
 * the start fails.
 *
 * PREFAULT: the pages of all MaximumBuffers are present when the session starts, so no writer meets
 * a page fault. Their memory is used from then on. Without it, MinimumBuffers have their pages, and
 * the flusher prepares the others ahead of the writers. The kernel may still swap pages out, unless
 * LOCK is granted too.
 *
 * HUGE: huge pages, as with `large_pages`. It is granted if some of the buffers lie in huge pages
 * now.
 *
 * LOCK: the pages of MaximumBuffers and of the session's bookkeeping stay in memory from their
 * first use on (mlock2 with MLOCK_ONFAULT). RLIMIT_MEMLOCK must allow all of it, unless the process
 * has CAP_IPC_LOCK. Buffers that UPDATE adds to MaximumBuffers are not locked. A pool file on a
 * disk is still written back, which delays writers.
 *
 * NODES: on a machine with several memory nodes (NUMA), the buffers are spread over all of them
 * (mbind with MPOL_PREFERRED). If a node has no free page, a page of another node is used. A
 * processor's next buffer is a free one of its own node, or else one of another node. This is for
 * sessions with a log file or consumers, which have free buffers. A full flight recorder overwrites
 * the oldest buffer, wherever it lies. Each node has some of MinimumBuffers if there are enough of
 * these. On a machine with one node there is nothing to do, and it is granted:
 * etwas_session_memory.memory_nodes has the number of nodes. Buffers in a file on a disk's file
 * system cannot be placed.
 */
#define ETWAS_MEMORY_PREFAULT 1u
#define ETWAS_MEMORY_HUGE 2u
#define ETWAS_MEMORY_LOCK 4u
#define ETWAS_MEMORY_NODES 8u

/*
 * Says why a running session was not granted one of these requests, as an English
 * sentence that names what is missing. The text is empty if it was granted or not requested. If
 * `session` is 0, it says why the process's last start was refused for a required one. `text`
 * receives as much as fits into `room` bytes with its 0; it may be NULL if `room` is 0. Returns the
 * length of the whole text without its 0, at most 511, and 0 for a session that does not run. The
 * function reads system files. Thread-safe; not async-signal-safe.
 */
size_t etwas_memory_refusal(etwas_trace_handle session, uint32_t request, char *text, size_t room)
    ETWAS_API(etwas_memory_refusal);

ETWAS_END_DECLS

#endif
