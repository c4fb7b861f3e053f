/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADVISE_MODEL_H
#define ETWAS_TOOLS_ADVISE_MODEL_H

/*
 * Models of what a session's buffers would have done with a load, as the library does it: for a
 * flight recorder (recorder.c) and for a session with a file (flusher.c).
 */

#include "advise/load.h"

enum {
    ETWAS_MODEL_BUFFER_HEADER_BYTES = 72,
};

#define ETWAS_MODEL_NO_BUFFER UINT32_MAX

struct etwas_model_sizes {
    uint32_t buffer_kb;
    uint32_t minimum;
    uint32_t maximum; /* for a flight recorder the same */
};

/* Returns the bytes of a buffer that are available for records. */
static inline uint32_t etwas_model_room(const struct etwas_model_sizes *sizes)
{
    return sizes->buffer_kb * 1024 - ETWAS_MODEL_BUFFER_HEADER_BYTES;
}

/* ---- a flight recorder ----------------------------------------------------------------------- */

struct etwas_recorder_result {
    uint64_t overwritten_buffers; /* 0: it holds the whole trace */
    uint64_t overwritten_events;
    /*
     * The shortest history held since the first buffer was overwritten: on every processor, without
     * a gap.
     */
    uint64_t least_ns;
    uint64_t least_at_ns;
    uint64_t end_ns;         /* the same at the end of the trace */
    uint64_t short_ns;       /* how long it was shorter than wanted */
    uint64_t missing_at_ns;  /* the time at which most of the wanted history was missing: */
    uint64_t wanted_events;  /* the wanted events ... */
    uint64_t missing_events; /* ... and those missing, or behind a gap */
};

/* Returns false without memory. */
bool etwas_recorder_run(const struct etwas_load *load, const struct etwas_model_sizes *sizes,
                        uint64_t history_ns, struct etwas_recorder_result *result);

/* ---- a session with a file ------------------------------------------------------------------- */

struct etwas_flusher_model {
    uint64_t late_ns;        /* the flusher's delay after it was woken */
    uint64_t write_rate;     /* rate of the disk, in bytes per second */
    uint64_t flush_timer_ns; /* 0: no timed flushes */
};

struct etwas_flusher_result {
    uint64_t lost_events;
    uint64_t first_lost_at_ns;
    uint32_t most_in_use; /* most buffers in use at once */
    uint64_t passes;
};

/* Returns false without memory. */
bool etwas_flusher_run(const struct etwas_load *load, const struct etwas_model_sizes *sizes,
                       const struct etwas_flusher_model *model,
                       struct etwas_flusher_result *result);

#endif
