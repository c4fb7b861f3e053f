/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_PROVE_H
#define ETWAS_TOOLS_ANALYSE_PROVE_H

/*
 * `etwas stat --prove`: whether the files of a session have all events that they should. The events
 * of the files are counted, and compared with the counts that the session states:
 *
 *     attempted = in the files + overwritten + lost     for every session
 *     attempted = taken + lost                          for each of the kernel's sources
 *     made = in the files + refused                     for each kind of record of these sources
 *
 * The file that was recovered of a killed session states the counts of the whole session. Its other
 * files are unfinished, and are only counted.
 *
 * Attempted is counted by the session, and for the kernel's sources by the kernel, independently of
 * the buffers. The files have these counts (docs/reference/file-format.md). They are not trusted to
 * be complete or consistent.
 */

#include "trace/input.h"
#include "trace/parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_PROVE_KINDS = 65536,
    ETWAS_PROVE_ACCOUNTS = 65536, /* accounts that are kept */
    ETWAS_PROVE_NAME_BYTES = 64,
    ETWAS_PROVE_REASONS = 16, /* reasons that are kept; others are only counted */
    ETWAS_PROVE_REASON_BYTES = 256,
};

/*
 * How a source's events were counted: each one by etwas, or by the kernel, which counts only the
 * lost ones.
 */
enum {
    ETWAS_PROVE_COUNTED_EACH = 1,
    ETWAS_PROVE_COUNTED_LOST_ALONE = 2,
};

/* One kind of record in the stream of one processor. */
struct etwas_prove_kind {
    struct etwas_prove_key {
        etwas_guid class_guid;
        uint32_t processor;
        uint32_t type;
        bool classic;
        uint8_t version; /* not compared; that of a found record, for its name */
    } key;
    uint64_t found; /* in the files */
    uint64_t made;  /* sum of the accounts of all sources */
    uint64_t refused;
    bool is_known; /* an account states it */
};

/* The fate of the events of a source on a processor. */
struct etwas_prove_account {
    uint32_t source;
    uint32_t processor;
    uint32_t counted;
    uint32_t flags; /* EnableFlags that enable the source */
    bool damaged;
    uint64_t attempted;
    uint64_t taken;
    uint64_t without_record;
    uint64_t lost_no_room;
    uint64_t lost_unread;
    uint64_t lost_not_handed;
    uint64_t made; /* records, in this processor's stream */
    char name[ETWAS_PROVE_NAME_BYTES];
};

/* The counts of a session's events that a file states. */
struct etwas_prove_sums {
    uint64_t attempted;
    uint64_t overwritten;
    uint64_t lost;
};

struct etwas_prove_session {
    struct etwas_prove_session *next;
    etwas_wchar *name; /* terminated */
    int64_t start_filetime;
    uint32_t clock;
    uint32_t mode;
    uint32_t first_file; /* its position on the command line, from 1 */
    uint32_t files;
    const char **paths;

    bool is_damaged;
    bool is_unfinished;
    bool has_ended;     /* a file states that it is the last one of the session */
    uint32_t recovered; /* number of files that were recovered after it was killed */
    struct etwas_prove_sums told_by_recovered; /* stated by the recovered files */
    bool is_kernel;
    bool out_of_memory;
    struct etwas_prove_sums told;  /* sums of its other files; etwas_prove_judge may replace them */
    uint32_t unattached_processes; /* of the file that states the most */
    uint32_t unattached_code;      /* why the last of them could not log; 0: all could */
    uint64_t in_files;
    uint64_t images; /* records that may or may not be events; not in in_files */

    /* The following is only set for a system logger. */
    uint64_t account_records;  /* records of accounts in the files */
    uint64_t account_expected; /* the number that they state */
    uint64_t losses;           /* how often a ring had no room */
    uint64_t losses_events;    /* events lost then */
    uint64_t not_recorded;     /* how often a processor was off, or not recorded yet */
    uint32_t first_unrecorded; /* the first such processor */
    bool are_more_unrecorded;  /* there is another one */
    struct etwas_prove_account *accounts;
    size_t account_count;
    void *kinds; /* tree of struct etwas_prove_kind */
    struct etwas_prove_kind *latest;
    size_t kind_count;
    uint64_t other_kinds; /* events of kinds beyond ETWAS_PROVE_KINDS */

    /* Sums of the accounts. */
    uint64_t kernel_lost;
    uint64_t refused;

    bool is_proved;
    uint32_t reason_count; /* reasons why it is not proved */
    char reasons[ETWAS_PROVE_REASONS][ETWAS_PROVE_REASON_BYTES];
};

/*
 * Returns the session of an open file. If the file is the first one of its session, adds the
 * session at the end of the list at *link. Returns NULL if there is no memory.
 */
struct etwas_prove_session *etwas_prove_session_of(struct etwas_prove_session **link,
                                                   const struct etwas_input *input,
                                                   uint32_t most_files);

/* Call it after the file's last record. `result` is what etwas_input_process returned. */
void etwas_prove_end_file(struct etwas_prove_session *session, const struct etwas_input *input,
                          int result);

/* Takes a record of one of the session's files. */
void etwas_prove_add(struct etwas_prove_session *session, const EVENT_RECORD *record);

/*
 * Returns whether the session's files state how many events were overwritten and lost. An
 * unfinished file does not.
 */
bool etwas_prove_knows_losses(const struct etwas_prove_session *session);

/* Returns whether the session's files state how many events were attempted. */
bool etwas_prove_knows_attempted(const struct etwas_prove_session *session);

/*
 * Decides whether the counts prove that nothing is missing, and stores the reasons if they do not.
 * Call it when all files of the session are read. `parts` has all files of the command line.
 */
void etwas_prove_judge(struct etwas_prove_session *session, const struct etwas_parts *parts);

/* Calls `visit` for each kind of record, in the order of their keys. */
void etwas_prove_visit_kinds(const struct etwas_prove_session *session,
                             void (*visit)(struct etwas_prove_kind *kind, void *context),
                             void *context);

void etwas_prove_clear(struct etwas_prove_session *session);

/*
 * Reads all files, adds their sessions to an empty list, and judges each. Returns the exit status
 * of the program. The caller clears and frees the sessions.
 */
int etwas_prove_read(struct etwas_prove_session **sessions, char *const *paths, uint32_t count,
                     const struct etwas_parts *parts);

#endif
