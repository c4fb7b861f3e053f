/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The names that manifests have for types and predefined values, with ETW's numbers. */
#ifndef ETWAS_DECODE_MANIFEST_TYPES_H
#define ETWAS_DECODE_MANIFEST_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/manifest.h"

/* Parses the inType of an element `data`; false: unknown. */
bool etwas_manifest_in_type(const char *name, uint16_t *in_type);

/* Parses an outType, with its namespace ("xs:int"); false: unknown. */
bool etwas_manifest_out_type(const char *name, uint16_t *out_type);

/* The predefined value of a name ("win:Start"); NULL: there is none. Its message is its text. */
const struct etwas_manifest_value *etwas_manifest_predefined(enum etwas_manifest_kind kind,
                                                             const char *name, size_t name_bytes);

#endif
