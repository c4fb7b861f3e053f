/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The files that processes have open, by descriptor, as far as their system calls show. Each known
 * file has a unique number, from its open or its first use until its descriptor is closed or its
 * process ends or runs another program. A file that processes or descriptors share (after a fork or
 * a dup) has a separate number in each of them.
 *
 *     scanned_ns   what happened to the descriptor before this time is known already
 *     since_ns     uses of the descriptor from this time on are of this file
 *
 * The times differ for a file that was found by a scan, which takes a while. A name that was read
 * is certain only once all events up to the time of reading are handled and the file is still open.
 * The file waits until then, also after its close.
 *
 * The table is bounded: at ETWAS_OPEN_FILES_MOST files all are forgotten. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_NAMES_OPEN_FILES_H
#define ETWAS_SYSTEM_NAMES_OPEN_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/id_map.h"

enum {
    ETWAS_OPEN_FILES_MOST = 1 << 16,

    /* Offsets that are no place in the file, as ETW has them. */
    ETWAS_FILE_AT_END = -1,
    ETWAS_FILE_AT_POSITION = -2,
};

struct etwas_open_file {
    struct etwas_id_node node;
    struct etwas_open_file *next; /* of the same process */
    struct etwas_open_file **link;
    struct etwas_open_file *next_waiting;  /* the next file that waits for its name */
    struct etwas_open_file **waiting_link; /* NULL: the file does not wait */
    uint32_t process_id;
    uint32_t descriptor;
    uint64_t number;
    int64_t scanned_ns;
    int64_t since_ns;
    int64_t position;   /* where it reads and writes next; ETWAS_FILE_AT_POSITION: not known */
    uint32_t under_way; /* calls in progress that move the position */
    bool is_mixed;      /* several calls moved it at once */
    bool is_shared;     /* other processes or descriptors may move it */
    bool is_append;
    bool has_name;    /* the name is emitted */
    int64_t named_ns; /* when the name was read */
    char *name;       /* NULL: not read yet */
};

struct etwas_open_process;

struct etwas_open_files {
    struct etwas_id_map by_descriptor;
    struct etwas_id_map processes;
    struct etwas_open_file *waiting;
    /* Closed files whose names are certain and not emitted, linked by next_waiting. */
    struct etwas_open_file *closed;
    uint64_t last_number;
};

/* Returns false if there is no memory; nothing has to be freed then. */
bool etwas_open_files_init(struct etwas_open_files *files);
void etwas_open_files_free(struct etwas_open_files *files);

/* Returns a number that no file has had. */
uint64_t etwas_open_files_number(struct etwas_open_files *files);

/* Returns the file; NULL: it is not known. */
struct etwas_open_file *etwas_open_files_find(const struct etwas_open_files *files,
                                              uint32_t process_id, uint32_t descriptor);

/*
 * Adds a file that is open since this time and waits for its name, and removes what the descriptor
 * was before. NULL: there is no memory, or something later is known of the descriptor.
 */
struct etwas_open_file *etwas_open_files_bind(struct etwas_open_files *files, uint32_t process_id,
                                              uint32_t descriptor, uint64_t number,
                                              int64_t time_ns);

/* Removes the files of these descriptors, except for those that were opened later. */
void etwas_open_files_close(struct etwas_open_files *files, uint32_t process_id, uint32_t first,
                            uint32_t last, int64_t time_ns);

/* Marks the files of a process that forked: the child shares them. */
void etwas_open_files_share(struct etwas_open_files *files, uint32_t process_id);

/* Removes all files, after events were lost. */
void etwas_open_files_forget(struct etwas_open_files *files);

/*
 * Removes a closed file whose name is certain and returns it; the caller frees it with
 * etwas_open_file_free. NULL: there is none.
 */
struct etwas_open_file *etwas_open_files_remove_closed(struct etwas_open_files *files);
void etwas_open_file_free(struct etwas_open_file *file);

/* The file does not wait for its name any more. */
void etwas_open_file_stop_waiting(struct etwas_open_file *file);

/*
 * Returns the file after this one, in no special order. `file` NULL: the first. NULL: there is
 * none.
 */
struct etwas_open_file *etwas_open_files_after(const struct etwas_open_files *files,
                                               const struct etwas_open_file *file);

/* ---- positions ------------------------------------------------------------------------------- */

/* Others may move the file's position from now on. */
void etwas_open_file_share(struct etwas_open_file *file);

/*
 * A call begins that moves the position. Returns where it reads or writes. If two calls overlap,
 * their order is not known.
 */
int64_t etwas_open_file_begin(struct etwas_open_file *file, bool is_write);

/* The call ended and moved the position by `moved`; negative: it failed. */
void etwas_open_file_end(struct etwas_open_file *file, int64_t moved);

/* The call ended and set the position; negative: it failed. */
void etwas_open_file_seek(struct etwas_open_file *file, int64_t position);

#endif
