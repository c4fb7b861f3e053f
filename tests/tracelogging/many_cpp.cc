/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "tracelogging/many.h"

#include <string>

#include "tracelogging/many_rows.h"

void write_rows_cpp(int singly)
{
    write_rows(singly);
}

void write_evaluated_cpp()
{
    write_evaluated();
}

/* In a template, for which the compiler has its own ways. */
template <typename Byte> static void write_short_lived(Byte first)
{
    ETWAS_TRACELOGGING_MANY(
        many_provider, ("First", TraceLoggingString(std::string("first").c_str(), "s")),
        ("Second",
         TraceLoggingBinary(std::basic_string<Byte>({first, Byte(2), Byte(3)}).data(), 3, "b"),
         TraceLoggingCountedString(std::string("ab").data(), 2, "a")),
        ("Third", TraceLoggingString(std::string("third").c_str(), "s")));
}

void write_short_lived_cpp()
{
    write_short_lived('\1');
}
