/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADVISE_H
#define ETWAS_TOOLS_ADVISE_H

/*
 * What `etwas advise` was asked, and what it says.
 */

#include "advise/model.h"
#include "print/output.h"

struct etwas_advise_question {
    struct etwas_load_choice choice;
    int form;            /* enum etwas_form */
    bool is_recorder;    /* a flight recorder that holds `history_ns`; else a session with a file */
    uint64_t history_ns; /* 0: not asked for */
    struct etwas_flusher_model flusher;
    uint32_t margin_percent;
    uint64_t buffer_bytes;          /* as it was asked for; 0: it was not */
    struct etwas_model_sizes asked; /* 0: to be found */
    bool replay;
    double pace; /* how many times as fast as the trace was */
};

/* What buffers do with the trace, by the model. */
struct etwas_advise_outcome {
    struct etwas_model_sizes sizes;
    struct etwas_recorder_result recorder; /* one of the two */
    struct etwas_flusher_result flusher;
};

struct etwas_advice {
    struct etwas_advise_outcome advised;
    struct etwas_advise_outcome half; /* of as many buffers */
    uint32_t least;       /* buffers that do, without the margin and what a session has at least */
    uint32_t floor;       /* that a session has at least */
    bool is_enough;       /* they do what was asked; else nothing that was tried does */
    bool is_extrapolated; /* the trace is shorter than the history: by its mean rate */
    uint64_t most_bytes;  /* within any of the wanted history */
};

/* False without memory. */
bool etwas_advise_find(const struct etwas_advise_question *question, const struct etwas_load *load,
                       struct etwas_advice *advice);

/* So many, and the margin. */
uint32_t etwas_advise_with_margin(const struct etwas_advise_question *question, uint32_t buffers);

/* What was seen when the trace's events were logged again. */
struct etwas_advise_replay {
    struct etwas_model_sizes sizes; /* that the session had */
    uint32_t threads;
    uint64_t events;
    uint64_t lost_events;
    uint64_t latest_ns;   /* an event was logged so much later than it was due */
    bool has_overwritten; /* the history goes back not to the beginning */
    uint64_t held_ns;     /* in the trace's time, at the worst moment by the model */
    uint64_t held_at_ns;
    uint64_t held_at_end_ns;
    const char *failed; /* what could not be done; NULL: all could */
    uint32_t code;      /* and why */
};

void etwas_advise_text(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_load *load, const struct etwas_advice *advice,
                       const struct etwas_advise_replay *replay);
void etwas_advise_json(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_load *load, const struct etwas_advice *advice,
                       const struct etwas_advise_replay *replay);

#endif
