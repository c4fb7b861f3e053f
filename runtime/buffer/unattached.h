/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events for sessions of other processes that this one is not attached to yet, because their hosts
 * are stopped or busy. The handle of such a session is known and enables providers. Its slots are
 * the closed ones, so each event takes the general way, finds no open gate, and is counted here.
 *
 *     begin     stores the gate that the session's slots will have: events with this generation are
 *               counted
 *     end       the slots are there and the gate is open; or the process leaves the session
 *
 * A thread that joins ends the counting after the slots can be found. So a writer that finds
 * neither an open gate nor a stored one looks up the slots once more.
 *
 * The counts lie in a page that the hosts map, too, so that they see the counts of a process that
 * has ended meanwhile. A count grows until its host closes it. Counting is async-signal-safe.
 */
#ifndef ETWAS_BUFFER_UNATTACHED_H
#define ETWAS_BUFFER_UNATTACHED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_UNATTACHED_WORDS = 512 /* of the page, 64 bits each; word 0 is not used */
};

/*
 * The value of a word whose host has taken the last account. The host exchanges it for the count
 * that it takes, in one step: an event is either counted before that, and is in the account, or not
 * counted.
 */
#define ETWAS_UNATTACHED_CLOSED (UINT64_C(1) << 63)

/*
 * Returns a descriptor of the page, which stays the library's: a sealed file in memory of
 * ETWAS_UNATTACHED_WORDS words. -1: there can be none. One thread at a time, as for the next three.
 */
int etwas_unattached_page(void);

/*
 * Returns the word in which the entry counts, or will count when it begins; the word is 0 then. It
 * belongs to this session alone as long as the entry does. For an entry of a guest
 * (ETWAS_SESSION_ENTRIES and later).
 */
uint32_t etwas_unattached_word(uint32_t entry);

/* Begins and ends counting. Before it begins there is a page, and the host knows the word. */
void etwas_unattached_begin(uint32_t entry, uint32_t gate);
void etwas_unattached_end(uint32_t entry);

/* Whether events of this generation are counted now. */
bool etwas_unattached_is_counting(uint32_t entry, uint32_t generation);

/* Counts events if counting has begun and the session's account is not closed. */
bool etwas_unattached_count(uint32_t entry, uint32_t generation, uint32_t events);

/*
 * Counts events for which in all attempts neither the gate was open nor counting had begun.
 * Returns false if no host would receive the count.
 */
bool etwas_unattached_count_unresolved(uint32_t entry, uint32_t events);

/* Called in a fork's child: nothing is counted until it begins anew. Async-signal-safe. */
void etwas_unattached_forget(void);

#endif
