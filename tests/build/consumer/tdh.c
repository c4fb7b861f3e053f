/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The smallest program that uses an installed decoder. */

#include <etwas/decode.h>
#include <etwas/etwas.h>
#include <stdio.h>

int main(void)
{
    etwas_decoder *decoder = NULL;

    if (etwas_decoder_open(&decoder) != ERROR_SUCCESS) {
        return 1;
    }
    etwas_decoder_close(decoder);
    return puts(etwas_version()) < 0;
}
