/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The meaning of a report's numbers, in sentences: whether the cycle counter can be trusted, and
 * which clock a session should request.
 */
#include <math.h>
#include <string.h>

#include "clock/clock.h"
#include "clock/lab/lab.h"
#include "clock/lab/sentences.h"
#include "clock/trust.h"

/* The reasons against the counter. Their sentences contain numbers of the report, if it has any. */
enum {
    AGAINST = 0xff00
};

static const etwas_clock_source_report *report_source(const etwas_clock_report *report,
                                                      uint32_t source)
{
    return report->sources[source].available ? &report->sources[source] : NULL;
}

/* ---- findings -------------------------------------------------------------------------------- */

/*
 * The sources by which the processors' counters are compared: their readings are taken neither
 * early nor late. Without a fence, a stamp taken after another may be smaller although the counters
 * agree.
 */
static const uint32_t ordered_counters[] = {ETWAS_CLOCK_SOURCE_LFENCE_RDTSC,
                                            ETWAS_CLOCK_SOURCE_RDTSCP};

/* Returns the two processors that are farthest apart beyond what the bound explains; NULL: none. */
static const etwas_clock_offset *report_farthest_apart(const etwas_clock_report *report)
{
    const etwas_clock_offset *farthest = NULL;

    for (int index = 0; index < 2; index++) {
        const etwas_clock_source_report *counter = report_source(report, ordered_counters[index]);

        for (uint32_t pair = 0; counter != NULL && pair < counter->offset_count; pair++) {
            const etwas_clock_offset *offset = &counter->offsets[pair];

            if (fabs(offset->offset_ns) > offset->bound_ns &&
                (farthest == NULL || fabs(offset->offset_ns) > fabs(farthest->offset_ns))) {
                farthest = offset;
            }
        }
    }
    return farthest;
}

/*
 * Returns how far apart two processors may be at most, according to the better of the two sources;
 * 0: not known.
 */
static double report_most_apart_ns(const etwas_clock_report *report)
{
    double best_ns = 0;

    for (int index = 0; index < 2; index++) {
        const etwas_clock_source_report *counter = report_source(report, ordered_counters[index]);
        double widest_ns = 0;

        for (uint32_t pair = 0; counter != NULL && pair < counter->offset_count; pair++) {
            const etwas_clock_offset *offset = &counter->offsets[pair];
            double most_ns = fabs(offset->offset_ns) + offset->bound_ns;

            widest_ns = most_ns > widest_ns ? most_ns : widest_ns;
        }
        if (widest_ns > 0 && (best_ns <= 0 || widest_ns < best_ns)) {
            best_ns = widest_ns;
        }
    }
    return best_ns;
}

/* Returns the number of pairs of processors that neither source compared. */
static uint32_t report_pairs_left_out(const etwas_clock_report *report)
{
    uint32_t fewest = UINT32_MAX;

    for (int index = 0; index < 2; index++) {
        const etwas_clock_source_report *counter = report_source(report, ordered_counters[index]);

        if (counter != NULL && counter->offsets_left_out < fewest) {
            fewest = counter->offsets_left_out;
        }
    }
    return fewest < UINT32_MAX ? fewest : 0;
}

/* How often a stamp was smaller than one taken earlier on another processor, and by how much. */
struct order {
    uint64_t handovers;
    uint64_t smaller;
    double worst_ns;
};

static struct order source_order(const etwas_clock_source_report *clock)
{
    struct order order = {0};

    for (uint32_t pair = 0; clock != NULL && pair < clock->offset_count; pair++) {
        const etwas_clock_offset *offset = &clock->offsets[pair];

        order.handovers += offset->handovers;
        order.smaller += offset->smaller;
        if (offset->smaller > 0 && offset->worst_ns > order.worst_ns) {
            order.worst_ns = offset->worst_ns;
        }
    }
    return order;
}

/* Backward steps of the counter, from all sources that keep its readings in order. */
struct backwards {
    uint64_t readings;
    uint64_t steps;
    double largest_ns;
};

static struct backwards report_backwards(const etwas_clock_report *report)
{
    static const uint32_t counters[] = {ETWAS_CLOCK_SOURCE_TSC, ETWAS_CLOCK_SOURCE_RDTSCP,
                                        ETWAS_CLOCK_SOURCE_LFENCE_RDTSC};
    struct backwards backwards = {0};

    for (int index = 0; index < 3; index++) {
        const etwas_clock_source_report *counter = report_source(report, counters[index]);

        if (counter != NULL) {
            backwards.readings += counter->readings;
            backwards.steps += counter->backward_steps;
            backwards.largest_ns = fmax(backwards.largest_ns, counter->largest_backward_ns);
        }
    }
    return backwards;
}

static void verdict_add_findings(etwas_clock_report *report)
{
    if (report_backwards(report).steps > 0) {
        report->trust.reasons |= ETWAS_CLOCK_REASON_BACKWARDS;
    }
    if (report_farthest_apart(report) != NULL) {
        report->trust.reasons |= ETWAS_CLOCK_REASON_APART;
    }
    report->trust.verdict = etwas_clock_trust_verdict(report->trust.reasons);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static const char *trust_stated_by_text(const etwas_clock_trust *trust)
{
    switch (trust->stated_by) {
    case ETWAS_CLOCK_STATED_CPUID_15H:
        return "CPUID 15h";
    case ETWAS_CLOCK_STATED_CPUID_16H:
        return "CPUID 16h";
    case ETWAS_CLOCK_STATED_HYPERVISOR:
        return "the hypervisor";
    default:
        return "CNTFRQ_EL0";
    }
}

static void verdict_add_head(const etwas_clock_report *report, struct etwas_sentences *verdict)
{
    static const char *const heads[] = {
        "The cycle counter cannot be used: a session that asks for it gets system time.",
        "The cycle counter can be used, but something speaks against it.",
        "The cycle counter can be trusted.",
    };

    etwas_sentences_add(verdict, "%s", heads[report->trust.verdict]);
}

static void verdict_add_guest(const etwas_clock_trust *trust, struct etwas_sentences *verdict)
{
    bool named = trust->hypervisor[0] != '\0';
    bool told = trust->clocksource[0] != '\0';

    if ((trust->reasons & ETWAS_CLOCK_REASON_KERNEL_USES_IT) != 0) {
        etwas_sentences_add(verdict,
                            "This is a guest%s%s, which may be moved to another machine, but its "
                            "kernel keeps time by the counter too, so whoever moves it has to keep "
                            "it steady.",
                            named ? " of " : "", trust->hypervisor);
    } else {
        etwas_sentences_add(verdict,
                            "This is a guest%s%s, which may be moved to another machine, and its "
                            "kernel %s%s, so nothing says that the counter would stay steady then.",
                            named ? " of " : "", trust->hypervisor,
                            told ? "keeps time by " : "does not say what it keeps time by",
                            trust->clocksource);
    }
}

static void verdict_add_against(const etwas_clock_report *report, uint32_t reason,
                                struct etwas_sentences *verdict)
{
    const etwas_clock_trust *trust = &report->trust;
    const struct backwards backwards = report_backwards(report);
    const etwas_clock_offset *apart = report_farthest_apart(report);
    const char *text = etwas_clock_reason_text(reason);
    char duration[ETWAS_DURATION_BYTES];
    char bound[ETWAS_DURATION_BYTES];

    if (reason == ETWAS_CLOCK_REASON_HYPERVISOR) {
        verdict_add_guest(trust, verdict);
    } else if (reason == ETWAS_CLOCK_REASON_WRONG_FREQUENCY) {
        etwas_sentences_add(verdict,
                            "%s: %s says %.6f MHz, %+.1f ppm of what was measured; the measured "
                            "one is used.",
                            text, trust_stated_by_text(trust), (double)trust->stated_hz / 1e6,
                            etwas_clock_stated_difference_ppm(trust));
    } else if (reason == ETWAS_CLOCK_REASON_BACKWARDS && backwards.steps > 0) {
        etwas_sentences_add(verdict, "%s, %llu time%s in %llu readings, by up to %s.", text,
                            (unsigned long long)backwards.steps, backwards.steps == 1 ? "" : "s",
                            (unsigned long long)backwards.readings,
                            etwas_duration_text(backwards.largest_ns, duration));
    } else if (reason == ETWAS_CLOCK_REASON_APART && apart != NULL) {
        etwas_sentences_add(verdict, "%s: that of processor %u is %s %s that of %u, ± %s.", text,
                            apart->other, etwas_duration_text(fabs(apart->offset_ns), duration),
                            apart->offset_ns > 0 ? "ahead of" : "behind", apart->processor,
                            etwas_duration_text(apart->bound_ns, bound));
    } else {
        etwas_sentences_add(verdict, "%s.", text);
    }
}

static void verdict_add_reasons(const etwas_clock_report *report, struct etwas_sentences *verdict)
{
    uint32_t reasons = report->trust.reasons;

    for (uint32_t reason = 1; reason <= ETWAS_CLOCK_REASON_NO_COUNTER; reason <<= 1) {
        if ((reasons & reason & AGAINST) != 0) {
            verdict_add_against(report, reason, verdict);
        }
    }
    for (uint32_t reason = 1; reason <= ETWAS_CLOCK_REASON_NO_COUNTER; reason <<= 1) {
        /* If the kernel keeps time by the counter, it is not written that the kernel offers it. */
        bool said = reason == ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT &&
                    (reasons & ETWAS_CLOCK_REASON_KERNEL_USES_IT) != 0;

        if ((reasons & reason & ~(uint32_t)AGAINST) != 0 && !said &&
            reason != ETWAS_CLOCK_REASON_STATED_FREQUENCY) {
            etwas_sentences_add(verdict, "%s.", etwas_clock_reason_text(reason));
        }
    }
}

static void verdict_add_frequency(const etwas_clock_report *report, struct etwas_sentences *verdict)
{
    const etwas_clock_trust *trust = &report->trust;

    if (trust->frequency_hz == 0) {
        return;
    }
    etwas_sentences_add(verdict, "It ticks at %.6f MHz, known within %.2f ppm.",
                        (double)trust->frequency_hz / 1e6, trust->frequency_error_ppb / 1e3);
    if (trust->stated_hz == 0 || (trust->reasons & ETWAS_CLOCK_REASON_WRONG_FREQUENCY) != 0) {
        return;
    }
    if (etwas_clock_stated_agrees(trust)) {
        etwas_sentences_add(verdict, "Within that, %s states the same: %.6f MHz.",
                            trust_stated_by_text(trust), (double)trust->stated_hz / 1e6);
    } else {
        etwas_sentences_add(verdict, "Stated by %s: %.6f MHz, %+.1f ppm of that.",
                            trust_stated_by_text(trust), (double)trust->stated_hz / 1e6,
                            etwas_clock_stated_difference_ppm(trust));
    }
}

static void verdict_add_measured(const etwas_clock_report *report, struct etwas_sentences *verdict)
{
    const etwas_clock_source_report *counter = report_source(report, ETWAS_CLOCK_SOURCE_TSC);
    const etwas_clock_source_report *qpc = report_source(report, ETWAS_CLOCK_SOURCE_QPC);
    double apart_ns = report_most_apart_ns(report);
    uint32_t left_out = report_pairs_left_out(report);
    char duration[ETWAS_DURATION_BYTES];

    if (counter != NULL && counter->against_raw.known) {
        const etwas_clock_drift *drift = &counter->against_raw;

        etwas_sentences_add(verdict,
                            "Over %.1f s it was %.3f ± %.3f ppm %s against "
                            "CLOCK_MONOTONIC_RAW.",
                            drift->seconds, fabs(drift->ppm), drift->interval_ppm,
                            drift->ppm < 0 ? "slow" : "fast");
    }
    if (apart_ns > 0 && (report->trust.reasons & ETWAS_CLOCK_REASON_APART) == 0) {
        etwas_sentences_add(verdict, "No two of %u processors%s are more than %s apart.",
                            report->processors, left_out > 0 ? " that could be compared" : "",
                            etwas_duration_text(apart_ns, duration));
    }
    if (left_out > 0) {
        etwas_sentences_add(verdict, "Nothing is known of %u pair%s of processors.", left_out,
                            left_out == 1 ? "" : "s");
    }
    if (report->processors < report->processors_online) {
        etwas_sentences_add(verdict, "Nothing is known of %u of %u processors online.",
                            report->processors_online - report->processors,
                            report->processors_online);
    }
    if (qpc != NULL && qpc->backward_steps > 0) {
        etwas_sentences_add(verdict, "QPC was seen running backwards too, by up to %s.",
                            etwas_duration_text(qpc->largest_backward_ns, duration));
    }
}

/*
 * Describes the order of the bare instruction, which sessions read and which executes as early as
 * it can.
 */
static void verdict_add_order(const etwas_clock_report *report, struct etwas_sentences *verdict)
{
    const etwas_clock_source_report *counter = report_source(report, ETWAS_CLOCK_SOURCE_TSC);
    const struct order order = source_order(counter);
    char duration[ETWAS_DURATION_BYTES];

    if (order.smaller > 0) {
        etwas_sentences_add(
            verdict,
            "%sIts stamps of different processors may be in the wrong order: of %llu "
            "that were taken after one of another processor, %llu were smaller "
            "than that, by up to %s.",
            (report->trust.reasons & ETWAS_CLOCK_REASON_APART) != 0
                ? ""
                : "Sessions read it without a fence, and it may be read early. ",
            (unsigned long long)order.handovers, (unsigned long long)order.smaller,
            etwas_duration_text(order.worst_ns, duration));
    }
    if (counter != NULL && counter->unordered_backward_steps > 0) {
        etwas_sentences_add(verdict,
                            "Without a fence %llu of %llu readings on one processor changed places "
                            "too, by up to %s.",
                            (unsigned long long)counter->unordered_backward_steps,
                            (unsigned long long)counter->unordered_readings,
                            etwas_duration_text(counter->largest_unordered_backward_ns, duration));
    }
}

/* ---- the recommendation ---------------------------------------------------------------------- */

/* Returns what a stamp costs; 0: not known. */
static double report_cost_ns(const etwas_clock_report *report, uint32_t source)
{
    const etwas_clock_source_report *clock = report_source(report, source);

    if (clock == NULL) {
        return 0;
    }
    return clock->back_to_back_ns > 0 ? clock->back_to_back_ns : clock->warm_ns.median;
}

/*
 * Returns whether the counter is cheaper than QPC by a tenth, which justifies requesting another
 * clock.
 */
static bool report_counter_is_cheaper(const etwas_clock_report *report)
{
    double counter_ns = report_cost_ns(report, ETWAS_CLOCK_SOURCE_TSC);
    double qpc_ns = report_cost_ns(report, ETWAS_CLOCK_SOURCE_QPC);

    return counter_ns <= 0 || qpc_ns <= 0 || counter_ns < 0.9 * qpc_ns;
}

static void recommendation_add_costs(const etwas_clock_report *report,
                                     struct etwas_sentences *recommendation)
{
    static const uint32_t sources[] = {ETWAS_CLOCK_SOURCE_QPC, ETWAS_CLOCK_SOURCE_SYSTEM_TIME,
                                       ETWAS_CLOCK_SOURCE_TSC};
    char texts[3][ETWAS_DURATION_BYTES];

    for (int index = 0; index < 3; index++) {
        double ns = report_cost_ns(report, sources[index]);

        if (ns <= 0) {
            return;
        }
        (void)etwas_duration_text(ns, texts[index]);
    }
    etwas_sentences_add(recommendation,
                        "A stamp costs %s with 1 (QPC), %s with 2 (system time), %s with 3.",
                        texts[0], texts[1], texts[2]);
}

static double report_whole_mhz_hour_ns(const etwas_clock_report *report)
{
    for (int index = 0; index < ETWAS_CLOCK_CONVERSIONS; index++) {
        const etwas_clock_conversion *conversion = &report->conversions[index];

        if (conversion->name != NULL && strcmp(conversion->name, "whole MHz") == 0) {
            return fabs(conversion->after_hour_ns);
        }
    }
    return 0;
}

static void recommendation_for_counter(const etwas_clock_report *report,
                                       struct etwas_sentences *recommendation)
{
    const struct order order = source_order(report_source(report, ETWAS_CLOCK_SOURCE_TSC));
    const struct order qpc_order = source_order(report_source(report, ETWAS_CLOCK_SOURCE_QPC));
    double hour_ns = report_whole_mhz_hour_ns(report);
    char duration[ETWAS_DURATION_BYTES];

    etwas_sentences_add(recommendation, "Ask for ClientContext 3, the cycle counter.");
    recommendation_add_costs(report, recommendation);
    if (order.smaller > 0 && qpc_order.handovers > 0 && qpc_order.smaller == 0) {
        etwas_sentences_add(recommendation,
                            "Ask for 1 where the order of events on different processors matters: "
                            "it was always right with QPC, and wrong by up to %s with 3.",
                            etwas_duration_text(order.worst_ns, duration));
    }
    if (hour_ns > 0) {
        etwas_sentences_add(recommendation,
                            "Ask for 1 where other readers than etwas convert long traces: they "
                            "know whole MHz only, %s off after an hour.",
                            etwas_duration_text(hour_ns, duration));
    }
    if ((report->trust.reasons & ETWAS_CLOCK_REASON_HYPERVISOR) != 0) {
        etwas_sentences_add(recommendation,
                            "Ask for 1, too, if this guest is to be moved while it traces.");
    }
}

static void recommendation_for_qpc(const etwas_clock_report *report,
                                   struct etwas_sentences *recommendation)
{
    double qpc_ns = report_cost_ns(report, ETWAS_CLOCK_SOURCE_QPC);
    double system_ns = report_cost_ns(report, ETWAS_CLOCK_SOURCE_SYSTEM_TIME);

    etwas_sentences_add(recommendation, "Ask for ClientContext 1, QPC: %s.",
                        report->trust.verdict == ETWAS_CLOCK_VERDICT_UNUSABLE
                            ? "the cycle counter cannot be used"
                        : report->trust.verdict == ETWAS_CLOCK_VERDICT_DOUBTFUL
                            ? "the cycle counter is doubtful"
                            : "the cycle counter would save next to nothing");
    recommendation_add_costs(report, recommendation);
    if (qpc_ns > 2 * system_ns && system_ns > 0) {
        etwas_sentences_add(recommendation,
                            "QPC costs more than twice as much as system time, as on kernels that "
                            "read it by a system call: where that hurts, 2 is the way out.");
    }
}

static void recommendation_write(etwas_clock_report *report)
{
    struct etwas_sentences recommendation =
        etwas_sentences_in(report->recommendation, sizeof report->recommendation);

    if (report->trust.verdict == ETWAS_CLOCK_VERDICT_TRUSTED && report_counter_is_cheaper(report)) {
        report->recommended_clock = ETWAS_CLOCK_KIND_TSC;
        recommendation_for_counter(report, &recommendation);
    } else {
        report->recommended_clock = ETWAS_CLOCK_KIND_QPC;
        recommendation_for_qpc(report, &recommendation);
    }
    etwas_sentences_add(&recommendation,
                        "Ask for 2 to compare traces with logs of other machines; it steps when "
                        "the wall clock is set.");
}

void etwas_lab_write_verdict(etwas_clock_report *report)
{
    struct etwas_sentences verdict = etwas_sentences_in(report->verdict, sizeof report->verdict);

    verdict_add_findings(report);
    verdict_add_head(report, &verdict);
    verdict_add_frequency(report, &verdict);
    verdict_add_reasons(report, &verdict);
    verdict_add_measured(report, &verdict);
    verdict_add_order(report, &verdict);
    recommendation_write(report);
}

void etwas_lab_conclude(etwas_clock_report *report)
{
    (void)etwas_clock_query_trust(&report->trust);
    etwas_lab_write_verdict(report);
}
