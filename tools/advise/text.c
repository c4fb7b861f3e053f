/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Prints the answer of `etwas advise` as text. */

#include "advise/advise.h"

#include "print/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    PROCESSORS_SHOWN = 16,
    LABEL_COLUMNS = 17
};

/* Room for a phrase with two numbers. */
#define PHRASE 96

static void put_label(struct etwas_output *output, const char *label)
{
    etwas_output_format(output, "  %-15s", label);
}

static const char *time_of(char text[PHRASE], uint64_t ns)
{
    return etwas_human_ns(text, (double)ns);
}

/* Formats such as "1,234 events". */
static const char *events(char text[PHRASE], uint64_t count)
{
    char number[ETWAS_HUMAN_CHARACTERS];

    (void)snprintf(text, PHRASE, "%s event%s", etwas_human_count(number, count),
                   count == 1 ? "" : "s");
    return text;
}

static const char *rate(char text[PHRASE], double bytes_per_second)
{
    char bytes[ETWAS_HUMAN_CHARACTERS];

    (void)snprintf(text, PHRASE, "%s/s", etwas_human_bytes(bytes, bytes_per_second));
    return text;
}

static const char *memory(char text[PHRASE], const struct etwas_model_sizes *sizes,
                          uint32_t buffers)
{
    char bytes[ETWAS_HUMAN_CHARACTERS];

    (void)snprintf(text, PHRASE, "%s",
                   etwas_human_bytes(bytes, (double)buffers * sizes->buffer_kb * 1024));
    return text;
}

/* ---- the trace ------------------------------------------------------------------------------- */

static void put_trace(struct etwas_output *output, const struct etwas_load *load)
{
    char count[PHRASE];
    char span[PHRASE];
    char bytes[ETWAS_HUMAN_CHARACTERS];

    put_label(output, "trace");
    etwas_output_format(output, "%s, %s in %s, the largest record %" PRIu32 " bytes\n",
                        events(count, load->sum.events),
                        etwas_human_bytes(bytes, (double)load->sum.bytes),
                        time_of(span, load->span_ns), load->largest);
    if (load->lost_events > 0) {
        put_label(output, "LOST");
        etwas_output_format(output,
                            "%s while it was recorded: at that time there was more than it has\n",
                            events(count, load->lost_events));
    }
    if (load->overwritten_events > 0) {
        put_label(output, "overwritten");
        etwas_output_format(output, "%s by newer ones: bursts among them are not known\n",
                            events(count, load->overwritten_events));
    }
    if (load->has_classes) {
        put_label(output, "classes");
        etwas_output_text(
            output, "kept apart in the session: the sizes are for one without. With them each "
                    "class needs 3 buffers more a processor, and has its share alone\n");
    }
}

static void put_rate(struct etwas_output *output, const struct etwas_load *load,
                     const struct etwas_load_sum *sum)
{
    char mean[PHRASE];
    char burst[PHRASE];

    etwas_output_format(output, "%s, at the busiest %s",
                        rate(mean, etwas_load_rate(load, sum->bytes)),
                        rate(burst, etwas_load_burst_rate(load, sum)));
}

static void put_slot(struct etwas_output *output, const struct etwas_load *load,
                     const struct etwas_load_slot *slot, uint32_t room)
{
    double mean = etwas_load_rate(load, slot->sum.bytes);
    double burst = etwas_load_burst_rate(load, &slot->sum);
    char label[PHRASE];
    char lasts[PHRASE];
    char burst_lasts[PHRASE];

    if (load->one_slot) {
        return;
    }
    (void)snprintf(label, sizeof label, "processor %" PRIu32, slot->processor);
    put_label(output, slot->is_beside ? "no processor" : label);
    put_rate(output, load, &slot->sum);
    if (mean > 0 && burst > 0) {
        etwas_output_format(output, ": a buffer lasts %s, %s",
                            etwas_human_ns(lasts, 1e9 * room / mean),
                            etwas_human_ns(burst_lasts, 1e9 * room / burst));
    }
    etwas_output_char(output, '\n');
}

static void put_rates(struct etwas_output *output, const struct etwas_load *load,
                      const struct etwas_advice *advice)
{
    uint32_t room = etwas_model_room(&advice->advised.sizes);
    uint32_t shown = 0;
    char at[PHRASE];

    put_label(output, "rate");
    put_rate(output, load, &load->sum);
    etwas_output_format(output, " (%s after the first event)\n",
                        time_of(at, load->sum.burst_at_ns));
    for (uint32_t i = 0; i < ETWAS_LOAD_PROCESSORS && shown < PROCESSORS_SHOWN; i++) {
        if (load->slot_of[i] != 0) {
            put_slot(output, load, &load->slots[load->slot_of[i] - 1], room);
            shown++;
        }
    }
    if (load->slot_count > PROCESSORS_SHOWN) {
        put_label(output, "");
        etwas_output_format(output, "and %" PRIu32 " more processors\n",
                            load->slot_count - PROCESSORS_SHOWN);
    }
}

/* ---- the advice ------------------------------------------------------------------------------ */

static void put_task(struct etwas_output *output, const struct etwas_advise_question *question)
{
    char time[PHRASE];

    if (question->is_recorder) {
        etwas_output_format(output, "\nA flight recorder that holds the last %s:\n",
                            time_of(time, question->history_ns));
        return;
    }
    etwas_output_text(output, "\nA session with a file that loses nothing");
    etwas_output_format(output, " where the flusher comes %s late",
                        time_of(time, question->flusher.late_ns));
    etwas_output_format(output, "\nand the disk takes %s",
                        rate(time, (double)question->flusher.write_rate));
    if (question->flusher.flush_timer_ns > 0) {
        etwas_output_format(output, ", with a flush each %s",
                            time_of(time, question->flusher.flush_timer_ns));
    }
    etwas_output_text(output, ":\n");
}

static void put_reason(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_advice *advice)
{
    char bytes[ETWAS_HUMAN_CHARACTERS];

    if (question->asked.minimum != 0) {
        return;
    }
    put_label(output, "");
    if (question->is_recorder) {
        etwas_output_format(output, "the busiest such time has %s: ",
                            etwas_human_bytes(bytes, (double)advice->most_bytes));
    }
    etwas_output_format(output, "%" PRIu32 " do, and %" PRIu32 " %% more", advice->least,
                        question->margin_percent);
    if (advice->advised.sizes.minimum == advice->floor) {
        etwas_output_format(output, "; a session has %" PRIu32 " at least", advice->floor);
    } else if (question->is_recorder &&
               advice->advised.sizes.minimum > etwas_advise_with_margin(question, advice->least)) {
        etwas_output_text(output, " do not:\n");
        put_label(output, "");
        etwas_output_text(output, "so many are the next that do");
    }
    etwas_output_char(output, '\n');
}

static void put_sizes(struct etwas_output *output, const struct etwas_advise_question *question,
                      const struct etwas_advice *advice)
{
    const struct etwas_model_sizes *sizes = &advice->advised.sizes;
    char least[PHRASE];
    char most[PHRASE];

    put_label(output, "BufferSize");
    etwas_output_format(output, "%" PRIu32 " KB\n", sizes->buffer_kb);
    put_label(output, "MinimumBuffers");
    etwas_output_format(output, "%" PRIu32 ", which are %s\n", sizes->minimum,
                        memory(least, sizes, sizes->minimum));
    put_label(output, "MaximumBuffers");
    etwas_output_format(output, "%" PRIu32, sizes->maximum);
    if (!question->is_recorder) {
        etwas_output_format(output, ", which are %s", memory(most, sizes, sizes->maximum));
    }
    etwas_output_char(output, '\n');
    put_reason(output, question, advice);
}

/* Prints what a flight recorder holds. */
static void put_history(struct etwas_output *output, const struct etwas_advise_question *question,
                        const struct etwas_load *load, const struct etwas_advise_outcome *outcome)
{
    const struct etwas_recorder_result *result = &outcome->recorder;
    char held[PHRASE];
    char at[PHRASE];
    char missing[ETWAS_HUMAN_CHARACTERS];
    char wanted[PHRASE];

    if (result->overwritten_buffers == 0) {
        etwas_output_format(output, "the whole trace, %s\n", time_of(held, load->span_ns));
        return;
    }
    etwas_output_format(output, "%s at the worst moment, %s after the first event",
                        time_of(held, result->least_ns), time_of(at, result->least_at_ns));
    if (result->least_ns >= question->history_ns) {
        etwas_output_char(output, '\n');
        return;
    }
    etwas_output_format(output, ";\n%*sless than wanted for %s in all", LABEL_COLUMNS, "",
                        time_of(held, result->short_ns));
    if (result->missing_events > 0) {
        etwas_output_format(output,
                            "; %s after the first event\n%*s%s of the %s wanted then were gone",
                            time_of(at, result->missing_at_ns), LABEL_COLUMNS, "",
                            etwas_human_count(missing, result->missing_events),
                            events(wanted, result->wanted_events));
    }
    etwas_output_char(output, '\n');
}

/* Prints what a session with a file loses. */
static void put_loss(struct etwas_output *output, const struct etwas_advise_outcome *outcome)
{
    const struct etwas_flusher_result *result = &outcome->flusher;
    char lost[PHRASE];
    char at[PHRASE];

    if (result->lost_events == 0) {
        etwas_output_format(output, "nothing; at most %" PRIu32 " buffer%s in use\n",
                            result->most_in_use, result->most_in_use == 1 ? " was" : "s were");
        return;
    }
    etwas_output_format(output, "%s, the first %s after the first event\n",
                        events(lost, result->lost_events), time_of(at, result->first_lost_at_ns));
}

static void put_outcomes(struct etwas_output *output, const struct etwas_advise_question *question,
                         const struct etwas_load *load, const struct etwas_advice *advice)
{
    const struct etwas_model_sizes *half = &advice->half.sizes;
    char label[PHRASE];

    put_label(output, question->is_recorder ? "holds" : "loses");
    if (question->is_recorder) {
        put_history(output, question, load, &advice->advised);
    } else {
        put_loss(output, &advice->advised);
    }
    (void)snprintf(label, sizeof label, "half, %" PRIu32, half->maximum);
    put_label(output, label);
    etwas_output_text(output, question->is_recorder ? "hold " : "lose ");
    if (question->is_recorder) {
        put_history(output, question, load, &advice->half);
    } else {
        put_loss(output, &advice->half);
    }
}

static void put_doubts(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_advice *advice)
{
    if (advice->is_extrapolated) {
        put_label(output, "GUESSED");
        etwas_output_text(output, "the trace is shorter: its mean rate is taken to go on\n");
    } else if (!advice->is_enough) {
        put_label(output, question->asked.minimum != 0 ? "TOO FEW" : "NOT ENOUGH");
        etwas_output_text(output, question->asked.minimum != 0 ? "they do not do what is wanted\n"
                                  : question->is_recorder
                                      ? "no number that was tried always does\n"
                                      : "the disk is too slow, or records are too large\n");
    }
}

static void put_lines(struct etwas_output *output, const struct etwas_advise_question *question,
                      const struct etwas_advice *advice)
{
    const struct etwas_model_sizes *sizes = &advice->advised.sizes;

    etwas_output_format(
        output,
        "\n  etwas_session_options options = {%s.buffer_size_kb = %" PRIu32
        ",\n      .minimum_buffers = %" PRIu32 ", .maximum_buffers = %" PRIu32 "};\n",
        question->is_recorder ? "\n      .log_file_mode = EVENT_TRACE_BUFFERING_MODE, " : "",
        sizes->buffer_kb, sizes->minimum, sizes->maximum);
    etwas_output_format(output,
                        "  properties->BufferSize = %" PRIu32
                        "; properties->MinimumBuffers = %" PRIu32
                        ";\n  properties->MaximumBuffers = %" PRIu32 ";\n",
                        sizes->buffer_kb, sizes->minimum, sizes->maximum);
}

/* ---- the replay ------------------------------------------------------------------------------ */

/* Prints the buffers of the session. */
static void put_session(struct etwas_output *output, const struct etwas_model_sizes *had,
                        const struct etwas_model_sizes *advised)
{
    etwas_output_format(output, "in a session with %" PRIu32, had->minimum);
    if (had->maximum != had->minimum) {
        etwas_output_format(output, " to %" PRIu32, had->maximum);
    }
    etwas_output_format(output, " buffers of %" PRIu32 " KB:\n", had->buffer_kb);
    if (had->minimum != advised->minimum || had->maximum != advised->maximum ||
        had->buffer_kb != advised->buffer_kb) {
        put_label(output, "OTHER SIZES");
        etwas_output_text(output, "than those above, which this machine's sessions cannot have\n");
    }
}

static void put_replay(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_load *load, const struct etwas_model_sizes *advised,
                       const struct etwas_advise_replay *replay)
{
    bool is_own_pace = question->pace >= 1 && question->pace <= 1;
    char number[ETWAS_HUMAN_CHARACTERS];
    char phrase[PHRASE];
    char at[PHRASE];

    if (replay->failed != NULL) {
        return; /* was reported already */
    }
    (void)snprintf(phrase, sizeof phrase, "%.4g times as fast", question->pace);
    etwas_output_format(
        output, "\nReplayed %s by %" PRIu32 " thread%s for %" PRIu32 " processor%s,\n",
        is_own_pace ? "at its own pace" : phrase, replay->threads, replay->threads == 1 ? "" : "s",
        load->slot_count, load->slot_count == 1 ? "" : "s");
    put_session(output, &replay->sizes, advised);
    put_label(output, "lost");
    etwas_output_format(output, "%s of %s\n", etwas_human_count(number, replay->lost_events),
                        events(phrase, replay->events));
    if (question->is_recorder) {
        put_label(output, "held");
        if (!replay->has_overwritten) {
            etwas_output_text(output, "the whole trace\n");
        } else {
            etwas_output_format(output, "%s, %s after the first event",
                                time_of(phrase, replay->held_ns), time_of(at, replay->held_at_ns));
            etwas_output_format(output, "; at the end %s\n",
                                time_of(phrase, replay->held_at_end_ns));
        }
    }
    put_label(output, "latest event");
    etwas_output_format(output, "%s after it was due\n", time_of(phrase, replay->latest_ns));
}

void etwas_advise_text(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_load *load, const struct etwas_advice *advice,
                       const struct etwas_advise_replay *replay)
{
    put_trace(output, load);
    put_rates(output, load, advice);
    put_task(output, question);
    put_sizes(output, question, advice);
    put_outcomes(output, question, load, advice);
    put_doubts(output, question, advice);
    put_lines(output, question, advice);
    if (replay != NULL) {
        put_replay(output, question, load, &advice->advised.sizes, replay);
    }
}
