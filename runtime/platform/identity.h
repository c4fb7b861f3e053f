/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Who this process is, as extended items say it: user, session of the terminal, when it was
 * started, container.
 *
 * Asked of the system when a session wants it, not with every event.
 */
#ifndef ETWAS_PLATFORM_IDENTITY_H
#define ETWAS_PLATFORM_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_CONTAINER_BYTES = 64, /* a container's id: hexadecimal digits */
};

struct etwas_identity {
    uint64_t start_key;       /* of no other process since the machine booted; kept across exec */
    uint32_t user_id;         /* the effective one */
    uint32_t session_id;      /* of the login, else of the terminal */
    uint32_t container_bytes; /* 0: in none that is known */
    char container[ETWAS_CONTAINER_BYTES];
};

/* When this process was started, in ticks since the machine booted; 0: it is not said. Reads a file. */
uint64_t etwas_identity_start_ticks(void);

/*
 * Whether that process, which was started then, has been killed or is ending: it does nothing more, and what it has open is
 * closed when its memory has been given back. False too where it is not seen. Reads a file.
 */
bool etwas_identity_is_dying(uint32_t process_id, uint64_t start_ticks);

/* Reads files. */
void etwas_identity_read(struct etwas_identity *identity);

/* The container's id in the path of a control group or a mount; NULL: there is none. */
const char *etwas_container_id_in_path(const char *path);

#endif
