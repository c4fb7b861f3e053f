/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_MEMORY_H
#define ETWAS_MEMORY_H

/*
 * What a session may ask of its memory beyond having it: a part of <etwas/etwas.h>, which says what holds for all of
 * its functions.
 */

#include <etwas/types.h>

#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * Wishes, for etwas_session_options.memory: bits. The session starts also where the system refuses one:
 * etwas_session_memory says what was granted, and etwas_memory_refusal why the rest was not. A wish that is in
 * etwas_session_options.memory_required is a condition: without it the start fails.
 *
 * PREFAULT: the pages of all MaximumBuffers are there when the session starts, so that no writer meets a page fault, and
 * what they take is taken then. Otherwise MinimumBuffers have theirs, and the flusher goes ahead of the writers with the
 * others. What the kernel may take away again, it does: with LOCK nothing of it is swapped out.
 *
 * HUGE: huge pages, the same as `large_pages`. Granted: some of the buffers lie in such now.
 *
 * LOCK: the pages of MaximumBuffers, and of what the session keeps of them, stay in memory from their first touch on
 * (mlock2 with MLOCK_ONFAULT). RLIMIT_MEMLOCK has to allow all of it, unless the process has CAP_IPC_LOCK. What UPDATE adds to
 * MaximumBuffers is not locked. A pool file on a disk is still written back, which holds up writers.
 *
 * NODES: on a machine with several memory nodes (NUMA) the buffers lie on all of them, some on each in turn (mbind with
 * MPOL_PREFERRED: where a node has no free page, it is another's), and a processor's next buffer is a free one of its own
 * node as long as there is one; else one of another. So it is for sessions with a log file or consumers, which have
 * free buffers: a flight recorder that is full overwrites the oldest, wherever that lies. Each node has some of
 * MinimumBuffers if there are enough of these. With one node there is nothing to do, and it is granted:
 * etwas_session_memory.memory_nodes says how many there are. Buffers in a file on a disk's file system cannot be placed.
 */
#define ETWAS_MEMORY_PREFAULT 1u
#define ETWAS_MEMORY_HUGE 2u
#define ETWAS_MEMORY_LOCK 4u
#define ETWAS_MEMORY_NODES 8u

/*
 * Why one of these wishes, `wish`, of a running session was not granted: an English sentence that names what is missing;
 * nothing if it was granted, or not asked for. With 0 for the session: why the process's last start was refused for one that it
 * required. `text` receives as much as fits into `room` bytes with its 0; it may be NULL with 0. Returns the
 * length of the whole without its 0: at most 511; 0 also for a session that does not run. Looks at files of the machine.
 * Thread-safe; not for signal handlers.
 */
size_t etwas_memory_refusal(etwas_trace_handle session, uint32_t wish, char *text, size_t room)
    ETWAS_API(etwas_memory_refusal);

ETWAS_END_DECLS

#endif
