/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the output of `etwas clocks --json`. The file may contain anything. */

#include "cli/built.h"
#include "clocks/compare.h"
#include "print/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ETWAS_JANSSON
#include <jansson.h>

enum {
    MOST_BYTES = 64 << 20 /* a machine with 64 processors needs 7 MB */
};

static const char *const cure =
    "this is no result of etwas clocks. Make one with: etwas clocks --json -o FILE";

bool etwas_clocks_can_read(void)
{
    return true;
}

/* Returns NAN if the value is not a number. */
static double read_real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Returns 0 if the value is not a count. */
static uint64_t read_count(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));

    return value > 0 ? (uint64_t)value : 0;
}

static void read_text(const json_t *object, const char *key, char *text, size_t bytes)
{
    const char *value = json_string_value(json_object_get(object, key));

    snprintf(text, bytes, "%s", value != NULL ? value : "");
    text[etwas_text_cut(text, strlen(text))] = '\0';
}

static void read_distribution(const json_t *object, etwas_clock_distribution *distribution)
{
    distribution->count = read_count(object, "count");
    distribution->median = read_real(object, "p50");
    distribution->p99 = read_real(object, "p99");
}

static void read_order(const json_t *pairs, struct etwas_clocks_order *order)
{
    const json_t *pair;
    size_t i;

    json_array_foreach(pairs, i, pair)
    {
        uint64_t smaller = read_count(pair, "smaller");

        order->largest_offset_ns =
            fmax(order->largest_offset_ns, fabs(read_real(pair, "difference")));
        order->largest_bound_ns = fmax(order->largest_bound_ns, read_real(pair, "bound"));
        order->handovers += read_count(pair, "handovers");
        order->smaller += smaller;
        order->worst_ns =
            smaller > 0 ? fmax(order->worst_ns, read_real(pair, "worst")) : order->worst_ns;
    }
}

static void read_source(const json_t *clock, struct etwas_clocks_side *side)
{
    const char *id = json_string_value(json_object_get(clock, "clock"));
    const json_t *drift = json_object_get(clock, "against_raw");
    etwas_clock_source_report *source;
    uint32_t number;

    if (id == NULL || !etwas_clocks_find(id, &number) ||
        !json_is_true(json_object_get(clock, "available"))) {
        return;
    }
    source = &side->report.sources[number];
    source->available = true;
    read_distribution(json_object_get(clock, "warm"), &source->warm_ns);
    read_distribution(json_object_get(clock, "cold"), &source->cold_ns);
    source->back_to_back_ns = read_real(clock, "back_to_back");
    source->unit_ns = read_real(clock, "unit");
    source->backward_steps = read_count(clock, "backward_steps");
    source->stalls = read_count(clock, "stalls");
    source->against_raw.known = json_is_object(drift);
    source->against_raw.ppm = read_real(drift, "ppm");
    source->against_raw.interval_ppm = read_real(drift, "interval_ppm");
    read_order(json_object_get(clock, "differences"), &side->order[number]);
}

static bool read_verdict(const json_t *root, uint32_t *verdict)
{
    const char *text = json_string_value(json_object_get(root, "verdict"));

    for (*verdict = 0; text != NULL && *verdict <= ETWAS_CLOCK_VERDICT_TRUSTED; ++*verdict) {
        if (strcmp(text, etwas_clocks_verdict(*verdict)) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_recommended(const json_t *root, uint32_t *recommended)
{
    const char *text = json_string_value(json_object_get(root, "recommended_clock"));
    uint32_t source;

    if (text == NULL || !etwas_clocks_find(text, &source) || !etwas_clocks_of_session(source)) {
        return false;
    }
    *recommended = source + 1;
    return true;
}

/* Reasons that this version does not know have no text. */
static void read_reasons(const json_t *reasons, etwas_clock_trust *trust)
{
    const json_t *reason;
    size_t i;

    json_array_foreach(reasons, i, reason)
    {
        uint64_t bit = read_count(reason, "bit");

        if (bit <= UINT32_MAX && etwas_clock_reason_text((uint32_t)bit)[0] != '\0') {
            trust->reasons |= (uint32_t)bit;
        }
    }
}

static const char *read_root(const json_t *root, struct etwas_clocks_side *side)
{
    const char *kind = json_string_value(json_object_get(root, "kind"));
    etwas_clock_report *report = &side->report;
    const json_t *clock;
    size_t i;

    if (kind == NULL || strcmp(kind, "clocks") != 0 ||
        !read_verdict(root, &report->trust.verdict) ||
        !read_recommended(root, &report->recommended_clock)) {
        return cure;
    }
    read_text(root, "host", side->machine.host, sizeof side->machine.host);
    read_text(root, "system", side->machine.system, sizeof side->machine.system);
    read_text(root, "cpu_model", side->machine.model, sizeof side->machine.model);
    read_text(root, "examined", side->machine.examined, sizeof side->machine.examined);
    report->processors = (uint32_t)json_array_size(json_object_get(root, "cpus"));
    report->trust.frequency_hz = read_count(root, "frequency_hz");
    report->trust.frequency_error_ppb =
        (uint32_t)fmin((double)read_count(root, "frequency_error_ppb"), (double)UINT32_MAX);
    json_array_foreach(json_object_get(root, "clocks"), i, clock)
    {
        read_source(clock, side);
    }
    read_reasons(json_object_get(root, "reasons"), &report->trust);
    return NULL;
}

const char *etwas_clocks_read_text(struct etwas_clocks_side *side, const char *text, size_t bytes)
{
    json_error_t error;
    json_t *root = json_loadb(text, bytes, 0, &error);
    const char *wrong = root != NULL ? read_root(root, side) : cure;

    json_decref(root);
    return wrong;
}

const char *etwas_clocks_read(struct etwas_clocks_side *side, const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    const char *wrong;
    size_t bytes = 0;

    side->path = path;
    if (file == NULL) {
        return strerror(errno);
    }
    text = malloc(MOST_BYTES);
    if (text == NULL) {
        wrong = "there is no memory";
    } else {
        bytes = fread(text, 1, MOST_BYTES, file);
        wrong = ferror(file)          ? strerror(errno)
                : bytes == MOST_BYTES ? cure
                                      : etwas_clocks_read_text(side, text, bytes);
    }
    free(text);
    fclose(file);
    return wrong;
}

#else

bool etwas_clocks_can_read(void)
{
    fputs("etwas clocks: --compare: etwas is built without jansson, which reads "
          "JSON. " ETWAS_BUILT_CURE("libjansson-dev") "\n",
          stderr);
    return false;
}

const char *etwas_clocks_read_text(struct etwas_clocks_side *side, const char *text, size_t bytes)
{
    (void)side;
    (void)text;
    (void)bytes;
    return "etwas is built without jansson";
}

const char *etwas_clocks_read(struct etwas_clocks_side *side, const char *path)
{
    side->path = path;
    return etwas_clocks_read_text(side, "", 0);
}

#endif
