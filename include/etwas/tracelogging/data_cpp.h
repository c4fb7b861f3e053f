/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_DATA_CPP_H
#define ETWAS_TRACELOGGING_DATA_CPP_H

/*
 * The data of an event in C++: an object for each field, and the function that writes them. This
 * header is a part of <etwas/TraceLoggingProvider.h>; programs do not use it directly.
 *
 * An object has `blocks`, the maximum number of its data descriptors, and `add`, which adds it to a
 * list.
 */

#ifdef __cplusplus

#include <etwas/tracelogging/data.h>
#include <etwas/tracelogging/schema.h>
#include <etwas/tracelogging/types.h>
#include <type_traits>

#define ETWAS_TRACELOGGING_OBJECT(number, argument)                                                \
    ETWAS_TRACELOGGING_CALL(ETWAS_TRACELOGGING_OBJECT_OF, ETWAS_TRACELOGGING_OPEN argument)
#define ETWAS_TRACELOGGING_OBJECT_OF(field, list, data, operands, ...)                             \
    ETWAS_TRACELOGGING_OBJECT##data operands

template <typename Type> struct etwas_tracelogging_value_object {
    static_assert(sizeof(Type) <= ETWAS_TRACELOGGING_VALUE_BYTES, "room for a value");
    static constexpr unsigned blocks = 1;
    Type value;

    void add(etwas_tracelogging_list *list) const
    {
        etwas_tracelogging_add_value(list, &value, sizeof value);
    }
};

struct etwas_tracelogging_string_object {
    static constexpr unsigned blocks = 1;
    const char *string;

    void add(etwas_tracelogging_list *list) const
    {
        etwas_tracelogging_add_string(list, string);
    }
};

struct etwas_tracelogging_wide_string_object {
    static constexpr unsigned blocks = 1;
    const etwas_wchar *string;

    void add(etwas_tracelogging_list *list) const
    {
        etwas_tracelogging_add_wide_string(list, string);
    }
};

struct etwas_tracelogging_counted_object {
    static constexpr unsigned blocks = 2;
    etwas_tracelogging_counted counted;

    void add(etwas_tracelogging_list *list) const
    {
        etwas_tracelogging_add_counted(list, &counted);
    }
};

struct etwas_tracelogging_bytes_object {
    static constexpr unsigned blocks = 1;
    etwas_tracelogging_bytes raw;

    void add(etwas_tracelogging_list *list) const
    {
        etwas_tracelogging_add_raw(list, &raw);
    }
};

struct etwas_tracelogging_address_object {
    static constexpr unsigned blocks = 3;
    etwas_tracelogging_address address;

    void add(etwas_tracelogging_list *list) const
    {
        etwas_tracelogging_add_address(list, &address);
    }
};

/* ---- the types that TraceLoggingValue knows ------------------------------------------------ */

template <typename Type> struct etwas_tracelogging_deduced {
    static_assert(!std::is_same_v<Type, wchar_t> && !std::is_same_v<Type, wchar_t *> &&
                      !std::is_same_v<Type, const wchar_t *>,
                  "TraceLogging: wide characters are UTF-16, as u\"text\"; wchar_t has 4 bytes "
                  "here");
    static_assert(sizeof(Type) == 0, "TraceLogging: TraceLoggingValue does not know this type");
    static constexpr int in = 0;
    static constexpr int out = 0;
};

#define ETWAS_TRACELOGGING_DEDUCED(type, in_type, out_type)                                        \
    template <> struct etwas_tracelogging_deduced<type> {                                          \
        static constexpr int in = in_type;                                                         \
        static constexpr int out = out_type;                                                       \
    }
ETWAS_TRACELOGGING_DEDUCED(bool, TlgInUINT8, TlgOutBOOLEAN);
ETWAS_TRACELOGGING_DEDUCED(char, TlgInUINT8, TlgOutSTRING);
ETWAS_TRACELOGGING_DEDUCED(char16_t, TlgInUINT16, TlgOutSTRING);
ETWAS_TRACELOGGING_DEDUCED(signed char, TlgInINT8, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(unsigned char, TlgInUINT8, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(short, TlgInINT16, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(unsigned short, TlgInUINT16, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(int, TlgInINT32, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(unsigned, TlgInUINT32, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(long, TlgInINT64, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(unsigned long, TlgInUINT64, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(long long, TlgInINT64, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(unsigned long long, TlgInUINT64, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(float, TlgInFLOAT, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(double, TlgInDOUBLE, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(etwas_guid, TlgInGUID, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(etwas_filetime, TlgInFILETIME, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(etwas_systemtime, TlgInSYSTEMTIME, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(char *, TlgInANSISTRING, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(const char *, TlgInANSISTRING, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(char16_t *, TlgInUNICODESTRING, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(const char16_t *, TlgInUNICODESTRING, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(void *, TlgInPOINTER, TlgOutNULL);
ETWAS_TRACELOGGING_DEDUCED(const void *, TlgInPOINTER, TlgOutNULL);
#undef ETWAS_TRACELOGGING_DEDUCED

/* ---- making objects of operands -------------------------------------------------------------- */

/* A pointer to UTF-16. */
inline const etwas_wchar *etwas_tracelogging_wide(decltype(nullptr))
{
    return nullptr;
}

template <typename Character>
inline const etwas_wchar *etwas_tracelogging_wide(const Character *string)
{
    static_assert(sizeof(Character) == sizeof(etwas_wchar),
                  "TraceLogging: a wide string is UTF-16, as u\"text\"; L\"text\" has characters "
                  "of 4 bytes here");
    return string;
}

template <typename Type>
inline etwas_tracelogging_counted_object etwas_tracelogging_characters_of(const Type *data,
                                                                          size_t count)
{
    return {etwas_tracelogging_characters(data, count, sizeof(Type))};
}

template <typename Type>
inline etwas_tracelogging_counted_object etwas_tracelogging_array_of(const Type *data, size_t count)
{
    return {etwas_tracelogging_array(data, count, sizeof(Type))};
}

template <typename Type>
inline etwas_tracelogging_bytes_object etwas_tracelogging_fixed_of(const Type *data, size_t count)
{
    return {etwas_tracelogging_raw(data, count * sizeof(Type), 0)};
}

template <typename Type>
inline etwas_tracelogging_counted_object etwas_tracelogging_buffer_of(const Type *buffer)
{
    return {etwas_tracelogging_characters(buffer->Buffer, buffer->Length, 1)};
}

inline etwas_tracelogging_counted_object etwas_tracelogging_binary_of(const void *data,
                                                                      size_t bytes)
{
    return {etwas_tracelogging_characters(data, bytes, 1)};
}

inline etwas_tracelogging_bytes_object etwas_tracelogging_raw_of(const void *data, size_t bytes,
                                                                 uint8_t type)
{
    return {etwas_tracelogging_raw(data, bytes, type)};
}

inline etwas_tracelogging_bytes_object etwas_tracelogging_sid_of(const void *sid)
{
    return {etwas_tracelogging_sid(sid)};
}

inline etwas_tracelogging_address_object etwas_tracelogging_socket_of(const void *data,
                                                                      size_t bytes)
{
    return {etwas_tracelogging_socket(data, bytes)};
}

/* Type cannot be deduced here: a value is converted as in a call, not refused as in braces. */
template <typename Type> struct etwas_tracelogging_same {
    typedef Type type;
};

template <typename Type>
inline etwas_tracelogging_value_object<Type> etwas_tracelogging_value_of(
    typename etwas_tracelogging_same<Type>::type value)
{
    return {value};
}

/* The better match for a floating-point value where Type is none. */
template <typename Type, typename Value,
          std::enable_if_t<std::is_floating_point_v<Value> && !std::is_floating_point_v<Type>> * =
              nullptr>
inline etwas_tracelogging_value_object<Type> etwas_tracelogging_value_of(Value)
{
    static_assert(sizeof(Value) == 0, ETWAS_TRACELOGGING_NO_FRACTION);
    return {};
}

inline etwas_tracelogging_string_object etwas_tracelogging_string_of(const char *string)
{
    return {string};
}

inline etwas_tracelogging_wide_string_object etwas_tracelogging_wide_string_of(
    const etwas_wchar *string)
{
    return {string};
}

template <typename Type> inline auto etwas_tracelogging_deduced_of(Type value)
{
    if constexpr (etwas_tracelogging_deduced<Type>::in == TlgInANSISTRING) {
        return etwas_tracelogging_string_object{value};
    } else if constexpr (etwas_tracelogging_deduced<Type>::in == TlgInUNICODESTRING) {
        return etwas_tracelogging_wide_string_object{value};
    } else {
        return etwas_tracelogging_value_object<Type>{value};
    }
}

#define ETWAS_TRACELOGGING_OBJECT_none()
#define ETWAS_TRACELOGGING_OBJECT_value(type, value) , etwas_tracelogging_value_of<type>(value)
#define ETWAS_TRACELOGGING_OBJECT_string(string) , etwas_tracelogging_string_of(string)
#define ETWAS_TRACELOGGING_OBJECT_wide_string(string)                                              \
    , etwas_tracelogging_wide_string_of(etwas_tracelogging_wide(string))
#define ETWAS_TRACELOGGING_OBJECT_characters(type, data, count)                                    \
    , etwas_tracelogging_characters_of<type>(data, count)
#define ETWAS_TRACELOGGING_OBJECT_wide_characters(data, count)                                     \
    , etwas_tracelogging_characters_of<etwas_wchar>(etwas_tracelogging_wide(data), count)
#define ETWAS_TRACELOGGING_OBJECT_binary(data, bytes) , etwas_tracelogging_binary_of(data, bytes)
#define ETWAS_TRACELOGGING_OBJECT_buffer(type, pointer)                                            \
    , etwas_tracelogging_buffer_of<type>(pointer)
#define ETWAS_TRACELOGGING_OBJECT_array(type, data, count)                                         \
    , etwas_tracelogging_array_of<type>(data, count)
#define ETWAS_TRACELOGGING_OBJECT_fixed(type, data, count)                                         \
    , etwas_tracelogging_fixed_of<type>(data, count)
#define ETWAS_TRACELOGGING_OBJECT_raw(data, bytes, type)                                           \
    , etwas_tracelogging_raw_of(data, bytes, type)
#define ETWAS_TRACELOGGING_OBJECT_sid(sid) , etwas_tracelogging_sid_of(sid)
#define ETWAS_TRACELOGGING_OBJECT_socket(data, bytes) , etwas_tracelogging_socket_of(data, bytes)
#define ETWAS_TRACELOGGING_OBJECT_deduced(value) , etwas_tracelogging_deduced_of(value)

#define ETWAS_TRACELOGGING_DEDUCE_IN(value)                                                        \
    etwas_tracelogging_deduced<std::decay_t<decltype(value)>>::in
#define ETWAS_TRACELOGGING_DEDUCE_OUT(value)                                                       \
    etwas_tracelogging_deduced<std::decay_t<decltype(value)>>::out

#endif

#endif
