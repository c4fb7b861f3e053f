/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Prints, when recording has ended, which providers of --enable recorded something and which did
 * not. Only then it is known which providers a pattern stands for.
 */

#include "record/record.h"

#include "analyse/counts/counts.h"
#include "print/human.h"
#include "print/output.h"
#include "print/text.h"

#include <etwas/etwas.h>
#include <etwas/shared.h>
#include <etwas/winmeta.h>

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SHOWN = 20, /* providers in a line */
    MOST_REGISTERED = 64,
};

/* A provider in the trace. */
struct recorded {
    etwas_guid guid; /* for a classic provider, one of its classes */
    char name[ETWAS_STEER_PROVIDER_BYTES];
    uint64_t events;
    bool is_named; /* an --enable names it */
};

struct summary {
    struct recorded *providers;
    uint32_t count;
    bool is_of_one;  /* --enable was given once, so all events are of that one */
    bool was_joined; /* a process registered an enabled provider */
    const struct etwas_steer_filters *filters;
};

/* ---- the trace's contents -------------------------------------------------------------------- */

/* A provider that the trace does not name may still be registered. */
static void name_of(const struct etwas_counts_kind *kind, char name[ETWAS_STEER_PROVIDER_BYTES])
{
    const char *known =
        kind->schema_texts != NULL ? kind->schema_texts->schema->provider : kind->provider_name;

    name[0] = '\0';
    strncat(name, known, ETWAS_STEER_PROVIDER_BYTES - 1);
    if (name[0] == '\0') {
        (void)etwas_steer_provider_name(&kind->key.guid, name);
    }
}

static void add_kind(struct summary *summary, const struct etwas_counts_kind *kind)
{
    struct recorded *end = summary->providers + summary->count;
    struct recorded one = {.guid = kind->key.guid};
    struct recorded *known = summary->providers;

    name_of(kind, one.name);
    while (known < end &&
           (one.name[0] != '\0' ? strcmp(known->name, one.name) != 0
                                : memcmp(&known->guid, &one.guid, sizeof one.guid) != 0)) {
        known++;
    }
    if (known == end) {
        *known = one;
        summary->count++;
    }
    known->events += kind->count.events;
}

static int compare(const void *left, const void *right)
{
    const struct recorded *a = left;
    const struct recorded *b = right;

    return a->events != b->events ? (a->events < b->events ? 1 : -1) : strcmp(a->name, b->name);
}

/*
 * Lists the providers in the trace, those with most events first. Returns false if the trace cannot
 * be read.
 */
static bool read_trace(struct summary *summary, const char *path)
{
    static struct etwas_parts parts;
    static struct etwas_field_paths paths;
    static struct etwas_shared_descriptions shared;
    struct etwas_counts_file *file = calloc(1, sizeof *file);
    struct etwas_counts_kind **kinds = NULL;

    if (file == NULL) {
        return false;
    }
    file->counts.parts = &parts;
    (void)etwas_counts_read_file(file, path, 1, &paths, &shared);
    if (etwas_input_was_opened(&file->input) && file->descriptions.decoder != NULL) {
        kinds = etwas_counts_sorted_kinds(&file->counts);
        summary->providers = calloc(file->counts.kind_count + 1, sizeof *summary->providers);
    }
    for (uint32_t i = 0; kinds != NULL && summary->providers != NULL && i < file->counts.kind_count;
         i++) {
        add_kind(summary, kinds[i]);
    }
    if (summary->count != 0) {
        qsort(summary->providers, summary->count, sizeof *summary->providers, compare);
    }
    free(kinds);
    etwas_counts_close_file(file);
    free(file);
    return summary->providers != NULL;
}

/* ---- enabled providers ----------------------------------------------------------------------- */

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

static bool is_of(const struct summary *summary, const struct recorded *recorded, const char *text)
{
    etwas_guid guid;

    return summary->is_of_one ||
           (recorded->name[0] != '\0' && etwas_provider_name_matches(text, recorded->name)) ||
           (etwas_steer_guid(text, &guid) && memcmp(&guid, &recorded->guid, sizeof guid) == 0);
}

static void put_recorded(struct etwas_output *output, const struct recorded *recorded,
                         uint32_t number)
{
    char count[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, number == 0 ? "" : ", ");
    if (number == MOST_SHOWN) {
        etwas_output_text(output, "and more");
    } else if (number < MOST_SHOWN) {
        if (recorded->name[0] != '\0') {
            etwas_text_plain(output, recorded->name);
        } else {
            etwas_text_guid(output, &recorded->guid);
        }
        etwas_output_format(output, " (%s event%s)", etwas_human_count(count, recorded->events),
                            recorded->events == 1 ? "" : "s");
    }
}

static bool has_recorded(const struct summary *summary, const char *name)
{
    for (uint32_t i = 0; i < summary->count; i++) {
        if (strcmp(summary->providers[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Prints providers that are still registered and recorded nothing. Returns `shown` plus their
 * number.
 */
static uint32_t put_idle(struct etwas_output *output, const struct summary *summary,
                         const char *text, uint32_t shown)
{
    struct recorded idle = {.events = 0};
    etwas_guid guids[MOST_REGISTERED];
    uint32_t count = 0;

    (void)etwas_provider_guids(text, guids, MOST_REGISTERED, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (etwas_steer_provider_name(&guids[i], idle.name) && !has_recorded(summary, idle.name)) {
            put_recorded(output, &idle, shown++);
        }
    }
    return shown;
}

/* Prints which events were requested, unless all were. */
static void put_wanted(struct etwas_output *output, const struct etwas_steer_provider *provider)
{
    if (provider->level != 0 && provider->level != ETWAS_STEER_ANY_LEVEL) {
        etwas_output_format(output, " of level %u or less", provider->level);
        if (provider->level < WINEVENT_LEVEL_VERBOSE) {
            etwas_output_text(output, " (without TraceLoggingLevel an event is of level 5)");
        }
    }
    if (provider->keywords != 0 && provider->keywords != UINT64_MAX) {
        etwas_output_format(output, " with keywords of 0x%llx",
                            (unsigned long long)provider->keywords);
    }
}

/* Prints which other options may be the reason. */
static void put_chosen(struct etwas_output *output, const struct etwas_steer_filters *filters)
{
    const char *const given[] = {
        filters->process_count != 0 ? "--pid" : NULL,
        filters->program_bytes != 0 ? "--process" : NULL,
        etwas_steer_filters_choose_events(filters) ? "--event" : NULL,
    };
    const char *lead = "; ";

    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (given[i] != NULL) {
            etwas_output_format(output, "%s%s", lead, given[i]);
            lead = ", ";
        }
    }
    if (etwas_steer_filters_are_any(filters)) {
        etwas_output_text(output, " may have excluded it");
    }
}

/*
 * Prints why nothing was recorded, as far as it is known. `it`: a provider, or those of a pattern;
 * `meant`: a similar name, or NULL.
 */
static void put_reasons(struct etwas_output *output, const struct summary *summary,
                        const struct etwas_steer_provider *provider, const char *it,
                        const char *meant)
{
    if (!summary->was_joined && meant != NULL) {
        etwas_output_format(output, ": no process registered %s", it);
    } else if (!summary->was_joined) {
        etwas_output_format(output, ": no process registered %s; ETWAS_SHARED=0 hides one", it);
    } else if (summary->is_of_one) {
        etwas_output_format(output, ": a process registered %s and logged nothing", it);
        put_wanted(output, provider);
    } else {
        etwas_output_format(output, ": no process registered %s, or none logged anything", it);
        put_wanted(output, provider);
    }
    put_chosen(output, summary->filters);
    if (meant != NULL) {
        etwas_output_text(output, ". Did you mean ");
        etwas_text_plain(output, meant);
        etwas_output_char(output, '?');
    }
    etwas_output_char(output, '\n');
}

static void put_line(struct etwas_output *output, const struct summary *summary, const char *text,
                     const struct etwas_steer_provider *provider)
{
    uint32_t shown = 0;

    etwas_output_text(output, "  '");
    etwas_text_plain(output, text);
    etwas_output_text(output, "' enabled ");
    for (uint32_t i = 0; i < summary->count; i++) {
        if (is_of(summary, &summary->providers[i], text)) {
            put_recorded(output, &summary->providers[i], shown++);
        }
    }
    shown = put_idle(output, summary, text, shown);
    if (shown != 0) {
        etwas_output_char(output, '\n');
    } else {
        etwas_output_text(output, "no provider that recorded something");
        put_reasons(output, summary, provider, "a provider of such a name", NULL);
    }
}

static bool mark(struct summary *summary, const char *text)
{
    bool any = false;

    for (uint32_t i = 0; i < summary->count; i++) {
        bool is_one = is_of(summary, &summary->providers[i], text);

        any = any || is_one;
        summary->providers[i].is_named = summary->providers[i].is_named || is_one;
    }
    return any;
}

/* Returns whether the trace has a provider that is not known to be named by an --enable. */
static bool has_others(const struct summary *summary)
{
    bool any = false;

    for (uint32_t i = 0; i < summary->count; i++) {
        any = any || !summary->providers[i].is_named;
    }
    return any;
}

static void put_others(struct etwas_output *output, const struct summary *summary)
{
    uint32_t shown = 0;

    etwas_output_text(output, "  of providers whose names the trace does not have: ");
    for (uint32_t i = 0; i < summary->count; i++) {
        if (!summary->providers[i].is_named) {
            put_recorded(output, &summary->providers[i], shown++);
        }
    }
    etwas_output_char(output, '\n');
}

static void put_nothing(struct etwas_output *output, const struct summary *summary,
                        const char *text, const struct etwas_steer_provider *provider,
                        const char *meant)
{
    etwas_output_text(output, "  '");
    etwas_text_plain(output, text);
    etwas_output_text(output, "' recorded nothing");
    put_reasons(output, summary, provider, "it", meant);
}

static void put_summary(const struct etwas_record_request *request, struct summary *summary)
{
    struct etwas_output *errors = etwas_standard_error();
    bool recorded[ETWAS_RECORD_PROVIDERS];
    bool any_pattern = false;

    etwas_record_look_near(request);
    for (uint32_t i = 0; i < request->provider_count; i++) {
        char text[ETWAS_STEER_NAME_BYTES];

        etwas_steer_provider_text(&request->providers[i], text);
        recorded[i] = mark(summary, text);
    }
    for (uint32_t i = 0; i < request->provider_count; i++) {
        char text[ETWAS_STEER_NAME_BYTES];

        etwas_steer_provider_text(&request->providers[i], text);
        any_pattern = any_pattern || is_pattern(text);
        if (is_pattern(text)) {
            put_line(errors, summary, text, &request->providers[i]);
        } else if (!recorded[i] && !has_others(summary)) {
            put_nothing(errors, summary, text, &request->providers[i],
                        etwas_record_near(request, i));
        }
    }
    if (any_pattern && has_others(summary)) {
        put_others(errors, summary);
    }
    etwas_output_flush(errors);
}

void etwas_record_summarize(const struct etwas_record_request *request, const char *path,
                            const etwas_session_counts *counts)
{
    struct summary summary = {.is_of_one = request->provider_count == 1,
                              .was_joined = counts->was_joined != 0 ||
                                            counts->unattached_total != 0 || counts->lost != 0,
                              .filters = &request->filters};
    bool wants_trace = request->provider_count > 1;
    char text[ETWAS_STEER_NAME_BYTES];

    for (uint32_t i = 0; i < request->provider_count; i++) {
        etwas_steer_provider_text(&request->providers[i], text);
        wants_trace = wants_trace || is_pattern(text);
    }
    /* If only one provider was named, all events are of that one. */
    if (counts->recorded + counts->lost == 0 || (wants_trace && read_trace(&summary, path))) {
        put_summary(request, &summary);
    }
    free(summary.providers);
}
