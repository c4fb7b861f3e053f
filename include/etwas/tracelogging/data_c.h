/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_DATA_C_H
#define ETWAS_TRACELOGGING_DATA_C_H

/*
 * The data of an event in C: variables that keep the operands, and statements that fill data
 * descriptors. This header is a part of <etwas/TraceLoggingProvider.h>; programs do not use it
 * directly.
 *
 * Each kind of data has three macros. BLOCKS is the maximum number of its descriptors. KEEP
 * declares what is kept in `kept_NUMBER`. ADD is the statement that adds it to the list.
 */

#ifndef __cplusplus

#include <etwas/tracelogging/data.h>
#include <etwas/tracelogging/schema.h>
#include <etwas/tracelogging/types.h>

#define ETWAS_TRACELOGGING_BLOCKS(number, argument)                                                \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_BLOCKS_OF, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_BLOCKS_OF(field, list, data, ...) ETWAS_TRACELOGGING_BLOCKS##data

#define ETWAS_TRACELOGGING_KEEP(number, argument)                                                  \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_KEEP_OF, number, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_KEEP_OF(number, field, list, data, operands, ...)                       \
    ETWAS_TRACELOGGING_CALL_AGAIN(ETWAS_TRACELOGGING_KEEP##data, etwas_tracelogging_kept_##number, \
                                  ETWAS_TRACELOGGING_OPEN operands)

#define ETWAS_TRACELOGGING_ADD(number, argument)                                                   \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_ADD_OF, number, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_ADD_OF(number, field, list, data, operands, ...)                        \
    ETWAS_TRACELOGGING_ADD##data(&etwas_tracelogging_list, etwas_tracelogging_kept_##number)

/* The operand, if it points to such values; `void *` is accepted where an address is expected. */
#define ETWAS_TRACELOGGING_POINTER(type, pointer)                                                  \
    (1 ? (pointer)                                                                                 \
       : _Generic((type const *)0, const void *const *                                             \
                  : _Generic((pointer), void **                                                    \
                             : (void *const *)0, void *const *                                     \
                             : (void *const *)0, default                                           \
                             : (const void *const *)0), default                                    \
                  : (type const *)0))

/* Nothing. */
#define ETWAS_TRACELOGGING_BLOCKS_none
#define ETWAS_TRACELOGGING_KEEP_none(kept, unused)
#define ETWAS_TRACELOGGING_ADD_none(list, kept)

/* A value of a type. */
#define ETWAS_TRACELOGGING_BLOCKS_value +1
#define ETWAS_TRACELOGGING_KEEP_value(kept, type, value)                                           \
    ETWAS_STATIC_ASSERT(sizeof(type) <= ETWAS_TRACELOGGING_VALUE_BYTES, "room for a value");       \
    ETWAS_STATIC_ASSERT(ETWAS_TRACELOGGING_IS_FLOATING(type) ||                                    \
                            !ETWAS_TRACELOGGING_IS_FLOATING(ETWAS_TRACELOGGING_TYPE_OF(value)),    \
                        ETWAS_TRACELOGGING_NO_FRACTION);                                           \
    type const kept = (value);
#define ETWAS_TRACELOGGING_IS_FLOATING(type)                                                       \
    _Generic((__typeof__(type) const *)0, const float * : 1, const double * : 1,                   \
             const long double * : 1, default : 0)
#define ETWAS_TRACELOGGING_ADD_value(list, kept)                                                   \
    etwas_tracelogging_add_value(list, &kept, sizeof kept);

/* A string with its NUL. */
#define ETWAS_TRACELOGGING_BLOCKS_string +1
#define ETWAS_TRACELOGGING_KEEP_string(kept, string) const char *const kept = (string);
#define ETWAS_TRACELOGGING_ADD_string(list, kept) etwas_tracelogging_add_string(list, kept);

#define ETWAS_TRACELOGGING_BLOCKS_wide_string +1
#define ETWAS_TRACELOGGING_KEEP_wide_string(kept, string)                                          \
    ETWAS_TRACELOGGING_CHECK_WIDE(string) const etwas_wchar *const kept = (string);
#define ETWAS_TRACELOGGING_ADD_wide_string(list, kept)                                             \
    etwas_tracelogging_add_wide_string(list, kept);

#define ETWAS_TRACELOGGING_CHECK_WIDE(string)                                                      \
    _Static_assert(                                                                                \
        sizeof *(1 ? (string) : (const etwas_wchar *)0) == sizeof(etwas_wchar),                    \
        "TraceLogging: a wide string is UTF-16, as u\"text\"; L\"text\" has characters "           \
        "of 4 bytes here");

/* Characters of a type and their number; bytes and their number. */
#define ETWAS_TRACELOGGING_BLOCKS_characters +2
#define ETWAS_TRACELOGGING_KEEP_characters(kept, type, data, count)                                \
    const struct etwas_tracelogging_counted kept = etwas_tracelogging_characters(                  \
        ETWAS_TRACELOGGING_POINTER(type, data), count, sizeof(type));
#define ETWAS_TRACELOGGING_ADD_characters(list, kept) etwas_tracelogging_add_counted(list, &kept);

#define ETWAS_TRACELOGGING_BLOCKS_wide_characters +2
#define ETWAS_TRACELOGGING_KEEP_wide_characters(kept, data, count)                                 \
    ETWAS_TRACELOGGING_CHECK_WIDE(data)                                                            \
    ETWAS_TRACELOGGING_KEEP_characters(kept, etwas_wchar, data, count)
#define ETWAS_TRACELOGGING_ADD_wide_characters(list, kept)                                         \
    etwas_tracelogging_add_counted(list, &kept);

#define ETWAS_TRACELOGGING_BLOCKS_binary +2
#define ETWAS_TRACELOGGING_KEEP_binary(kept, data, bytes)                                          \
    const struct etwas_tracelogging_counted kept = etwas_tracelogging_characters(data, bytes, 1);
#define ETWAS_TRACELOGGING_ADD_binary(list, kept) etwas_tracelogging_add_counted(list, &kept);

/* The buffer that the members Buffer and Length of a struct describe. */
#define ETWAS_TRACELOGGING_BLOCKS_buffer +2
#define ETWAS_TRACELOGGING_KEEP_buffer(kept, type, pointer)                                        \
    const type *const kept##_of = (pointer);                                                       \
    const struct etwas_tracelogging_counted kept =                                                 \
        etwas_tracelogging_characters(kept##_of->Buffer, kept##_of->Length, 1);
#define ETWAS_TRACELOGGING_ADD_buffer(list, kept) etwas_tracelogging_add_counted(list, &kept);

/* Values of a type and their number. */
#define ETWAS_TRACELOGGING_BLOCKS_array +2
#define ETWAS_TRACELOGGING_KEEP_array(kept, type, data, count)                                     \
    const struct etwas_tracelogging_counted kept =                                                 \
        etwas_tracelogging_array(ETWAS_TRACELOGGING_POINTER(type, data), count, sizeof(type));
#define ETWAS_TRACELOGGING_ADD_array(list, kept) etwas_tracelogging_add_counted(list, &kept);

/* The number of values that the schema states. */
#define ETWAS_TRACELOGGING_BLOCKS_fixed +1
#define ETWAS_TRACELOGGING_KEEP_fixed(kept, type, data, count)                                     \
    const struct etwas_tracelogging_bytes kept =                                                   \
        etwas_tracelogging_raw(ETWAS_TRACELOGGING_POINTER(type, data), (count) * sizeof(type), 0);
#define ETWAS_TRACELOGGING_ADD_fixed(list, kept) ETWAS_TRACELOGGING_ADD_raw(list, kept)

/* Raw bytes. */
#define ETWAS_TRACELOGGING_BLOCKS_raw +1
#define ETWAS_TRACELOGGING_KEEP_raw(kept, data, bytes, type)                                       \
    const struct etwas_tracelogging_bytes kept = etwas_tracelogging_raw(data, bytes, type);
#define ETWAS_TRACELOGGING_ADD_raw(list, kept)                                                     \
    etwas_tracelogging_add_typed(list, kept.data, kept.bytes, kept.type);

#define ETWAS_TRACELOGGING_BLOCKS_sid +1
#define ETWAS_TRACELOGGING_KEEP_sid(kept, sid)                                                     \
    const struct etwas_tracelogging_bytes kept = etwas_tracelogging_sid(sid);
#define ETWAS_TRACELOGGING_ADD_sid(list, kept) ETWAS_TRACELOGGING_ADD_raw(list, kept)

#define ETWAS_TRACELOGGING_BLOCKS_socket +3
#define ETWAS_TRACELOGGING_KEEP_socket(kept, data, bytes)                                          \
    const struct etwas_tracelogging_address kept = etwas_tracelogging_socket(data, bytes);
#define ETWAS_TRACELOGGING_ADD_socket(list, kept) etwas_tracelogging_add_address(list, &kept);

/* ---- TraceLoggingValue ----------------------------------------------------------------------- */

/* The type of a value. For an array it is that of a pointer to its elements. */
#define ETWAS_TRACELOGGING_TYPE_OF(value) __typeof__(((void)0, (value)))

#define ETWAS_TRACELOGGING_DEDUCE_IN(value)                                                        \
    _Generic((value), _Bool                                                                        \
             : TlgInUINT8, char                                                                    \
             : TlgInUINT8, signed char                                                             \
             : TlgInINT8, unsigned char                                                            \
             : TlgInUINT8, short                                                                   \
             : TlgInINT16, unsigned short                                                          \
             : TlgInUINT16, int                                                                    \
             : TlgInINT32, unsigned                                                                \
             : TlgInUINT32, long                                                                   \
             : TlgInINT64, unsigned long                                                           \
             : TlgInUINT64, long long                                                              \
             : TlgInINT64, unsigned long long                                                      \
             : TlgInUINT64, float                                                                  \
             : TlgInFLOAT, double                                                                  \
             : TlgInDOUBLE, etwas_guid                                                             \
             : TlgInGUID, etwas_filetime                                                           \
             : TlgInFILETIME, etwas_systemtime                                                     \
             : TlgInSYSTEMTIME, char *                                                             \
             : TlgInANSISTRING, const char *                                                       \
             : TlgInANSISTRING, etwas_wchar *                                                      \
             : TlgInUNICODESTRING, const etwas_wchar *                                             \
             : TlgInUNICODESTRING, void *                                                          \
             : TlgInPOINTER, const void *                                                          \
             : TlgInPOINTER)
#define ETWAS_TRACELOGGING_DEDUCE_OUT(value)                                                       \
    _Generic((value), _Bool : TlgOutBOOLEAN, char : TlgOutSTRING, default : TlgOutNULL)

#define ETWAS_TRACELOGGING_BLOCKS_deduced +1
#define ETWAS_TRACELOGGING_KEEP_deduced(kept, value)                                               \
    ETWAS_TRACELOGGING_TYPE_OF(value) const kept = (value);
#define ETWAS_TRACELOGGING_ADD_deduced(list, kept)                                                 \
    etwas_tracelogging_add_deduced(list, ETWAS_TRACELOGGING_DEDUCE_IN(kept), &kept, sizeof kept);

/* `kept` is the content of a variable of that type. */
ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_deduced(struct etwas_tracelogging_list *list,
                                                              uint32_t in, const void *kept,
                                                              uint32_t bytes)
{
    switch (in) {
    case TlgInANSISTRING:
        etwas_tracelogging_add_string(list, *(const char *const *)kept);
        break;
    case TlgInUNICODESTRING:
        etwas_tracelogging_add_wide_string(list, *(const etwas_wchar *const *)kept);
        break;
    default:
        etwas_tracelogging_add_value(list, kept, bytes);
    }
}

#endif

#endif
