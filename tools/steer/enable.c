/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The commands `etwas enable` and `etwas disable`.
 */

#include <etwas/etwas.h>
#include <etwas/evntcons.h>

#include "cli/options.h"
#include "commands.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/filters.h"
#include "steer/number.h"
#include "steer/provider.h"
#include "steer/session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const enable_help[] = {
    "usage: etwas enable [OPTION...] SESSION PROVIDER...\n"
    "\n",
    "Enables providers in a session, in all of the user's processes, those that start\n"
    "later too. What was asked of a provider before is replaced. PROVIDER is a GUID,\n"
    "or a name: of a provider that a process has registered, else the GUID is made of\n"
    "it as TraceLogging and EventSource do; it is said which. Names of system\n"
    "providers (SystemProcessProvider) are for system loggers.\n"
    "\n",
    "  -l, --level LEVEL    up to which level: a number, 0 and 255 (the default) are\n"
    "                       all, or critical, error, warning, information, verbose\n"
    "  --any KEYWORDS       events with one of these bits, as 0x11; 0 are all, the\n"
    "                       default\n"
    "  --all KEYWORDS       and with every one of these\n"
    "  --property NAMES     what is added to events, with commas between: sid, ts_id,\n"
    "                       stack, event_key, process_start_key, container, counters;\n"
    "                       what is left out: keyword_0, inprivate; group, where\n"
    "                       PROVIDER is one; or a number\n"
    "  --pid PID,...        in these processes alone, 8 at most\n"
    "  --exe NAME;...       in programs alone whose files have these names\n"
    "  --id ID,...          of modern providers events with these ids, 64 at most\n"
    "  --timeout MS         how long to wait for providers to have heard of it, 1000\n"
    "                       unless others are said; 0 does not wait\n"
    "  --capture-state      asks enabled providers for their state instead\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: see 'etwas --help'; 2 where one could not be; the others are.\n"
    "\n"
    "Examples:\n"
    "  etwas enable recorder Shop.Till --level warning\n"
    "  etwas enable --exe shop --any 3 rec 5ab7a3c2-1f0e-4d7b-9a31-6e02d48c7710\n",
    NULL,
};

static const char *const disable_help[] = {
    "usage: etwas disable [--timeout MS] SESSION PROVIDER...\n"
    "\n",
    "Disables providers in a session. Of PROVIDER see 'etwas enable --help'.\n"
    "\n"
    "  --timeout MS   how long to wait for them to have heard of it; default: 1000\n"
    "  -h, --help     this text\n"
    "\n"
    "Exit codes: see 'etwas --help'; 2 where one could not be; the others are.\n",
    NULL,
};

enum {
    ANY = 256,
    ALL,
    PROPERTY,
    PROCESS,
    PROGRAM,
    EVENT_ID,
    TIMEOUT,
    CAPTURE_STATE,
};

static const struct option enable_named[] = {
    {"level", required_argument, NULL, 'l'},
    {"any", required_argument, NULL, ANY},
    {"all", required_argument, NULL, ALL},
    {"property", required_argument, NULL, PROPERTY},
    {"pid", required_argument, NULL, PROCESS},
    {"exe", required_argument, NULL, PROGRAM},
    {"id", required_argument, NULL, EVENT_ID},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"capture-state", no_argument, NULL, CAPTURE_STATE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const struct option disable_named[] = {
    {"timeout", required_argument, NULL, TIMEOUT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct request {
    const char *command; /* "etwas enable" */
    uint32_t control_code;
    uint8_t level;
    uint64_t any;
    uint64_t all;
    uint32_t property;
    uint32_t timeout_ms;
    struct etwas_steer_filters filters;
};

/* ---- the command line ------------------------------------------------------------------------ */

static uint32_t property_of(const char *name, size_t length)
{
    static const struct property {
        const char *name;
        uint32_t bit;
    } properties[] = {
        {"sid", EVENT_ENABLE_PROPERTY_SID},
        {"ts_id", EVENT_ENABLE_PROPERTY_TS_ID},
        {"stack", EVENT_ENABLE_PROPERTY_STACK_TRACE},
        {"event_key", EVENT_ENABLE_PROPERTY_EVENT_KEY},
        {"process_start_key", EVENT_ENABLE_PROPERTY_PROCESS_START_KEY},
        {"container", EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING},
        {"counters", ETWAS_ENABLE_PROPERTY_COUNTERS},
        {"keyword_0", EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0},
        {"inprivate", EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE},
        {"group", EVENT_ENABLE_PROPERTY_PROVIDER_GROUP},
    };

    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        if (strlen(properties[i].name) == length &&
            strncasecmp(name, properties[i].name, length) == 0) {
            return properties[i].bit;
        }
    }
    return 0;
}

static bool parse_property(const char *text, uint32_t *property)
{
    if (etwas_steer_number_32(text, 0, UINT32_MAX, property)) {
        return true;
    }
    for (;;) {
        size_t length = strcspn(text, ",");
        uint32_t bit = property_of(text, length);

        *property |= bit;
        if (bit == 0 || text[length] == '\0') {
            return bit != 0;
        }
        text += length + 1;
    }
}

static bool take_option(void *context, int option)
{
    struct request *request = context;
    bool good = true;
    const char *takes = NULL;

    switch (option) {
    case 'l':
        takes = "--level takes a level, as warning or 3";
        good = etwas_steer_level(optarg, &request->level);
        break;
    case ANY:
        takes = "--any takes a number of 64 bits";
        good = etwas_steer_number(optarg, 0, UINT64_MAX, &request->any);
        break;
    case ALL:
        takes = "--all takes a number of 64 bits";
        good = etwas_steer_number(optarg, 0, UINT64_MAX, &request->all);
        break;
    case PROPERTY:
        takes = "--property takes names that its help has, with commas between them";
        good = parse_property(optarg, &request->property);
        break;
    case PROCESS:
        takes = "--pid takes up to 8 processes, once";
        good = etwas_steer_filter_processes(&request->filters, optarg);
        break;
    case PROGRAM:
        takes = "--exe takes names with ; between them, up to 511 characters, once";
        good = etwas_steer_filter_programs(&request->filters, optarg);
        break;
    case EVENT_ID:
        takes = "--id takes up to 64 numbers up to 65535, once";
        good = etwas_steer_filter_ids(&request->filters, optarg);
        break;
    case TIMEOUT:
        takes = "--timeout takes milliseconds";
        good = etwas_steer_number_32(optarg, 0, UINT32_MAX - 1, &request->timeout_ms);
        break;
    case CAPTURE_STATE:
        request->control_code = EVENT_CONTROL_CODE_CAPTURE_STATE;
        break;
    default: /* getopt_long has said what is wrong */
        return false;
    }
    if (!good) {
        fprintf(stderr, "%s: %s, not '%s'\n", request->command, takes, optarg);
    }
    return good;
}

/* ---- what is asked --------------------------------------------------------------------------- */

/* Which one it was: a name may be another provider's tomorrow. */
static void say_guid(const char *text, const etwas_guid *guid)
{
    struct etwas_output *output = etwas_standard_output();

    etwas_text_plain(output, text);
    etwas_output_text(output, ": ");
    etwas_text_guid(output, guid);
    etwas_output_char(output, '\n');
}

/* ETW lets all of it pass. A group has no registrations of its own. */
static void say_in_vain(const struct request *request, const char *text, const etwas_guid *guid,
                        bool is_enabled)
{
    if ((request->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0) {
        return;
    }
    if (request->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
        etwas_steer_report_unregistered(request->command, text, guid);
    } else if (!is_enabled) {
        etwas_steer_complain(request->command, text, "note: it is not enabled in this session");
    }
}

static bool ask(const struct request *request, TRACEHANDLE session, const char *text)
{
    struct etwas_steer_standing before;
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = request->property,
        .EnableFilterDesc = (EVENT_FILTER_DESCRIPTOR *)request->filters.descriptors,
        .FilterDescCount = request->filters.count,
    };
    etwas_guid guid;
    uint32_t code;

    if (!etwas_steer_find_provider(request->command, text, &guid)) {
        return false;
    }
    if (!etwas_steer_find_folder(&guid, session, &before)) {
        before.is_enabled = true; /* nothing is said of what is not known */
    }
    code = EnableTraceEx2(session, &guid, request->control_code, request->level, request->any,
                          request->all, request->timeout_ms, &parameters);
    if (code != ERROR_SUCCESS) {
        etwas_steer_complain(request->command, text,
                             request->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER
                                 ? etwas_steer_enable_reason(code)
                                 : etwas_steer_reason(code));
    }
    if (code != ERROR_SUCCESS && code != ERROR_TIMEOUT) {
        return false;
    }
    say_in_vain(request, text, &guid, before.is_enabled);
    say_guid(text, &guid);
    return true;
}

static int ask_all(const struct request *request, int count, char **names)
{
    static struct etwas_steer_block block;
    bool good = true;

    etwas_steer_prepare(&block);
    if (!etwas_steer_control(request->command, names[0], &block, EVENT_TRACE_CONTROL_QUERY)) {
        return ETWAS_EXIT_OPEN;
    }
    for (int i = 1; i < count; i++) {
        good = ask(request, block.properties.Wnode.HistoricalContext, names[i]) && good;
    }
    return !etwas_output_finish(etwas_standard_output()) ? ETWAS_EXIT_OUTPUT
           : good                                        ? ETWAS_EXIT_FINE
                                                         : ETWAS_EXIT_OPEN;
}

/* Returns what is wrong with the session and the providers; NULL: nothing. */
static const char *look_at(int count, char **names)
{
    etwas_guid guid;

    if (count < 2) {
        return "which session, and which provider?";
    }
    for (int i = 1; i < count; i++) {
        if (!etwas_steer_guid(names[i], &guid)) {
            return "a provider is a GUID or a name, and one of these is neither";
        }
    }
    return NULL;
}

static int run(const struct etwas_options *options, struct request *request, int argc, char **argv)
{
    int result;

    return etwas_options_read(options, argc, argv, request, &result) &&
                   etwas_options_fit(options, look_at(argc - optind, argv + optind), &result)
               ? ask_all(request, argc - optind, argv + optind)
               : result;
}

int etwas_command_enable(int argc, char **argv)
{
    static const struct etwas_options options = {"enable", enable_help, enable_named, "l:h",
                                                 take_option};
    struct request request = {.command = argv[0],
                              .timeout_ms = ETWAS_STEER_PATIENCE_MS,
                              .control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                              .level = ETWAS_STEER_ANY_LEVEL};

    return run(&options, &request, argc, argv);
}

int etwas_command_disable(int argc, char **argv)
{
    static const struct etwas_options options = {"disable", disable_help, disable_named, "h",
                                                 take_option};
    struct request request = {.command = argv[0],
                              .timeout_ms = ETWAS_STEER_PATIENCE_MS,
                              .control_code = EVENT_CONTROL_CODE_DISABLE_PROVIDER};

    return run(&options, &request, argc, argv);
}
