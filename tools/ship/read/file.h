/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_FILE_H
#define ETWAS_TOOLS_SHIP_READ_FILE_H

/*
 * A trace file as `etwas ship` reads it: its session, and how far it can be read. The file may
 * grow.
 */

#include <stdbool.h>
#include <stdint.h>

/* The part number of a file that was recovered from the memory of a killed session. */
#define ETWAS_SHIP_RECOVERED_PART UINT32_MAX

/*
 * Facts about a file. Members before `bytes` do not change while it grows, except that
 * `written_as` is 0 at first.
 */
struct etwas_ship_facts {
    /* The same for all files of a session. An appended file has that of its first session. */
    uint64_t session;
    uint32_t part; /* number in its session's set; 0: not in a set; ETWAS_SHIP_RECOVERED_PART */
    /*
     * A hash of the name under which the file was written, and of its first event. Two files of one
     * session and part have the same value only if one is a copy of the other. A session that got
     * another log file while it ran has several files of part 0, with the same buffer numbers. 0:
     * the file has neither an event nor an end, and nothing of it is sent.
     */
    uint64_t written_as;
    /* The same for all snapshots of a session (etwas_parts_place); 0: not a snapshot. */
    uint64_t snapshot_of;
    bool is_appended; /* several sessions, one after the other */
    bool is_circular; /* buffers get their final places at its end; nothing is sent before */

    /* As of the last etwas_ship_file_look. */
    uint64_t bytes;
    bool has_ended;    /* its end was written: nothing follows */
    int64_t ended_ns;  /* since 1970, as in the row about its end; 0: it has not ended */
    bool ends_session; /* its session ended with it: it is the last part, or not in a set */
};

struct etwas_ship_file;

/*
 * Opens the file. `host` is the name of the computer in its rows, and part of the session number.
 * Both texts are copied. Returns NULL if it cannot be opened; *reason says why, as the end of a
 * sentence, until the next call. Not thread-safe.
 */
struct etwas_ship_file *etwas_ship_file_open(const char *path, const char *host,
                                             const char **reason);

/* NULL is allowed. */
void etwas_ship_file_close(struct etwas_ship_file *file);

const struct etwas_ship_facts *etwas_ship_file_facts(const struct etwas_ship_file *file);

/*
 * Reads the facts again of a file that may have grown or ended. Positions of earlier blocks stay
 * valid. Returns false if it cannot be opened any more or is another file now;
 * etwas_ship_file_reason says so.
 */
bool etwas_ship_file_look(struct etwas_ship_file *file);

/*
 * Marks a file without an end as no longer written. All of it can then be sent, including what
 * follows the last clock reading.
 */
void etwas_ship_file_leave(struct etwas_ship_file *file);

/*
 * Returns the reason of the last failure, as the end of a sentence: "it is not what it was". Valid
 * until the next call for the file.
 */
const char *etwas_ship_file_reason(const struct etwas_ship_file *file);

#endif
