/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/kernel_refusal.h"

#include <etwas/etwas.h>
#include <string.h>

#include "provider/source.h"

enum {
    LONGEST_SENTENCE = 512
};

static _Thread_local struct etwas_unavailability last;

void etwas_kernel_refusal_store(const struct etwas_unavailability *fault)
{
    last = *fault;
}

size_t etwas_kernel_refusal(char *text, size_t room)
{
    char sentence[LONGEST_SENTENCE] = "";
    size_t length;

    if (last.cause != ETWAS_UNAVAILABLE_NOTHING) {
        etwas_kernel_source.explain(&last, sentence, sizeof sentence);
    }
    length = strlen(sentence);
    if (text != NULL && room != 0) {
        size_t kept = length < room ? length : room - 1;

        memcpy(text, sentence, kept);
        text[kept] = 0;
    }
    return length;
}
