/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The identity of this process, as extended items contain it: user, session of the terminal, start,
 * container. It is read when a session requests it, not with every event.
 */
#ifndef ETWAS_PLATFORM_IDENTITY_H
#define ETWAS_PLATFORM_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_CONTAINER_BYTES = 64, /* a container's id: hexadecimal digits */
};

struct etwas_identity {
    uint64_t start_key;       /* unique since the machine booted; kept across exec */
    uint32_t user_id;         /* the effective user */
    uint32_t session_id;      /* of the login, otherwise of the terminal */
    uint32_t container_bytes; /* 0: no known container */
    char container[ETWAS_CONTAINER_BYTES];
};

/*
 * Returns when this process was started, in ticks since the machine booted; 0: the system does not
 * report it. Reads a file.
 */
uint64_t etwas_identity_start_ticks(void);

/*
 * Whether the process with this start time has been killed or is ending. It executes no more of its
 * program, and its files are closed when its memory has been freed. Also false if the process is
 * not visible. Reads a file.
 */
bool etwas_identity_is_dying(uint32_t process_id, uint64_t start_ticks);

/* Reads the identity of this process from files. */
void etwas_identity_read(struct etwas_identity *identity);

/* Returns the container's id in the path of a control group or a mount; NULL: there is none. */
const char *etwas_container_id_in_path(const char *path);

#endif
