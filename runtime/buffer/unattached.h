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
 * They grow until the host closes them. Counting is async-signal-safe.
 */
#ifndef ETWAS_BUFFER_UNATTACHED_H
#define ETWAS_BUFFER_UNATTACHED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_UNATTACHED_WORDS = 512 /* of the page, 64 bits each; word 0 is nobody's */
};

/*
 * In a word: its session has taken its last account. It puts this in the place of the count that it takes, in one step; so
 * an event is counted before that, and in the account, or it is not counted.
 */
#define ETWAS_UNATTACHED_CLOSED (UINT64_C(1) << 63)

/*
 * A descriptor of the page, the process's own: of a sealed file in memory of ETWAS_UNATTACHED_WORDS words. -1: there can
 * be none. One thread at a time, as for the next three.
 */
int etwas_unattached_page(void);

/*
 * In which word the entry counts, or will when it begins: then that is 0. It is of this session alone while the entry is.
 * For an entry of a guest (ETWAS_SESSION_ENTRIES and behind).
 */
uint32_t etwas_unattached_word(uint32_t entry);

/* Begun when there is a page, and its host has been told of the word. */
void etwas_unattached_begin(uint32_t entry, uint32_t gate);
void etwas_unattached_end(uint32_t entry);

/* Whether events with this generation are counted now. */
bool etwas_unattached_is_counting(uint32_t entry, uint32_t generation);

/* Counts an event if they are, and the session's account is not closed. */
bool etwas_unattached_count(uint32_t entry, uint32_t generation);

/*
 * Counts an event for which neither the gate was open nor this one noted, however often both were looked at. False: no host
 * would hear of it.
 */
bool etwas_unattached_count_unresolved(uint32_t entry);

/* In a fork's child, which counts nothing until it begins anew. Async-signal-safe. */
void etwas_unattached_forget(void);

#endif
