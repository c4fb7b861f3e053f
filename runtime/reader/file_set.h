/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files of one run that are parts of one new-file set, or of one session. They share a clock. Where
 * two stamps are within 100 ns of each other, their raw values and then the part numbers decide the
 * order, in whatever order the files were given.
 */
#ifndef ETWAS_READER_FILE_SET_H
#define ETWAS_READER_FILE_SET_H

#include "reader/event_step.h"
#include "reader/trace.h"

struct etwas_files_run;

struct etwas_file_set_member {
    size_t file_number; /* rank of the file: all different */
    size_t set_number;  /* the same for the parts of a set, different otherwise */
    /*
     * The clock that converts its stamps: the clock of the set's last file, whose rate was measured
     * longest.
     */
    const struct etwas_etl_clock *clock;
    const struct etwas_trace *trace; /* that last file */
    bool has_other_parts;            /* the run has other members of the set */
};

/* Returns whether one session recorded both, as far as their headers say. */
bool etwas_file_set_is_one_session(const struct etwas_trace *a, const struct etwas_trace *b);

/* Returns whether both are parts of one set. */
bool etwas_file_set_is_one_set(const struct etwas_trace *a, const struct etwas_trace *b);

/*
 * Returns the membership of the file `index`. If `joins_sessions`, all files of a session count as
 * parts of one set.
 */
struct etwas_file_set_member etwas_file_set_member_of(struct etwas_trace *const *traces,
                                                      uint32_t count, uint32_t index,
                                                      bool joins_sessions);

/*
 * Counts of a session that several of its files repeat, so that each counts once. Three kinds of
 * files have such counts:
 *
 *     snapshots, and copies of one file    each counts the whole session, or file, so far: the
 *                                          greatest is right
 *     parts, and files under other names   each counts its own: they add up
 *     a recovered file                     counts its whole session: right unless the others add up
 *                                          to more
 */

/*
 * Sets repeated_lost_events and the other repeated_* counts of all traces, which the caller
 * processes.
 */
void etwas_repeated_counts_find(struct etwas_trace *const *traces, uint32_t count);

/*
 * Puts files of one machine on one time line. Each file's header gives it a line of its own: the
 * wall clock when its session began, plus what passed since then by the performance counter. That
 * counter ignores suspends and is not disciplined as the wall clock is, so what two sessions
 * recorded at one moment may seem hours apart.
 */

/*
 * Puts each file of etwas that shares its machine with a file of another session on the time line
 * of the newest clock snapshot in any of them. This applies to stamps of the performance counter or
 * the cycle counter. Other files keep their time line; system time needs none. Every trace has a
 * complete timeline. The caller processes all traces.
 */
void etwas_timeline_align(struct etwas_trace *const *traces, uint32_t count);

/* ProcessTrace on files: their streams are opened, merged, and delivered in one order of time. */

/*
 * Makes a run of `count` files. If it is aligned, files of one machine are on one time line, and
 * records of several files count once. NULL without memory.
 */
struct etwas_files_run *etwas_files_run_new(uint32_t count, const struct etwas_span *span,
                                            bool is_aligned);

/*
 * Opens the files of these traces, which the caller has acquired, and delivers all events in the
 * span. Called once. Returns what ProcessTrace returns of files.
 */
uint32_t etwas_files_run_process(struct etwas_files_run *run, struct etwas_trace *const *traces);

/* Closes the files and frees the run, also while it is processed, if a callback ends the thread. */
void etwas_files_run_free(struct etwas_files_run *run);

#endif
