/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the rows of field_rows.h write, and the functions that write them all, in their order, in C
 * and in C++.
 */
#ifndef ETWAS_TESTS_TRACELOGGING_FIELDS_H
#define ETWAS_TESTS_TRACELOGGING_FIELDS_H

#include <etwas/TraceLoggingProvider.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

struct field_values {
    int8_t int8[2];
    uint8_t uint8[2];
    int16_t int16[2];
    uint16_t uint16[2];
    int32_t int32[2];
    uint32_t uint32[2];
    int64_t int64[2];
    uint64_t uint64[2];
    intptr_t intptr[2];
    uintptr_t uintptr[2];
    long longs[2];
    unsigned long ulongs[2];
    float floats[2];
    double doubles[2];
    uint8_t booleans[2];
    int32_t bools[2];
    char chars[3]; /* with a NUL */
    etwas_wchar wchars[2];
    const void *pointers[2];
    etwas_guid guids[2];
    etwas_filetime filetimes[2];
    etwas_systemtime systemtimes[2];
    bool truth;
    uint16_t port; /* these two as they are on the network */
    uint32_t ipv4;
    uint8_t ipv6[16];
    uint8_t sid[16];
    uint8_t inet[8];
    uint8_t inet6[8];
    const char *text;
    const char *no_text;
    const etwas_wchar *wide;
    const etwas_wchar *no_wide;
    const int32_t *no_ints;
    etwas_ansi_string ansi;
    etwas_unicode_string unicode;
};

ETWAS_BEGIN_DECLS

extern const struct field_values values;

TRACELOGGING_DECLARE_PROVIDER(fields_provider);

void write_fields_c(void);
void write_fields_cpp(void);

ETWAS_END_DECLS

#endif
