/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The rows of field_rows.h, written in C++. */
#include "tracelogging/field_rows.h"
#include "tracelogging/fields.h"

/* Each row has a function of its own: one that has them all costs compilers many times as long. */
#define DEFINE_ROW(name, schema, data, ...)                                                        \
    static __attribute__((noinline)) void write_##name()                                           \
    {                                                                                              \
        TraceLoggingWrite(fields_provider, "E", __VA_ARGS__);                                      \
    }
#define CALL_ROW(name, ...) write_##name();

ALL_ROWS(DEFINE_ROW)

void write_fields_cpp()
{
    ALL_ROWS(CALL_ROW)
}
