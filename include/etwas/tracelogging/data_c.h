/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_DATA_C_H
#define ETWAS_TRACELOGGING_DATA_C_H

/*
 * The data of an event in C: expressions that evaluate operands and fill data descriptors. This
 * header is a part of <etwas/TraceLoggingProvider.h>; programs do not use it directly.
 *
 * Each kind of data has four macros. BLOCKS is the maximum number of its descriptors. CHECK
 * declares what must hold at compile time. OPERAND evaluates its operands and
 * keeps them in a compound literal, which lives as long as the block of the expression. ADD adds it
 * to the list. The last two begin with a comma.
 */

#ifndef __cplusplus

#include <etwas/tracelogging/data.h>
#include <etwas/tracelogging/schema.h>
#include <etwas/tracelogging/types.h>

#define ETWAS_TRACELOGGING_BLOCKS(number, argument)                                                \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_BLOCKS_OF, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_BLOCKS_OF(field, list, data, ...) ETWAS_TRACELOGGING_BLOCKS##data

#define ETWAS_TRACELOGGING_CHECK(number, argument)                                                 \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_CHECK_OF, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_CHECK_OF(field, list, data, operands, ...)                              \
    ETWAS_TRACELOGGING_CHECK##data operands

#define ETWAS_TRACELOGGING_OPERAND(number, argument)                                               \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_OPERAND_OF, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_OPERAND_OF(field, list, data, operands, ...)                            \
    ETWAS_TRACELOGGING_OPERAND##data operands

#define ETWAS_TRACELOGGING_ADD(number, argument)                                                   \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_ADD_OF, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_ADD_OF(field, list, data, operands, ...)                                \
    ETWAS_TRACELOGGING_ADD##data operands

/*
 * Declares what ETWAS_TRACELOGGING_ADD_ALL uses. All operands of an event are evaluated before the
 * first is read: one may be a call that changes the text of another.
 */
#define ETWAS_TRACELOGGING_OPERANDS(count)                                                         \
    const void *etwas_tracelogging_operands[count];                                                \
    const void **etwas_tracelogging_operand = etwas_tracelogging_operands;
#define ETWAS_TRACELOGGING_ADD_ALL(...)                                                            \
    ((void)etwas_tracelogging_operand ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_OPERAND,          \
                                                              __VA_ARGS__),                        \
     etwas_tracelogging_operand =                                                                  \
         etwas_tracelogging_operands ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_ADD, __VA_ARGS__))
#define ETWAS_TRACELOGGING_KEEP(type, value)                                                       \
    , *etwas_tracelogging_operand++ = ((type const[1]){value})
#define ETWAS_TRACELOGGING_KEEP_COUNTED(counted)                                                   \
    ETWAS_TRACELOGGING_KEEP(struct etwas_tracelogging_counted, counted)
#define ETWAS_TRACELOGGING_KEEP_RAW(raw)                                                           \
    ETWAS_TRACELOGGING_KEEP(struct etwas_tracelogging_bytes, raw)
#define ETWAS_TRACELOGGING_ADD_KEPT(function)                                                      \
    , function(&etwas_tracelogging_list, *etwas_tracelogging_operand++)

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
#define ETWAS_TRACELOGGING_CHECK_none()
#define ETWAS_TRACELOGGING_OPERAND_none()
#define ETWAS_TRACELOGGING_ADD_none()

/* A value of a type. */
#define ETWAS_TRACELOGGING_BLOCKS_value +1
#define ETWAS_TRACELOGGING_CHECK_value(type, value)                                                \
    ETWAS_STATIC_ASSERT(sizeof(type) <= ETWAS_TRACELOGGING_VALUE_BYTES, "room for a value");       \
    ETWAS_STATIC_ASSERT(ETWAS_TRACELOGGING_IS_FLOATING(type) ||                                    \
                            !ETWAS_TRACELOGGING_IS_FLOATING(ETWAS_TRACELOGGING_TYPE_OF(value)),    \
                        ETWAS_TRACELOGGING_NO_FRACTION);
#define ETWAS_TRACELOGGING_OPERAND_value(type, value) ETWAS_TRACELOGGING_KEEP(type, (value))
#define ETWAS_TRACELOGGING_ADD_value(type, value)                                                  \
    , etwas_tracelogging_add_value(&etwas_tracelogging_list, *etwas_tracelogging_operand++,        \
                                   sizeof(type))
#define ETWAS_TRACELOGGING_IS_FLOATING(type)                                                       \
    _Generic((__typeof__(type) const *)0, const float * : 1, const double * : 1,                   \
             const long double * : 1, default : 0)

/* A string with its NUL. */
#define ETWAS_TRACELOGGING_BLOCKS_string +1
#define ETWAS_TRACELOGGING_CHECK_string(string)
#define ETWAS_TRACELOGGING_OPERAND_string(string) ETWAS_TRACELOGGING_KEEP(const char *, (string))
#define ETWAS_TRACELOGGING_ADD_string(string)                                                      \
    , etwas_tracelogging_add_string(&etwas_tracelogging_list,                                      \
                                    *(const char *const *)*etwas_tracelogging_operand++)

#define ETWAS_TRACELOGGING_BLOCKS_wide_string +1
#define ETWAS_TRACELOGGING_CHECK_wide_string(string)                                               \
    _Static_assert(                                                                                \
        sizeof *(1 ? (string) : (const etwas_wchar *)0) == sizeof(etwas_wchar),                    \
        "TraceLogging: a wide string is UTF-16, as u\"text\"; L\"text\" has characters "           \
        "of 4 bytes here");
#define ETWAS_TRACELOGGING_OPERAND_wide_string(string)                                             \
    ETWAS_TRACELOGGING_KEEP(const etwas_wchar *, (string))
#define ETWAS_TRACELOGGING_ADD_wide_string(string)                                                 \
    , etwas_tracelogging_add_wide_string(                                                          \
          &etwas_tracelogging_list, *(const etwas_wchar *const *)*etwas_tracelogging_operand++)

/* Characters of a type and their number; bytes and their number. */
#define ETWAS_TRACELOGGING_BLOCKS_characters +2
#define ETWAS_TRACELOGGING_CHECK_characters(type, data, count)
#define ETWAS_TRACELOGGING_OPERAND_characters(type, data, count)                                   \
    ETWAS_TRACELOGGING_KEEP_COUNTED(etwas_tracelogging_characters(                                 \
        ETWAS_TRACELOGGING_POINTER(type, data), count, sizeof(type)))
#define ETWAS_TRACELOGGING_ADD_characters(type, data, count)                                       \
    ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_counted)

#define ETWAS_TRACELOGGING_BLOCKS_wide_characters +2
#define ETWAS_TRACELOGGING_CHECK_wide_characters(data, count)                                      \
    ETWAS_TRACELOGGING_CHECK_wide_string(data)
#define ETWAS_TRACELOGGING_OPERAND_wide_characters(data, count)                                    \
    ETWAS_TRACELOGGING_OPERAND_characters(etwas_wchar, data, count)
#define ETWAS_TRACELOGGING_ADD_wide_characters(data, count)                                        \
    ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_counted)

#define ETWAS_TRACELOGGING_BLOCKS_binary +2
#define ETWAS_TRACELOGGING_CHECK_binary(data, bytes)
#define ETWAS_TRACELOGGING_OPERAND_binary(data, bytes)                                             \
    ETWAS_TRACELOGGING_KEEP_COUNTED(etwas_tracelogging_characters(data, bytes, 1))
#define ETWAS_TRACELOGGING_ADD_binary(data, bytes)                                                 \
    ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_counted)

/* The buffer that the members Buffer and Length of a struct describe. */
#define ETWAS_TRACELOGGING_BLOCKS_buffer +2
#define ETWAS_TRACELOGGING_CHECK_buffer(type, pointer)
#define ETWAS_TRACELOGGING_OPERAND_buffer(type, pointer)                                           \
    , *etwas_tracelogging_operand = ((type const *const[1]){(pointer)}),                           \
      *etwas_tracelogging_operand =                                                                \
          ((const struct etwas_tracelogging_counted[1]){etwas_tracelogging_characters(             \
              ETWAS_TRACELOGGING_HERE(type)->Buffer, ETWAS_TRACELOGGING_HERE(type)->Length, 1)}),  \
      etwas_tracelogging_operand++
#define ETWAS_TRACELOGGING_HERE(type) (*(type const *const *)*etwas_tracelogging_operand)
#define ETWAS_TRACELOGGING_ADD_buffer(type, pointer)                                               \
    ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_counted)

/* Values of a type and their number. */
#define ETWAS_TRACELOGGING_BLOCKS_array +2
#define ETWAS_TRACELOGGING_CHECK_array(type, data, count)
#define ETWAS_TRACELOGGING_OPERAND_array(type, data, count)                                        \
    ETWAS_TRACELOGGING_KEEP_COUNTED(                                                               \
        etwas_tracelogging_array(ETWAS_TRACELOGGING_POINTER(type, data), count, sizeof(type)))
#define ETWAS_TRACELOGGING_ADD_array(type, data, count)                                            \
    ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_counted)

/* The number of values that the schema states. */
#define ETWAS_TRACELOGGING_BLOCKS_fixed +1
#define ETWAS_TRACELOGGING_CHECK_fixed(type, data, count)
#define ETWAS_TRACELOGGING_OPERAND_fixed(type, data, count)                                        \
    ETWAS_TRACELOGGING_KEEP_RAW(                                                                   \
        etwas_tracelogging_raw(ETWAS_TRACELOGGING_POINTER(type, data), (count) * sizeof(type), 0))
#define ETWAS_TRACELOGGING_ADD_fixed(type, data, count)                                            \
    ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_raw)

/* Raw bytes. */
#define ETWAS_TRACELOGGING_BLOCKS_raw +1
#define ETWAS_TRACELOGGING_CHECK_raw(data, bytes, type)
#define ETWAS_TRACELOGGING_OPERAND_raw(data, bytes, type)                                          \
    ETWAS_TRACELOGGING_KEEP_RAW(etwas_tracelogging_raw(data, bytes, type))
#define ETWAS_TRACELOGGING_ADD_raw(data, bytes, type)                                              \
    ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_raw)

#define ETWAS_TRACELOGGING_BLOCKS_sid +1
#define ETWAS_TRACELOGGING_CHECK_sid(sid)
#define ETWAS_TRACELOGGING_OPERAND_sid(sid) ETWAS_TRACELOGGING_KEEP_RAW(etwas_tracelogging_sid(sid))
#define ETWAS_TRACELOGGING_ADD_sid(sid) ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_raw)

#define ETWAS_TRACELOGGING_BLOCKS_socket +3
#define ETWAS_TRACELOGGING_CHECK_socket(data, bytes)
#define ETWAS_TRACELOGGING_OPERAND_socket(data, bytes)                                             \
    ETWAS_TRACELOGGING_KEEP(struct etwas_tracelogging_address,                                     \
                            etwas_tracelogging_socket(data, bytes))
#define ETWAS_TRACELOGGING_ADD_socket(data, bytes)                                                 \
    ETWAS_TRACELOGGING_ADD_KEPT(etwas_tracelogging_add_address)

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
#define ETWAS_TRACELOGGING_CHECK_deduced(value)
#define ETWAS_TRACELOGGING_OPERAND_deduced(value)                                                  \
    ETWAS_TRACELOGGING_KEEP(ETWAS_TRACELOGGING_TYPE_OF(value), (value))
#define ETWAS_TRACELOGGING_ADD_deduced(value)                                                      \
    , etwas_tracelogging_add_deduced(                                                              \
          &etwas_tracelogging_list, ETWAS_TRACELOGGING_DEDUCE_IN(value),                           \
          *etwas_tracelogging_operand++, sizeof(ETWAS_TRACELOGGING_TYPE_OF(value)))

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
