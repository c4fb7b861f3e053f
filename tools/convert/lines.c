/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The targets `ndjson` and `csv`: one line for each event, as dump writes it. */

#include "convert/convert.h"
#include "dump/dump.h"
#include "exit.h"

#include <stdlib.h>

static int run(struct etwas_convert *convert, int form)
{
    struct etwas_dump *dump = calloc(1, sizeof *dump);
    bool has_where = etwas_where_is_given(&convert->where);
    int result = ETWAS_EXIT_FAILED;

    if (dump == NULL) {
        convert->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    dump->command = "convert";
    dump->limit = UINT64_MAX;
    dump->form = form;
    dump->run = &convert->run;
    dump->output = convert->output;
    dump->several_files = convert->path_count > 1;
    etwas_where_move(&dump->where, &convert->where);
    dump->window = convert->window;
    dump->paths = convert->field_paths;
    dump->wants_durations = dump->where.wants_duration;
    dump->wants_process = dump->where.wants_process;
    convert->field_paths.count = 0;
    convert->output = NULL; /* dump finishes the output, and reports its errors */
    if (etwas_dump_choose_columns(dump)) {
        result = etwas_dump_run(dump, convert->paths, convert->path_count);
        convert->is_empty = (etwas_window_is_set(&dump->window) && !dump->window.has_held) ||
                            (has_where && !dump->where.has_held);
        convert->is_refused = dump->where.error != NULL;
        convert->window.has_held = true; /* dump has reported an empty window */
    }
    etwas_where_clear(&dump->where);
    free(dump);
    return result;
}

static int run_ndjson(struct etwas_convert *convert)
{
    return run(convert, ETWAS_FORM_JSON);
}

static int run_csv(struct etwas_convert *convert)
{
    return run(convert, ETWAS_FORM_CSV);
}

const struct etwas_convert_target etwas_convert_ndjson = {.name = "ndjson", .run = run_ndjson};
const struct etwas_convert_target etwas_convert_csv = {.name = "csv", .run = run_csv};
