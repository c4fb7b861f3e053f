/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * usage: brief_work COUNT [PROGRAM ARGUMENT...]
 *
 * A program that lives for a moment: it registers the provider "Etwas.Tests.Brief", logs so many
 * events at once, which are numbered, and ends, without unregistering it, with 7; or becomes
 * another program.
 */
#include <etwas/evntprov.h>
#include <etwas/winerror.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    /* What is made of the name. */
    static const GUID guid = {
        0xd8bf0699, 0xd224, 0x53f2, {0x64, 0xa6, 0x6f, 0xa2, 0x70, 0x2a, 0x14, 0x34}};
    static const EVENT_DESCRIPTOR descriptor = {.Id = 3, .Level = 4, .Keyword = 1};
    uint64_t events = count > 1 ? strtoull(arguments[1], NULL, 10) : 0;
    REGHANDLE provider;

    if (EventRegister(&guid, NULL, NULL, &provider) != ERROR_SUCCESS) {
        return 1;
    }
    for (uint64_t number = 0; number < events; number++) {
        EVENT_DATA_DESCRIPTOR data;

        EventDataDescCreate(&data, &number, sizeof number);
        (void)EventWrite(provider, &descriptor, 1, &data);
    }
    if (count > 2) {
        (void)execvp(arguments[2], arguments + 2);
    }
    return 7;
}
