/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "tracelogging/many.h"
#include "tracelogging/many_rows.h"

void write_rows_c(int singly)
{
    write_rows(singly);
}

void write_evaluated_c(void)
{
    write_evaluated();
}

void write_short_lived_c(void)
{
    ETWAS_TRACELOGGING_MANY(
        many_provider, ("First", TraceLoggingString(((char[]){"first"}), "s")),
        ("Second", TraceLoggingBinary(((const uint8_t[]){1, 2, 3}), 3, "b"),
         TraceLoggingAnsiString(((etwas_ansi_string[1]){{2, 2, (char[]){'a', 'b'}}}), "a")),
        ("Third", TraceLoggingString(((char[]){"third"}), "s")));
}
