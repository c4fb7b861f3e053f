/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Prints the 99th percentile of a number in an event: ./consumer shop.etl Order number */
#include <etwas/decode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double values[1 << 20]; /* later values are ignored */
static size_t count;

static bool take(const etwas_decoded_event *event, void *argv)
{
    const char *name = ((char **)argv)[2], *field = ((char **)argv)[3];

    count += strcmp(event->name, name) == 0 && etwas_decoded_number(event, field, &values[count]);
    return count < sizeof values / sizeof *values;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    uint32_t error = argc == 4 ? etwas_decode_file(argv[1], take, argv) : ERROR_INVALID_PARAMETER;

    if (count == 0 || (error != ERROR_SUCCESS && error != ERROR_CANCELLED)) {
        fprintf(stderr, "consumer FILE EVENT FIELD: error %u, %zu values\n", error, count);
        return 1;
    }
    qsort(values, count, sizeof *values, compare);
    printf("%zu values, p99 %g\n", count, values[(count - 1) * 99 / 100]);
    return 0;
}
