/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_PROVE_H
#define ETWAS_TOOLS_ANALYSE_PROVE_H

/*
 * `etwas stat --prove`: whether the files of a session have what they should. Each event of a file
 * is counted here, and compared with what the session says:
 *
 *     attempted = in the files + overwritten + lost                           of every session
 *     attempted = taken + lost              of each of the kernel's sources
 *     made = in the files + refused       of each kind of record of these
 *
 * What was recovered of a killed session says all of that of the whole session; its other files,
 * which end without saying so, are only counted.
 *
 * Attempted is the session's own count, or of the kernel's sources the kernel's own, which do not
 * pass the buffers. What the session says is in its files (docs/reference/file-format.md); it is
 * not believed to be whole, or to make sense.
 */

#include "trace/input.h"
#include "trace/parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_PROVE_KINDS = 65536,
    ETWAS_PROVE_ACCOUNTS = 65536, /* as many as are kept */
    ETWAS_PROVE_NAME_BYTES = 64,
    ETWAS_PROVE_REASONS = 16, /* that are printed; others are only counted */
    ETWAS_PROVE_REASON_BYTES = 256,
};

/*
 * How a source's events were counted: by us, each one, or by the kernel, which counts the lost ones
 * alone.
 */
enum {
    ETWAS_PROVE_COUNTED_EACH = 1,
    ETWAS_PROVE_COUNTED_LOST_ALONE = 2,
};

/* One kind of records in the stream of one processor. */
struct etwas_prove_kind {
    struct etwas_prove_key {
        etwas_guid class_guid;
        uint32_t processor;
        uint32_t type;
        bool classic;
        uint8_t version; /* not of the key: of one that was found, for its name */
    } key;
    uint64_t found; /* in the files */
    uint64_t made;  /* by the accounts of all sources */
    uint64_t refused;
    bool is_known; /* an account has it */
};

/* What became of the events of a source on a processor. */
struct etwas_prove_account {
    uint32_t source;
    uint32_t processor;
    uint32_t counted;
    uint32_t flags; /* EnableFlags that ask for it */
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

/* What a file says of the events of its session. */
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
    uint32_t first_file; /* its number on the command line */
    uint32_t files;
    const char **paths;

    bool is_damaged;
    bool is_unfinished;
    bool has_ended;     /* a file says that the session ended with it */
    uint32_t recovered; /* so many files are what it had in memory when it was killed */
    struct etwas_prove_sums told_by_recovered;
    bool is_kernel;
    bool out_of_memory;
    struct etwas_prove_sums told;  /* as its files state it, together */
    uint32_t unattached_processes; /* as the file that states the most has it … */
    uint32_t unattached_code;      /* … and why the last of them could not log; 0: all could */
    uint64_t in_files;
    uint64_t images; /* records that may be events or not; in_files leaves them out */

    /* Only a system logger has these. */
    uint64_t account_records;  /* there are */
    uint64_t account_expected; /* by their own word */
    uint64_t losses;           /* times that a ring had no room */
    uint64_t losses_events;
    uint64_t not_recorded;     /* times that a processor was off, or not recorded yet */
    uint32_t first_unrecorded; /* which, */
    bool are_more_unrecorded;  /* and whether another was as well */
    struct etwas_prove_account *accounts;
    size_t account_count;
    void *kinds; /* tree of struct etwas_prove_kind */
    struct etwas_prove_kind *latest;
    size_t kind_count;
    uint64_t other_kinds; /* events of more kinds than are told apart */

    /* Sums of the accounts. */
    uint64_t kernel_lost;
    uint64_t refused;

    bool is_proved;
    uint32_t reason_count; /* why not */
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
 * Returns whether its files state how many events were overwritten and lost. A file without an end
 * does not.
 */
bool etwas_prove_knows_losses(const struct etwas_prove_session *session);

/* Returns whether its files state how many events were attempted. */
bool etwas_prove_knows_attempted(const struct etwas_prove_session *session);

/*
 * Decides whether the accounts prove that nothing is missing, and stores the reasons if they do
 * not. Call it when all files of the session are read. `parts` has all files of the command line.
 */
void etwas_prove_judge(struct etwas_prove_session *session, const struct etwas_parts *parts);

/* Calls `visit` for each kind of records, in the order of their keys. */
void etwas_prove_visit_kinds(const struct etwas_prove_session *session,
                             void (*visit)(struct etwas_prove_kind *kind, void *context),
                             void *context);

void etwas_prove_clear(struct etwas_prove_session *session);

/*
 * Reads all files, adds their sessions to an empty list, and judges each. Returns what the program
 * exits with. The caller clears and frees the sessions.
 */
int etwas_prove_read(struct etwas_prove_session **sessions, char *const *paths, uint32_t count,
                     const struct etwas_parts *parts);

#endif
