/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The rows of field_rows.h, written in C. */
#include "tracelogging/field_rows.h"
#include "tracelogging/fields.h"

#define WRITE_ROW(name, schema, data, ...) TraceLoggingWrite(fields_provider, "E", __VA_ARGS__);

void write_fields_c(void)
{
    ALL_ROWS(WRITE_ROW)
}
