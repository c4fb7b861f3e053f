/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which files processes have open, by descriptor, as far as their system calls say. A file that is known has a
 * number, which no other gets, from its open, or from when it is used first, until its descriptor is closed or
 * its process ends or runs another program. What a process shares with others (a child of fork, a descriptor that
 * was duplicated) is known by each under a number of its own.
 *
 *     looked_ns    what happened to the descriptor before is known already
 *     since_ns     what is done with it from then on is done with this file
 *
 * They differ where the file was found by looking, which takes a while. Whether it was still the same file when
 * its name was looked up is known when all that happened until then was taken: it waits until then, and after
 * its close still for its name to be told.
 *
 * Bounded: where there are ETWAS_OPEN_FILES_MOST all are forgotten. Not thread-safe.
 */
#ifndef ETWAS_SYSTEM_NAMES_OPEN_FILES_H
#define ETWAS_SYSTEM_NAMES_OPEN_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/id_map.h"

enum {
    ETWAS_OPEN_FILES_MOST = 1 << 16,

    /* No place in a file. As ETW has them. */
    ETWAS_FILE_AT_END = -1,
    ETWAS_FILE_AT_POSITION = -2,
};

struct etwas_open_file {
    struct etwas_id_node node;
    struct etwas_open_file *next; /* of its process */
    struct etwas_open_file **link;
    struct etwas_open_file *next_waiting;  /* for its name */
    struct etwas_open_file **waiting_link; /* NULL: it does not wait */
    uint32_t process_id;
    uint32_t descriptor;
    uint64_t number;
    int64_t scanned_ns;
    int64_t since_ns;
    int64_t position;   /* where it reads and writes next, or ETWAS_FILE_AT_POSITION: not known */
    uint32_t under_way; /* calls that move the position */
    bool is_mixed;      /* of these several at once */
    bool is_shared;     /* others may move the position */
    bool is_append;
    bool has_name;    /* that was told */
    int64_t named_ns; /* when it was looked up */
    char *name;       /* NULL: not looked up */
};

struct etwas_open_process;

struct etwas_open_files {
    struct etwas_id_map by_descriptor;
    struct etwas_id_map processes;
    struct etwas_open_file *waiting;
    struct etwas_open_file *closed; /* by next_waiting: whose name is certain, and not told */
    uint64_t last_number;
};

/* False: no memory, and nothing to free. */
bool etwas_open_files_init(struct etwas_open_files *files);
void etwas_open_files_free(struct etwas_open_files *files);

/* A number that no file had. */
uint64_t etwas_open_files_number(struct etwas_open_files *files);

/* NULL: it is not known. */
struct etwas_open_file *etwas_open_files_find(const struct etwas_open_files *files,
                                              uint32_t process_id, uint32_t descriptor);

/*
 * It is open since then, and waits for its name; what the descriptor was before is forgotten. NULL: no
 * memory, or what is known of the descriptor is from later.
 */
struct etwas_open_file *etwas_open_files_bind(struct etwas_open_files *files, uint32_t process_id,
                                              uint32_t descriptor, uint64_t number,
                                              int64_t time_ns);

/* These descriptors are closed, as far as they are not from later. */
void etwas_open_files_close(struct etwas_open_files *files, uint32_t process_id, uint32_t first,
                            uint32_t last, int64_t time_ns);

/* The process has forked: each of its files is another's, too. */
void etwas_open_files_share(struct etwas_open_files *files, uint32_t process_id);

/* Events were lost: nothing is known any more. */
void etwas_open_files_forget(struct etwas_open_files *files);

/* One that is closed, whose name is certain; its caller frees it by etwas_open_file_free. NULL: there is none. */
struct etwas_open_file *etwas_open_files_remove_closed(struct etwas_open_files *files);
void etwas_open_file_free(struct etwas_open_file *file);

/* It waits no longer. */
void etwas_open_file_stop_waiting(struct etwas_open_file *file);

/* The one after this in no special order; NULL: the first, or there is none. */
struct etwas_open_file *etwas_open_files_after(const struct etwas_open_files *files,
                                               const struct etwas_open_file *file);

/* ---- positions ------------------------------------------------------------------------------- */

/* Others may move it from now on. */
void etwas_open_file_share(struct etwas_open_file *file);

/* A call begins that moves the position: where it reads or writes. Of two at once nobody knows which came first. */
int64_t etwas_open_file_begin(struct etwas_open_file *file, bool is_write);

/* It is over, and has moved by so much; negative: it failed. */
void etwas_open_file_end(struct etwas_open_file *file, int64_t moved);

/* It is over, and has moved there; negative: it failed. */
void etwas_open_file_seek(struct etwas_open_file *file, int64_t position);

#endif
