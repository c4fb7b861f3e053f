/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_FIELDS_H
#define ETWAS_TRACELOGGING_FIELDS_H

/*
 * The macros for the fields of an event. This header is a part of <etwas/TraceLoggingProvider.h>.
 *
 * All take up to three more arguments: the field's name, a description, and a tag. Name and
 * description are literals. Without a name the text of the first argument is the field's name. The
 * description is for readers of the source. The tag is a constant of 28 bits that the provider
 * defines.
 */

#include <etwas/tracelogging/data.h>
#include <etwas/tracelogging/schema.h>
#include <etwas/tracelogging/types.h>

/* ---- common parts of the macros ------------------------------------------------------------ */

/* A value of a type. */
#define ETWAS_TRACELOGGING_SCALAR(type, encoding, in, out, text, ...)                              \
    ETWAS_TRACELOGGING_FIELD(encoding, in, out, (), , _value,                                      \
                             (type, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), text, __VA_ARGS__)

/* The dots have `count`, and what may follow it. */
#define ETWAS_TRACELOGGING_ARRAY(type, encoding, in, out, text, data, ...)                         \
    ETWAS_TRACELOGGING_FIELD(encoding, (in) | 0x40, out, (), , _array,                             \
                             (type, data, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), text,            \
                             __VA_ARGS__)

#define ETWAS_TRACELOGGING_FIXED(type, encoding, in, out, text, data, ...)                         \
    ETWAS_TRACELOGGING_FIELD(                                                                      \
        encoding, (in) | 0x20, out,                                                                \
        (, (ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)) & 0xFF,                                         \
         (ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)) >> 8),                                            \
        ETWAS_TRACELOGGING_CHECK_COUNT(ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), _fixed,             \
        (type, data, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), text, __VA_ARGS__)
#define ETWAS_TRACELOGGING_CHECK_COUNT(count)                                                      \
    ETWAS_STATIC_ASSERT((count) > 0 && (count) < 0x10000,                                          \
                        "TraceLogging: a fixed array has 1 to 65,535 elements");

/* The kind of data has one operand, with which the dots begin. */
#define ETWAS_TRACELOGGING_ONE(data, encoding, in, out, text, ...)                                 \
    ETWAS_TRACELOGGING_FIELD(encoding, in, out, (), , data,                                        \
                             (ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), text, __VA_ARGS__)

/* It has `first`, and the operand with which the dots begin. */
#define ETWAS_TRACELOGGING_TWO(data, encoding, in, out, text, first, ...)                          \
    ETWAS_TRACELOGGING_FIELD(encoding, in, out, (), , data,                                        \
                             (first, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), text, __VA_ARGS__)

/* A struct has no data of its own. The dots begin with the number of its fields. */
#define ETWAS_TRACELOGGING_STRUCT(in, ...)                                                         \
    ETWAS_TRACELOGGING_FIELD(                                                                      \
        _out, in, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), (),                                       \
        ETWAS_TRACELOGGING_CHECK_FIELDS(ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), _none, (), "",     \
        __VA_ARGS__)
#define ETWAS_TRACELOGGING_CHECK_FIELDS(count)                                                     \
    ETWAS_STATIC_ASSERT((count) > 0 && (count) < 128, "TraceLogging: a struct has 1 to 127 "       \
                                                      "fields");

/* ---- values, arrays of them, arrays of a constant number of them --------------------------- */

/*
 * TraceLoggingTYPE(value), TraceLoggingTYPEArray(pointer, count) and
 * TraceLoggingTYPEFixedArray(pointer, constant). The pointer may be NULL if the count is 0.
 */
#define TraceLoggingInt8(...)                                                                      \
    ETWAS_TRACELOGGING_SCALAR(int8_t, _plain, TlgInINT8, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingInt8Array(pValues, ...)                                                        \
    ETWAS_TRACELOGGING_ARRAY(int8_t, _plain, TlgInINT8, TlgOutNULL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingInt8FixedArray(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_FIXED(int8_t, _plain, TlgInINT8, TlgOutNULL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt8(...)                                                                     \
    ETWAS_TRACELOGGING_SCALAR(uint8_t, _plain, TlgInUINT8, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUInt8Array(pValues, ...)                                                       \
    ETWAS_TRACELOGGING_ARRAY(uint8_t, _plain, TlgInUINT8, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingUInt8FixedArray(pValues, ...)                                                  \
    ETWAS_TRACELOGGING_FIXED(uint8_t, _plain, TlgInUINT8, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingInt16(...)                                                                     \
    ETWAS_TRACELOGGING_SCALAR(int16_t, _plain, TlgInINT16, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingInt16Array(pValues, ...)                                                       \
    ETWAS_TRACELOGGING_ARRAY(int16_t, _plain, TlgInINT16, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingInt16FixedArray(pValues, ...)                                                  \
    ETWAS_TRACELOGGING_FIXED(int16_t, _plain, TlgInINT16, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingUInt16(...)                                                                    \
    ETWAS_TRACELOGGING_SCALAR(uint16_t, _plain, TlgInUINT16, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUInt16Array(pValues, ...)                                                      \
    ETWAS_TRACELOGGING_ARRAY(uint16_t, _plain, TlgInUINT16, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingUInt16FixedArray(pValues, ...)                                                 \
    ETWAS_TRACELOGGING_FIXED(uint16_t, _plain, TlgInUINT16, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingInt32(...)                                                                     \
    ETWAS_TRACELOGGING_SCALAR(int32_t, _plain, TlgInINT32, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingInt32Array(pValues, ...)                                                       \
    ETWAS_TRACELOGGING_ARRAY(int32_t, _plain, TlgInINT32, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingInt32FixedArray(pValues, ...)                                                  \
    ETWAS_TRACELOGGING_FIXED(int32_t, _plain, TlgInINT32, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingUInt32(...)                                                                    \
    ETWAS_TRACELOGGING_SCALAR(uint32_t, _plain, TlgInUINT32, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUInt32Array(pValues, ...)                                                      \
    ETWAS_TRACELOGGING_ARRAY(uint32_t, _plain, TlgInUINT32, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingUInt32FixedArray(pValues, ...)                                                 \
    ETWAS_TRACELOGGING_FIXED(uint32_t, _plain, TlgInUINT32, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingInt64(...)                                                                     \
    ETWAS_TRACELOGGING_SCALAR(int64_t, _plain, TlgInINT64, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingInt64Array(pValues, ...)                                                       \
    ETWAS_TRACELOGGING_ARRAY(int64_t, _plain, TlgInINT64, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingInt64FixedArray(pValues, ...)                                                  \
    ETWAS_TRACELOGGING_FIXED(int64_t, _plain, TlgInINT64, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingUInt64(...)                                                                    \
    ETWAS_TRACELOGGING_SCALAR(uint64_t, _plain, TlgInUINT64, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUInt64Array(pValues, ...)                                                      \
    ETWAS_TRACELOGGING_ARRAY(uint64_t, _plain, TlgInUINT64, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingUInt64FixedArray(pValues, ...)                                                 \
    ETWAS_TRACELOGGING_FIXED(uint64_t, _plain, TlgInUINT64, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingIntPtr(...)                                                                    \
    ETWAS_TRACELOGGING_SCALAR(intptr_t, _plain, TlgInINTPTR, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingIntPtrArray(pValues, ...)                                                      \
    ETWAS_TRACELOGGING_ARRAY(intptr_t, _plain, TlgInINTPTR, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingIntPtrFixedArray(pValues, ...)                                                 \
    ETWAS_TRACELOGGING_FIXED(intptr_t, _plain, TlgInINTPTR, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingUIntPtr(...)                                                                   \
    ETWAS_TRACELOGGING_SCALAR(uintptr_t, _plain, TlgInUINTPTR, TlgOutNULL, #__VA_ARGS__,           \
                              __VA_ARGS__)
#define TraceLoggingUIntPtrArray(pValues, ...)                                                     \
    ETWAS_TRACELOGGING_ARRAY(uintptr_t, _plain, TlgInUINTPTR, TlgOutNULL, #pValues, pValues,       \
                             __VA_ARGS__)
#define TraceLoggingUIntPtrFixedArray(pValues, ...)                                                \
    ETWAS_TRACELOGGING_FIXED(uintptr_t, _plain, TlgInUINTPTR, TlgOutNULL, #pValues, pValues,       \
                             __VA_ARGS__)
#define TraceLoggingLong(...)                                                                      \
    ETWAS_TRACELOGGING_SCALAR(long, _plain, TlgInLONG, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingLongArray(pValues, ...)                                                        \
    ETWAS_TRACELOGGING_ARRAY(long, _plain, TlgInLONG, TlgOutNULL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingLongFixedArray(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_FIXED(long, _plain, TlgInLONG, TlgOutNULL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingULong(...)                                                                     \
    ETWAS_TRACELOGGING_SCALAR(unsigned long, _plain, TlgInULONG, TlgOutNULL, #__VA_ARGS__,         \
                              __VA_ARGS__)
#define TraceLoggingULongArray(pValues, ...)                                                       \
    ETWAS_TRACELOGGING_ARRAY(unsigned long, _plain, TlgInULONG, TlgOutNULL, #pValues, pValues,     \
                             __VA_ARGS__)
#define TraceLoggingULongFixedArray(pValues, ...)                                                  \
    ETWAS_TRACELOGGING_FIXED(unsigned long, _plain, TlgInULONG, TlgOutNULL, #pValues, pValues,     \
                             __VA_ARGS__)
#define TraceLoggingHexInt8(...)                                                                   \
    ETWAS_TRACELOGGING_SCALAR(int8_t, _out, TlgInUINT8, TlgOutHEX, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexInt8Array(pValues, ...)                                                     \
    ETWAS_TRACELOGGING_ARRAY(int8_t, _out, TlgInUINT8, TlgOutHEX, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt8FixedArray(pValues, ...)                                                \
    ETWAS_TRACELOGGING_FIXED(int8_t, _out, TlgInUINT8, TlgOutHEX, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt8(...)                                                                  \
    ETWAS_TRACELOGGING_SCALAR(uint8_t, _out, TlgInUINT8, TlgOutHEX, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexUInt8Array(pValues, ...)                                                    \
    ETWAS_TRACELOGGING_ARRAY(uint8_t, _out, TlgInUINT8, TlgOutHEX, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt8FixedArray(pValues, ...)                                               \
    ETWAS_TRACELOGGING_FIXED(uint8_t, _out, TlgInUINT8, TlgOutHEX, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt16(...)                                                                  \
    ETWAS_TRACELOGGING_SCALAR(int16_t, _out, TlgInUINT16, TlgOutHEX, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexInt16Array(pValues, ...)                                                    \
    ETWAS_TRACELOGGING_ARRAY(int16_t, _out, TlgInUINT16, TlgOutHEX, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt16FixedArray(pValues, ...)                                               \
    ETWAS_TRACELOGGING_FIXED(int16_t, _out, TlgInUINT16, TlgOutHEX, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt16(...)                                                                 \
    ETWAS_TRACELOGGING_SCALAR(uint16_t, _out, TlgInUINT16, TlgOutHEX, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexUInt16Array(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_ARRAY(uint16_t, _out, TlgInUINT16, TlgOutHEX, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt16FixedArray(pValues, ...)                                              \
    ETWAS_TRACELOGGING_FIXED(uint16_t, _out, TlgInUINT16, TlgOutHEX, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt32(...)                                                                  \
    ETWAS_TRACELOGGING_SCALAR(int32_t, _plain, TlgInHEXINT32, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexInt32Array(pValues, ...)                                                    \
    ETWAS_TRACELOGGING_ARRAY(int32_t, _plain, TlgInHEXINT32, TlgOutNULL, #pValues, pValues,        \
                             __VA_ARGS__)
#define TraceLoggingHexInt32FixedArray(pValues, ...)                                               \
    ETWAS_TRACELOGGING_FIXED(int32_t, _plain, TlgInHEXINT32, TlgOutNULL, #pValues, pValues,        \
                             __VA_ARGS__)
#define TraceLoggingHexUInt32(...)                                                                 \
    ETWAS_TRACELOGGING_SCALAR(uint32_t, _plain, TlgInHEXINT32, TlgOutNULL, #__VA_ARGS__,           \
                              __VA_ARGS__)
#define TraceLoggingHexUInt32Array(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_ARRAY(uint32_t, _plain, TlgInHEXINT32, TlgOutNULL, #pValues, pValues,       \
                             __VA_ARGS__)
#define TraceLoggingHexUInt32FixedArray(pValues, ...)                                              \
    ETWAS_TRACELOGGING_FIXED(uint32_t, _plain, TlgInHEXINT32, TlgOutNULL, #pValues, pValues,       \
                             __VA_ARGS__)
#define TraceLoggingHexInt64(...)                                                                  \
    ETWAS_TRACELOGGING_SCALAR(int64_t, _plain, TlgInHEXINT64, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexInt64Array(pValues, ...)                                                    \
    ETWAS_TRACELOGGING_ARRAY(int64_t, _plain, TlgInHEXINT64, TlgOutNULL, #pValues, pValues,        \
                             __VA_ARGS__)
#define TraceLoggingHexInt64FixedArray(pValues, ...)                                               \
    ETWAS_TRACELOGGING_FIXED(int64_t, _plain, TlgInHEXINT64, TlgOutNULL, #pValues, pValues,        \
                             __VA_ARGS__)
#define TraceLoggingHexUInt64(...)                                                                 \
    ETWAS_TRACELOGGING_SCALAR(uint64_t, _plain, TlgInHEXINT64, TlgOutNULL, #__VA_ARGS__,           \
                              __VA_ARGS__)
#define TraceLoggingHexUInt64Array(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_ARRAY(uint64_t, _plain, TlgInHEXINT64, TlgOutNULL, #pValues, pValues,       \
                             __VA_ARGS__)
#define TraceLoggingHexUInt64FixedArray(pValues, ...)                                              \
    ETWAS_TRACELOGGING_FIXED(uint64_t, _plain, TlgInHEXINT64, TlgOutNULL, #pValues, pValues,       \
                             __VA_ARGS__)
#define TraceLoggingHexIntPtr(...)                                                                 \
    ETWAS_TRACELOGGING_SCALAR(intptr_t, _plain, TlgInPOINTER, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexIntPtrArray(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_ARRAY(intptr_t, _plain, TlgInPOINTER, TlgOutNULL, #pValues, pValues,        \
                             __VA_ARGS__)
#define TraceLoggingHexIntPtrFixedArray(pValues, ...)                                              \
    ETWAS_TRACELOGGING_FIXED(intptr_t, _plain, TlgInPOINTER, TlgOutNULL, #pValues, pValues,        \
                             __VA_ARGS__)
#define TraceLoggingHexUIntPtr(...)                                                                \
    ETWAS_TRACELOGGING_SCALAR(uintptr_t, _plain, TlgInPOINTER, TlgOutNULL, #__VA_ARGS__,           \
                              __VA_ARGS__)
#define TraceLoggingHexUIntPtrArray(pValues, ...)                                                  \
    ETWAS_TRACELOGGING_ARRAY(uintptr_t, _plain, TlgInPOINTER, TlgOutNULL, #pValues, pValues,       \
                             __VA_ARGS__)
#define TraceLoggingHexUIntPtrFixedArray(pValues, ...)                                             \
    ETWAS_TRACELOGGING_FIXED(uintptr_t, _plain, TlgInPOINTER, TlgOutNULL, #pValues, pValues,       \
                             __VA_ARGS__)
#define TraceLoggingHexLong(...)                                                                   \
    ETWAS_TRACELOGGING_SCALAR(long, _plain, TlgInHEXLONG, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexLongArray(pValues, ...)                                                     \
    ETWAS_TRACELOGGING_ARRAY(long, _plain, TlgInHEXLONG, TlgOutNULL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexLongFixedArray(pValues, ...)                                                \
    ETWAS_TRACELOGGING_FIXED(long, _plain, TlgInHEXLONG, TlgOutNULL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexULong(...)                                                                  \
    ETWAS_TRACELOGGING_SCALAR(unsigned long, _plain, TlgInHEXLONG, TlgOutNULL, #__VA_ARGS__,       \
                              __VA_ARGS__)
#define TraceLoggingHexULongArray(pValues, ...)                                                    \
    ETWAS_TRACELOGGING_ARRAY(unsigned long, _plain, TlgInHEXLONG, TlgOutNULL, #pValues, pValues,   \
                             __VA_ARGS__)
#define TraceLoggingHexULongFixedArray(pValues, ...)                                               \
    ETWAS_TRACELOGGING_FIXED(unsigned long, _plain, TlgInHEXLONG, TlgOutNULL, #pValues, pValues,   \
                             __VA_ARGS__)
#define TraceLoggingFloat32(...)                                                                   \
    ETWAS_TRACELOGGING_SCALAR(float, _plain, TlgInFLOAT, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingFloat32Array(pValues, ...)                                                     \
    ETWAS_TRACELOGGING_ARRAY(float, _plain, TlgInFLOAT, TlgOutNULL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFloat32FixedArray(pValues, ...)                                                \
    ETWAS_TRACELOGGING_FIXED(float, _plain, TlgInFLOAT, TlgOutNULL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFloat64(...)                                                                   \
    ETWAS_TRACELOGGING_SCALAR(double, _plain, TlgInDOUBLE, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingFloat64Array(pValues, ...)                                                     \
    ETWAS_TRACELOGGING_ARRAY(double, _plain, TlgInDOUBLE, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingFloat64FixedArray(pValues, ...)                                                \
    ETWAS_TRACELOGGING_FIXED(double, _plain, TlgInDOUBLE, TlgOutNULL, #pValues, pValues,           \
                             __VA_ARGS__)
#define TraceLoggingBoolean(...)                                                                   \
    ETWAS_TRACELOGGING_SCALAR(uint8_t, _out, TlgInUINT8, TlgOutBOOLEAN, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingBooleanArray(pValues, ...)                                                     \
    ETWAS_TRACELOGGING_ARRAY(uint8_t, _out, TlgInUINT8, TlgOutBOOLEAN, #pValues, pValues,          \
                             __VA_ARGS__)
#define TraceLoggingBooleanFixedArray(pValues, ...)                                                \
    ETWAS_TRACELOGGING_FIXED(uint8_t, _out, TlgInUINT8, TlgOutBOOLEAN, #pValues, pValues,          \
                             __VA_ARGS__)
#define TraceLoggingBool(...)                                                                      \
    ETWAS_TRACELOGGING_SCALAR(int32_t, _plain, TlgInBOOL32, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingBoolArray(pValues, ...)                                                        \
    ETWAS_TRACELOGGING_ARRAY(int32_t, _plain, TlgInBOOL32, TlgOutNULL, #pValues, pValues,          \
                             __VA_ARGS__)
#define TraceLoggingBoolFixedArray(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_FIXED(int32_t, _plain, TlgInBOOL32, TlgOutNULL, #pValues, pValues,          \
                             __VA_ARGS__)
#define TraceLoggingChar(...)                                                                      \
    ETWAS_TRACELOGGING_SCALAR(char, _out, TlgInUINT8, TlgOutSTRING, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingCharArray(pValues, ...)                                                        \
    ETWAS_TRACELOGGING_ARRAY(char, _out, TlgInUINT8, TlgOutSTRING, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingCharFixedArray(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_FIXED(char, _out, TlgInUINT8, TlgOutSTRING, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingChar16(...)                                                                    \
    ETWAS_TRACELOGGING_SCALAR(etwas_wchar, _out, TlgInUINT16, TlgOutSTRING, #__VA_ARGS__,          \
                              __VA_ARGS__)
#define TraceLoggingChar16Array(pValues, ...)                                                      \
    ETWAS_TRACELOGGING_ARRAY(etwas_wchar, _out, TlgInUINT16, TlgOutSTRING, #pValues, pValues,      \
                             __VA_ARGS__)
#define TraceLoggingChar16FixedArray(pValues, ...)                                                 \
    ETWAS_TRACELOGGING_FIXED(etwas_wchar, _out, TlgInUINT16, TlgOutSTRING, #pValues, pValues,      \
                             __VA_ARGS__)
#define TraceLoggingWChar(...)                                                                     \
    ETWAS_TRACELOGGING_SCALAR(etwas_wchar, _out, TlgInUINT16, TlgOutSTRING, #__VA_ARGS__,          \
                              __VA_ARGS__)
#define TraceLoggingWCharArray(pValues, ...)                                                       \
    ETWAS_TRACELOGGING_ARRAY(etwas_wchar, _out, TlgInUINT16, TlgOutSTRING, #pValues, pValues,      \
                             __VA_ARGS__)
#define TraceLoggingWCharFixedArray(pValues, ...)                                                  \
    ETWAS_TRACELOGGING_FIXED(etwas_wchar, _out, TlgInUINT16, TlgOutSTRING, #pValues, pValues,      \
                             __VA_ARGS__)
#define TraceLoggingPointer(...)                                                                   \
    ETWAS_TRACELOGGING_SCALAR(const void *, _plain, TlgInPOINTER, TlgOutNULL, #__VA_ARGS__,        \
                              __VA_ARGS__)
#define TraceLoggingPointerArray(pValues, ...)                                                     \
    ETWAS_TRACELOGGING_ARRAY(const void *, _plain, TlgInPOINTER, TlgOutNULL, #pValues, pValues,    \
                             __VA_ARGS__)
#define TraceLoggingPointerFixedArray(pValues, ...)                                                \
    ETWAS_TRACELOGGING_FIXED(const void *, _plain, TlgInPOINTER, TlgOutNULL, #pValues, pValues,    \
                             __VA_ARGS__)
#define TraceLoggingCodePointer(...)                                                               \
    ETWAS_TRACELOGGING_SCALAR(const void *, _out, TlgInPOINTER, TlgOutCODE_POINTER, #__VA_ARGS__,  \
                              __VA_ARGS__)
#define TraceLoggingCodePointerArray(pValues, ...)                                                 \
    ETWAS_TRACELOGGING_ARRAY(const void *, _out, TlgInPOINTER, TlgOutCODE_POINTER, #pValues,       \
                             pValues, __VA_ARGS__)
#define TraceLoggingCodePointerFixedArray(pValues, ...)                                            \
    ETWAS_TRACELOGGING_FIXED(const void *, _out, TlgInPOINTER, TlgOutCODE_POINTER, #pValues,       \
                             pValues, __VA_ARGS__)
#define TraceLoggingGuid(...)                                                                      \
    ETWAS_TRACELOGGING_SCALAR(etwas_guid, _plain, TlgInGUID, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingGuidArray(pValues, ...)                                                        \
    ETWAS_TRACELOGGING_ARRAY(etwas_guid, _plain, TlgInGUID, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingGuidFixedArray(pValues, ...)                                                   \
    ETWAS_TRACELOGGING_FIXED(etwas_guid, _plain, TlgInGUID, TlgOutNULL, #pValues, pValues,         \
                             __VA_ARGS__)
#define TraceLoggingFileTime(...)                                                                  \
    ETWAS_TRACELOGGING_SCALAR(etwas_filetime, _plain, TlgInFILETIME, TlgOutNULL, #__VA_ARGS__,     \
                              __VA_ARGS__)
#define TraceLoggingFileTimeArray(pValues, ...)                                                    \
    ETWAS_TRACELOGGING_ARRAY(etwas_filetime, _plain, TlgInFILETIME, TlgOutNULL, #pValues, pValues, \
                             __VA_ARGS__)
#define TraceLoggingFileTimeFixedArray(pValues, ...)                                               \
    ETWAS_TRACELOGGING_FIXED(etwas_filetime, _plain, TlgInFILETIME, TlgOutNULL, #pValues, pValues, \
                             __VA_ARGS__)
#define TraceLoggingFileTimeUtc(...)                                                               \
    ETWAS_TRACELOGGING_SCALAR(etwas_filetime, _out, TlgInFILETIME, TlgOutDATETIME_UTC,             \
                              #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingFileTimeUtcArray(pValues, ...)                                                 \
    ETWAS_TRACELOGGING_ARRAY(etwas_filetime, _out, TlgInFILETIME, TlgOutDATETIME_UTC, #pValues,    \
                             pValues, __VA_ARGS__)
#define TraceLoggingFileTimeUtcFixedArray(pValues, ...)                                            \
    ETWAS_TRACELOGGING_FIXED(etwas_filetime, _out, TlgInFILETIME, TlgOutDATETIME_UTC, #pValues,    \
                             pValues, __VA_ARGS__)
#define TraceLoggingSystemTime(...)                                                                \
    ETWAS_TRACELOGGING_SCALAR(etwas_systemtime, _plain, TlgInSYSTEMTIME, TlgOutNULL, #__VA_ARGS__, \
                              __VA_ARGS__)
#define TraceLoggingSystemTimeArray(pValues, ...)                                                  \
    ETWAS_TRACELOGGING_ARRAY(etwas_systemtime, _plain, TlgInSYSTEMTIME, TlgOutNULL, #pValues,      \
                             pValues, __VA_ARGS__)
#define TraceLoggingSystemTimeFixedArray(pValues, ...)                                             \
    ETWAS_TRACELOGGING_FIXED(etwas_systemtime, _plain, TlgInSYSTEMTIME, TlgOutNULL, #pValues,      \
                             pValues, __VA_ARGS__)
#define TraceLoggingSystemTimeUtc(...)                                                             \
    ETWAS_TRACELOGGING_SCALAR(etwas_systemtime, _out, TlgInSYSTEMTIME, TlgOutDATETIME_UTC,         \
                              #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingSystemTimeUtcArray(pValues, ...)                                               \
    ETWAS_TRACELOGGING_ARRAY(etwas_systemtime, _out, TlgInSYSTEMTIME, TlgOutDATETIME_UTC,          \
                             #pValues, pValues, __VA_ARGS__)
#define TraceLoggingSystemTimeUtcFixedArray(pValues, ...)                                          \
    ETWAS_TRACELOGGING_FIXED(etwas_systemtime, _out, TlgInSYSTEMTIME, TlgOutDATETIME_UTC,          \
                             #pValues, pValues, __VA_ARGS__)

/* ---- other values -------------------------------------------------------------------------- */

/* Addresses and ports in network byte order: the first byte in memory is the first one. */
#define TraceLoggingPort(...)                                                                      \
    ETWAS_TRACELOGGING_SCALAR(uint16_t, _out, TlgInUINT16, TlgOutPORT, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingIPv4Address(...)                                                               \
    ETWAS_TRACELOGGING_SCALAR(uint32_t, _out, TlgInUINT32, TlgOutIPV4, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingPid(...)                                                                       \
    ETWAS_TRACELOGGING_SCALAR(uint32_t, _out, TlgInUINT32, TlgOutPID, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingTid(...)                                                                       \
    ETWAS_TRACELOGGING_SCALAR(uint32_t, _out, TlgInUINT32, TlgOutTID, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingWinError(...)                                                                  \
    ETWAS_TRACELOGGING_SCALAR(uint32_t, _out, TlgInUINT32, TlgOutWIN32ERROR, #__VA_ARGS__,         \
                              __VA_ARGS__)
#define TraceLoggingNTStatus(...)                                                                  \
    ETWAS_TRACELOGGING_SCALAR(int32_t, _out, TlgInUINT32, TlgOutNTSTATUS, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHResult(...)                                                                   \
    ETWAS_TRACELOGGING_SCALAR(int32_t, _out, TlgInINT32, TlgOutHRESULT, #__VA_ARGS__, __VA_ARGS__)
/* 16 bytes. */
#define TraceLoggingIPv6Address(...)                                                               \
    ETWAS_TRACELOGGING_FIELD(_out, TlgInBINARY, TlgOutIPV6, (), , _binary,                         \
                             (ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), 16), #__VA_ARGS__,            \
                             __VA_ARGS__)
/* A sockaddr of this size in bytes. AF_INET6 is recorded as Windows' 23. */
#define TraceLoggingSocketAddress(pValue, ...)                                                     \
    ETWAS_TRACELOGGING_TWO(_socket, _out, TlgInBINARY, TlgOutSOCKETADDRESS, #pValue, pValue,       \
                           __VA_ARGS__)
/*
 * A security identifier: revision, number of parts, 6 bytes of authority, the parts. The pointer
 * must not be NULL.
 */
#define TraceLoggingSid(...)                                                                       \
    ETWAS_TRACELOGGING_ONE(_sid, _plain, TlgInSID, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
/*
 * A value of a type that determines the field: bool, characters, integers, floating point, GUID,
 * FILETIME, SYSTEMTIME, void *, strings. In C true and false are int, and a char16_t is a number.
 */
#define TraceLoggingValue(...)                                                                     \
    ETWAS_TRACELOGGING_ONE(_deduced, _out,                                                         \
                           ETWAS_TRACELOGGING_DEDUCE_IN(ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)),    \
                           ETWAS_TRACELOGGING_DEDUCE_OUT(ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)),   \
                           #__VA_ARGS__, __VA_ARGS__)

/* ---- text and bytes ------------------------------------------------------------------------ */

/*
 * Strings end with a NUL; NULL is an empty one. Counted strings have a number of characters, and
 * may be NULL if it is 0. Wide and 16 are the same: UTF-16, with literals such as u"text". A string
 * of more than 65,535 bytes makes the event too large for any session.
 */
#define TraceLoggingString(...)                                                                    \
    ETWAS_TRACELOGGING_ONE(_string, _plain, TlgInANSISTRING, TlgOutNULL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUtf8String(...)                                                                \
    ETWAS_TRACELOGGING_ONE(_string, _out, TlgInANSISTRING, TlgOutUTF8, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingWideString(...)                                                                \
    ETWAS_TRACELOGGING_ONE(_wide_string, _plain, TlgInUNICODESTRING, TlgOutNULL, #__VA_ARGS__,     \
                           __VA_ARGS__)
#define TraceLoggingString16(...)                                                                  \
    ETWAS_TRACELOGGING_ONE(_wide_string, _plain, TlgInUNICODESTRING, TlgOutNULL, #__VA_ARGS__,     \
                           __VA_ARGS__)
#define TraceLoggingCountedString(pchValue, ...)                                                   \
    ETWAS_TRACELOGGING_FIELD(_plain, TlgInCOUNTEDANSISTRING, TlgOutNULL, (), , _characters,        \
                             (char, pchValue, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), #pchValue,   \
                             __VA_ARGS__)
#define TraceLoggingCountedUtf8String(pchValue, ...)                                               \
    ETWAS_TRACELOGGING_FIELD(_out, TlgInCOUNTEDANSISTRING, TlgOutUTF8, (), , _characters,          \
                             (char, pchValue, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)), #pchValue,   \
                             __VA_ARGS__)
#define TraceLoggingCountedWideString(pchValue, ...)                                               \
    ETWAS_TRACELOGGING_TWO(_wide_characters, _plain, TlgInCOUNTEDSTRING, TlgOutNULL, #pchValue,    \
                           pchValue, __VA_ARGS__)
#define TraceLoggingCountedString16(pchValue, ...)                                                 \
    ETWAS_TRACELOGGING_TWO(_wide_characters, _plain, TlgInCOUNTEDSTRING, TlgOutNULL, #pchValue,    \
                           pchValue, __VA_ARGS__)

/*
 * A string from a pointer to a struct with Length, in bytes, and Buffer. The pointer must not be
 * NULL.
 */
#define TraceLoggingAnsiString(...)                                                                \
    ETWAS_TRACELOGGING_FIELD(_plain, TlgInCOUNTEDANSISTRING, TlgOutNULL, (), , _buffer,            \
                             (etwas_ansi_string, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)),           \
                             #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUnicodeString(...)                                                             \
    ETWAS_TRACELOGGING_FIELD(_plain, TlgInCOUNTEDSTRING, TlgOutNULL, (), , _buffer,                \
                             (etwas_unicode_string, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)),        \
                             #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingBinaryBuffer(pValue, ...)                                                      \
    ETWAS_TRACELOGGING_FIELD(_plain, TlgInBINARY, TlgOutNULL, (), , _buffer,                       \
                             (ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), pValue), #pValue,             \
                             __VA_ARGS__)
#define TraceLoggingBinaryBufferEx(pValue, StructType, ...)                                        \
    ETWAS_TRACELOGGING_FIELD(_out, TlgInBINARY, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), (), ,       \
                             _buffer, (StructType, pValue), #pValue, __VA_ARGS__)

/* Bytes of this number. BinaryEx also has a TlgOut type. */
#define TraceLoggingBinary(pValue, ...)                                                            \
    ETWAS_TRACELOGGING_TWO(_binary, _plain, TlgInBINARY, TlgOutNULL, #pValue, pValue, __VA_ARGS__)
#define TraceLoggingBinaryEx(pValue, cbValue, ...)                                                 \
    ETWAS_TRACELOGGING_FIELD(_out, TlgInBINARY, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), (), ,       \
                             _binary, (pValue, cbValue), #pValue, __VA_ARGS__)

/*
 * Bytes in an encoding that the provider defines. protocol is 5 to 31. (bSchema) and cbSchema are
 * constant bytes that tell a reader how to decode them, and their number.
 */
#define TraceLoggingCustom(pValue, cbValue, protocol, bSchema, ...)                                \
    ETWAS_TRACELOGGING_FIELD(                                                                      \
        _plain, (protocol) | 0x60, TlgOutNULL,                                                     \
        (, ETWAS_TRACELOGGING_COUNT bSchema, 0, ETWAS_TRACELOGGING_OPEN bSchema),                  \
        ETWAS_TRACELOGGING_CHECK_CUSTOM(protocol, ETWAS_TRACELOGGING_COUNT bSchema,                \
                                        ETWAS_TRACELOGGING_FIRST(__VA_ARGS__)),                    \
        _binary, (pValue, cbValue), #pValue, __VA_ARGS__)
#define ETWAS_TRACELOGGING_CHECK_CUSTOM(protocol, given, count)                                    \
    ETWAS_TRACELOGGING_CHECK_BITS(protocol, 31, "TraceLogging: a protocol is a number below 32")   \
    ETWAS_STATIC_ASSERT((given) == (count),                                                        \
                        "TraceLogging: cbSchema is the number of bytes in bSchema");

/* ---- structs and packed fields ------------------------------------------------------------- */

/*
 * The next `fieldCount` fields are the members of the struct. A struct among them counts as one
 * field, with all of its own.
 */
#define TraceLoggingStruct(...) ETWAS_TRACELOGGING_STRUCT(24, __VA_ARGS__)

/*
 * Separate schema and data, for types without a macro of their own, such as arrays of structs or of
 * strings. The data must have the fields of the schema in the same order, without gaps.
 *
 *     PackedField     both: raw data, a TlgIn type, Ex: and a TlgOut type
 *     PackedMetadata  schema alone, with a name
 *     PackedStruct, PackedStructArray   schema alone; an array's count, 16 bits, is data
 *     PackedData      data alone; Ex: with a Type of its data descriptor
 */
#define TraceLoggingPackedField(pValue, cbValue, ...)                                              \
    ETWAS_TRACELOGGING_FIELD(_plain, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), TlgOutNULL, (), ,      \
                             _raw, (pValue, cbValue, 0), #pValue, __VA_ARGS__)
#define TraceLoggingPackedFieldEx(pValue, cbValue, inType, ...)                                    \
    ETWAS_TRACELOGGING_FIELD(_out, inType, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), (), , _raw,      \
                             (pValue, cbValue, 0), #pValue, __VA_ARGS__)
#define TraceLoggingPackedMetadata(...)                                                            \
    ETWAS_TRACELOGGING_FIELD(_plain, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), TlgOutNULL, (), ,      \
                             _none, (), "", __VA_ARGS__)
#define TraceLoggingPackedMetadataEx(inType, ...)                                                  \
    ETWAS_TRACELOGGING_FIELD(_out, inType, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), (), , _none, (), \
                             "", __VA_ARGS__)
#define TraceLoggingPackedStruct(...) ETWAS_TRACELOGGING_STRUCT(24, __VA_ARGS__)
#define TraceLoggingPackedStructArray(...) ETWAS_TRACELOGGING_STRUCT(24 | 0x40, __VA_ARGS__)
#define TraceLoggingPackedData(pValue, cbValue) TraceLoggingPackedDataEx(pValue, cbValue, 0)
#define TraceLoggingPackedDataEx(pValue, cbValue, dataDescType)                                    \
    ETWAS_TRACELOGGING_ARGUMENT(_none, (), _raw, (pValue, cbValue, dataDescType))

#endif
