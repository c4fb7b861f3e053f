/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A result of `etwas clocks --json`, compared with itself.
 */
#include "clocks/compare.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct etwas_clocks_side side;
    static struct etwas_output output;
    static int nowhere = -1;

    if (nowhere < 0) {
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    side = (struct etwas_clocks_side){.path = "x"};
    if (etwas_clocks_read_text(&side, (const char *)data, size) == NULL) {
        etwas_output_to(&output, nowhere);
        etwas_clocks_compare_text(&output, &side, &side);
        etwas_clocks_compare_json(&output, &side, &side);
        (void)etwas_output_finish(&output);
    }
    return 0;
}
