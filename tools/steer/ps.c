/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The commands `etwas ps` and `etwas query`: show what is running, and one session in detail. */

#include "cli/command.h"
#include "commands.h"
#include "exit.h"
#include "steer/show.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

struct request {
    int form; /* enum etwas_form */
};

static int finish(int result)
{
    return etwas_output_finish(etwas_standard_output()) ? result : ETWAS_EXIT_OUTPUT;
}

static int run_ps(int argc, char **argv)
{
    struct etwas_output *output = etwas_standard_output();
    struct etwas_steer_found found;
    struct request request = {0};
    int result;

    if (!etwas_command_read(&etwas_ps_command, argc, argv, &request, &result) ||
        !etwas_command_fits(&etwas_ps_command,
                            optind < argc ? "it takes no names; 'etwas query' does" : NULL,
                            &result)) {
        return result;
    }
    if (!etwas_steer_find_running("etwas ps", &found)) {
        return ETWAS_EXIT_FAILED;
    }
    result = found.is_partial ? ETWAS_EXIT_DAMAGED : ETWAS_EXIT_DONE;
    if (request.form == ETWAS_FORM_JSON) {
        for (uint32_t i = 0; i < found.session_count; i++) {
            etwas_steer_json_session(output, &found.sessions[i]);
        }
        for (uint32_t i = 0; i < found.provider_count; i++) {
            etwas_steer_json_provider(output, &found, &found.providers[i]);
        }
    } else {
        etwas_steer_show_list(output, &found);
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
        return ETWAS_EXIT_FAILED;
    }
    result = found.is_partial ? ETWAS_EXIT_DAMAGED : ETWAS_EXIT_DONE;
    for (uint32_t i = 0; i < found.session_count; i++) {
        show(&found.sessions[i], is_json);
    }
    etwas_steer_found_free(&found);
    return result;
}

static int run_query(int argc, char **argv)
{
    static struct etwas_steer_found_session session;
    struct request request = {0};
    bool is_json;
    int result;

    if (!etwas_command_read(&etwas_query_command, argc, argv, &request, &result) ||
        !etwas_command_fits(&etwas_query_command, optind == argc ? "which session, or all?" : NULL,
                            &result)) {
        return result;
    }
    is_json = request.form == ETWAS_FORM_JSON;
    if (argc - optind == 1 && strcmp(argv[optind], "all") == 0) {
        return finish(query_all(is_json));
    }
    result = ETWAS_EXIT_DONE;
    for (int i = optind; i < argc; i++) {
        if (etwas_steer_find_session("etwas query", argv[i], &session)) {
            show(&session, is_json);
        } else {
            result = ETWAS_EXIT_FAILED;
        }
    }
    return finish(result);
}

/* ---- the commands ---------------------------------------------------------------------------- */

static const struct etwas_option ps_options[] = {
    ETWAS_JSON_OPTION(struct request, form, "an object a line: sessions, then providers"),
    ETWAS_COLOR_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_ps_command = {
    .name = "ps",
    .summary = "show sessions and providers that run",
    .usages = (const char *const[]){"[OPTION...]", NULL},
    .description =
        "Shows the event tracing sessions of all of the user's processes, a line each, and behind "
        "them the providers in these processes.",
    .details =
        (const char *const[]){
            "Of each session it shows its name, the process that hosts it, its events and those "
            "that it has lost, its buffers, clock and mode, and its file. Of a flight recorder it "
            "shows for how long back everything is there.",
            "Of each provider it shows its name, if it says one, its GUID, and the sessions that "
            "enable it. Where some are in another runtime folder than programs that begin now, it "
            "shows the folder.",
            "Where a session or a provider cannot be read, the exit status is 3.",
            NULL,
        },
    .options = ps_options,
    .examples =
        (const struct etwas_example[]){
            {"etwas ps", "Show what runs."},
            {"etwas ps --json | jq 'select(.kind == \"session\" and .lost > 0)'",
             "Find sessions that have lost events."},
            {NULL, NULL},
        },
    .run = run_ps,
};

static const struct etwas_option query_options[] = {
    ETWAS_JSON_OPTION(struct request, form, "an object a line for each session"),
    {.name = NULL},
};

const struct etwas_command etwas_query_command = {
    .name = "query",
    .summary = "say all about sessions",
    .usages = (const char *const[]){"[OPTION...] SESSION...", "[OPTION...] all", NULL},
    .description = "Says all about some sessions, or about all of them.",
    .details =
        (const char *const[]){
            "If there is no such session, the exit status is 2. If one of all cannot be read, it "
            "is 3.",
            NULL,
        },
    .options = query_options,
    .examples =
        (const struct etwas_example[]){
            {"etwas query shop", "Say all about a session."},
            {"etwas query --json all | jq .buffers", "Find how many buffers each session has."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_SESSIONS,
    .run = run_query,
};
