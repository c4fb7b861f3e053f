/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds providers with names similar to those of --enable. It looks while programs are running,
 * since a provider disappears with its process.
 */

#include "record/record.h"

#include "cli/suggest.h"

#include <etwas/shared.h>

#include <stdio.h>
#include <string.h>

enum {
    MOST_SEEN = 64,
    MOST_DIFFERING = 2, /* characters; names of one family have a long common beginning */
};

/* The most similar name seen so far for each --enable; "": none. */
static char names[ETWAS_RECORD_PROVIDERS][ETWAS_STEER_PROVIDER_BYTES];
static size_t distances[ETWAS_RECORD_PROVIDERS];

static void compare(uint32_t index, const char *text, const char *name)
{
    struct etwas_suggestion near = {0};

    etwas_suggest(&near, text, name);
    if (near.name != NULL && near.distance <= MOST_DIFFERING &&
        (names[index][0] == '\0' || near.distance < distances[index])) {
        (void)snprintf(names[index], sizeof names[index], "%s", name);
        distances[index] = near.distance;
    }
}

void etwas_record_look_near(const struct etwas_record_request *request)
{
    etwas_guid guids[MOST_SEEN];
    uint32_t count = 0;

    if (request->provider_count != 0) {
        (void)etwas_provider_guids("*", guids, MOST_SEEN, &count);
    }
    for (uint32_t i = 0; i < count && i < MOST_SEEN; i++) {
        char name[ETWAS_STEER_PROVIDER_BYTES];

        for (uint32_t k = 0;
             k < request->provider_count && etwas_steer_provider_name(&guids[i], name); k++) {
            char text[ETWAS_STEER_NAME_BYTES];

            etwas_steer_provider_text(&request->providers[k], text);
            compare(k, text, name);
        }
    }
}

const char *etwas_record_near(const struct etwas_record_request *request, uint32_t index)
{
    etwas_guid asked;
    etwas_guid named;
    char text[ETWAS_STEER_NAME_BYTES];

    etwas_steer_provider_text(&request->providers[index], text);
    /* A name that differs only in case has the same GUID, and is no suggestion. */
    return names[index][0] != '\0' && etwas_steer_guid(text, &asked) &&
                   etwas_steer_guid(names[index], &named) &&
                   memcmp(&asked, &named, sizeof asked) != 0
               ? names[index]
               : NULL;
}
