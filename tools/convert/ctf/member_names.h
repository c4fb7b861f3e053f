/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_CTF_MEMBER_NAMES_H
#define ETWAS_TOOLS_CONVERT_CTF_MEMBER_NAMES_H

/*
 * Names of the members of one struct. Names from files may be any text. They are converted to
 * identifiers of the metadata language: `_`, then letters, digits and `_`. Readers remove the first
 * `_`. A counted member also needs a name for its length. If two names would be equal, all names
 * get their member's number as a suffix.
 */

#include "convert/bytes.h"
#include "print/output.h"

#include <stdbool.h>
#include <stdint.h>

struct etwas_ctf_names {
    struct etwas_bytes texts; /* each with its NUL; the name of a length follows its member's */
    size_t *at;               /* offset of a member's name in `texts` */
    uint32_t count;
    size_t capacity;
    bool is_numbered;
    bool out_of_memory;
};

void etwas_ctf_names_add(struct etwas_ctf_names *names, const char *name, bool is_counted);

/* Checks for equal names. Call it when all names have been added. */
void etwas_ctf_names_settle(struct etwas_ctf_names *names);

/* Writes the name of the member of this index, from 0, or of its length. */
void etwas_ctf_names_put(struct etwas_output *output, const struct etwas_ctf_names *names,
                         uint32_t member, bool of_length);

void etwas_ctf_names_free(struct etwas_ctf_names *names);

#endif
