/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The in types that a field of a classic event may have. */
#ifndef ETWAS_PROVIDER_IN_TYPE_H
#define ETWAS_PROVIDER_IN_TYPE_H

#include <stdint.h>

struct etwas_in_type {
    uint8_t bytes;    /* bytes in the payload; 0: they vary */
    uint8_t out_type; /* TDH_OUTTYPE_*, the usual one; 0: there is none */
};

/* Finds an in type; NULL: there is no such type, or fields cannot have it. */
const struct etwas_in_type *etwas_in_type(uint16_t in_type);

#endif
