/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The smallest program that uses an installed clock laboratory. */

#include <etwas/clocks.h>
#include <stdio.h>

int main(void)
{
    const etwas_clock_options too_long = {.seconds = 1e9};
    etwas_clock_report *report = NULL;

    if (etwas_clock_examine(&too_long, &report) != ERROR_INVALID_PARAMETER) {
        return 1;
    }
    return puts(etwas_version()) < 0;
}
