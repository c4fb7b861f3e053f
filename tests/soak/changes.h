/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The changes that make a legal session an illegal one. */
#ifndef ETWAS_SOAK_CHANGES_H
#define ETWAS_SOAK_CHANGES_H

#include "soak.h"

enum {
    SOAK_TOO_LONG = 1025 /* characters of a name */
};

/* A start that will be refused. */
struct soak_attempt {
    struct soak_request request;
    struct soak_block block; /* of the request, for changes of the block itself */
    struct soak_random *random;
    const char *folder;
    char long_name[SOAK_TOO_LONG + 1];
    bool name_is_somebodys;
    bool name_is_long;
};

/*
 * One change. It returns the code that the rules give for it; 0: it does not apply to this request.
 */
struct soak_change {
    const char *what;
    uint32_t (*make)(struct soak_attempt *attempt);
    bool of_block;
};

extern const struct soak_change soak_changes[];
extern const uint32_t soak_change_count;

#endif
