/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Runs the analyses of `etwas stat`, and shows their results.
 */

#include "stat/show.h"

#include "analyse/choice.h"
#include "exit.h"
#include "show/counts.h"
#include "show/cpu.h"
#include "show/heap.h"
#include "show/hot.h"
#include "show/prove.h"

#include <stdlib.h>

static const char counted_all[] = "to count everything";

/* Separates the text of two files by an empty line. */
static void begin_text(const struct etwas_stat_request *request, uint32_t number)
{
    if (number > 1) {
        etwas_output_char(request->output, '\n');
    }
}

static void note_nothing(const struct etwas_input *input, const char *what)
{
    etwas_input_report(input, "stat", true, what);
}

/* Sets *choice to NULL if the request has no conditions. Returns false if there is no memory. */
static bool make_choice(struct etwas_stat_request *request, const char *path,
                        struct etwas_choice **choice)
{
    *choice = NULL;
    if (!etwas_where_is_given(&request->where) && !etwas_window_is_set(&request->window)) {
        return true;
    }
    *choice = calloc(1, sizeof **choice);
    if (*choice == NULL) {
        return false;
    }
    (*choice)->where = &request->where;
    (*choice)->window = &request->window;
    if (!etwas_choice_open(*choice, path, &request->paths, &request->shared)) {
        etwas_choice_close(*choice);
        free(*choice);
        *choice = NULL;
    }
    return *choice != NULL;
}

static void end_choice(struct etwas_choice *choice)
{
    if (choice != NULL) {
        etwas_choice_close(choice);
        free(choice);
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

int etwas_stat_show_counts(struct etwas_stat_request *request, const char *path, uint32_t number)
{
    struct etwas_counts_file *file = calloc(1, sizeof *file);
    int result;

    if (file == NULL) {
        return etwas_output_no_memory(counted_all);
    }
    file->counts.parts = &request->parts;
    file->counts.where = etwas_where_is_given(&request->where) ? &request->where : NULL;
    file->counts.window = request->window;
    result = etwas_counts_read_file(file, path, number, &request->paths, &request->shared);
    if (file->out_of_memory) {
        result = etwas_output_no_memory(counted_all);
    }
    if (etwas_input_was_opened(&file->input) && file->descriptions.decoder != NULL) {
        request->window.has_held |=
            etwas_counts_total(&file->counts).events > 0 || request->where.was_asked;
        if (request->where.error != NULL) {
            result = ETWAS_EXIT_FAILED; /* the error was printed */
        } else if (request->form == ETWAS_FORM_JSON) {
            etwas_counts_json(request->output, &file->counts, &file->input, result);
        } else {
            begin_text(request, number);
            etwas_counts_text(request->output, &file->counts, &file->input, result,
                              request->is_verbose);
        }
    }
    etwas_counts_close_file(file);
    free(file);
    return result;
}

/* ---- processors, functions, blocks ----------------------------------------------------------- */

static void put_cpu(const struct etwas_stat_request *request, const struct etwas_cpu *cpu,
                    const struct etwas_cpu_groups *groups, const struct etwas_input *input,
                    int result)
{
    if (request->form == ETWAS_FORM_JSON) {
        etwas_cpu_json(request->output, cpu, groups, input, result);
    } else if (request->form == ETWAS_FORM_CSV) {
        etwas_cpu_csv(request->output, groups, input);
    } else {
        etwas_cpu_text(request->output, cpu, groups, input, result);
    }
}

int etwas_stat_show_cpu(struct etwas_stat_request *request, const char *path, uint32_t number)
{
    struct etwas_cpu cpu = {.switches = 0};
    struct etwas_cpu_groups groups = {.groups = NULL};
    struct etwas_input input;
    int result = etwas_cpu_read(&cpu, &input, path, number);

    if (!etwas_input_was_opened(&input)) {
        return result;
    }
    if (cpu.schedule.out_of_memory || cpu.processes.out_of_memory ||
        !etwas_cpu_group(&cpu, &request->where, &groups)) {
        result = etwas_output_no_memory(counted_all);
    } else {
        etwas_input_warn_of_end(&input);
        if (cpu.switches == 0) {
            note_nothing(&input, "there are no context switches; 'etwas record --kernel cswitch' "
                                 "records them");
        }
        put_cpu(request, &cpu, &groups, &input, result);
    }
    etwas_cpu_ungroup(&groups);
    etwas_cpu_close(&cpu);
    return result;
}

int etwas_stat_show_hot(struct etwas_stat_request *request, const char *path, uint32_t number)
{
    struct etwas_choice *choice = NULL;
    struct etwas_hot hot;
    struct etwas_input input;
    int result;

    if (!make_choice(request, path, &choice)) {
        return etwas_output_no_memory(counted_all);
    }
    result = etwas_hot_read(&hot, &input, path, number, choice);
    end_choice(choice);
    if (request->where.error != NULL) {
        result = ETWAS_EXIT_FAILED; /* the error was printed */
    } else if (etwas_hot_is_out_of_memory(&hot)) {
        result = etwas_output_no_memory(counted_all);
    } else if (result != ETWAS_EXIT_FAILED) {
        etwas_input_warn_of_end(&input);
        if (hot.samples == 0 && hot.left_out == 0) {
            note_nothing(&input, "there are no samples; 'etwas record --kernel profile' records "
                                 "them");
        }
        if (request->form == ETWAS_FORM_JSON) {
            etwas_hot_json(request->output, &hot, request->limit, &input, result);
        } else {
            begin_text(request, number);
            etwas_hot_text(request->output, &hot, request->limit, &input);
        }
    }
    etwas_hot_clear(&hot);
    return result;
}

int etwas_stat_show_heap(struct etwas_stat_request *request, const char *path, uint32_t number)
{
    struct etwas_heap heap = {.frees = 0};
    struct etwas_input input;
    int result;

    if (!make_choice(request, path, &heap.choice)) {
        return etwas_output_no_memory(counted_all);
    }
    result = etwas_heap_read(&heap, &input, path, number);
    end_choice(heap.choice);
    if (!etwas_input_was_opened(&input) || request->where.error != NULL) {
        etwas_heap_clear(&heap);
        /* An error of --where was printed. */
        return request->where.error != NULL ? ETWAS_EXIT_FAILED : result;
    }
    if (heap.out_of_memory) {
        result = etwas_output_no_memory(counted_all);
    }
    etwas_input_warn_of_end(&input);
    if (heap.stack_count == 0 && heap.without_stack == 0 && heap.left_out == 0 &&
        !heap.out_of_memory) {
        note_nothing(&input, "there are no calls of malloc; 'heaptrace PROGRAM' records them");
    }
    if (request->form == ETWAS_FORM_JSON) {
        etwas_heap_json(request->output, &heap, request->limit, &input, result);
    } else {
        begin_text(request, number);
        etwas_heap_text(request->output, &heap, request->limit, &input);
    }
    etwas_heap_clear(&heap);
    return result;
}

/* ---- the proof ------------------------------------------------------------------------------- */

int etwas_stat_show_proof(struct etwas_stat_request *request, char *const *paths, uint32_t count)
{
    struct etwas_prove_session *sessions = NULL;
    struct etwas_prove_session *next;
    int result = etwas_prove_read(&sessions, paths, count, &request->parts);

    for (struct etwas_prove_session *session = sessions; session != NULL; session = next) {
        if (request->form == ETWAS_FORM_JSON) {
            etwas_prove_json(request->output, session);
        } else {
            etwas_prove_text(request->output, session);
        }
        next = session->next;
        etwas_prove_clear(session);
        free(session);
    }
    return result;
}
