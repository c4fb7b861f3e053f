/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_DATA_H
#define ETWAS_TRACELOGGING_DATA_H

/*
 * The data of an event: from the operands of its fields to data descriptors. This header is a part
 * of <etwas/TraceLoggingProvider.h>; programs do not use it directly.
 *
 * Each kind of data has a struct that keeps what the descriptors point to until the event is
 * written, and an inline function that adds them to a list. In the C half (data_c.h) these structs
 * are compound literals in the block that writes the event. In the C++ half (data_cpp.h) they are
 * temporaries of the one expression that writes it. So the values of the operands live as long.
 */

#include <etwas/evntprov.h>
#include <string.h>

#define ETWAS_TRACELOGGING_INLINE static inline __attribute__((__always_inline__, __unused__))

/* A length or a count in 16 bits, and the data that it counts. */
struct etwas_tracelogging_counted {
    const void *data;
    uint32_t bytes;
    uint16_t count;
};

/* Raw bytes; `type` is that of their data descriptor. */
struct etwas_tracelogging_bytes {
    const void *data;
    uint32_t bytes;
    uint8_t type;
};

/* A socket's address. Its family is separate, because Windows has another number for IPv6. */
struct etwas_tracelogging_address {
    const uint8_t *data;
    uint16_t bytes;
    uint16_t family;
};

/* A size beyond any record stays so, and the event is refused. */
ETWAS_TRACELOGGING_INLINE uint32_t etwas_tracelogging_size(size_t count, size_t size)
{
    return (uint32_t)((count < 0x10000 ? count : 0x10000) * size);
}

ETWAS_TRACELOGGING_INLINE struct etwas_tracelogging_counted etwas_tracelogging_characters(
    const void *data, size_t count, size_t size)
{
    uint32_t bytes = etwas_tracelogging_size(count, size);
    struct etwas_tracelogging_counted counted = {data, bytes, (uint16_t)bytes};

    return counted;
}

ETWAS_TRACELOGGING_INLINE struct etwas_tracelogging_counted etwas_tracelogging_array(
    const void *data, size_t count, size_t size)
{
    struct etwas_tracelogging_counted counted = {data, etwas_tracelogging_size(count, size),
                                                 (uint16_t)count};

    return counted;
}

ETWAS_TRACELOGGING_INLINE struct etwas_tracelogging_bytes etwas_tracelogging_raw(const void *data,
                                                                                 size_t bytes,
                                                                                 uint8_t type)
{
    struct etwas_tracelogging_bytes raw = {data, etwas_tracelogging_size(bytes, 1), type};

    return raw;
}

/* Revision, number of parts, 6 bytes of authority, 4 bytes for each part. */
ETWAS_TRACELOGGING_INLINE struct etwas_tracelogging_bytes etwas_tracelogging_sid(const void *sid)
{
    return etwas_tracelogging_raw(sid, 8 + 4 * (size_t)((const uint8_t *)sid)[1], 0);
}

ETWAS_TRACELOGGING_INLINE struct etwas_tracelogging_address etwas_tracelogging_socket(
    const void *data, size_t bytes)
{
    enum {
        INET6_HERE = 10,
        INET6_ON_WINDOWS = 23
    };
    struct etwas_tracelogging_address address = {(const uint8_t *)data,
                                                 (uint16_t)(bytes < 0xFFFF ? bytes : 0xFFFF), 0};

    if (bytes >= sizeof address.family) {
        memcpy(&address.family, data, sizeof address.family);
    }
    if (address.family == INET6_HERE) {
        address.family = INET6_ON_WINDOWS;
    }
    return address;
}

/* Compilers convert such a value without a warning; in system headers they never warn. */
#define ETWAS_TRACELOGGING_NO_FRACTION                                                             \
    "TraceLogging: a floating-point value in a field of integers, which would lose its fraction: " \
    "use TraceLoggingFloat64, or convert the value"

/* ---- descriptors ----------------------------------------------------------------------------- */

/* The longest value: a GUID, a SYSTEMTIME. */
#define ETWAS_TRACELOGGING_VALUE_BYTES 16

/*
 * The place of the next descriptor. Values are copied side by side, and consecutive values share
 * one descriptor: the cost of an event grows with its descriptors, not with its fields.
 */
struct etwas_tracelogging_list {
    EVENT_DATA_DESCRIPTOR *next;
    EVENT_DATA_DESCRIPTOR *values; /* the last one of values */
    uint8_t *kept;                 /* the place of the next value */
};

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_typed(struct etwas_tracelogging_list *list,
                                                            const void *data, uint32_t bytes,
                                                            uint8_t type)
{
    EventDataDescCreate(list->next, data, bytes);
    list->next->Reserved = type;
    list->next++;
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add(struct etwas_tracelogging_list *list,
                                                      const void *data, uint32_t bytes)
{
    etwas_tracelogging_add_typed(list, data, bytes, EVENT_DATA_DESCRIPTOR_TYPE_NONE);
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_raw(
    struct etwas_tracelogging_list *list, const struct etwas_tracelogging_bytes *raw)
{
    etwas_tracelogging_add_typed(list, raw->data, raw->bytes, raw->type);
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_value(struct etwas_tracelogging_list *list,
                                                            const void *value, uint32_t bytes)
{
    memcpy(list->kept, value, bytes);
    if (list->values != NULL && list->values + 1 == list->next) {
        list->values->Size += bytes;
    } else {
        list->values = list->next;
        etwas_tracelogging_add(list, list->kept, bytes);
    }
    list->kept += bytes;
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_counted(
    struct etwas_tracelogging_list *list, const struct etwas_tracelogging_counted *counted)
{
    etwas_tracelogging_add(list, &counted->count, sizeof counted->count);
    etwas_tracelogging_add(list, counted->data, counted->bytes);
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_address(
    struct etwas_tracelogging_list *list, const struct etwas_tracelogging_address *address)
{
    uint32_t family_bytes =
        address->bytes < sizeof address->family ? 0 : (uint32_t)sizeof address->family;

    etwas_tracelogging_add(list, &address->bytes, sizeof address->bytes);
    etwas_tracelogging_add(list, &address->family, family_bytes);
    etwas_tracelogging_add(list, family_bytes > 0 ? address->data + family_bytes : address->data,
                           address->bytes - family_bytes);
}

/* Adds a string with its NUL. NULL is an empty string. */
ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_string(struct etwas_tracelogging_list *list,
                                                             const char *string)
{
    if (string == NULL) {
        string = "";
    }
    etwas_tracelogging_add(list, string, etwas_tracelogging_size(strlen(string) + 1, 1));
}

ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_wide_string(
    struct etwas_tracelogging_list *list, const etwas_wchar *string)
{
    size_t units = 0;

    if (string == NULL) {
        string = u"";
    }
    while (string[units] != 0) {
        units++;
    }
    etwas_tracelogging_add(list, string, etwas_tracelogging_size(units + 1, sizeof *string));
}

#ifdef __cplusplus
#include <etwas/tracelogging/data_cpp.h>
#else
#include <etwas/tracelogging/data_c.h>
#endif

#endif
