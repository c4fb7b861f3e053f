/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Finds the sizes that meet the requirements. */

#include "advise/advise.h"

enum {
    SMALLEST_KB = 4,
    LARGEST_KB = 1024, /* the largest that is chosen; a session may have larger buffers */
    LIMIT_KB = 16384,
    USUAL_KB = 64,
    MOST_BUFFERS = 65536, /* the most that are advised */
    BUFFERS_A_SLOT = 2,
    TRIED_UP_TO = 4,     /* multiple of the buffers that the bytes need */
    CURRENT_SHARE = 16,  /* 1/16 of a recorder's memory may be current buffers */
    LARGEST_SHARE = 4,   /* the fraction 1/4 of a buffer that one record may take */
    UNUSUAL_SHARE = 100, /* 1/100 of the events may need more buffers than the minimum */
    FILL_MS = 5,         /* the least time in which a burst fills a buffer of one processor */
};

/* Returns the minimum of a session on a computer with as many processors. */
static uint32_t floor_of(const struct etwas_advise_question *question,
                         const struct etwas_load *load)
{
    uint32_t slots = load->processors > 0 ? load->processors : load->slot_count;

    if (load->one_slot) {
        return BUFFERS_A_SLOT;
    }
    slots += question->is_recorder ? 1 : 0;
    return slots < MOST_BUFFERS / BUFFERS_A_SLOT ? BUFFERS_A_SLOT * slots : MOST_BUFFERS;
}

static bool holds_largest(const struct etwas_load *load, uint32_t kb)
{
    const struct etwas_model_sizes sizes = {.buffer_kb = kb};

    return etwas_model_room(&sizes) / LARGEST_SHARE >= load->largest;
}

/* Returns the largest buffer size that keeps the memory in partly filled buffers small. */
static uint32_t recorder_kb(const struct etwas_load *load, uint64_t most_bytes)
{
    uint64_t slots = load->slot_count > 0 ? load->slot_count : 1;
    uint32_t kb = SMALLEST_KB;

    while (kb < LARGEST_KB && slots * 2 * kb * 1024 <= most_bytes / CURRENT_SHARE) {
        kb *= 2;
    }
    while (kb < LIMIT_KB &&
           (!holds_largest(load, kb) || most_bytes / (kb * 1024) > MOST_BUFFERS / 2)) {
        kb *= 2;
    }
    return kb;
}

/* Returns a buffer size that the busiest processor does not fill too fast. */
static uint32_t file_kb(const struct etwas_load *load)
{
    uint32_t kb = USUAL_KB;
    double burst_rate = 0;

    for (uint32_t i = 0; i < load->slot_count; i++) {
        double rate = etwas_load_burst_rate(load, &load->slots[i].sum);

        burst_rate = rate > burst_rate ? rate : burst_rate;
    }
    while ((kb < LARGEST_KB && kb * 1024.0 < burst_rate * FILL_MS / 1000) ||
           (kb < LIMIT_KB && !holds_largest(load, kb))) {
        kb *= 2;
    }
    return kb;
}

uint32_t etwas_advise_with_margin(const struct etwas_advise_question *question, uint32_t buffers)
{
    uint64_t all = ((uint64_t)buffers * (100 + question->margin_percent) + 99) / 100;

    return all < MOST_BUFFERS ? (uint32_t)all : MOST_BUFFERS;
}

/* ---- a flight recorder ----------------------------------------------------------------------- */

static bool try_recorder(const struct etwas_advise_question *question,
                         const struct etwas_load *load, uint32_t buffers,
                         struct etwas_advise_outcome *outcome)
{
    outcome->sizes.minimum = buffers;
    outcome->sizes.maximum = buffers;
    return etwas_recorder_run(load, &outcome->sizes, question->history_ns, &outcome->recorder);
}

static bool holds_history(const struct etwas_advise_question *question,
                          const struct etwas_advise_outcome *outcome)
{
    return outcome->recorder.overwritten_buffers == 0 ||
           outcome->recorder.least_ns >= question->history_ns;
}

/*
 * Finds the least number of buffers, at least `from`, that hold the history; a recorder with more
 * never holds less. If none suffice, *buffers is the largest number tried.
 */
static bool search_recorder(const struct etwas_advise_question *question,
                            const struct etwas_load *load, struct etwas_advice *advice,
                            uint32_t from, uint32_t *buffers)
{
    struct etwas_advise_outcome *outcome = &advice->advised;
    uint32_t too_few = from - 1;
    uint32_t enough = TRIED_UP_TO * from < MOST_BUFFERS ? TRIED_UP_TO * from : MOST_BUFFERS;
    uint32_t tried = from;

    while (!advice->is_extrapolated && enough - too_few > 1) {
        if (!try_recorder(question, load, tried, outcome)) {
            return false;
        }
        if (holds_history(question, outcome)) {
            enough = tried;
        } else {
            too_few = tried;
        }
        tried = too_few + (enough - too_few) / 2;
    }
    *buffers = advice->is_extrapolated ? from : enough;
    return true;
}

/* Starts with the buffers that the wanted bytes fill, plus the current ones. */
static bool find_recorder(const struct etwas_advise_question *question,
                          const struct etwas_load *load, struct etwas_advice *advice,
                          uint32_t *buffers)
{
    uint64_t room = etwas_model_room(&advice->advised.sizes);
    uint64_t needed = (advice->most_bytes + room - 1) / room + load->slot_count + 1;
    uint32_t from = needed < MOST_BUFFERS ? (uint32_t)needed : MOST_BUFFERS;

    if (!search_recorder(question, load, advice, from, &advice->least)) {
        return false;
    }
    *buffers = etwas_advise_with_margin(question, advice->least);
    *buffers = *buffers < advice->floor ? advice->floor : *buffers;
    return true;
}

static bool advise_recorder(const struct etwas_advise_question *question,
                            const struct etwas_load *load, struct etwas_advice *advice)
{
    struct etwas_model_sizes *sizes = &advice->advised.sizes;
    uint32_t buffers = question->asked.minimum;

    advice->is_extrapolated = question->history_ns > load->span_ns;
    advice->most_bytes = etwas_load_most_bytes(load, question->history_ns);
    if (advice->is_extrapolated && load->span_ns > 0) {
        double bytes =
            (double)advice->most_bytes * (double)question->history_ns / (double)load->span_ns;

        advice->most_bytes = bytes < 1e18 ? (uint64_t)bytes : (uint64_t)1e18;
    }
    sizes->buffer_kb = question->asked.buffer_kb != 0 ? question->asked.buffer_kb
                                                      : recorder_kb(load, advice->most_bytes);
    if (buffers == 0 && !find_recorder(question, load, advice, &buffers)) {
        return false;
    }
    advice->half.sizes.buffer_kb = sizes->buffer_kb;
    if (!try_recorder(question, load, buffers, &advice->advised) ||
        !try_recorder(question, load, buffers / 2 + buffers % 2, &advice->half)) {
        return false;
    }
    advice->is_enough = advice->is_extrapolated ? buffers >= advice->least
                                                : holds_history(question, &advice->advised);
    return true;
}

/* ---- a session with a file ------------------------------------------------------------------- */

static bool try_file(const struct etwas_advise_question *question, const struct etwas_load *load,
                     uint32_t minimum, uint32_t maximum, struct etwas_advise_outcome *outcome)
{
    outcome->sizes.minimum = minimum;
    outcome->sizes.maximum = maximum;
    return etwas_flusher_run(load, &outcome->sizes, &question->flusher, &outcome->flusher);
}

/*
 * Finds the least number of buffers, as minimum and maximum, that lose at most `loss` events;
 * MOST_BUFFERS if none do. It doubles the number first, then searches between the last two.
 */
static bool find_file(const struct etwas_advise_question *question, const struct etwas_load *load,
                      uint32_t buffer_kb, uint32_t floor, uint64_t loss, uint32_t *buffers)
{
    struct etwas_advise_outcome outcome = {.sizes.buffer_kb = buffer_kb};
    uint32_t too_few = floor - 1;
    uint32_t enough = floor;

    for (;;) {
        if (!try_file(question, load, enough, enough, &outcome)) {
            return false;
        }
        if (outcome.flusher.lost_events <= loss || enough == MOST_BUFFERS) {
            break;
        }
        too_few = enough;
        enough = enough < MOST_BUFFERS / 2 ? 2 * enough : MOST_BUFFERS;
    }
    while (enough - too_few > 1) {
        uint32_t middle = too_few + (enough - too_few) / 2;

        if (!try_file(question, load, middle, middle, &outcome)) {
            return false;
        }
        if (outcome.flusher.lost_events <= loss) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    *buffers = enough;
    return true;
}

static bool advise_file(const struct etwas_advise_question *question, const struct etwas_load *load,
                        struct etwas_advice *advice)
{
    uint32_t minimum = question->asked.minimum;
    uint32_t maximum = question->asked.maximum;
    uint32_t kb = question->asked.buffer_kb != 0 ? question->asked.buffer_kb : file_kb(load);
    const uint64_t unusual = load->sum.events / UNUSUAL_SHARE;

    advice->advised.sizes.buffer_kb = kb;
    advice->half.sizes.buffer_kb = kb;
    if (minimum == 0) {
        if (!find_file(question, load, kb, advice->floor, unusual, &minimum) ||
            !find_file(question, load, kb, advice->floor, 0, &advice->least)) {
            return false;
        }
        minimum = etwas_advise_with_margin(question, minimum);
        maximum = etwas_advise_with_margin(question, advice->least);
        maximum = maximum < minimum ? minimum : maximum;
    }
    if (!try_file(question, load, minimum, maximum, &advice->advised) ||
        !try_file(question, load, minimum / 2 + minimum % 2, maximum / 2 + maximum % 2,
                  &advice->half)) {
        return false;
    }
    advice->is_enough = advice->advised.flusher.lost_events == 0;
    return true;
}

bool etwas_advise_find(const struct etwas_advise_question *question, const struct etwas_load *load,
                       struct etwas_advice *advice)
{
    *advice = (struct etwas_advice){.floor = floor_of(question, load)};
    return question->is_recorder ? advise_recorder(question, load, advice)
                                 : advise_file(question, load, advice);
}
