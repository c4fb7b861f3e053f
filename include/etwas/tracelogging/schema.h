/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_SCHEMA_H
#define ETWAS_TRACELOGGING_SCHEMA_H

/*
 * The constant that describes an event: its EVENT_DESCRIPTOR, and the schema that its record
 * carries. This header is a part of <etwas/TraceLoggingProvider.h>; programs do not use it
 * directly.
 *
 * Each argument of TraceLoggingWrite is a list in parentheses. Most parts of it are empty:
 *
 *     1, 2        _some, (name, (bytes after the name), checks): a field; else _none, (checks)
 *     3, 4        the kind of data and its operands (data.h)
 *     5, 6, 7     level, channel, opcode: `*0 + (value)`, so that the last one counts
 *     8           keyword: `| (value)`
 *     9, 10       id and version: `*0 + (value)`
 *     11, 12      tag: `| (value)`, and (, 4), the bytes it takes
 *
 * The macros below pick one part of every argument. A schema is a struct of arrays of bytes, so it
 * has no gaps, and the compiler fills it.
 */

#include <etwas/evntprov.h>
#include <etwas/tracelogging/each.h>

#define ETWAS_TRACELOGGING_ARGUMENT(field, list, data, operands)                                   \
    (field, list, data, operands, , , , , , , , ())

#define ETWAS_TRACELOGGING_CALL(macro, ...) macro(__VA_ARGS__)
#define ETWAS_TRACELOGGING_CALL_AGAIN(macro, ...) macro(__VA_ARGS__)

/* ---- what an argument says of the event ------------------------------------------------------ */

#define ETWAS_TRACELOGGING_LEVEL(number, argument) ETWAS_TRACELOGGING_PART_5 argument
#define ETWAS_TRACELOGGING_CHANNEL(number, argument) ETWAS_TRACELOGGING_PART_6 argument
#define ETWAS_TRACELOGGING_OPCODE(number, argument) ETWAS_TRACELOGGING_PART_7 argument
#define ETWAS_TRACELOGGING_KEYWORD(number, argument) ETWAS_TRACELOGGING_PART_8 argument
#define ETWAS_TRACELOGGING_ID(number, argument) ETWAS_TRACELOGGING_PART_9 argument
#define ETWAS_TRACELOGGING_VERSION(number, argument) ETWAS_TRACELOGGING_PART_10 argument
#define ETWAS_TRACELOGGING_TAG(number, argument) ETWAS_TRACELOGGING_PART_11 argument
#define ETWAS_TRACELOGGING_TAG_BYTES(number, argument)                                             \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_OPEN, ETWAS_TRACELOGGING_PART_12 argument)

#define ETWAS_TRACELOGGING_PART_5(a, b, c, d, e, f, g, h, i, j, k, l) e
#define ETWAS_TRACELOGGING_PART_6(a, b, c, d, e, f, g, h, i, j, k, l) f
#define ETWAS_TRACELOGGING_PART_7(a, b, c, d, e, f, g, h, i, j, k, l) g
#define ETWAS_TRACELOGGING_PART_8(a, b, c, d, e, f, g, h, i, j, k, l) h
#define ETWAS_TRACELOGGING_PART_9(a, b, c, d, e, f, g, h, i, j, k, l) i
#define ETWAS_TRACELOGGING_PART_10(a, b, c, d, e, f, g, h, i, j, k, l) j
#define ETWAS_TRACELOGGING_PART_11(a, b, c, d, e, f, g, h, i, j, k, l) k
#define ETWAS_TRACELOGGING_PART_12(a, b, c, d, e, f, g, h, i, j, k, l) ETWAS_TRACELOGGING_OPEN l

/* ---- fields ---------------------------------------------------------------------------------- */

/*
 * A field's argument. `encoding` is _plain, or _out if the type of output is recorded too. `tail`
 * is what follows the types, (, bytes...) or (). The dots begin with the last operand of the field.
 * Name, description and tag follow, and the last ones may be missing. Without a name the field is
 * called `text`.
 */
#define ETWAS_TRACELOGGING_FIELD(encoding, in, out, tail, checks, data, operands, text, ...)       \
    ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_FIELD_, ETWAS_TRACELOGGING_COUNT_4(__VA_ARGS__))    \
    (encoding, in, out, tail, checks, data, operands, text, __VA_ARGS__)
#define ETWAS_TRACELOGGING_FIELD_1(encoding, in, out, tail, checks, data, operands, text, last)    \
    ETWAS_TRACELOGGING_ARGUMENT(                                                                   \
        _some,                                                                                     \
        (text, (ETWAS_TRACELOGGING_TYPES##encoding(in, out) ETWAS_TRACELOGGING_OPEN tail),         \
         checks),                                                                                  \
        data, operands)
#define ETWAS_TRACELOGGING_FIELD_2(encoding, in, out, tail, checks, data, operands, text, last,    \
                                   name)                                                           \
    ETWAS_TRACELOGGING_FIELD_1(encoding, in, out, tail, checks, data, operands, name, last)
#define ETWAS_TRACELOGGING_FIELD_3(encoding, in, out, tail, checks, data, operands, text, last,    \
                                   name, description)                                              \
    ETWAS_TRACELOGGING_FIELD_1(encoding, in, out, tail, checks, data, operands, name, last)
#define ETWAS_TRACELOGGING_FIELD_4(encoding, in, out, tail, checks, data, operands, text, last,    \
                                   name, description, tag)                                         \
    ETWAS_TRACELOGGING_ARGUMENT(                                                                   \
        _some,                                                                                     \
        (name,                                                                                     \
         ((in) | 0x80, (out) | 0x80,                                                               \
          ETWAS_TRACELOGGING_FOUR_BYTES(tag) ETWAS_TRACELOGGING_OPEN tail),                        \
         checks ETWAS_TRACELOGGING_CHECK_TAG(tag)),                                                \
        data, operands)

#define ETWAS_TRACELOGGING_COUNT_4(...) ETWAS_TRACELOGGING_COUNT_4_NOW(__VA_ARGS__, 4, 3, 2, 1, ~)
#define ETWAS_TRACELOGGING_COUNT_4_NOW(a, b, c, d, count, ...) count

#define ETWAS_TRACELOGGING_TYPES_plain(in, out) in
#define ETWAS_TRACELOGGING_TYPES_out(in, out) (in) | 0x80, out

/* 28 bits, seven a byte, the upper ones first; bit 7: one more byte follows. */
#define ETWAS_TRACELOGGING_FOUR_BYTES(tag)                                                         \
    ((tag) >> 21 & 0x7F) | 0x80, ((tag) >> 14 & 0x7F) | 0x80, ((tag) >> 7 & 0x7F) | 0x80, (tag)&0x7F
#define ETWAS_TRACELOGGING_CHECK_TAG(tag)                                                          \
    ETWAS_TRACELOGGING_CHECK_BITS(tag, 0x0FFFFFFF, "TraceLogging: a tag has 28 bits")
#define ETWAS_TRACELOGGING_CHECK_BITS(value, mask, sentence)                                       \
    ETWAS_STATIC_ASSERT(((uint64_t)(value) & ~(uint64_t)(mask)) == 0, sentence);

#define ETWAS_TRACELOGGING_MEMBER(number, argument)                                                \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_MEMBER_OF, number, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_MEMBER_OF(number, field, list, ...)                                     \
    ETWAS_TRACELOGGING_MEMBER##field(number, list)
#define ETWAS_TRACELOGGING_MEMBER_none(number, checks) ETWAS_TRACELOGGING_OPEN checks
#define ETWAS_TRACELOGGING_MEMBER_some(number, list)                                               \
    ETWAS_TRACELOGGING_CALL_AGAIN(ETWAS_TRACELOGGING_MEMBERS, number, ETWAS_TRACELOGGING_OPEN list)
#define ETWAS_TRACELOGGING_MEMBERS(number, name, types, checks)                                    \
    char name_##number[sizeof(name)];                                                              \
    uint8_t types_##number[ETWAS_TRACELOGGING_COUNT types];                                        \
    checks ETWAS_TRACELOGGING_CHECK_NAME(name)

#define ETWAS_TRACELOGGING_CHECK_NAME(name)                                                        \
    ETWAS_STATIC_ASSERT(__builtin_strlen(name) + 1 == sizeof(name),                                \
                        "TraceLogging: a name is a literal without NUL");

#define ETWAS_TRACELOGGING_CONTENT(number, argument)                                               \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_CONTENT_OF, number, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_CONTENT_OF(number, field, list, ...)                                    \
    ETWAS_TRACELOGGING_CONTENT##field(list)
#define ETWAS_TRACELOGGING_CONTENT_none(list)
#define ETWAS_TRACELOGGING_CONTENT_some(list)                                                      \
    ETWAS_TRACELOGGING_CALL_AGAIN(ETWAS_TRACELOGGING_CONTENTS, ETWAS_TRACELOGGING_OPEN list)
#define ETWAS_TRACELOGGING_CONTENTS(name, types, checks)                                           \
    , name,                                                                                        \
    {                                                                                              \
        ETWAS_TRACELOGGING_OPEN types                                                              \
    }

/* ---- the constant ---------------------------------------------------------------------------- */

/*
 * A schema, or a provider's traits, follows the header of the item that it becomes in a record. The
 * struct of both has a multiple of 8 bytes, as the item has, and is copied into the record
 * unchanged.
 */
struct etwas_tracelogging_item {
    uint16_t item_bytes; /* header, data, and the padding to a multiple of 8 */
    uint16_t type;       /* ETWAS_TRACELOGGING_ITEM_... */
    uint16_t linkage;    /* 1: another item follows */
    uint16_t data_bytes;
};

enum {
    ETWAS_TRACELOGGING_ITEM_EVENT = 11,    /* EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL */
    ETWAS_TRACELOGGING_ITEM_PROVIDER = 12, /* EVENT_HEADER_EXT_TYPE_PROV_TRAITS */
};

#ifdef __cplusplus
#define ETWAS_TRACELOGGING_CONSTANT static constexpr
#else
#define ETWAS_TRACELOGGING_CONSTANT static const
#endif

/* 1 or 4. The first argument of the second macro is ignored. */
#define ETWAS_TRACELOGGING_TAG_SIZE(...)                                                           \
    ETWAS_TRACELOGGING_SECOND(~ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_TAG_BYTES, __VA_ARGS__), \
                              1, ~)
#define ETWAS_TRACELOGGING_TAG_1(tag) 0
#define ETWAS_TRACELOGGING_TAG_4(tag) ETWAS_TRACELOGGING_FOUR_BYTES(tag)

/* Declares `variable`, an event. The first of the dots is ignored. */
#define ETWAS_TRACELOGGING_DESCRIBE(variable, default_level, default_opcode, default_keyword,      \
                                    event_name, ...)                                               \
    ETWAS_TRACELOGGING_CONSTANT struct {                                                           \
        EVENT_DESCRIPTOR descriptor;                                                               \
        struct etwas_tracelogging_item item;                                                       \
        struct {                                                                                   \
            uint8_t size[2];                                                                       \
            uint8_t tag[ETWAS_TRACELOGGING_TAG_SIZE(__VA_ARGS__)];                                 \
            char name[sizeof(event_name)];                                                         \
            ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_MEMBER, __VA_ARGS__)                        \
            ETWAS_TRACELOGGING_CHECK_NAME(event_name)                                              \
        } schema;                                                                                  \
    } variable = {                                                                                 \
        {0 ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_ID, __VA_ARGS__),                            \
         0 ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_VERSION, __VA_ARGS__),                       \
         11 ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_CHANNEL, __VA_ARGS__),                      \
         (default_level)ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_LEVEL, __VA_ARGS__),            \
         (default_opcode)ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_OPCODE, __VA_ARGS__), 0,       \
         (default_keyword)ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_KEYWORD, __VA_ARGS__)},       \
        {(uint16_t)(sizeof variable - sizeof(EVENT_DESCRIPTOR)), ETWAS_TRACELOGGING_ITEM_EVENT, 0, \
         (uint16_t)sizeof variable.schema},                                                        \
        {{sizeof variable.schema & 0xFF, sizeof variable.schema >> 8},                             \
         {ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_TAG_,                                         \
                                  ETWAS_TRACELOGGING_TAG_SIZE(__VA_ARGS__))(                       \
             0 ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_TAG, __VA_ARGS__))},                     \
         event_name ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_CONTENT, __VA_ARGS__)}};            \
    ETWAS_STATIC_ASSERT(sizeof variable.schema < 32768,                                            \
                        "TraceLogging: names and types take less than 32,768 bytes")

#endif
