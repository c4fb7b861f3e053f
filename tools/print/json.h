/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_JSON_H
#define ETWAS_TOOLS_PRINT_JSON_H

/* Strings of JSON, and members of an object behind its first one: a comma, the key, the value. */

#include "print/output.h"

#include <etwas/types.h>

/* Writes the comma and the key; the caller writes the value. The key must need no escaping. */
void etwas_json_key(struct etwas_output *output, const char *key);

void etwas_json_number(struct etwas_output *output, const char *key, uint64_t value);

/* Writes how far a time may be off; UINT64_MAX, which means that it is not known, becomes null. */
void etwas_json_error(struct etwas_output *output, const char *key, uint64_t error_ns);

/* Writes a number with nine digits; NaN and infinities become null. */
void etwas_json_real(struct etwas_output *output, const char *key, double value);

void etwas_json_boolean(struct etwas_output *output, const char *key, bool value);

void etwas_json_guid(struct etwas_output *output, const char *key, const etwas_guid *guid);

/* Writes a string without a key. `text` is UTF-8 with its NUL. */
void etwas_json_string(struct etwas_output *output, const char *text);

void etwas_json_text(struct etwas_output *output, const char *key, const char *text);

#endif
