/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events for sessions of other processes that this one is not attached to yet, because their hosts stand still, or have
 * much to do. Such a session's handle is known, and enables providers; its slots are the closed ones, so whoever logs comes
 * the general way, finds no open gate, and counts here.
 *
 *     begin     the gate that the session's slots will have is noted: with it events are counted
 *     end       the slots are there, and the gate is open; or the session is left
 *
 * Who joins ends the counting after its slots can be found. So a writer that finds neither an open gate nor a noted one
 * looks at the slots once more.
 *
 * The counts lie in a page that the hosts get, too, so that they hear what a process has counted that has ended meanwhile.
 * They only grow. Counting is async-signal-safe.
 */
#ifndef ETWAS_BUFFER_UNATTACHED_H
#define ETWAS_BUFFER_UNATTACHED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A descriptor of the page, the process's own: of a file in memory in which the count of an entry is the uint64_t at 8 × its
 * place behind ETWAS_SESSION_ENTRIES. -1: there can be none. One thread at a time.
 */
int etwas_unattached_page(void);

/* For an entry of a guest (ETWAS_SESSION_ENTRIES and behind); begun when there is a page. */
void etwas_unattached_begin(uint32_t entry, uint32_t gate);
void etwas_unattached_end(uint32_t entry);

/* Whether events with this generation are counted now. */
bool etwas_unattached_is(uint32_t entry, uint32_t generation);

/* Counts an event if they are. */
bool etwas_unattached_count(uint32_t entry, uint32_t generation);

/*
 * Counts an event for which neither the gate was open nor this one noted, however often both were looked at. False: the
 * entry is no guest's.
 */
bool etwas_unattached_give_up(uint32_t entry);

/* Of the entry until now. */
uint64_t etwas_unattached_counted(uint32_t entry);

/* In a fork's child, which counts nothing until it begins anew. Async-signal-safe. */
void etwas_unattached_forget(void);

#endif
