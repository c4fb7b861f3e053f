/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Two analyses at once, each of traces of its own in a thread of its own: they say what each says
 * alone. ThreadSanitizer sees what they have in common.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/guides.h"
#include "convert/convert.h"
#include "diff/diff.h"
#include "dump/dump.h"
#include "report/report.h"
#include "show/spans.h"
#include "show/why.h"
#include "stat/show.h"
#include "where/option.h"

/* In place of commands.c, which needs all of them. */
const struct etwas_command *const etwas_commands[] = {NULL};
const struct etwas_guide etwas_guides[] = {{NULL, NULL, NULL}};

enum {
    SIDES = 2,
    FILES = 4,
    ROUNDS = 3,
};

/* Golden files (golden/README.md), which the build has unpacked. */
static char *paths[SIDES][FILES] = {
    {GOLDEN "/finished.etl", GOLDEN "/counters.etl", GOLDEN "/kernel.etl", GOLDEN "/crashed.etl"},
    {GOLDEN "/classes.etl", GOLDEN "/part_1.etl", GOLDEN "/part_2.etl", GOLDEN "/stacks.etl"},
};

static void *zeroes(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);

    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* ---- the analyses ---------------------------------------------------------------------------- */

typedef void analysis(struct etwas_output *output, char *const *files);

static void dump(struct etwas_output *output, char *const *files, int form, const char *where,
                 const char *columns)
{
    struct etwas_dump *dump = zeroes(1, sizeof *dump);
    struct etwas_input_run run = {.inputs = zeroes(ETWAS_INPUT_FILES, sizeof *run.inputs)};

    dump->command = "dump";
    dump->limit = UINT64_MAX;
    dump->form = form;
    dump->run = &run;
    dump->output = output;
    dump->several_files = true;
    dump->columns_text = columns;
    if (where != NULL) {
        if (!etwas_where_parse(&dump->where, where, &dump->paths)) {
            abort();
        }
        dump->wants_durations = dump->where.wants_duration;
    }
    if (!etwas_dump_choose_columns(dump)) {
        abort();
    }
    etwas_output_format(output, "%d\n", etwas_dump_run(dump, files, FILES));
    free(run.inputs);
    free(dump);
}

static void dump_text(struct etwas_output *output, char *const *files)
{
    dump(output, files, ETWAS_FORM_TEXT, NULL, NULL);
}

static void dump_json(struct etwas_output *output, char *const *files)
{
    dump(output, files, ETWAS_FORM_JSON, "text contains \"e\" || event =~ \"a\" || duration > 1ns",
         NULL);
}

static void dump_csv(struct etwas_output *output, char *const *files)
{
    dump(output, files, ETWAS_FORM_CSV, NULL,
         "time,event,event_class,duration,fields,marks,text,call_stack,class");
}

static void show(struct etwas_output *output, char *const *files, const char *where,
                 int (*show_file)(struct etwas_stat_request *request, const char *path,
                                  uint32_t number))
{
    struct etwas_stat_request *request = zeroes(1, sizeof *request);

    request->output = output;
    if (where != NULL && !etwas_where_parse(&request->where, where, &request->paths)) {
        abort();
    }
    etwas_shared_descriptions_open(&request->shared, files, FILES);
    if (!etwas_parts_read(&request->parts, files, FILES)) {
        abort();
    }
    for (uint32_t i = 0; i < 2 * FILES; i++) {
        request->form = i >= FILES ? ETWAS_FORM_JSON : ETWAS_FORM_TEXT;
        etwas_output_format(output, "%d\n", show_file(request, files[i % FILES], i % FILES + 1));
    }
    etwas_shared_descriptions_close(&request->shared);
    etwas_parts_free(&request->parts);
    etwas_where_clear(&request->where);
    free(request);
}

static void stat_counts(struct etwas_output *output, char *const *files)
{
    show(output, files, NULL, etwas_stat_show_counts);
}

static void stat_where(struct etwas_output *output, char *const *files)
{
    show(output, files, "event =~ \"a\" && level < 255", etwas_stat_show_counts);
}

static void stat_cpu(struct etwas_output *output, char *const *files)
{
    show(output, files, NULL, etwas_stat_show_cpu);
}

static void stat_hot(struct etwas_output *output, char *const *files)
{
    show(output, files, NULL, etwas_stat_show_hot);
}

static void stat_heap(struct etwas_output *output, char *const *files)
{
    show(output, files, NULL, etwas_stat_show_heap);
}

static void stat_proof(struct etwas_output *output, char *const *files)
{
    struct etwas_stat_request *request = zeroes(1, sizeof *request);

    request->output = output;
    request->form = ETWAS_FORM_JSON;
    if (!etwas_parts_read(&request->parts, files, FILES)) {
        abort();
    }
    etwas_output_format(output, "%d\n", etwas_stat_show_proof(request, files, FILES));
    etwas_parts_free(&request->parts);
    free(request);
}

static void spans(struct etwas_output *output, char *const *files)
{
    struct etwas_spans_request *request = zeroes(1, sizeof *request);
    int result;

    request->run.inputs = zeroes(ETWAS_INPUT_FILES, sizeof *request->run.inputs);
    request->most_nodes = ETWAS_SPANS_NODES;
    request->slowest = 3;
    result = etwas_spans_read(request, files, FILES);
    etwas_spans_text(output, request);
    etwas_spans_json(output, request, result);
    etwas_spans_csv(output, request);
    etwas_spans_free_room(request);
    free(request->run.inputs);
    free(request);
}

static void why(struct etwas_output *output, char *const *files)
{
    struct etwas_why *why = zeroes(1, sizeof *why);
    int result;

    why->run.inputs = zeroes(ETWAS_INPUT_FILES, sizeof *why->run.inputs);
    why->slowest = 3;
    result = etwas_why_read(why, files, FILES);
    etwas_why_text(output, why);
    etwas_why_json(output, why, result);
    etwas_why_free(why);
    free(why->run.inputs);
    free(why);
}

/*
 * Compares the traces with themselves: fewer files than these are compared by blocks, for which
 * they are too short.
 */
static void diff(struct etwas_output *output, char *const *files)
{
    struct etwas_diff diff = {
        .confidence = 0.95, .effect = 0.05, .paths = {files, files}, .counts = {FILES, FILES}};
    int result = etwas_diff_read(&diff);

    if (!etwas_diff_compare(&diff)) {
        abort();
    }
    etwas_diff_text(output, &diff);
    etwas_diff_json(output, &diff, result);
    etwas_diff_free(&diff);
}

static void report(struct etwas_output *output, char *const *files)
{
    struct etwas_report *report = zeroes(1, sizeof *report);

    report->spans.run.inputs = zeroes(ETWAS_INPUT_FILES, sizeof *report->spans.run.inputs);
    report->spans.slowest = ETWAS_REPORT_TREES;
    report->spans.most_nodes = ETWAS_REPORT_NODES;
    etwas_output_format(output, "%d\n", etwas_report_read(report, files, FILES));
    etwas_report_json(output, report);
    free(report->spans.run.inputs);
    etwas_report_free(report);
    free(report);
}

static void convert(struct etwas_output *output, char *const *files,
                    const struct etwas_convert_target *target)
{
    struct etwas_convert *convert = zeroes(1, sizeof *convert);

    convert->target = target;
    convert->output = output;
    convert->paths = files;
    convert->path_count = FILES;
    convert->run.inputs = zeroes(ETWAS_INPUT_FILES, sizeof *convert->run.inputs);
    etwas_shared_descriptions_open(&convert->descriptions.shared, files, FILES);
    etwas_output_format(output, "%d\n", target->run(convert));
    etwas_convert_free(convert);
    free(convert->run.inputs);
    free(convert);
}

static void convert_otlp(struct etwas_output *output, char *const *files)
{
    convert(output, files, &etwas_convert_otlp);
}

static void convert_chrome(struct etwas_output *output, char *const *files)
{
    convert(output, files, &etwas_convert_chrome);
}

static void convert_folded(struct etwas_output *output, char *const *files)
{
    convert(output, files, &etwas_convert_folded);
}

static void convert_pprof(struct etwas_output *output, char *const *files)
{
    convert(output, files, &etwas_convert_pprof);
}

static void convert_speedscope(struct etwas_output *output, char *const *files)
{
    convert(output, files, &etwas_convert_speedscope);
}

/* ---- at once --------------------------------------------------------------------------------- */

static const struct named {
    const char *name;
    analysis *run;
} analyses[] = {
    {"dump", dump_text},
    {"dump --json --where", dump_json},
    {"dump --csv --columns", dump_csv},
    {"stat", stat_counts},
    {"stat --where", stat_where},
    {"stat --cpu-time", stat_cpu},
    {"stat --hot", stat_hot},
    {"stat --heap", stat_heap},
    {"stat --prove", stat_proof},
    {"spans", spans},
    {"why", why},
    {"diff", diff},
    {"report", report},
    {"convert --to otlp", convert_otlp},
    {"convert --to chrome", convert_chrome},
    {"convert --to folded", convert_folded},
    {"convert --to pprof", convert_pprof},
    {"convert --to speedscope", convert_speedscope},
};

/* What a thread does. */
struct side {
    pthread_barrier_t *both;
    analysis *run;
    char *const *files;
    struct etwas_output alone;
    struct etwas_output again;
    bool is_same;
};

static void *run_side(void *argument)
{
    struct side *side = argument;

    (void)pthread_barrier_wait(side->both);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        side->run(etwas_output_anew(&side->again), side->files);
        side->is_same &= side->again.used_bytes == side->alone.used_bytes &&
                         memcmp(side->again.bytes, side->alone.bytes, side->alone.used_bytes) == 0;
    }
    return NULL;
}

/* Both sides of two analyses, which may be the same. */
static void run_both(const struct named *first, const struct named *second)
{
    pthread_barrier_t both;
    pthread_t thread;
    struct side sides[SIDES] = {
        {.both = &both, .run = first->run, .files = paths[0], .is_same = true},
        {.both = &both, .run = second->run, .files = paths[1], .is_same = true},
    };

    for (uint32_t i = 0; i < SIDES; i++) {
        sides[i].run(etwas_output_anew(&sides[i].alone), sides[i].files);
        assert_int_not_equal(sides[i].alone.used_bytes, 0);
    }
    assert_int_equal(pthread_barrier_init(&both, NULL, SIDES), 0);
    assert_int_equal(pthread_create(&thread, NULL, run_side, &sides[1]), 0);
    run_side(&sides[0]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)pthread_barrier_destroy(&both);
    for (uint32_t i = 0; i < SIDES; i++) {
        if (!sides[i].is_same) {
            fail_msg("beside another one says something else than alone: %s",
                     i == 0 ? first->name : second->name);
        }
        etwas_output_free(&sides[i].alone);
        etwas_output_free(&sides[i].again);
    }
}

static void an_analysis_of_two_traces_at_once_says_what_it_says_of_each(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof analyses / sizeof *analyses; i++) {
        run_both(&analyses[i], &analyses[i]);
    }
}

static void different_analyses_at_once_say_what_they_say_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < sizeof analyses / sizeof *analyses; i++) {
        run_both(&analyses[i], &analyses[i + 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_analysis_of_two_traces_at_once_says_what_it_says_of_each),
        cmocka_unit_test(different_analyses_at_once_say_what_they_say_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
