/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLOCKS_FORMAT_H
#define ETWAS_TOOLS_CLOCKS_FORMAT_H

/*
 * Names and numbers of the clock report, the same in words, tables and plots. A number that is not
 * finite is "-".
 */

#include "clocks/clocks.h"

struct etwas_clocks_word {
    char text[40]; /* at least ETWAS_HUMAN_CHARACTERS */
};

/* Writes nanoseconds without the unit, for a table's column; from 100,000 on in another unit. */
struct etwas_clocks_word etwas_clocks_ns(double ns);

/* Writes a duration in a suitable unit: "18.2 ns", "1.20 µs", "4.00 ms". */
struct etwas_clocks_word etwas_clocks_duration(double ns);

/* "1,234,567" */
struct etwas_clocks_word etwas_clocks_count(uint64_t count);

/*
 * Writes a percentage: "0 %" only if `part` is 0, "100 %" only if it is `whole`; "-" if `whole` is
 * 0.
 */
struct etwas_clocks_word etwas_clocks_percent(uint64_t part, uint64_t whole);

/* Writes a rate with its sign. */
struct etwas_clocks_word etwas_clocks_ppm(double ppm);

/* Writes half the width of an interval: without a sign, and as 0 only if it is 0. */
struct etwas_clocks_word etwas_clocks_ppm_interval(double ppm);

/* "2,445,405,312 Hz" */
struct etwas_clocks_word etwas_clocks_hz(double hz);

/* Returns a source's name in --clocks: "monotonic-raw". */
const char *etwas_clocks_id(uint32_t source);

/* Finds a source by its id or its name in C, ignoring case. */
bool etwas_clocks_find(const char *text, uint32_t *source);

/* Returns the recommended clock's name for --clock of a recording; NULL if there is none. */
const char *etwas_clocks_recommended(const etwas_clock_report *report);

/* Returns a source's name in the report. */
const char *etwas_clocks_name(const struct etwas_clocks_view *view, uint32_t source);

/* Returns whether the source was requested and can be read here. */
bool etwas_clocks_shown(const struct etwas_clocks_view *view, uint32_t source);

/* Returns whether it is one of the three clocks that a session can have. */
bool etwas_clocks_of_session(uint32_t source);

/* "trusted", "doubtful", "unusable" */
const char *etwas_clocks_verdict(uint32_t verdict);

/* Returns where a frequency is stated, such as "CPUID leaf 15h"; "" if nowhere. */
const char *etwas_clocks_stated_by(uint32_t stated_by);

/* Returns whether a reason is against the counter. */
bool etwas_clocks_reason_against(uint32_t reason);

/* Returns the bound of the frequency in ppm, and its difference from the stated frequency. */
double etwas_clocks_frequency_error_ppm(const etwas_clock_trust *trust);
double etwas_clocks_stated_error_ppm(const etwas_clock_trust *trust);

/* Returns whether the rate is known; without a counter it is not. */
bool etwas_clocks_conversion_known(const etwas_clock_conversion *conversion);

/*
 * Writes the requested clocks that cannot be read here: "CLOCK_TAI, RDTSCP". Returns false if there
 * are none.
 */
bool etwas_clocks_missing(const struct etwas_clocks_view *view, char *text, size_t bytes);

/* Returns whether the clock `other` of the pair is certainly ahead or behind. */
bool etwas_clocks_apart(const etwas_clock_offset *offset);

/* A summary of the pairs of one source. */
struct etwas_clocks_order {
    double largest_offset_ns; /* its absolute value */
    double largest_bound_ns;
    uint32_t apart; /* pairs that certainly differ */
    uint64_t handovers;
    uint64_t smaller;
    double worst_ns;
};

struct etwas_clocks_order etwas_clocks_order_of(const etwas_clock_source_report *source);

/* Returns how many nanoseconds a clock may gain or lose in an hour; NAN if it is not known. */
double etwas_clocks_hour_ns(const etwas_clock_source_report *source);

/* Returns the pair of two processors, in either order; NULL if it was not examined. */
const etwas_clock_offset *etwas_clocks_pair(const etwas_clock_source_report *source,
                                            uint32_t processor, uint32_t other);

/*
 * Fills `worst` with at most `most` pairs of the source, worst first: by the share of stamps that
 * were smaller, then by how far the offset is outside its bound. Returns their number.
 */
uint32_t etwas_clocks_worst_pairs(const etwas_clock_source_report *source,
                                  const etwas_clock_offset **worst, uint32_t most);

#endif
