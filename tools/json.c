/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "json.h"

#include <string.h>

#include "text.h"

void etwas_json_key(struct etwas_output *output, const char *key)
{
    etwas_output_text(output, ",\"");
    etwas_output_text(output, key);
    etwas_output_text(output, "\":");
}

void etwas_json_number(struct etwas_output *output, const char *key, uint64_t value)
{
    etwas_json_key(output, key);
    etwas_output_unsigned(output, value);
}

void etwas_json_text(struct etwas_output *output, const char *key, const char *text)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '"');
    etwas_text_utf8(output, ETWAS_TEXT_JSON, text, strlen(text));
    etwas_output_char(output, '"');
}
