/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How a part of the benchmarks passes its figures to report.py: one JSON object per line, on
 * stdout. README.md ("The form of a part") describes the lines.
 */
#ifndef ETWAS_BENCH_ROWS_JSON_H
#define ETWAS_BENCH_ROWS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The options of every part. */
struct bench_part_options {
    unsigned rounds;  /* number of values of each row */
    bool quick;       /* a smoke run: just enough to show that the row works */
    const char *only; /* only rows whose name contains this text; NULL: all */
};

static inline void bench_json_text(const char *text)
{
    (void)putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)putchar('\\');
        }
        (void)putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    (void)putchar('"');
}

/* Prints one row: `values` in `unit`, one per round. `note` may be NULL. */
static inline void bench_row(const char *row, const char *unit, const double *values, size_t count,
                             const char *note)
{
    (void)fputs("{\"row\": ", stdout);
    bench_json_text(row);
    (void)fputs(", \"unit\": ", stdout);
    bench_json_text(unit);
    (void)fputs(", \"values\": [", stdout);
    for (size_t index = 0; index < count; index++) {
        (void)printf("%s%.9g", index != 0 ? ", " : "", values[index]);
    }
    (void)fputs("]", stdout);
    if (note != NULL) {
        (void)fputs(", \"note\": ", stdout);
        bench_json_text(note);
    }
    (void)fputs("}\n", stdout);
    (void)fflush(stdout);
}

static inline void bench_row_value(const char *row, const char *unit, double value)
{
    bench_row(row, unit, &value, 1, NULL);
}

static inline void bench_row_without_values(const char *row, const char *key, const char *sentence)
{
    (void)fputs("{\"row\": ", stdout);
    bench_json_text(row);
    (void)printf(", \"%s\": ", key);
    bench_json_text(sentence);
    (void)fputs("}\n", stdout);
    (void)fflush(stdout);
}

/*
 * Reports that the row could not be measured, or that its figure is wrong (events missing). The run
 * fails.
 */
static inline void bench_row_failed(const char *row, const char *reason)
{
    bench_row_without_values(row, "failed", reason);
}

/*
 * Reports that the row, or the rows that begin with `row`, cannot be measured here; `sentence` says
 * why. The run does not fail.
 */
static inline void bench_row_skipped(const char *row, const char *sentence)
{
    bench_row_without_values(row, "skipped", sentence);
}

static inline bool bench_row_selected(const struct bench_part_options *options, const char *row)
{
    return options->only == NULL || strstr(row, options->only) != NULL;
}

/* Parses --rounds N, --quick and --only TEXT; exits with 2 for anything else. */
static inline struct bench_part_options bench_part_parse(int argc, char **argv)
{
    struct bench_part_options options = {1, false, NULL};

    for (int index = 1; index < argc; index++) {
        if (strcmp(argv[index], "--quick") == 0) {
            options.quick = true;
        } else if (strcmp(argv[index], "--rounds") == 0 && index + 1 < argc) {
            options.rounds = (unsigned)strtoul(argv[++index], NULL, 10);
        } else if (strcmp(argv[index], "--only") == 0 && index + 1 < argc) {
            options.only = argv[++index];
        } else {
            (void)fprintf(stderr, "usage: %s [--rounds N] [--quick] [--only TEXT]\n", argv[0]);
            exit(2);
        }
    }
    return options;
}

#endif
