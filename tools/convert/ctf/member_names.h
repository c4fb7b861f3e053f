/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_CTF_MEMBER_NAMES_H
#define ETWAS_TOOLS_CONVERT_CTF_MEMBER_NAMES_H

/*
 * Names of the members of one struct, which come from files and may be any text, as the metadata's
 * language has them: `_` and letters, digits and `_`. Readers take the first `_` away again. A
 * member that is counted also needs a name for its length. Where two would be the same, all have
 * their number behind them.
 */

#include "convert/bytes.h"
#include "print/output.h"

#include <stdbool.h>
#include <stdint.h>

struct etwas_ctf_names {
    struct etwas_bytes texts; /* each with its NUL; those of lengths behind their members' */
    size_t *at;               /* a member's, in `texts` */
    uint32_t count;
    size_t capacity;
    bool is_numbered;
    bool out_of_memory;
};

void etwas_ctf_names_add(struct etwas_ctf_names *names, const char *name, bool is_counted);

/* When all have been added. */
void etwas_ctf_names_settle(struct etwas_ctf_names *names);

/* Writes the name of the member of this index, from 0, or of its length. */
void etwas_ctf_names_put(struct etwas_output *output, const struct etwas_ctf_names *names,
                         uint32_t member, bool of_length);

void etwas_ctf_names_free(struct etwas_ctf_names *names);

#endif
