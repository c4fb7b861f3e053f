/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Prints sessions and providers as text. */

#include "steer/show.h"

#include "event/names.h"
#include "print/human.h"
#include "print/table.h"
#include "print/text.h"
#include "steer/provider.h"

#include <stdio.h>
#include <string.h>

static void put_plain(struct etwas_output *output, const char *text)
{
    etwas_text_utf8(output, ETWAS_TEXT_PLAIN, text, strlen(text));
}

static void put_count(struct etwas_output *output, uint64_t count)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, etwas_human_count(text, count));
}

static void put_ns(struct etwas_output *output, uint64_t ns)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, etwas_human_ns(text, (double)ns));
}

/* Prints such as "4711 shop". */
static void put_process(struct etwas_output *output, uint32_t process, const char *program)
{
    if (process == 0) {
        etwas_output_char(output, '-');
        return;
    }
    etwas_output_format(output, "%u ", process);
    put_plain(output, program[0] != '\0' ? program : "?");
}

static uint64_t lost_of(const struct etwas_steer_found_session *session)
{
    return session->has_counts ? session->counts.lost : session->block.properties.EventsLost;
}

/* The host does not answer, so nothing else can be printed. */
static void put_silence(struct etwas_output *output,
                        const struct etwas_steer_found_session *session)
{
    etwas_output_format(output, "its host, process %u, does not answer\n", session->process);
}

/* Prints a warning if the pool file was removed. */
static void put_removed_pool(struct etwas_output *output, const char *lead,
                             const struct etwas_steer_found_session *session)
{
    if (session->is_pool_removed) {
        put_plain(output, lead);
        etwas_output_text(output,
                          "somebody has removed its pool file: if its process is killed, nothing "
                          "is left to recover\n");
    }
}

/*
 * Prints why events of other processes may be missing, if they may. Each line begins with `lead`.
 */
static void put_unshared(struct etwas_output *output, const char *lead,
                         const struct etwas_steer_found_session *session)
{
    const etwas_session_counts *counts = &session->counts;
    const char *reason =
        session->has_counts ? etwas_steer_unshared_reason(counts) : (const char *)NULL;

    if (reason != NULL) {
        put_plain(output, lead);
        etwas_output_format(output, "other processes do not log into it: %s\n", reason);
    }
    if (session->has_counts && counts->unattached_code != 0) {
        put_plain(output, lead);
        etwas_steer_put_unattached(output, counts);
    }
}

/* ---- the list -------------------------------------------------------------------------------- */

static void add_folder(struct etwas_table *table, const struct etwas_steer_found *found,
                       const char *folder)
{
    if (found->has_folders) {
        etwas_table_text(table, folder != NULL ? folder : "-");
    }
}

/* Adds "?" if the count is not known. */
static void add_count(struct etwas_table *table, uint64_t count, bool is_known)
{
    if (is_known) {
        etwas_table_count(table, count);
    } else {
        etwas_table_text(table, "?");
    }
}

static void add_session(struct etwas_table *table, const struct etwas_steer_found *found,
                        const struct etwas_steer_found_session *session)
{
    const EVENT_TRACE_PROPERTIES *properties = &session->block.properties;
    struct etwas_output *cell = etwas_table_cell(table);

    etwas_table_text(table, session->block.session_name);
    put_process(cell, session->process, session->program);
    etwas_table_next(table);
    add_count(table, session->counts.recorded, session->has_counts);
    if (session->is_silent) {
        etwas_table_text(table, "?");
    } else {
        etwas_table_losses(table, lost_of(session));
    }
    add_count(table, properties->NumberOfBuffers, !session->is_silent);
    etwas_table_text(table, etwas_names_clock(properties->Wnode.ClientContext));
    etwas_names_mode(cell, properties->LogFileMode, ", ");
    etwas_table_next(table);
    if (session->has_retention) {
        etwas_table_ns(table, (double)session->retention.covered_ns);
    } else {
        etwas_table_text(table, "-");
    }
    etwas_table_text(table, session->is_silent                    ? "?"
                            : session->block.file_name[0] != '\0' ? session->block.file_name
                                                                  : "-");
    add_folder(table, found, session->folder);
}

static void put_provider(struct etwas_output *output,
                         const struct etwas_steer_found_provider *provider)
{
    if (provider->name[0] != '\0') {
        put_plain(output, provider->name);
        etwas_output_char(output, ' ');
    }
    etwas_text_guid(output, &provider->guid);
}

static void put_enables(struct etwas_output *output, const struct etwas_steer_found *found,
                        const struct etwas_steer_found_provider *provider)
{
    static const char *const reasons[] = {
        [ETWAS_STEER_CANNOT_SHARE] = ", of its process alone: not logged to",
        [ETWAS_STEER_CANNOT_ATTACH] = ", not attached (see above): not logged to",
        [ETWAS_STEER_CANNOT_READ] = ", of another release: not logged to",
    };

    for (uint32_t i = 0; i < provider->enabling; i++) {
        const TRACE_ENABLE_INFO *enable = &provider->enables[i];
        const struct etwas_steer_found_session *session = etwas_steer_session_of(found, enable);

        etwas_output_text(output, i > 0 ? "; " : "");
        put_plain(output, session != NULL ? session->block.session_name : "?");
        etwas_output_format(output, " (level %u, keywords 0x%llx", enable->Level,
                            (unsigned long long)enable->MatchAnyKeyword);
        (void)etwas_steer_put_filters(output, ", filtered by ", enable);
        etwas_output_format(output, "%s)",
                            enable->IsEnabled != 0 ? "" : reasons[etwas_steer_cannot(session)]);
    }
    if (provider->enabling == 0) {
        etwas_output_char(output, '-');
    }
}

static void add_provider(struct etwas_table *table, const struct etwas_steer_found *found,
                         const struct etwas_steer_found_provider *provider)
{
    char program[ETWAS_STEER_PROGRAM_BYTES];
    struct etwas_output *cell = etwas_table_cell(table);

    etwas_steer_program(provider->process, program);
    put_process(cell, provider->process, program);
    etwas_table_next(table);
    put_provider(cell, provider);
    etwas_table_next(table);
    etwas_table_text(table, provider->process == 0 ? "not registered"
                            : provider->is_classic ? "classic"
                                                   : "modern");
    put_enables(cell, found, provider);
    etwas_table_next(table);
    add_folder(table, found, provider->folder);
}

void etwas_steer_show_list(struct etwas_output *output, const struct etwas_steer_found *found)
{
    static const char *const session_titles[] = {"SESSION", "PROCESS", "EVENTS", "LOST", "BUFFERS",
                                                 "CLOCK",   "MODE",    "BACK",   "FILE", "FOLDER"};
    static const char *const provider_titles[] = {"PROCESS", "PROVIDER", "KIND", "SESSIONS",
                                                  "FOLDER"};
    const unsigned left_out = found->has_folders ? 0 : 1;
    char lead[ETWAS_STEER_NAME_BYTES + 2];
    struct etwas_table table;

    etwas_table_begin(&table, session_titles,
                      sizeof session_titles / sizeof *session_titles - left_out, 0x9C);
    for (uint32_t i = 0; i < found->session_count; i++) {
        add_session(&table, found, &found->sessions[i]);
    }
    etwas_table_print(&table, output);
    for (uint32_t i = 0; i < found->session_count; i++) {
        if (found->sessions[i].is_silent) {
            put_plain(output, found->sessions[i].block.session_name);
            etwas_output_text(output, ": ");
            put_silence(output, &found->sessions[i]);
        }
        (void)snprintf(lead, sizeof lead, "%s: ", found->sessions[i].block.session_name);
        put_unshared(output, lead, &found->sessions[i]);
        put_removed_pool(output, lead, &found->sessions[i]);
    }
    if (found->provider_count == 0) {
        return;
    }
    etwas_output_char(output, '\n');
    etwas_table_begin(&table, provider_titles,
                      sizeof provider_titles / sizeof *provider_titles - left_out, 0);
    for (uint32_t i = 0; i < found->provider_count; i++) {
        add_provider(&table, found, &found->providers[i]);
    }
    etwas_table_print(&table, output);
}

/* ---- one session ----------------------------------------------------------------------------- */

static void say_file(struct etwas_output *output, const struct etwas_steer_found_session *session)
{
    const EVENT_TRACE_PROPERTIES *properties = &session->block.properties;
    bool is_recorder = (properties->LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0;
    bool in_kb = (properties->LogFileMode & EVENT_TRACE_USE_KBYTES_FOR_SIZE) != 0;

    if (session->block.file_name[0] == '\0') {
        return;
    }
    etwas_output_text(output, is_recorder ? "  snapshots     " : "  file          ");
    put_plain(output, session->block.file_name);
    if (properties->MaximumFileSize != 0) {
        etwas_output_format(output, ", at most %u %s", properties->MaximumFileSize,
                            in_kb ? "KB" : "MB");
    }
    etwas_output_char(output, '\n');
}

static void say_flush(struct etwas_output *output, const EVENT_TRACE_PROPERTIES *properties)
{
    bool in_ms = (properties->LogFileMode & EVENT_TRACE_USE_MS_FLUSH_TIMER) != 0;

    if (properties->FlushTimer != 0) {
        etwas_output_format(output, "  flushed       each %u %s\n", properties->FlushTimer,
                            in_ms ? "ms" : "s");
    }
}

static void say_events(struct etwas_output *output, const struct etwas_steer_found_session *session)
{
    etwas_output_text(output, "  events        ");
    if (session->has_counts) {
        put_count(output, session->counts.recorded);
        etwas_output_text(output, " recorded, ");
        put_count(output, session->counts.overwritten);
        etwas_output_text(output, " overwritten, ");
    }
    put_count(output, lost_of(session));
    etwas_output_text(output, " lost\n");
    if (session->has_counts && session->counts.sequences != ETWAS_SEQUENCES_USED) {
        etwas_output_format(output, "  protocol      shared slots, which cost more: %s\n",
                            etwas_sequences_text(session->counts.sequences));
    }
    if (session->has_counts &&
        (session->counts.quarantined_slots != 0 || session->counts.damaged_buffers != 0)) {
        etwas_output_text(output,
                          "  damaged       one of its processes has written into its memory "
                          "what is no record:\n                ");
        put_count(output, session->counts.quarantined_slots);
        etwas_output_format(output, " slot%s no more used, ",
                            etwas_human_plural(session->counts.quarantined_slots));
        put_count(output, session->counts.damaged_buffers);
        etwas_output_format(output, " buffer%s had such\n",
                            etwas_human_plural(session->counts.damaged_buffers));
    }
    if (session->has_retention) {
        etwas_output_text(output, "  goes back     ");
        put_ns(output, session->retention.covered_ns);
        etwas_output_char(output, '\n');
    }
}

void etwas_steer_show_session(struct etwas_output *output,
                              const struct etwas_steer_found_session *session)
{
    const EVENT_TRACE_PROPERTIES *properties = &session->block.properties;

    put_plain(output, session->block.session_name);
    etwas_output_text(output, "\n  GUID          ");
    etwas_text_guid(output, &properties->Wnode.Guid);
    etwas_output_text(output, "\n  process       ");
    put_process(output, session->process, session->program);
    if (session->folder != NULL) {
        etwas_output_text(output, "\n  folder        ");
        put_plain(output, session->folder);
    }
    etwas_output_text(output, "\n  mode          ");
    etwas_names_mode(output, properties->LogFileMode, ", ");
    etwas_output_format(output, "\n  clock         %s\n",
                        etwas_names_clock(properties->Wnode.ClientContext));
    if (session->is_silent) {
        etwas_output_text(output, "  remark        ");
        put_silence(output, session);
        return;
    }
    say_file(output, session);
    etwas_output_format(output, "  buffers       %u of %u KB, %u free; %u to %u\n",
                        properties->NumberOfBuffers, properties->BufferSize,
                        properties->FreeBuffers, properties->MinimumBuffers,
                        properties->MaximumBuffers);
    say_flush(output, properties);
    etwas_output_format(output, "  written       %u buffer%s, %u lost, %u undelivered\n",
                        properties->BuffersWritten, etwas_human_plural(properties->BuffersWritten),
                        properties->LogBuffersLost, properties->RealTimeBuffersLost);
    say_events(output, session);
    put_unshared(output, "  remark        ", session);
    put_removed_pool(output, "  remark        ", session);
}
