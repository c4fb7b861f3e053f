/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The commands `etwas ps` and `etwas query`: what runs, and what of one session.
 */

#include "cli/options.h"
#include "commands.h"
#include "steer/show.h"

#include <stdio.h>
#include <string.h>

static const char keys_help[] =
    "JSON keys of a session: session, guid, process and program (that host it, where\n"
    "that can be told), folder (that they are found in, where they are in\n"
    "several), log_file_mode, modes, clock, file, maximum_file_size,\n"
    "flush_timer, buffer_kb, minimum_buffers, maximum_buffers, buffers, free_buffers,\n"
    "buffers_written, buffers_lost, realtime_buffers_lost, lost; where they can be\n"
    "told recorded, overwritten, protocol (rseq, shared), protocol_reason (why not\n"
    "rseq); of a flight recorder covered_ns and longest_ns: for so long back\n"
    "everything is there, of every processor and of one. quarantined_slots and\n"
    "damaged_buffers (where they can be told): what a process has written into that\n"
    "nothing can be made of. Where other processes do not log into it, unshared:\n"
    "mode, sequences, disk, memory or hidden, which is why; where some could not,\n"
    "unattached_processes (how many cannot now), unattached_total (how many could not\n"
    "at some time) and unattached_reason (of the last).\n"
    "pool_removed is true where somebody has removed the file that a crash-safe\n"
    "session's buffers lie in: nothing can be recovered after a crash. silent is\n"
    "true, and nothing follows it, where the host does not answer.\n";

static const char *const ps_help[] = {
    "usage: etwas ps [OPTION...]\n"
    "\n",
    "Shows the event tracing sessions of all of the user's processes, a line for\n"
    "each: its name, the process that hosts it, its events and those it has lost, its\n"
    "buffers, clock and mode, of a flight recorder for how long back everything is\n"
    "there, and its file. Behind that the providers in these processes by name, if\n"
    "they say it, and GUID, and the sessions that enable them; the runtime folder,\n"
    "where some are in another one than programs that begin now.\n"
    "\n"
    "  -j, --json   one JSON object a line: sessions, then providers\n"
    "  -h, --help   this text\n"
    "\n",
    keys_help,
    "Of a provider: kind (classic, modern, or not registered), provider, name (if it\n"
    "says it), process, program, folder, enabled_by: session, level, any and all (the\n"
    "keywords), property; where the process does not log to that session\n"
    "of_another_release (their releases of the library differ too much),\n"
    "of_one_process (see unshared) or unattached (see unattached_reason).\n"
    "\n"
    "Exit codes: see 'etwas --help'; 3 where a session or a provider cannot be read.\n",
    NULL,
};

static const char *const query_help[] = {
    "usage: etwas query [OPTION...] SESSION...\n"
    "       etwas query [OPTION...] all\n"
    "\n",
    "Says all about sessions, or all of them.\n"
    "\n"
    "  -j, --json   one JSON object a session\n"
    "  -h, --help   this text\n"
    "\n",
    keys_help,
    "\n"
    "Exit codes: see 'etwas --help'; 2 where there is no such session,\n"
    "3 where one of all cannot be read.\n",
    NULL,
};

static const struct option named[] = {
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool take_option(void *is_json, int option)
{
    *(bool *)is_json = option == 'j';
    return option == 'j';
}

static int finish(int result)
{
    return etwas_output_finish(etwas_standard_output()) ? result : ETWAS_EXIT_OUTPUT;
}

int etwas_command_ps(int argc, char **argv)
{
    static const struct etwas_options options = {"ps", ps_help, named, "jh", take_option};
    struct etwas_output *output = etwas_standard_output();
    struct etwas_steer_found found;
    bool is_json = false;
    int result;

    if (!etwas_options_read(&options, argc, argv, &is_json, &result) ||
        !etwas_options_fit(&options, optind < argc ? "it takes no names; 'etwas query' does" : NULL,
                           &result)) {
        return result;
    }
    if (!etwas_steer_find_running("etwas ps", &found)) {
        return ETWAS_EXIT_OPEN;
    }
    result = found.is_partial ? ETWAS_EXIT_DAMAGED : ETWAS_EXIT_FINE;
    if (is_json) {
        for (uint32_t i = 0; i < found.session_count; i++) {
            etwas_steer_json_session(output, &found.sessions[i]);
        }
        for (uint32_t i = 0; i < found.provider_count; i++) {
            etwas_steer_json_provider(output, &found, &found.providers[i]);
        }
    } else if (!etwas_steer_show_list(output, &found)) {
        fputs("etwas ps: not enough memory\n", stderr);
        result = ETWAS_EXIT_OPEN;
    }
    etwas_steer_found_free(&found);
    return finish(result);
}

/* ---- query ----------------------------------------------------------------------------------- */

static void show(const struct etwas_steer_found_session *session, bool is_json)
{
    struct etwas_output *output = etwas_standard_output();

    if (is_json) {
        etwas_steer_json_session(output, session);
    } else {
        etwas_steer_show_session(output, session);
    }
}

static int query_all(bool is_json)
{
    struct etwas_steer_found found;
    int result;

    if (!etwas_steer_find_running("etwas query", &found)) {
        return ETWAS_EXIT_OPEN;
    }
    result = found.is_partial ? ETWAS_EXIT_DAMAGED : ETWAS_EXIT_FINE;
    for (uint32_t i = 0; i < found.session_count; i++) {
        show(&found.sessions[i], is_json);
    }
    etwas_steer_found_free(&found);
    return result;
}

int etwas_command_query(int argc, char **argv)
{
    static const struct etwas_options options = {"query", query_help, named, "jh", take_option};
    static struct etwas_steer_found_session session;
    bool is_json = false;
    int result;

    if (!etwas_options_read(&options, argc, argv, &is_json, &result) ||
        !etwas_options_fit(&options, optind == argc ? "which session, or all?" : NULL, &result)) {
        return result;
    }
    if (argc - optind == 1 && strcmp(argv[optind], "all") == 0) {
        return finish(query_all(is_json));
    }
    result = ETWAS_EXIT_FINE;
    for (int i = optind; i < argc; i++) {
        if (etwas_steer_find_session("etwas query", argv[i], &session)) {
            show(&session, is_json);
        } else {
            result = ETWAS_EXIT_OPEN;
        }
    }
    return finish(result);
}
