/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_VALUE_H
#define ETWAS_TOOLS_CLI_VALUE_H

/* The kinds of values in options, settings and expressions, with one parser for each. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses an integer: 1000, 1k, 2M, 3G (powers of 1,000) or 0x10. Returns false if the text is not
 * one, or the number does not fit.
 */
bool etwas_value_count(const char *text, uint64_t *count);

/*
 * Parses a size in bytes: 64K, 64KiB, 20G, 1.5M (powers of 1,024), 64kB, 1.5MB (powers of 1,000),
 * 512B. A number without a unit is in units of `unit` bytes. A fraction of a byte is dropped.
 * Returns false likewise.
 */
bool etwas_value_size(const char *text, uint64_t unit, uint64_t *bytes);

/*
 * Parses a duration in nanoseconds: 1.5ms, 2s, 250us (or µs), 3min, 1h. A number without a unit is
 * in units of `unit_ns`. A fraction of a nanosecond is dropped. Returns false likewise.
 */
bool etwas_value_duration(const char *text, uint64_t unit_ns, uint64_t *ns);

/*
 * Parses the name of a level, ignoring case: critical, error, warning, information or verbose.
 * Returns false if it is none.
 */
bool etwas_value_level_name(const char *text, uint8_t *level);

/* Parses a decimal number, at least 0: 12 or 0.5. Returns false likewise. */
bool etwas_value_real(const char *text, double *number);

/*
 * Copies the next item of a comma-separated list to `item`, and moves *list behind it. Quotes
 * protect a comma: "a,b" is one item, and "" inside them is one quote. Returns false at the end of
 * the list, or if an item is empty, has no closing quote, or does not fit; only at the end *list is
 * NULL.
 */
bool etwas_value_item(const char **list, char *item, size_t room);

#endif
