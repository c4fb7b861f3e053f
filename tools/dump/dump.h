/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DUMP_H
#define ETWAS_TOOLS_DUMP_H

/*
 * What the forms of `etwas dump` share: one function a form, called for each event.
 */

#include "event.h"
#include "input.h"

/* By which clock an event's time is shown. */
enum etwas_dump_clock {
    ETWAS_DUMP_TIME,   /* ProcessTrace's: from the session's start, by QPC or the session's clock */
    ETWAS_DUMP_RAW,    /* as recorded */
    ETWAS_DUMP_QPC,    /* with its error */
    ETWAS_DUMP_SYSTEM, /* likewise: the wall clock as it was */
};

struct etwas_dump {
    bool json;
    enum etwas_dump_clock clock;
    bool several_files; /* each event then says which file it is from */
    uint64_t limit;     /* events to show */
    uint64_t shown;
    struct etwas_input_run *run;
    struct etwas_output *output;
};

/* The event's time by dump->clock, QPC or SYSTEM. */
etwas_clock_time etwas_dump_time(const struct etwas_dump *dump, const struct etwas_input *input,
                                 const EVENT_RECORD *record);

/* A line of columns; etwas_dump_text_title writes their names. */
void etwas_dump_text(struct etwas_dump *dump, const struct etwas_input *input,
                     const EVENT_RECORD *record);
void etwas_dump_text_title(struct etwas_dump *dump);

/* A line with one JSON object. Its keys are documented in `etwas dump --help`. */
void etwas_dump_json(struct etwas_dump *dump, const struct etwas_input *input,
                     const EVENT_RECORD *record);

#endif
