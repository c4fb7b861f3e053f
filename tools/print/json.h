/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_JSON_H
#define ETWAS_TOOLS_PRINT_JSON_H

/*
 * Members of JSON objects behind the first one: a comma, the key, the value; and strings.
 */

#include "print/output.h"

#include <etwas/types.h>

/* What a value follows. The key needs no escaping. */
void etwas_json_key(struct etwas_output *output, const char *key);

void etwas_json_number(struct etwas_output *output, const char *key, uint64_t value);

/* How far a time may be off; UINT64_MAX, that it is not known, is null. */
void etwas_json_error(struct etwas_output *output, const char *key, uint64_t error_ns);

/* With nine digits; what is no number, or has no end, is null. */
void etwas_json_real(struct etwas_output *output, const char *key, double value);

void etwas_json_boolean(struct etwas_output *output, const char *key, bool value);

void etwas_json_guid(struct etwas_output *output, const char *key, const etwas_guid *guid);

/* A string, without a key. UTF-8 with its NUL. */
void etwas_json_string(struct etwas_output *output, const char *text);

void etwas_json_text(struct etwas_output *output, const char *key, const char *text);

#endif
