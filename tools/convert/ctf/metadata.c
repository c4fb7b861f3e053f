/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes the file `metadata`: the headers of packets and events, the clock, facts about the trace,
 * and the declarations of its events.
 */

#include "convert/ctf/ctf.h"

#include "event/names.h"

#include <etwas/etwas.h>

/*
 * Writes type names for integers: the letter and the size in bits. u8 is shown in decimal, x8 in
 * hexadecimal.
 */
static void put_types(struct etwas_output *output)
{
    static const struct {
        char letter;
        const char *text;
    } integers[] = {
        {'u', "signed = false"}, {'x', "signed = false; base = 16"}, {'i', "signed = true"}};

    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        for (unsigned bits = 8; bits <= 64; bits *= 2) {
            etwas_output_format(output,
                                "typealias integer { size = %u; align = 8; %s; } := %c%u;\n", bits,
                                integers[i].text, integers[i].letter, bits);
        }
    }
    etwas_output_text(
        output, "typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := f32;\n"
                "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n"
                "typealias string { encoding = UTF8; } := text;\n"
                "typedef x8 guid[16];\n\n");
}

static void put_uuid(struct etwas_output *output, const uint8_t *uuid)
{
    for (unsigned i = 0; i < ETWAS_CTF_UUID_BYTES; i++) {
        etwas_output_text(output, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
        etwas_output_hex(output, uuid + i, 1);
    }
}

static void put_trace(struct etwas_output *output, const struct etwas_ctf_trace *trace)
{
    etwas_output_text(output, "trace {\n    major = 1;\n    minor = 8;\n    uuid = \"");
    put_uuid(output, trace->uuid);
    etwas_output_text(output, "\";\n    byte_order = le;\n"
                              "    packet.header := struct {\n"
                              "        u32 magic;\n"
                              "        u8 uuid[16];\n"
                              "        u32 stream_id;\n"
                              "        u64 stream_instance_id;\n"
                              "    };\n};\n\n");
}

void etwas_ctf_put_quoted(struct etwas_output *output, const char *text, size_t bytes)
{
    etwas_output_char(output, '"');
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"' || text[i] == '\\') {
            etwas_output_char(output, '\\');
        }
        etwas_output_char(output, text[i]);
    }
    etwas_output_char(output, '"');
}

/* ---- the trace's environment ----------------------------------------------------------------- */

static void put_number(struct etwas_output *output, const char *key, uint64_t value)
{
    etwas_output_format(output, "    %s = %llu;\n", key, (unsigned long long)value);
}

static void put_text(struct etwas_output *output, const char *key, const void *text, size_t bytes)
{
    etwas_output_format(output, "    %s = ", key);
    etwas_ctf_put_quoted(output, text, bytes);
    etwas_output_text(output, ";\n");
}

static void put_path(struct etwas_output *output, const char *path)
{
    struct etwas_output *plain = etwas_output_scratch(output);

    etwas_text_plain(plain, path);
    put_text(output, "file", plain->bytes, plain->used_bytes);
}

static void put_environment(struct etwas_output *output, const struct etwas_ctf_trace *trace)
{
    const struct etwas_input *input = trace->input;
    const etwas_trace_information *information = &input->information;
    const char *clock = etwas_names_clock(information->clock);

    etwas_output_text(output, "env {\n    domain = \"etw\";\n    tracer_name = \"etwas\";\n");
    put_number(output, "tracer_major", ETWAS_VERSION_MAJOR);
    put_number(output, "tracer_minor", ETWAS_VERSION_MINOR);
    put_text(output, "session", trace->session.data, trace->session.used);
    put_path(output, input->path);
    put_text(output, "clock", clock, strlen(clock));
    if (trace->largest_error_ns == UINT64_MAX) {
        etwas_output_text(output, "    clock_error_ns = \"unknown\";\n");
    } else {
        put_number(output, "clock_error_ns", trace->largest_error_ns);
    }
    put_number(output, "events_lost", information->lost_events);
    put_number(output, "buffers_lost", information->lost_buffers);
    put_number(output, "events_overwritten", information->overwritten_events);
    put_number(output, "damages", input->damage_count);
    put_number(output, "bytes_skipped", information->bytes_skipped);
    put_number(output, "unfinished", information->unfinished);
    etwas_output_text(output, "};\n\n");
}

/* Times are nanoseconds since 1970. */
static void put_clock(struct etwas_output *output, const struct etwas_ctf_trace *trace)
{
    etwas_output_text(output, "clock {\n    name = utc;\n    uuid = \"");
    put_uuid(output, trace->uuid);
    etwas_output_text(output, "\";\n    description = \"nanoseconds since 1970, UTC\";\n"
                              "    freq = 1000000000;\n");
    if (trace->largest_error_ns != UINT64_MAX) {
        put_number(output, "precision", trace->largest_error_ns);
    }
    etwas_output_text(output, "    offset_s = 0;\n    offset = 0;\n    absolute = TRUE;\n};\n\n"
                              "typealias integer { size = 64; align = 8; signed = false; "
                              "map = clock.utc.value; } := stamp;\n\n");
}

/* Writes stream class 0, for streams of processors, and 1, for all others. */
static void put_stream_classes(struct etwas_output *output)
{
    for (unsigned i = 0; i < 2; i++) {
        etwas_output_format(output,
                            "stream {\n    id = %u;\n"
                            "    packet.context := struct {\n"
                            "        stamp timestamp_begin;\n"
                            "        stamp timestamp_end;\n"
                            "        u64 content_size;\n"
                            "        u64 packet_size;\n"
                            "        u64 packet_seq_num;\n"
                            "        u64 events_discarded;\n%s"
                            "    };\n",
                            i, i == 0 ? "        u32 cpu_id;\n" : "");
        etwas_output_text(output, "    event.header := struct {\n"
                                  "        u32 id;\n"
                                  "        stamp timestamp;\n"
                                  "    };\n"
                                  "    event.context := struct {\n"
                                  "        i32 _pid;\n"
                                  "        i32 _tid;\n"
                                  "        u32 _error_ns;\n"
                                  "    };\n};\n\n");
    }
}

bool etwas_ctf_write_metadata(const struct etwas_ctf_trace *trace)
{
    struct etwas_output output = {.bytes = NULL};
    bool is_declared = true;

    if (!etwas_ctf_open_file(trace, "metadata", &output)) {
        return false;
    }
    etwas_output_text(&output, "/* CTF 1.8 */\n\n");
    put_types(&output);
    put_trace(&output, trace);
    put_environment(&output, trace);
    put_clock(&output, trace);
    put_stream_classes(&output);
    for (uint32_t i = 0; i < trace->classes.count && is_declared; i++) {
        is_declared = etwas_ctf_declare(&output, trace, trace->classes.classes[i]);
    }
    return etwas_ctf_close_file(&output) && is_declared;
}
