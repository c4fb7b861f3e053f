/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes a page of the data on standard input, drawn by a script of the test's own.
 *
 * usage: page_show TITLE SCRIPT HASH
 *
 * SCRIPT is its text, HASH as a content security policy has it. Exits with 77 where it was built
 * without what draws pages.
 */

#include "page/page.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct etwas_output *output = etwas_standard_output();
    struct etwas_page_file scripts[] = {{NULL, NULL}, {NULL, NULL}};
    static char data[65536];
    size_t count;

    if (argc != 4) {
        fputs("usage: page_show TITLE SCRIPT HASH\n", stderr);
        return 2;
    }
    if (!etwas_page_possible("page_show")) {
        return 77;
    }
    scripts[0] = (struct etwas_page_file){argv[2], argv[3]};
    etwas_page_begin(output, argv[1], scripts);
    while ((count = fread(data, 1, sizeof data, stdin)) > 0) {
        etwas_output_bytes(output, data, count);
    }
    etwas_page_end(output);
    return etwas_output_finish(output) ? 0 : 1;
}
