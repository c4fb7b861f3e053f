/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The words that manifests have for types and predefined values, with ETW's numbers. */
#ifndef ETWAS_DECODE_MANIFEST_TYPES_H
#define ETWAS_DECODE_MANIFEST_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/manifest.h"

/* inType of an element `data`; false: it is none. */
bool etwas_manifest_in_type(const char *name, uint16_t *in_type);

/* outType, with its namespace ("xs:int"); false: it is none. */
bool etwas_manifest_out_type(const char *name, uint16_t *out_type);

/* What is predefined under that name ("win:Start"); NULL: nothing. The message is its text. */
const struct etwas_manifest_value *etwas_manifest_predefined(enum etwas_manifest_kind kind,
                                                             const char *name, size_t name_bytes);

#endif
