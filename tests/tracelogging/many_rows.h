/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Batches, for C and C++: many_c.c and many_cpp.cc include this. */
#define EVENT(...) __VA_ARGS__
#define ROW(singly, write, many, ...)                                                              \
    do {                                                                                           \
        if (singly) {                                                                              \
            write(__VA_ARGS__)                                                                     \
        } else {                                                                                   \
            many(many_provider, __VA_ARGS__);                                                      \
        }                                                                                          \
    } while (0)
#define ONE(a) TraceLoggingWrite(many_provider, EVENT a);
#define TWO(a, b) ONE(a) ONE(b)
#define THREE(a, b, c) TWO(a, b) ONE(c)
#define EIGHT(a, b, c, d, e, f, g, h) TWO(a, b) THREE(c, d, e) THREE(f, g, h)
#define SIXTEEN(a, b, c, d, e, f, g, h, ...) EIGHT(a, b, c, d, e, f, g, h) EIGHT(__VA_ARGS__)
#define ACTIVITY(...) TraceLoggingWriteActivity(many_provider, __VA_ARGS__);
#define ACTIVITIES(a, b, c) ACTIVITY(EVENT a) ACTIVITY(EVENT b) ACTIVITY(EVENT c)

/* Their numbers are in many_counts. */
static void write_rows(int singly)
{
    const struct many_values *v = &many_values;

    ROW(singly, ONE, ETWAS_TRACELOGGING_MANY, ("Alone"));
    ROW(singly, TWO, ETWAS_TRACELOGGING_MANY, ("Parsed", TraceLoggingUInt32(v->number)),
        ("Order", TraceLoggingLevel(4), TraceLoggingString(v->text, "name"),
         TraceLoggingKeyword(0x11), TraceLoggingOpcode(3), TraceLoggingEventTag(0x123), ));
    ROW(singly, THREE, ETWAS_TRACELOGGING_MANY,
        ("Texts", TraceLoggingString(NULL, "none"), TraceLoggingWideString(v->wide, "wide"),
         TraceLoggingValue(v->text, "deduced"), TraceLoggingCountedString(v->text, 3, "counted"),
         TraceLoggingAnsiString(&v->ansi, "buffer"), TraceLoggingString("literal", "literal")),
        ("Arrays", TraceLoggingUInt16Array(v->array, 3, "array"),
         TraceLoggingUInt16FixedArray(v->array, 2, "fixed"),
         TraceLoggingBinary(v->array, 5, "binary"), TraceLoggingIdVersion(7, 8)),
        ("Structs", TraceLoggingStruct(2, "pair"), TraceLoggingUInt8(1, "one"),
         TraceLoggingStruct(1, "inner"), TraceLoggingGuid(v->guid, "guid"),
         TraceLoggingSid(v->sid, "sid"), TraceLoggingSocketAddress(v->inet6, 8, "inet6"),
         TraceLoggingValue(1.5, "half"), TraceLoggingPackedData(v->array, 2)));
    ROW(singly, ACTIVITIES, ETWAS_TRACELOGGING_MANY_ACTIVITY,
        ("Stop", &many_activity, NULL, TraceLoggingOpcode(WINEVENT_OPCODE_STOP)),
        ("Start", &many_related, &many_activity, TraceLoggingOpcode(WINEVENT_OPCODE_START),
         TraceLoggingUInt32(v->number)),
        ("None", NULL, NULL));
    ROW(singly, SIXTEEN, ETWAS_TRACELOGGING_MANY, ("1", TraceLoggingUInt8(1, "n")), ("2"),
        ("3", TraceLoggingUInt8(3, "n")), ("4", TraceLoggingUInt16(4, "n")), ("5"), ("6"),
        ("7", TraceLoggingLevel(1)), ("8", TraceLoggingUInt64(8, "n")), ("9"),
        ("10", TraceLoggingString(v->text, "n")), ("11"), ("12"), ("13"),
        ("14", TraceLoggingUInt8(14, "n")), ("15"), ("16", TraceLoggingUInt8(16, "n")));
}

/* Three of the eight arguments are those of events of level 3 or less with keyword 0x10. */
static void write_evaluated(void)
{
    ETWAS_TRACELOGGING_MANY_ACTIVITY(
        many_provider,
        ("level", many_evaluate_id(), NULL, TraceLoggingUInt32(many_evaluate(), "n")),
        ("both", many_evaluate_id(), many_evaluate_id(), TraceLoggingLevel(3),
         TraceLoggingKeyword(0x10), TraceLoggingUInt32(many_evaluate(), "n")),
        ("keyword", NULL, many_evaluate_id(), TraceLoggingLevel(1), TraceLoggingKeyword(0x20),
         TraceLoggingUInt32(many_evaluate(), "n")));
    ETWAS_TRACELOGGING_MANY(many_provider,
                            ("neither", TraceLoggingLevel(4), TraceLoggingKeyword(0x20),
                             TraceLoggingUInt32(many_evaluate(), "n")));
}
