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
    char text[40]; /* room for ETWAS_HUMAN_CHARACTERS, too */
};

/* Nanoseconds without the unit, for a column of them; from 100,000 on with another unit. */
struct etwas_clocks_word etwas_clocks_ns(double ns);

/* Writes a duration with the unit that suits it: "18.2 ns", "1.20 µs", "4.00 ms". */
struct etwas_clocks_word etwas_clocks_duration(double ns);

/* "1,234,567" */
struct etwas_clocks_word etwas_clocks_count(uint64_t count);

/* "0 %" only where `part` is 0, "100 %" only where it is all; "-" of nothing. */
struct etwas_clocks_word etwas_clocks_percent(uint64_t part, uint64_t whole);

/* Writes a rate with its sign. */
struct etwas_clocks_word etwas_clocks_ppm(double ppm);

/* Half the width of an interval: without a sign, never 0 where it is not. */
struct etwas_clocks_word etwas_clocks_ppm_interval(double ppm);

/* "2,445,405,312 Hz" */
struct etwas_clocks_word etwas_clocks_hz(double hz);

/* What --clocks calls a source: "monotonic-raw". */
const char *etwas_clocks_id(uint32_t source);

/* Finds a source by its id or its name in C, in any case. */
bool etwas_clocks_find(const char *text, uint32_t *source);

/* What --clock of a recording calls the recommended one; NULL where there is none. */
const char *etwas_clocks_recommended(const etwas_clock_report *report);

/* What the report calls a source. */
const char *etwas_clocks_name(const struct etwas_clocks_view *view, uint32_t source);

/* Whether it was asked for and can be read here. */
bool etwas_clocks_shown(const struct etwas_clocks_view *view, uint32_t source);

/* Whether it is one of the three clocks a session can have. */
bool etwas_clocks_of_session(uint32_t source);

/* "trusted", "doubtful", "unusable" */
const char *etwas_clocks_verdict(uint32_t verdict);

/* "CPUID leaf 15h", …; "" where nothing states a frequency. */
const char *etwas_clocks_stated_by(uint32_t stated_by);

/* Whether a reason speaks against the counter. */
bool etwas_clocks_reason_against(uint32_t reason);

/* The bound of the frequency in ppm, and how far the stated one is from it. */
double etwas_clocks_frequency_error_ppm(const etwas_clock_trust *trust);
double etwas_clocks_stated_error_ppm(const etwas_clock_trust *trust);

/* Whether there is such a rate; without a counter there is none. */
bool etwas_clocks_conversion_known(const etwas_clock_conversion *conversion);

/* "CLOCK_TAI, RDTSCP": those asked for that cannot be read here. False: all can. */
bool etwas_clocks_missing(const struct etwas_clocks_view *view, char *text, size_t bytes);

/* Whether the clock `other` of the pair is surely ahead or behind. */
bool etwas_clocks_apart(const etwas_clock_offset *offset);

/* What the pairs of one source come to. */
struct etwas_clocks_order {
    double largest_offset_ns; /* without its sign */
    double largest_bound_ns;
    uint32_t apart; /* pairs that surely differ */
    uint64_t handovers;
    uint64_t smaller;
    double worst_ns;
};

struct etwas_clocks_order etwas_clocks_order_of(const etwas_clock_source_report *source);

/* How many nanoseconds a clock may gain or lose in an hour; NAN: it is not known. */
double etwas_clocks_hour_ns(const etwas_clock_source_report *source);

/* The pair of two processors, in either order; NULL: it was not examined. */
const etwas_clock_offset *etwas_clocks_pair(const etwas_clock_source_report *source,
                                            uint32_t processor, uint32_t other);

/*
 * Fills `worst` with at most `most` pairs of the source, worst first: by the share of stamps that
 * were smaller, then by how far the offset is outside its bound. Returns how many.
 */
uint32_t etwas_clocks_worst_pairs(const etwas_clock_source_report *source,
                                  const etwas_clock_offset **worst, uint32_t most);

#endif
