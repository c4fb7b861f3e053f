/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Dates as text: 2021-09-09T14:59:35.7990000. */
#include "decode/value.h"

#include <string.h>

enum {
    TICKS_PER_SECOND = 10000000,
    SECONDS_PER_DAY = 86400,
    DAYS_PER_ERA = 146097,      /* 400 years */
    DAYS_FROM_MARCH_1600 = 306, /* to 1601-01-01 */
    FIRST_ERA_YEAR = 1600,
};

static void value_write_date(struct etwas_text_writer *text, uint64_t year, unsigned month,
                             unsigned day)
{
    etwas_text_put_digits(text, year, 4);
    etwas_text_put(text, "-", 1);
    etwas_text_put_digits(text, month, 2);
    etwas_text_put(text, "-", 1);
    etwas_text_put_digits(text, day, 2);
}

static void value_write_clock(struct etwas_text_writer *text, unsigned hour, unsigned minute,
                              unsigned second)
{
    etwas_text_put(text, "T", 1);
    etwas_text_put_digits(text, hour, 2);
    etwas_text_put(text, ":", 1);
    etwas_text_put_digits(text, minute, 2);
    etwas_text_put(text, ":", 1);
    etwas_text_put_digits(text, second, 2);
    etwas_text_put(text, ".", 1);
}

/*
 * Years are counted from March on, so that a leap day is the last day of a year: day d of such a
 * year is in month (5 d + 2) / 153 from March.
 */
void etwas_value_write_filetime(struct etwas_text_writer *text, uint64_t filetime, bool is_utc)
{
    uint64_t seconds = filetime / TICKS_PER_SECOND;
    uint64_t days = seconds / SECONDS_PER_DAY + DAYS_FROM_MARCH_1600;
    unsigned second = (unsigned)(seconds % SECONDS_PER_DAY);
    unsigned day = (unsigned)(days % DAYS_PER_ERA);
    unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    unsigned of_year = day - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * of_year + 2) / 153;
    uint64_t full_year = FIRST_ERA_YEAR + days / DAYS_PER_ERA * 400 + year + (month >= 10);

    value_write_date(text, full_year, month < 10 ? month + 3 : month - 9,
                     of_year - (153 * month + 2) / 5 + 1);
    value_write_clock(text, second / 3600, second / 60 % 60, second % 60);
    etwas_text_put_digits(text, filetime % TICKS_PER_SECOND, 7);
    etwas_text_put(text, "Z", is_utc ? 1 : 0);
}

void etwas_value_write_systemtime(struct etwas_text_writer *text, const uint8_t *systemtime,
                                  bool is_utc)
{
    etwas_systemtime time;

    memcpy(&time, systemtime, sizeof time);
    value_write_date(text, time.wYear, time.wMonth, time.wDay);
    value_write_clock(text, time.wHour, time.wMinute, time.wSecond);
    etwas_text_put_digits(text, time.wMilliseconds, 3);
    etwas_text_put(text, "Z", is_utc ? 1 : 0);
}
