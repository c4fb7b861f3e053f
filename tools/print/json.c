/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "print/json.h"

#include <math.h>
#include <string.h>

#include "print/text.h"

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

void etwas_json_error(struct etwas_output *output, const char *key, uint64_t error_ns)
{
    if (error_ns != UINT64_MAX) {
        etwas_json_number(output, key, error_ns);
    } else {
        etwas_json_key(output, key);
        etwas_output_text(output, "null");
    }
}

void etwas_json_real(struct etwas_output *output, const char *key, double value)
{
    etwas_json_key(output, key);
    if (isfinite(value)) {
        etwas_output_format(output, "%.9g", value);
    } else {
        etwas_output_text(output, "null");
    }
}

void etwas_json_boolean(struct etwas_output *output, const char *key, bool value)
{
    etwas_json_key(output, key);
    etwas_output_text(output, value ? "true" : "false");
}

void etwas_json_guid(struct etwas_output *output, const char *key, const etwas_guid *guid)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '"');
    etwas_text_guid(output, guid);
    etwas_output_char(output, '"');
}

void etwas_json_text(struct etwas_output *output, const char *key, const char *text)
{
    etwas_json_key(output, key);
    etwas_json_string(output, text);
}

void etwas_json_string(struct etwas_output *output, const char *text)
{
    etwas_output_char(output, '"');
    etwas_text_utf8(output, ETWAS_TEXT_JSON, text, strlen(text));
    etwas_output_char(output, '"');
}
