/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/drift.h"

#include <stdint.h>
#include <stdlib.h>

#include "clock/lab/lab.h"

enum {
    ATTEMPTS = 5,
    AGAINST_RAW = 0,
    AGAINST_REALTIME = 1,
    REFERENCES = 2
};

static const uint32_t reference_sources[REFERENCES] = {ETWAS_CLOCK_SOURCE_MONOTONIC_RAW,
                                                       ETWAS_CLOCK_SOURCE_REALTIME};

/* The readings from which all later ones of a track are counted. */
struct origin {
    int64_t at;
    int64_t value;
    int64_t reference;
};

struct etwas_lab_drift {
    uint32_t sources;
    struct origin origins[ETWAS_CLOCK_SOURCES][REFERENCES];
    struct etwas_lab_track tracks[ETWAS_CLOCK_SOURCES][REFERENCES];
};

/* ---- tracks ---------------------------------------------------------------------------------- */

static const struct etwas_lab_point *point_narrower(const struct etwas_lab_point *left,
                                                    const struct etwas_lab_point *right)
{
    return right->width_ns < left->width_ns ? right : left;
}

static void track_thin(struct etwas_lab_track *track)
{
    uint32_t half = track->count / 2;

    for (uint32_t index = 0; index < half; index++) {
        track->points[index] = *point_narrower(&track->points[(size_t)index * 2],
                                               &track->points[(size_t)index * 2 + 1]);
    }
    track->count = half;
    track->stride *= 2;
}

void etwas_lab_track_finish(struct etwas_lab_track *track)
{
    if (track->pending == 0) {
        return;
    }
    track->points[track->count++] = track->best;
    track->pending = 0;
    if (track->count == ETWAS_LAB_POINTS) {
        track_thin(track);
    }
}

void etwas_lab_track_add(struct etwas_lab_track *track, const struct etwas_lab_point *point)
{
    track->stride = track->stride == 0 ? 1 : track->stride;
    track->best = track->pending == 0 ? *point : *point_narrower(&track->best, point);
    track->pending++;
    if (track->pending == track->stride) {
        etwas_lab_track_finish(track);
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Raw readings; `reference` lies in the middle of its bracket. */
struct sample {
    int64_t value;
    int64_t reference;
    int64_t width;
};

/* Modulo 2^64, because readings may have any sign. */
static int64_t drift_difference(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left - (uint64_t)right);
}

/*
 * Reads a sample. A negative width means that the reference never went forward, because it was set
 * repeatedly.
 */
static struct sample sample_read(const struct etwas_lab_source *source,
                                 const struct etwas_lab_source *reference)
{
    struct sample best = {.width = -1};

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int64_t before = reference->read();
        int64_t value;
        int64_t width;

        etwas_lab_fence();
        value = source->read();
        etwas_lab_fence();
        width = drift_difference(reference->read(), before);
        if (width >= 0 && (best.width < 0 || width < best.width)) {
            best = (struct sample){value, before + width / 2, width};
        }
    }
    return best;
}

static void track_take_sample(struct etwas_lab_track *track, struct origin *origin,
                              const struct etwas_lab_source *source,
                              const struct etwas_lab_source *reference)
{
    const struct etwas_lab_source *raw = etwas_lab_source(ETWAS_CLOCK_SOURCE_MONOTONIC_RAW);
    int64_t at = raw->read();
    struct sample sample = sample_read(source, reference);
    struct etwas_lab_point point;

    if (sample.width < 0) {
        return;
    }
    if (track->stride == 0) {
        *origin = (struct origin){at, sample.value, sample.reference};
    }
    /* Always against raw time, because a line against a clock that may be set would be wrong. */
    point = (struct etwas_lab_point){
        .at_ns = (double)drift_difference(at, origin->at) * raw->tick_ns,
        .ahead_ns =
            (double)drift_difference(sample.value, origin->value) * source->tick_ns -
            (double)drift_difference(sample.reference, origin->reference) * reference->tick_ns,
        .width_ns = (double)sample.width * reference->tick_ns,
    };
    etwas_lab_track_add(track, &point);
}

/* Returns whether the source has a drift: a thread's own time has no rate. */
static bool drift_is_examined(const struct etwas_lab_drift *drift, uint32_t number)
{
    const struct etwas_lab_source *source = etwas_lab_source(number);

    return (drift->sources >> number & 1) != 0 && source->available && !source->follows_thread;
}

struct etwas_lab_drift *etwas_lab_drift_begin(uint32_t sources)
{
    struct etwas_lab_drift *drift = calloc(1, sizeof *drift);

    if (drift != NULL) {
        drift->sources = sources;
    }
    return drift;
}

void etwas_lab_drift_sample(struct etwas_lab_drift *drift)
{
    for (uint32_t number = 0; number < ETWAS_CLOCK_SOURCES; number++) {
        if (!drift_is_examined(drift, number)) {
            continue;
        }
        for (uint32_t index = 0; index < REFERENCES; index++) {
            track_take_sample(&drift->tracks[number][index], &drift->origins[number][index],
                              etwas_lab_source(number), etwas_lab_source(reference_sources[index]));
        }
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void drift_fit(struct etwas_lab_track *track, double resolution_ns, etwas_clock_drift *drift)
{
    etwas_lab_track_finish(track);
    etwas_lab_fit(track->points, track->count, resolution_ns, drift);
}

void etwas_lab_drift_end(struct etwas_lab_drift *drift, etwas_clock_report *report)
{
    const struct etwas_lab_source *counter = etwas_lab_source(ETWAS_CLOCK_SOURCE_TSC);

    for (uint32_t number = 0; number < ETWAS_CLOCK_SOURCES; number++) {
        etwas_clock_source_report *source = &report->sources[number];
        double tick_ns = etwas_lab_source(number)->tick_ns;
        double step_ns = etwas_lab_step_ns(source);
        double resolution_ns = step_ns > tick_ns ? step_ns : tick_ns;

        if (drift_is_examined(drift, number)) {
            drift_fit(&drift->tracks[number][AGAINST_RAW], resolution_ns, &source->against_raw);
            drift_fit(&drift->tracks[number][AGAINST_REALTIME], resolution_ns,
                      &source->against_realtime);
        }
    }
    etwas_lab_report_conversions(&report->trust,
                                 &report->sources[ETWAS_CLOCK_SOURCE_TSC].against_raw,
                                 counter->tick_ns, report->conversions);
    free(drift);
}

/* ---- conversions ----------------------------------------------------------------------------- */

static const double ns_a_second = 1e9;
static const double hz_a_mhz = 1e6;
static const double ppm = 1e6;

/* Fills a conversion, except its name. */
static void conversion_by_rate(double hz, double measured_hz, double interval_ppm,
                               etwas_clock_conversion *conversion)
{
    const double error = measured_hz / hz - 1;
    const double ns_after_second = error * ns_a_second;

    *conversion = (etwas_clock_conversion){
        .name = conversion->name,
        .hz = hz,
        .error_ppm = error * ppm,
        .interval_ppm = interval_ppm,
        .after_second_ns = ns_after_second,
        .after_minute_ns = ns_after_second * 60,
        .after_hour_ns = ns_after_second * 3600,
        .after_day_ns = ns_after_second * 3600 * 25,
    };
}

void etwas_lab_report_conversions(const etwas_clock_trust *trust,
                                  const etwas_clock_drift *against_raw, double tick_ns,
                                  etwas_clock_conversion *conversions)
{
    const double tick_hz = tick_ns > 0 ? ns_a_second / tick_ns : 0;
    double calibrated_hz = trust->frequency_hz != 0 ? (double)trust->frequency_hz : tick_hz;
    double measured_hz = calibrated_hz;
    double interval_ppm = trust->frequency_error_ppb / 1e3;
    double exact_hz;
    double whole_hz;

    conversions[0] = (etwas_clock_conversion){.name = "exact frequency"};
    conversions[1] = (etwas_clock_conversion){.name = "whole MHz"};
    conversions[2] = (etwas_clock_conversion){.name = "calibration"};
    if (calibrated_hz < hz_a_mhz) {
        return;
    }
    if (against_raw->known && tick_hz > 0) {
        measured_hz = tick_hz * (1 + against_raw->ppm / ppm);
        interval_ppm = against_raw->interval_ppm;
    }
    exact_hz = trust->stated_hz != 0 ? (double)trust->stated_hz : measured_hz;
    whole_hz = (double)(uint64_t)(calibrated_hz / hz_a_mhz + 0.5) * hz_a_mhz;
    conversion_by_rate(exact_hz, measured_hz, interval_ppm, &conversions[0]);
    conversion_by_rate(whole_hz, measured_hz, interval_ppm, &conversions[1]);
    conversion_by_rate(calibrated_hz, measured_hz, interval_ppm, &conversions[2]);
}
