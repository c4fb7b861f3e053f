/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_FILE_H
#define ETWAS_TOOLS_SHIP_READ_FILE_H

/*
 * A trace file as `etwas ship` sees it: which session's it is, and how far it can be read. A file
 * may grow.
 */

#include <stdbool.h>
#include <stdint.h>

/* The part of a file that was made of what a killed session had in memory. */
#define ETWAS_SHIP_RECOVERED_PART UINT32_MAX

/* What stays as it is while a file grows, and what does not. */
struct etwas_ship_facts {
    /* The same for all files of a session; of an appended file its first session's. */
    uint64_t session;
    uint32_t part; /* its number in its session's set; 0: of no set; ETWAS_SHIP_RECOVERED_PART */
    /*
     * A hash of the name under which the file was written, and of its first event. Two files of one
     * session and part have the same value only if one is a copy. A session that was given another
     * log file while it ran has several of part 0, with the same buffer numbers. 0: the file has
     * neither an event nor an end, and nothing of it is sent.
     */
    uint64_t written_as;
    /* For a snapshot: the same value for all of its session, by etwas_parts_place; else 0. */
    uint64_t snapshot_of;
    bool is_appended; /* it has several sessions, one behind the other */
    bool is_circular; /* its buffers have their place when it has ended: nothing can go before */

    /* As etwas_ship_file_look saw it last. */
    uint64_t bytes;
    bool has_ended;    /* its writer has written its end: nothing follows */
    int64_t ended_ns;  /* when, since 1970, as the row of its end has it; 0: it has not */
    bool ends_session; /* and the session ended with it: its last part, or of no set */
};

struct etwas_ship_file;

/*
 * Opens the file. `host` is what its rows are to call the computer, and part of the session's
 * number; both texts are copied. NULL: *reason says why not, until the next call, as the end of a
 * sentence. For one thread at a time.
 */
struct etwas_ship_file *etwas_ship_file_open(const char *path, const char *host,
                                             const char **reason);

/* NULL is allowed. */
void etwas_ship_file_close(struct etwas_ship_file *file);

const struct etwas_ship_facts *etwas_ship_file_facts(const struct etwas_ship_file *file);

/*
 * Looks again at a file that may have grown, or ended: what was cut of it before stays where it is.
 * False: it cannot be opened any more, or is another file now; etwas_ship_file_reason says so.
 */
bool etwas_ship_file_look(struct etwas_ship_file *file);

/*
 * Nobody writes the file any more, though it has no end: what is there goes, behind the last
 * reading of the clocks too.
 */
void etwas_ship_file_leave(struct etwas_ship_file *file);

/*
 * What went wrong last, as the end of a sentence: "it is not what it was". Until the next call for
 * the file.
 */
const char *etwas_ship_file_reason(const struct etwas_ship_file *file);

#endif
