/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The clock knots of a file, read without any of the library's own reader. */
#ifndef ETWAS_SUPPORT_KNOTS_H
#define ETWAS_SUPPORT_KNOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/own_record.h"

enum {
    KNOTS_MOST = 8192
};

struct knots {
    uint32_t count;
    uint32_t buffers;                       /* knot buffers */
    uint32_t first_place;                   /* of the first of them */
    struct etwas_etl_knot list[KNOTS_MOST]; /* sorted by QPC */
    bool has_clock;
    struct etwas_etl_clock_trust clock;
};

/*
 * Reads them; the file may be in progress, of which knots that are there twice are given once.
 * Fails the test when there is something else in a knot buffer.
 */
void knots_read(const char *path, struct knots *knots);

/* How many have this reason. */
uint32_t knots_with(const struct knots *knots, uint32_t reason);

#endif
