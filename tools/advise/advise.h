/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADVISE_H
#define ETWAS_TOOLS_ADVISE_H

/* The question and the answer of `etwas advise`. */

#include "advise/model.h"
#include "print/output.h"

struct etwas_advise_question {
    struct etwas_load_choice choice;
    int form;            /* enum etwas_form */
    bool is_recorder;    /* holds `history_ns`; else a session with a file */
    uint64_t history_ns; /* 0: not given */
    struct etwas_flusher_model flusher;
    uint32_t margin_percent;
    uint64_t buffer_bytes;          /* the size that was requested; 0: none */
    struct etwas_model_sizes asked; /* 0: to be found */
    bool replay;
    double pace; /* how many times as fast as in the trace */
};

/* The model's result for the trace with these buffers. */
struct etwas_advise_outcome {
    struct etwas_model_sizes sizes;
    struct etwas_recorder_result recorder; /* one of the two is set */
    struct etwas_flusher_result flusher;
};

struct etwas_advice {
    struct etwas_advise_outcome advised;
    struct etwas_advise_outcome half; /* with half of the buffers */
    uint32_t least;       /* sufficient buffers, without the margin and the minimum of a session */
    uint32_t floor;       /* minimum of a session */
    bool is_enough;       /* the buffers suffice; else nothing that was tried does */
    bool is_extrapolated; /* the trace is shorter than the history, so its mean rate is used */
    uint64_t most_bytes;  /* in any interval of the wanted history's length */
};

/* Returns false without memory. */
bool etwas_advise_find(const struct etwas_advise_question *question, const struct etwas_load *load,
                       struct etwas_advice *advice);

/* Returns a number of buffers plus the margin. */
uint32_t etwas_advise_with_margin(const struct etwas_advise_question *question, uint32_t buffers);

/* The measurements of logging the trace's events again. */
struct etwas_advise_replay {
    struct etwas_model_sizes sizes; /* the session's sizes */
    uint32_t threads;
    uint64_t events;
    uint64_t lost_events;
    uint64_t latest_ns;   /* the longest delay of an event after it was due */
    bool has_overwritten; /* the history does not reach back to the beginning */
    uint64_t held_ns;     /* in the trace's time, at the worst moment according to the model */
    uint64_t held_at_ns;
    uint64_t held_at_end_ns;
    const char *failed; /* what failed; NULL: nothing */
    uint32_t code;      /* the error code */
};

void etwas_advise_text(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_load *load, const struct etwas_advice *advice,
                       const struct etwas_advise_replay *replay);
void etwas_advise_json(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_load *load, const struct etwas_advice *advice,
                       const struct etwas_advise_replay *replay);

#endif
