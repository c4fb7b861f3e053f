/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The file of an AutoLogger: whatever its text, it is refused in a line that it has, or what was
 * read is within its bounds.
 */
#include <string.h>

#include "autologger/folder.h"
#include "etl/utf16.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t lines_of(const char *text, size_t bytes)
{
    uint32_t lines = 1;

    for (size_t i = 0; i < bytes; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

static void walk_autologger(const struct etwas_autologger *autologger)
{
    size_t units;

    MUST(autologger->start <= 1 && autologger->clock <= 3 && autologger->file_max <= 16);
    MUST(autologger->buffer_size_kb == 0 ||
         (autologger->buffer_size_kb >= 4 && autologger->buffer_size_kb <= 16384));
    MUST(memchr(autologger->file_name, '\0', sizeof autologger->file_name) != NULL);
    MUST(autologger->file_name[0] == '\0' || autologger->file_name[0] == '/');
    MUST(etwas_utf8_to_utf16(autologger->file_name, strlen(autologger->file_name), NULL, 0,
                             &units) != ETWAS_UTF_INVALID);
    MUST(etwas_utf16_length(autologger->programs, ETWAS_FILTER_NAMES_UNITS) <
         ETWAS_FILTER_NAMES_UNITS);
    MUST(autologger->provider_count <= ETWAS_AUTOLOGGER_PROVIDERS);
    for (uint32_t i = 0; i < autologger->provider_count; i++) {
        MUST(autologger->providers[i].enabled <= 1 && autologger->providers[i].level <= 255);
        MUST(autologger->providers[i].line != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct etwas_autologger *autologger = malloc(sizeof *autologger);
    struct etwas_autologger_error fault = {0};
    const char *text = (const char *)data;

    MUST(autologger != NULL);
    if (etwas_autologger_parse(text, size, autologger, &fault)) {
        walk_autologger(autologger);
    } else {
        MUST(fault.reason != NULL);
        MUST(fault.line != 0 && fault.line <= lines_of(text, size));
    }
    free(autologger);
    return 0;
}
