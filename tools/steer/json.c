/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes sessions and providers as JSON. */

#include "print/json.h"
#include "event/names.h"
#include "steer/provider.h"
#include "steer/show.h"

#include <string.h>

static void put_mode(struct etwas_output *output, uint32_t log_file_mode)
{
    etwas_json_bits(output, "log_file_mode", log_file_mode);
    etwas_json_array(output, "modes");
    etwas_output_char(output, '"');
    etwas_names_mode(output, log_file_mode, "\",\"");
    etwas_output_text(output, "\"]");
}

static void put_process(struct etwas_output *output, uint32_t process, const char *program)
{
    if (process != 0) {
        etwas_json_number(output, "pid", process);
        etwas_json_text(output, "process", program);
    }
}

static void put_folder(struct etwas_output *output, const char *folder)
{
    if (folder != NULL) {
        etwas_json_text(output, "folder", folder);
    }
}

/* Writes the keys that exist only if events of other processes may be missing. */
static void put_unshared(struct etwas_output *output, const etwas_session_counts *counts)
{
    const char *word = etwas_steer_unshared_word(counts);

    if (word != NULL) {
        etwas_json_text(output, "unshared", word);
    }
    if (counts->unattached_code != 0) {
        etwas_json_number(output, "unattached_processes", counts->unattached_processes);
        etwas_json_number(output, "unattached_total", counts->unattached_total);
        etwas_json_text(output, "unattached_reason",
                        etwas_names_unattached(counts->unattached_code));
    }
}

void etwas_steer_json_session(struct etwas_output *output,
                              const struct etwas_steer_found_session *session)
{
    const EVENT_TRACE_PROPERTIES *properties = &session->block.properties;

    etwas_json_begin(output, "session");
    etwas_json_text(output, "session", session->block.session_name);
    etwas_json_guid(output, "session_id", &properties->Wnode.Guid);
    put_process(output, session->process, session->program);
    put_folder(output, session->folder);
    put_mode(output, properties->LogFileMode);
    etwas_json_text(output, "clock", etwas_names_clock(properties->Wnode.ClientContext));
    if (session->is_silent) {
        etwas_json_boolean(output, "silent", true);
        etwas_output_text(output, "}\n");
        return;
    }
    if (session->block.file_name[0] != '\0') {
        etwas_json_text(output, "log_file", session->block.file_name);
    }
    etwas_json_number(output, "maximum_file_bytes",
                      properties->MaximumFileSize *
                          ((properties->LogFileMode & EVENT_TRACE_USE_KBYTES_FOR_SIZE) != 0
                               ? UINT64_C(1024)
                               : UINT64_C(1048576)));
    etwas_json_number(output, "flush_timer",
                      properties->FlushTimer *
                          ((properties->LogFileMode & EVENT_TRACE_USE_MS_FLUSH_TIMER) != 0
                               ? UINT64_C(1000000)
                               : UINT64_C(1000000000)));
    etwas_json_number(output, "buffer_bytes", properties->BufferSize * UINT64_C(1024));
    etwas_json_number(output, "minimum_buffers", properties->MinimumBuffers);
    etwas_json_number(output, "maximum_buffers", properties->MaximumBuffers);
    etwas_json_number(output, "buffers", properties->NumberOfBuffers);
    etwas_json_number(output, "free_buffers", properties->FreeBuffers);
    etwas_json_number(output, "buffers_written", properties->BuffersWritten);
    etwas_json_number(output, "buffers_lost", properties->LogBuffersLost);
    etwas_json_number(output, "realtime_buffers_lost", properties->RealTimeBuffersLost);
    etwas_json_number(output, "lost",
                      session->has_counts ? session->counts.lost : properties->EventsLost);
    if (session->has_counts) {
        etwas_json_number(output, "recorded", session->counts.recorded);
        etwas_json_number(output, "overwritten", session->counts.overwritten);
        etwas_json_text(output, "protocol",
                        session->counts.protocol == ETWAS_PROTOCOL_RSEQ ? "rseq" : "shared");
        if (session->counts.sequences != ETWAS_SEQUENCES_USED) {
            etwas_json_text(output, "protocol_reason",
                            etwas_sequences_text(session->counts.sequences));
        }
        etwas_json_number(output, "quarantined_slots", session->counts.quarantined_slots);
        etwas_json_number(output, "damaged_buffers", session->counts.damaged_buffers);
        put_unshared(output, &session->counts);
    }
    if (session->is_pool_removed) {
        etwas_json_boolean(output, "pool_removed", true);
    }
    if (session->has_retention) {
        etwas_json_number(output, "covered_duration", session->retention.covered_ns);
        etwas_json_number(output, "longest_duration", session->retention.longest_ns);
    }
    etwas_output_text(output, "}\n");
}

static void put_filters(struct etwas_output *output, const TRACE_ENABLE_INFO *enable)
{
    static const struct {
        uint32_t bit;
        const char *key;
    } filters[] = {
        {ETWAS_ENABLE_FILTERED_PROCESSES, "filters_pid"},
        {ETWAS_ENABLE_FILTERED_PROGRAMS, "filters_process"},
        {ETWAS_ENABLE_FILTERED_EVENTS, "filters_event"},
    };

    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        if ((enable->Reserved2 & filters[i].bit) != 0) {
            etwas_json_boolean(output, filters[i].key, true);
        }
    }
}

static void put_enable(struct etwas_output *output, const struct etwas_steer_found *found,
                       const TRACE_ENABLE_INFO *enable)
{
    const struct etwas_steer_found_session *session = etwas_steer_session_of(found, enable);

    etwas_json_object(output, NULL);
    etwas_json_text(output, "session", session != NULL ? session->block.session_name : NULL);
    etwas_json_number(output, "level", enable->Level);
    etwas_json_bits(output, "match_any_keyword", enable->MatchAnyKeyword);
    etwas_json_bits(output, "match_all_keyword", enable->MatchAllKeyword);
    etwas_json_bits(output, "enable_property", enable->EnableProperty);
    put_filters(output, enable);
    if (enable->IsEnabled == 0) {
        static const char *const keys[] = {
            [ETWAS_STEER_CANNOT_SHARE] = "of_one_process",
            [ETWAS_STEER_CANNOT_ATTACH] = "unattached",
            [ETWAS_STEER_CANNOT_READ] = "of_another_release",
        };

        etwas_json_boolean(output, keys[etwas_steer_cannot(session)], true);
    }
    etwas_output_char(output, '}');
}

void etwas_steer_json_provider(struct etwas_output *output, const struct etwas_steer_found *found,
                               const struct etwas_steer_found_provider *provider)
{
    char program[ETWAS_STEER_PROGRAM_BYTES];

    etwas_json_begin(output, "provider");
    etwas_json_text(output, "registration",
                    provider->process == 0 ? "not registered"
                    : provider->is_classic ? "classic"
                                           : "modern");
    etwas_json_guid(output, "provider_id", &provider->guid);
    if (provider->name[0] != '\0') {
        etwas_json_text(output, "provider", provider->name);
    }
    etwas_steer_program(provider->process, program);
    put_process(output, provider->process, program);
    put_folder(output, provider->folder);
    etwas_json_array(output, "enabled_by");
    for (uint32_t i = 0; i < provider->enabling; i++) {
        put_enable(output, found, &provider->enables[i]);
    }
    etwas_output_text(output, "]}\n");
}
