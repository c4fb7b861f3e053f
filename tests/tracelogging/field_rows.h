/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * One event for each macro of a field, with what decoding.md's grammar says of it, written down by
 * hand: ROW(name, schema, data, arguments...), where `schema` is what follows the event's name, of
 * which each is called "E", and `data` the event's data. fields_c.c and fields_cpp.cc write the
 * events, fields_test.c compares them.
 */
#ifndef ETWAS_TESTS_TRACELOGGING_FIELD_ROWS_H
#define ETWAS_TESTS_TRACELOGGING_FIELD_ROWS_H

/*
 * A value, an array of two, a fixed array of two, whose elements are values.name[0] and [1]. The
 * types' bytes: scalar, | 0x40, | 0x20.
 */
#define ROWS_OF(ROW, Macro, values, scalar, counted, fixed, first, second)                         \
    ROW(Macro, "v\0" scalar, first, TraceLogging##Macro(values[0], "v"))                           \
    ROW(Macro##Array, "v\0" counted, "\2\0" first second,                                          \
        TraceLogging##Macro##Array(values, 2, "v"))                                                \
    ROW(Macro##FixedArray, "v\0" fixed "\2\0", first second,                                       \
        TraceLogging##Macro##FixedArray(values, 2, "v"))

#define VALUE_ROWS(ROW)                                                                            \
    ROWS_OF(ROW, Int8, values.int8, "\x03", "\x43", "\x23", "\xfe", "\x7f")                        \
    ROWS_OF(ROW, UInt8, values.uint8, "\x04", "\x44", "\x24", "\xfe", "\x01")                      \
    ROWS_OF(ROW, Int16, values.int16, "\x05", "\x45", "\x25", "\xfe\xff", "\x34\x12")              \
    ROWS_OF(ROW, UInt16, values.uint16, "\x06", "\x46", "\x26", "\xfe\xff", "\x34\x12")            \
    ROWS_OF(ROW, Int32, values.int32, "\x07", "\x47", "\x27", "\xfe\xff\xff\xff",                  \
            "\x78\x56\x34\x12")                                                                    \
    ROWS_OF(ROW, UInt32, values.uint32, "\x08", "\x48", "\x28", "\xfe\xff\xff\xff",                \
            "\x78\x56\x34\x12")                                                                    \
    ROWS_OF(ROW, Int64, values.int64, "\x09", "\x49", "\x29", "\xfe\xff\xff\xff\xff\xff\xff\xff",  \
            "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                                                    \
    ROWS_OF(ROW, UInt64, values.uint64, "\x0a", "\x4a", "\x2a",                                    \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, IntPtr, values.intptr, "\x09", "\x49", "\x29",                                    \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, UIntPtr, values.uintptr, "\x0a", "\x4a", "\x2a",                                  \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, Long, values.longs, "\x09", "\x49", "\x29", "\xfe\xff\xff\xff\xff\xff\xff\xff",   \
            "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                                                    \
    ROWS_OF(ROW, ULong, values.ulongs, "\x0a", "\x4a", "\x2a", "\xfe\xff\xff\xff\xff\xff\xff\xff", \
            "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                                                    \
    ROWS_OF(ROW, HexInt8, values.int8, "\x84\x04", "\xc4\x04", "\xa4\x04", "\xfe", "\x7f")         \
    ROWS_OF(ROW, HexUInt8, values.uint8, "\x84\x04", "\xc4\x04", "\xa4\x04", "\xfe", "\x01")       \
    ROWS_OF(ROW, HexInt16, values.int16, "\x86\x04", "\xc6\x04", "\xa6\x04", "\xfe\xff",           \
            "\x34\x12")                                                                            \
    ROWS_OF(ROW, HexUInt16, values.uint16, "\x86\x04", "\xc6\x04", "\xa6\x04", "\xfe\xff",         \
            "\x34\x12")                                                                            \
    ROWS_OF(ROW, HexInt32, values.int32, "\x14", "\x54", "\x34", "\xfe\xff\xff\xff",               \
            "\x78\x56\x34\x12")                                                                    \
    ROWS_OF(ROW, HexUInt32, values.uint32, "\x14", "\x54", "\x34", "\xfe\xff\xff\xff",             \
            "\x78\x56\x34\x12")                                                                    \
    ROWS_OF(ROW, HexInt64, values.int64, "\x15", "\x55", "\x35",                                   \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, HexUInt64, values.uint64, "\x15", "\x55", "\x35",                                 \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, HexIntPtr, values.intptr, "\x15", "\x55", "\x35",                                 \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, HexUIntPtr, values.uintptr, "\x15", "\x55", "\x35",                               \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, HexLong, values.longs, "\x15", "\x55", "\x35",                                    \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, HexULong, values.ulongs, "\x15", "\x55", "\x35",                                  \
            "\xfe\xff\xff\xff\xff\xff\xff\xff", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, Float32, values.floats, "\x0b", "\x4b", "\x2b", "\x00\x00\xc0\x3f",               \
            "\x00\x00\x00\xc0")                                                                    \
    ROWS_OF(ROW, Float64, values.doubles, "\x0c", "\x4c", "\x2c",                                  \
            "\x00\x00\x00\x00\x00\x00\xf8\x3f", "\x00\x00\x00\x00\x00\x00\x00\xc0")                \
    ROWS_OF(ROW, Boolean, values.booleans, "\x84\x03", "\xc4\x03", "\xa4\x03", "\x01", "\x00")     \
    ROWS_OF(ROW, Bool, values.bools, "\x0d", "\x4d", "\x2d", "\x01\x00\x00\x00",                   \
            "\x00\x00\x00\x00")                                                                    \
    ROWS_OF(ROW, Char, values.chars, "\x84\x02", "\xc4\x02", "\xa4\x02", "\x41", "\x62")           \
    ROWS_OF(ROW, Char16, values.wchars, "\x86\x02", "\xc6\x02", "\xa6\x02", "\x41\x00",            \
            "\xac\x20")                                                                            \
    ROWS_OF(ROW, WChar, values.wchars, "\x86\x02", "\xc6\x02", "\xa6\x02", "\x41\x00", "\xac\x20") \
    ROWS_OF(ROW, Pointer, values.pointers, "\x15", "\x55", "\x35",                                 \
            "\x00\x10\x00\x00\x00\x00\x00\x00", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, CodePointer, values.pointers, "\x95\x25", "\xd5\x25", "\xb5\x25",                 \
            "\x00\x10\x00\x00\x00\x00\x00\x00", "\xf0\xde\xbc\x9a\x78\x56\x34\x12")                \
    ROWS_OF(ROW, Guid, values.guids, "\x0f", "\x4f", "\x2f",                                       \
            "\x04\x03\x02\x01\x06\x05\x08\x07\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10",                    \
            "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")                    \
    ROWS_OF(ROW, FileTime, values.filetimes, "\x11", "\x51", "\x31",                               \
            "\x04\x03\x02\x01\x08\x07\x06\x05", "\x00\x00\x00\x00\x00\x00\x00\x00")                \
    ROWS_OF(ROW, FileTimeUtc, values.filetimes, "\x91\x26", "\xd1\x26", "\xb1\x26",                \
            "\x04\x03\x02\x01\x08\x07\x06\x05", "\x00\x00\x00\x00\x00\x00\x00\x00")                \
    ROWS_OF(ROW, SystemTime, values.systemtimes, "\x12", "\x52", "\x32",                           \
            "\xea\x07\x0b\x00\x00\x00\x16\x00\x08\x00\x2d\x00\x09\x00\xe7\x03",                    \
            "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")                    \
    ROWS_OF(ROW, SystemTimeUtc, values.systemtimes, "\x92\x26", "\xd2\x26", "\xb2\x26",            \
            "\xea\x07\x0b\x00\x00\x00\x16\x00\x08\x00\x2d\x00\x09\x00\xe7\x03",                    \
            "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")

/* The others; `values` has what they point to. */
#define OTHER_ROWS(ROW)                                                                            \
    ROW(Port, "v\0\x86\7", "\x00\x50", TraceLoggingPort(values.port, "v"))                         \
    ROW(IPv4Address, "v\0\x88\x8", "\x7f\0\0\1", TraceLoggingIPv4Address(values.ipv4, "v"))        \
    ROW(IPv6Address, "v\0\x8e\x9",                                                                 \
        "\x10\0"                                                                                   \
        "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1",                                                    \
        TraceLoggingIPv6Address(values.ipv6, "v"))                                                 \
    ROW(Pid, "v\0\x88\5", "\xd2\4\0\0", TraceLoggingPid(1234, "v"))                                \
    ROW(Tid, "v\0\x88\6", "\xd2\4\0\0", TraceLoggingTid(1234, "v"))                                \
    ROW(WinError, "v\0\x88\xd", "\5\0\0\0", TraceLoggingWinError(5, "v"))                          \
    ROW(NTStatus, "v\0\x88\xe", "\1\0\0\xc0", TraceLoggingNTStatus((int32_t)0xC0000001, "v"))      \
    ROW(HResult, "v\0\x87\xf", "\5\0\7\x80", TraceLoggingHResult((int32_t)0x80070005, "v"))        \
    ROW(Sid, "v\0\x13", "\1\2\0\0\0\0\0\5\x20\0\0\0\x21\2\0\0", TraceLoggingSid(values.sid, "v"))  \
    ROW(SocketAddress, "v\0\x8e\xa", "\x8\0\2\0\0\x50\x7f\0\0\1",                                  \
        TraceLoggingSocketAddress(values.inet, 8, "v"))                                            \
    ROW(SocketAddress_of_IPv6, "v\0\x8e\xa", "\x8\0\x17\0\0\x50\0\0\0\0",                          \
        TraceLoggingSocketAddress(values.inet6, 8, "v"))                                           \
    ROW(SocketAddress_of_one_byte, "v\0\x8e\xa", "\1\0\2",                                         \
        TraceLoggingSocketAddress(values.inet, 1, "v"))                                            \
    ROW(SocketAddress_of_none, "v\0\x8e\xa", "\0\0", TraceLoggingSocketAddress(NULL, 0, "v"))      \
    ROW(String, "v\0\2", "abc\0", TraceLoggingString(values.text, "v"))                            \
    ROW(String_of_none, "v\0\2", "\0", TraceLoggingString(values.no_text, "v"))                    \
    ROW(Utf8String, "v\0\x82\x23", "abc\0", TraceLoggingUtf8String(values.text, "v"))              \
    ROW(WideString, "v\0\1", "a\0\xac\x20\0\0", TraceLoggingWideString(values.wide, "v"))          \
    ROW(WideString_of_none, "v\0\1", "\0\0", TraceLoggingWideString(values.no_wide, "v"))          \
    ROW(String16, "v\0\1", "a\0\xac\x20\0\0", TraceLoggingString16(u"a\u20ac", "v"))               \
    ROW(CountedString, "v\0\x17", "\2\0ab", TraceLoggingCountedString(values.text, 2, "v"))        \
    ROW(CountedString_of_none, "v\0\x17", "\0\0",                                                  \
        TraceLoggingCountedString(values.no_text, 0, "v"))                                         \
    ROW(CountedUtf8String, "v\0\x97\x23", "\2\0ab",                                                \
        TraceLoggingCountedUtf8String(values.text, 2, "v"))                                        \
    ROW(CountedWideString, "v\0\x16", "\4\0a\0\xac\x20",                                           \
        TraceLoggingCountedWideString(values.wide, 2, "v"))                                        \
    ROW(CountedString16, "v\0\x16", "\2\0a\0", TraceLoggingCountedString16(values.wide, 1, "v"))   \
    ROW(AnsiString, "v\0\x17", "\3\0abc", TraceLoggingAnsiString(&values.ansi, "v"))               \
    ROW(UnicodeString, "v\0\x16", "\2\0a\0", TraceLoggingUnicodeString(&values.unicode, "v"))      \
    ROW(Binary, "v\0\xe", "\3\0abc", TraceLoggingBinary(values.text, 3, "v"))                      \
    ROW(Binary_of_none, "v\0\xe", "\0\0", TraceLoggingBinary(NULL, 0, "v"))                        \
    ROW(BinaryEx, "v\0\x8e\x24", "\3\0abc",                                                        \
        TraceLoggingBinaryEx(values.text, 3, TlgOutPKCS7_WITH_TYPE_INFO, "v"))                     \
    ROW(BinaryBuffer, "v\0\xe", "\3\0abc",                                                         \
        TraceLoggingBinaryBuffer(&values.ansi, etwas_ansi_string, "v"))                            \
    ROW(BinaryBufferEx, "v\0\x8e\x24", "\3\0abc",                                                  \
        TraceLoggingBinaryBufferEx(&values.ansi, etwas_ansi_string, TlgOutPKCS7_WITH_TYPE_INFO,    \
                                   "v"))                                                           \
    ROW(Custom, "v\0\x67\3\0\x11\x22\x33", "\3\0abc",                                              \
        TraceLoggingCustom(values.text, 3, 7, (0x11, 0x22, 0x33), 3, "v"))                         \
    ROW(Custom_with_a_tag, "v\0\xe7\x80\x80\x80\x80\5\1\0\x11", "\3\0abc",                         \
        TraceLoggingCustom(values.text, 3, 7, (0x11), 1, "v", "", 5))                              \
    ROW(Array_of_none, "v\0\x47", "\0\0", TraceLoggingInt32Array(values.no_ints, 0, "v"))          \
    ROW(Struct,                                                                                    \
        "s\0\x98\2"                                                                                \
        "a\0\4"                                                                                    \
        "b\0\2"                                                                                    \
        "c\0\4",                                                                                   \
        "\1"                                                                                       \
        "abc\0"                                                                                    \
        "\2",                                                                                      \
        TraceLoggingStruct(2, "s"), TraceLoggingUInt8(1, "a"), TraceLoggingString("abc", "b"),     \
        TraceLoggingUInt8(2, "c"))                                                                 \
    ROW(Struct_in_a_struct,                                                                        \
        "s\0\x98\2"                                                                                \
        "t\0\x98\1"                                                                                \
        "a\0\4"                                                                                    \
        "b\0\4",                                                                                   \
        "\1\2", TraceLoggingStruct(2, "s"), TraceLoggingStruct(1, "t", "the inner one"),           \
        TraceLoggingUInt8(1, "a"), TraceLoggingUInt8(2, "b"))                                      \
    ROW(Struct_with_a_tag,                                                                         \
        "s\0\x98\x81\x80\x80\x80\1"                                                                \
        "a\0\4",                                                                                   \
        "\1", TraceLoggingStruct(1, "s", "", 1), TraceLoggingUInt8(1, "a"))                        \
    ROW(PackedField, "v\0\x47", "\1\0abcd",                                                        \
        TraceLoggingPackedField("\1\0abcd", 6, TlgInINT32 | TlgInVcount, "v"))                     \
    ROW(PackedFieldEx, "v\0\x84\2", "a",                                                           \
        TraceLoggingPackedFieldEx(values.text, 1, TlgInUINT8, TlgOutSTRING, "v"))                  \
    ROW(PackedStructArray,                                                                         \
        "s\0\xd8\2"                                                                                \
        "a\0\x42"                                                                                  \
        "b\0\x84\4",                                                                               \
        "\1\0"                                                                                     \
        "\2\0"                                                                                     \
        "x\0y\0"                                                                                   \
        "\xff",                                                                                    \
        TraceLoggingPackedStructArray(2, "s"),                                                     \
        TraceLoggingPackedMetadata(TlgInANSISTRING | TlgInVcount, "a"),                            \
        TraceLoggingPackedMetadataEx(TlgInUINT8, TlgOutHEX, "b"),                                  \
        TraceLoggingPackedData("\1\0\2\0x\0y\0\xff", 9))                                           \
    ROW(PackedStruct,                                                                              \
        "s\0\x98\1"                                                                                \
        "a\0\4",                                                                                   \
        "\7", TraceLoggingPackedStruct(1, "s"), TraceLoggingPackedMetadata(TlgInUINT8, "a"),       \
        TraceLoggingPackedDataEx("\7", 1, 0))                                                      \
    ROW(a_name_that_is_the_source_text, "values.int32[0] + 1\0\7", "\xff\xff\xff\xff",             \
        TraceLoggingInt32(values.int32[0] + 1))                                                    \
    ROW(a_name_of_an_array, "values.int8\0\x43", "\1\0\xfe",                                       \
        TraceLoggingInt8Array(values.int8, 1))                                                     \
    ROW(a_description, "v\0\4", "\1", TraceLoggingUInt8(1, "v", "what it is"))                     \
    ROW(a_tag, "v\0\x84\x80\xff\xff\xff\x7f", "\1", TraceLoggingUInt8(1, "v", "", 0x0FFFFFFF))     \
    ROW(a_tag_beside_a_type, "v\0\x84\x83\x80\x80\xa4\x34", "\1",                                  \
        TraceLoggingBoolean(1, "v", "", 0x1234))                                                   \
    ROW(a_tag_of_a_fixed_array, "v\0\xa4\x80\x80\x80\x80\1\2\0", "\xfe\1",                         \
        TraceLoggingUInt8FixedArray(values.uint8, 2, "v", "", 1))                                  \
    ROW(nothing, "", "", TraceLoggingDescription("it says nothing"),                               \
        TraceLoggingCustomAttribute("key", "value"))

/* TraceLoggingValue always writes the second type. */
#define DEDUCED_ROWS(ROW)                                                                          \
    ROW(value_bool, "v\0\x84\3", "\1", TraceLoggingValue(values.truth, "v"))                       \
    ROW(value_char, "v\0\x84\2", "A", TraceLoggingValue(values.chars[0], "v"))                     \
    ROW(value_int8, "v\0\x83\0", "\xfe", TraceLoggingValue(values.int8[0], "v"))                   \
    ROW(value_uint8, "v\0\x84\0", "\xfe", TraceLoggingValue(values.uint8[0], "v"))                 \
    ROW(value_int16, "v\0\x85\0", "\xfe\xff", TraceLoggingValue(values.int16[0], "v"))             \
    ROW(value_uint16, "v\0\x86\0", "\xfe\xff", TraceLoggingValue(values.uint16[0], "v"))           \
    ROW(value_int32, "v\0\x87\0", "\xfe\xff\xff\xff", TraceLoggingValue(values.int32[0], "v"))     \
    ROW(value_uint32, "v\0\x88\0", "\xfe\xff\xff\xff", TraceLoggingValue(values.uint32[0], "v"))   \
    ROW(value_int64, "v\0\x89\0", "\xfe\xff\xff\xff\xff\xff\xff\xff",                              \
        TraceLoggingValue(values.int64[0], "v"))                                                   \
    ROW(value_uint64, "v\0\x8a\0", "\xfe\xff\xff\xff\xff\xff\xff\xff",                             \
        TraceLoggingValue(values.uint64[0], "v"))                                                  \
    ROW(value_long_long, "v\0\x89\0", "\1\0\0\0\0\0\0\0", TraceLoggingValue(1LL, "v"))             \
    ROW(value_unsigned_long_long, "v\0\x8a\0", "\1\0\0\0\0\0\0\0", TraceLoggingValue(1ULL, "v"))   \
    ROW(value_float, "v\0\x8b\0", "\0\0\xc0\x3f", TraceLoggingValue(1.5f, "v"))                    \
    ROW(value_double, "v\0\x8c\0", "\0\0\0\0\0\0\xf8\x3f", TraceLoggingValue(1.5, "v"))            \
    ROW(value_guid, "v\0\x8f\0", "\4\3\2\1\6\5\x8\7\x9\xa\xb\xc\xd\xe\xf\x10",                     \
        TraceLoggingValue(values.guids[0], "v"))                                                   \
    ROW(value_filetime, "v\0\x91\0", "\4\3\2\1\x8\7\6\5",                                          \
        TraceLoggingValue(values.filetimes[0], "v"))                                               \
    ROW(value_systemtime, "v\0\x92\0", "\xea\7\xb\0\0\0\x16\0\x8\0\x2d\0\x9\0\xe7\3",              \
        TraceLoggingValue(values.systemtimes[0], "v"))                                             \
    ROW(value_string, "v\0\x82\0", "abc\0", TraceLoggingValue(values.text, "v"))                   \
    ROW(value_literal, "v\0\x82\0", "abc\0", TraceLoggingValue("abc", "v"))                        \
    ROW(value_array_of_characters, "v\0\x82\0", "Ab\0", TraceLoggingValue(values.chars, "v"))      \
    ROW(value_no_string, "v\0\x82\0", "\0", TraceLoggingValue(values.no_text, "v"))                \
    ROW(value_wide_string, "v\0\x81\0", "a\0\xac\x20\0\0", TraceLoggingValue(values.wide, "v"))    \
    ROW(value_pointer, "v\0\x95\0", "\0\x10\0\0\0\0\0\0",                                          \
        TraceLoggingValue(values.pointers[0], "v"))                                                \
    ROW(value_with_a_tag, "v\0\x87\x80\x80\x80\x80\1", "\xfe\xff\xff\xff",                         \
        TraceLoggingValue(values.int32[0], "v", "", 1))

#define ALL_ROWS(ROW) VALUE_ROWS(ROW) OTHER_ROWS(ROW) DEDUCED_ROWS(ROW)

#endif
