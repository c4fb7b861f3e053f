/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/summary.h"

#include "cli/no_room.h"
#include "cli/quiet.h"
#include "print/human.h"
#include "print/text.h"
#include "steer/provider.h"

#include <etwas/reading.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <etwas/winmeta.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_recorder(const struct etwas_steer_summary *summary)
{
    return (summary->session.block.properties.LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0;
}

static bool has_nothing(const etwas_session_counts *counts)
{
    return counts->recorded == 0 && counts->overwritten == 0 && counts->lost == 0;
}

bool etwas_steer_summary_begin(struct etwas_steer_summary *summary, const char *command,
                               const char *verb, const char *name)
{
    memset(summary, 0, sizeof *summary);
    summary->command = command;
    summary->verb = verb;
    summary->name = name;
    if (!etwas_steer_find_session(command, name, &summary->session)) {
        return false;
    }
    (void)snprintf(summary->unwritten, sizeof summary->unwritten,
                   "the file could not be written: %s, or the disk fails",
                   etwas_no_room_reason(summary->session.process));
    /*
     * The processes of its providers can be found only while it runs. A host that does not answer
     * is not waited for.
     */
    if (summary->session.has_counts && has_nothing(&summary->session.counts)) {
        (void)etwas_steer_find_running(command, &summary->found);
    }
    return true;
}

void etwas_steer_summary_end(struct etwas_steer_summary *summary)
{
    etwas_steer_found_free(&summary->found);
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Returns the path relative to the current folder, if the file is in it. */
static const char *short_name(const char *file)
{
    char folder[ETWAS_STEER_NAME_BYTES];
    size_t length = getcwd(folder, sizeof folder) != NULL ? strlen(folder) : 0;

    return length > 1 && strncmp(file, folder, length) == 0 && file[length] == '/'
               ? file + length + 1
               : file;
}

static void put_file(struct etwas_output *output, const char *file)
{
    const char *name = short_name(file);
    char size[ETWAS_HUMAN_CHARACTERS];
    struct stat status;

    etwas_output_text(output, ", ");
    etwas_text_plain(output, name);
    if (stat(file, &status) == 0) {
        etwas_output_format(output, " (%s)", etwas_human_size(size, (double)status.st_size));
    }
}

/*
 * A recorder continues while its snapshot is written, so its counts differ from the file's. They
 * are not printed beside a file, where they would be misread.
 */
static void put_line(const struct etwas_steer_summary *summary, const etwas_session_counts *counts,
                     const char *file)
{
    struct etwas_output *output = etwas_standard_output();
    bool is_snapshot = is_recorder(summary) && file[0] != '\0';
    char number[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(output, "%s ", summary->verb);
    etwas_text_plain(output, summary->name);
    etwas_output_text(output, ": ");
    if (!is_snapshot) {
        etwas_output_format(output, "%s recorded, ", etwas_human_count(number, counts->recorded));
    }
    if (!is_snapshot && counts->overwritten != 0) {
        etwas_output_format(output, "%s overwritten, ",
                            etwas_human_count(number, counts->overwritten));
    }
    etwas_output_format(output, "%s lost", etwas_human_count(number, counts->lost));
    if (file[0] != '\0') {
        put_file(output, file);
    } else {
        etwas_output_text(output, is_recorder(summary) ? ", in memory" : ", to consumers");
    }
    etwas_output_char(output, '\n');
    etwas_output_flush(output);
}

/* ---- warnings -------------------------------------------------------------------------------- */

static struct etwas_output *begin_warning(const struct etwas_steer_summary *summary)
{
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_format(errors, "%s: ", summary->command);
    etwas_text_plain(errors, summary->name);
    etwas_output_text(errors, ": warning: ");
    return errors;
}

static void warn_of_losses(const struct etwas_steer_summary *summary,
                           const etwas_session_counts *counts)
{
    static const struct cause {
        size_t place;     /* offset in the counts */
        const char *text; /* NULL: the reason is in `unwritten` */
    } causes[] = {
        {offsetof(etwas_session_counts, lost_no_buffer),
         "there was no free buffer. More (--max-buffers) or larger ones (--buffer-size) lose less"},
        {offsetof(etwas_session_counts, lost_write_error), NULL},
        {offsetof(etwas_session_counts, lost_file_full), "the file had reached its --max-size"},
        {offsetof(etwas_session_counts, lost_abandoned),
         "a writer was stopped, or killed, inside an event"},
        {offsetof(etwas_session_counts, lost_backlog_full),
         "no consumer took them and the backlog was full"},
        {offsetof(etwas_session_counts, lost_undelivered), "no consumer took them"},
        {offsetof(etwas_session_counts, lost_in_kernel), "the kernel had no room for them"},
        {offsetof(etwas_session_counts, lost_unattached),
         "their processes had no access to the session's buffers"},
        {offsetof(etwas_session_counts, lost_too_large),
         "they do not fit into a buffer. Larger ones (--buffer-size) take them"},
        {offsetof(etwas_session_counts, lost_withheld),
         "another session that enables their provider had no free buffer"},
    };

    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        char number[ETWAS_HUMAN_CHARACTERS];
        struct etwas_output *errors;
        uint64_t lost;

        memcpy(&lost, (const char *)counts + causes[i].place, sizeof lost);
        if (lost != 0) {
            errors = begin_warning(summary);
            etwas_output_format(errors, "%s event%s lost: %s\n", etwas_human_count(number, lost),
                                etwas_human_plural(lost),
                                causes[i].text != NULL ? causes[i].text : summary->unwritten);
            etwas_output_flush(errors);
        }
    }
    if (counts->unattached_code != 0) {
        struct etwas_output *errors = begin_warning(summary);

        etwas_steer_put_unattached(errors, counts);
        etwas_output_flush(errors);
    }
}

static const TRACE_ENABLE_INFO *enable_of(const struct etwas_steer_summary *summary,
                                          const struct etwas_steer_found_provider *provider)
{
    TRACEHANDLE handle = summary->session.block.properties.Wnode.HistoricalContext;

    for (uint32_t i = 0; i < provider->enabling; i++) {
        if (provider->enables[i].LoggerId == (handle & 0xFF)) {
            return &provider->enables[i];
        }
    }
    return NULL;
}

/*
 * Returns how many processes have registered the provider. Sets *enable to the settings in one of
 * them, and *cannot to how many of them cannot log to the session.
 */
static uint32_t registered(const struct etwas_steer_summary *summary, const etwas_guid *guid,
                           const TRACE_ENABLE_INFO **enable, uint32_t *cannot)
{
    uint32_t processes = 0;

    *cannot = 0;
    for (uint32_t i = 0; i < summary->found.provider_count; i++) {
        const struct etwas_steer_found_provider *provider = &summary->found.providers[i];
        bool is_it = memcmp(&provider->guid, guid, sizeof *guid) == 0;
        const TRACE_ENABLE_INFO *info = is_it ? enable_of(summary, provider) : NULL;

        processes += info != NULL && provider->process != 0;
        *cannot += info != NULL && provider->process != 0 && info->IsEnabled == 0;
        *enable = info != NULL ? info : *enable;
    }
    return processes;
}

/* Returns whether no earlier entry has this provider: each process that registered it has one. */
static bool is_first(const struct etwas_steer_summary *summary, uint32_t index)
{
    const struct etwas_steer_found_provider *providers = summary->found.providers;
    uint32_t at = 0;

    while (memcmp(&providers[at].guid, &providers[index].guid, sizeof providers->guid) != 0 ||
           enable_of(summary, &providers[at]) == NULL) {
        at++;
    }
    return at == index;
}

/* The GUID of a pattern is never registered. */
static bool is_pattern(const struct etwas_steer_found_provider *provider)
{
    return strpbrk(provider->name, "*?") != NULL;
}

/*
 * Returns whether the provider gets a line of its own. A pattern gets none if its providers have
 * theirs.
 */
static bool has_line(const struct etwas_steer_found_provider *provider)
{
    etwas_guid found;
    uint32_t count;

    return !is_pattern(provider) ||
           etwas_provider_guids(provider->name, &found, 1, &count) == ERROR_NOT_FOUND;
}

static void put_reason(struct etwas_output *output, const struct etwas_steer_summary *summary,
                       const struct etwas_steer_found_provider *provider)
{
    const TRACE_ENABLE_INFO *enable = NULL;
    uint32_t cannot;
    uint32_t processes = registered(summary, &provider->guid, &enable, &cannot);

    etwas_output_text(output, "  ");
    if (provider->name[0] != '\0') {
        etwas_text_plain(output, provider->name);
    } else {
        etwas_text_guid(output, &provider->guid);
    }
    if (processes == 0) {
        etwas_output_format(output,
                            ": no process that can be seen has registered %s; ETWAS_SHARED=0 "
                            "hides one\n",
                            is_pattern(provider) ? "a provider of such a name" : "it");
        return;
    }
    etwas_output_format(output, ": %u process%s registered it and logged nothing", processes,
                        processes == 1 ? " has" : "es have");
    if (enable->Level != 0 && enable->Level != UINT8_MAX) {
        etwas_output_format(output, ", of level %u or less", enable->Level);
        if (enable->Level < WINEVENT_LEVEL_VERBOSE) {
            etwas_output_text(output, " (without TraceLoggingLevel an event is of level 5)");
        }
    }
    if (enable->MatchAnyKeyword != 0 && enable->MatchAnyKeyword != UINT64_MAX) {
        etwas_output_format(output, ", with keywords of 0x%llx",
                            (unsigned long long)enable->MatchAnyKeyword);
    }
    if (cannot != 0) {
        etwas_output_format(output, "; %u cannot log to it", cannot);
    }
    if (etwas_steer_put_filters(output, "; a filter may have excluded what it logged: ", enable)) {
        etwas_output_text(output, " of 'etwas enable' or 'etwas start'");
    }
    etwas_output_char(output, '\n');
}

static void warn_of_nothing(const struct etwas_steer_summary *summary)
{
    struct etwas_output *errors = begin_warning(summary);
    bool is_enabled = false;

    etwas_output_text(errors, "nothing was recorded");
    for (uint32_t i = 0; i < summary->found.provider_count; i++) {
        if (enable_of(summary, &summary->found.providers[i]) != NULL && is_first(summary, i) &&
            has_line(&summary->found.providers[i])) {
            etwas_output_text(errors, is_enabled ? "" : ":\n");
            put_reason(errors, summary, &summary->found.providers[i]);
            is_enabled = true;
        }
    }
    if (!is_enabled) {
        etwas_output_text(
            errors,
            ": no process that can be seen has registered a provider that is enabled in it.\n"
            "  'etwas ps' shows which are registered, and 'etwas enable' enables them; "
            "ETWAS_SHARED=0 hides a process\n");
    }
    etwas_output_flush(errors);
}

void etwas_steer_summary_print(struct etwas_steer_summary *summary,
                               const etwas_session_counts *counts, const char *file)
{
    etwas_session_counts now = summary->session.counts;

    if (counts == NULL) {
        (void)etwas_counts(summary->session.block.properties.Wnode.HistoricalContext, &now);
    } else {
        now = *counts;
    }
    put_line(summary, &now, file);
    /* The printed line contains how many events were recorded and lost. */
    if (!etwas_is_quiet) {
        warn_of_losses(summary, &now);
    }
    if (!etwas_is_quiet && has_nothing(&now)) {
        warn_of_nothing(summary);
    }
    etwas_steer_summary_end(summary);
}
