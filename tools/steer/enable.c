/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The commands `etwas enable` and `etwas disable`.
 */

#include <etwas/etwas.h>
#include <etwas/evntcons.h>

#include "cli/command.h"
#include "cli/value.h"
#include "commands.h"
#include "exit.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/filters.h"
#include "steer/provider.h"
#include "steer/session.h"

#include <getopt.h>
#include <stdio.h>
#include <strings.h>

#define NS_A_MS UINT64_C(1000000)

enum {
    NAME_BYTES = 24, /* of a property */
};

struct request {
    const char *command; /* "etwas enable" */
    uint32_t control_code;
    uint8_t level;
    uint64_t any;
    uint64_t all;
    uint32_t property;
    bool captures; /* the state of enabled providers is asked for instead */
    uint64_t timeout_ns;
    struct etwas_steer_filters filters;
};

/* ---- the command line ------------------------------------------------------------------------ */

static uint32_t property_of(const char *name)
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
        if (strcasecmp(name, properties[i].name) == 0) {
            return properties[i].bit;
        }
    }
    return 0;
}

static bool parse_property(const char *list, uint32_t *property)
{
    char name[NAME_BYTES];
    uint64_t number;

    if (etwas_value_count(list, &number) && number <= UINT32_MAX) {
        *property = (uint32_t)number;
        return true;
    }
    while (etwas_value_item(&list, name, sizeof name)) {
        uint32_t bit = property_of(name);

        *property |= bit;
        if (bit == 0) {
            return false;
        }
    }
    return list == NULL && *property != 0;
}

static bool read_level(const struct etwas_option_use *use)
{
    return etwas_steer_level(use->text, use->place) ||
           etwas_option_refuse(use, "a level: warning, or a number up to 255");
}

static bool read_property(const struct etwas_option_use *use)
{
    return parse_property(use->text, use->place) ||
           etwas_option_refuse(use, "a list of properties, such as stack,counters, or their bits");
}

/* A session has one filter of a type. */
static bool is_first(const struct etwas_option_use *use, uint32_t type)
{
    if (etwas_steer_has_filter(use->place, type)) {
        fprintf(stderr, "etwas %s: --%s: it was given before. One list, with commas, takes all\n",
                use->command, use->option->name);
        return false;
    }
    return true;
}

static bool read_processes(const struct etwas_option_use *use)
{
    return is_first(use, EVENT_FILTER_TYPE_PID) &&
           (etwas_steer_filter_processes(use->place, use->text) ||
            etwas_option_refuse(use, "a list of up to 8 process ids"));
}

static bool read_programs(const struct etwas_option_use *use)
{
    return is_first(use, EVENT_FILTER_TYPE_EXECUTABLE_NAME) &&
           (etwas_steer_filter_programs(use->place, use->text) ||
            etwas_option_refuse(use, "a list of programs of up to 511 characters"));
}

static bool read_events(const struct etwas_option_use *use)
{
    return is_first(use, EVENT_FILTER_TYPE_EVENT_ID) &&
           (etwas_steer_filter_ids(use->place, use->text) ||
            etwas_option_refuse(use, "a list of up to 64 event ids up to 65535"));
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
    if (etwas_is_quiet || (request->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0) {
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
                          request->all, (uint32_t)((request->timeout_ns + NS_A_MS - 1) / NS_A_MS),
                          &parameters);
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
        return ETWAS_EXIT_FAILED;
    }
    for (int i = 1; i < count; i++) {
        good = ask(request, block.properties.Wnode.HistoricalContext, names[i]) && good;
    }
    return !etwas_output_finish(etwas_standard_output()) ? ETWAS_EXIT_OUTPUT
           : good                                        ? ETWAS_EXIT_DONE
                                                         : ETWAS_EXIT_FAILED;
}

/* Returns what is wrong with the session and the providers; NULL: nothing. */
static const char *misuse(int count, char **names)
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

/* ---- the commands ---------------------------------------------------------------------------- */

static int run(const struct etwas_command *command, struct request *request, int argc, char **argv)
{
    int result;

    if (!etwas_command_read(command, argc, argv, request, &result) ||
        !etwas_command_fits(command, misuse(argc - optind, argv + optind), &result)) {
        return result;
    }
    if (request->captures) {
        request->control_code = EVENT_CONTROL_CODE_CAPTURE_STATE;
    }
    return ask_all(request, argc - optind, argv + optind);
}

static int run_enable(int argc, char **argv)
{
    struct request request = {.command = "etwas enable",
                              .timeout_ns = ETWAS_STEER_PATIENCE_MS * NS_A_MS,
                              .control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                              .level = ETWAS_STEER_ANY_LEVEL};

    return run(&etwas_enable_command, &request, argc, argv);
}

static int run_disable(int argc, char **argv)
{
    struct request request = {.command = "etwas disable",
                              .timeout_ns = ETWAS_STEER_PATIENCE_MS * NS_A_MS,
                              .control_code = EVENT_CONTROL_CODE_DISABLE_PROVIDER};

    return run(&etwas_disable_command, &request, argc, argv);
}

#define TIMEOUT_OPTION                                                                             \
    {                                                                                              \
        .name = "timeout", .value = "DURATION",                                                    \
        .help = "how long to wait for providers, in s (1)", .type = ETWAS_OPTION_DURATION,         \
        .most = (UINT32_MAX - 1) * NS_A_MS, .unit = 1000 * NS_A_MS,                                \
        ETWAS_PLACE(struct request, timeout_ns),                                                   \
    }

static const struct etwas_option enable_options[] = {
    {.name = "level",
     .value = "LEVEL",
     .help = "up to this level: warning, or a number (all)",
     .type = ETWAS_OPTION_READ,
     .read = read_level,
     ETWAS_PLACE(struct request, level)},
    {.name = "any",
     .value = "KEYWORDS",
     .help = "events with one of these bits, such as 0x11 (0: all)",
     .type = ETWAS_OPTION_COUNT,
     ETWAS_PLACE(struct request, any)},
    {.name = "all-keywords",
     .value = "KEYWORDS",
     .help = "and with every one of these",
     .type = ETWAS_OPTION_COUNT,
     ETWAS_PLACE(struct request, all)},
    {.name = "property",
     .value = "NAMES",
     .help = "what is added, such as stack,counters; or left out",
     .type = ETWAS_OPTION_READ,
     .read = read_property,
     ETWAS_PLACE(struct request, property)},
    {.name = "pid",
     .letter = 'p',
     .value = "LIST",
     .group = "Filters",
     .help = "only in these processes, 8 at most",
     .type = ETWAS_OPTION_READ,
     .read = read_processes,
     ETWAS_PLACE(struct request, filters)},
    {.name = "process",
     .value = "NAME",
     .help = "only in programs of these names, with commas between",
     .type = ETWAS_OPTION_READ,
     .read = read_programs,
     ETWAS_PLACE(struct request, filters)},
    {.name = "event",
     .value = "LIST",
     .help = "only events with these ids, 64 at most",
     .type = ETWAS_OPTION_READ,
     .read = read_events,
     ETWAS_PLACE(struct request, filters)},
    {.name = "capture-state",
     .group = "How it is done",
     .help = "ask enabled providers for their state instead",
     .type = ETWAS_OPTION_FLAG,
     ETWAS_PLACE(struct request, captures)},
    TIMEOUT_OPTION,
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_enable_command = {
    .name = "enable",
    .summary = "enable providers in a session",
    .usages = (const char *const[]){"[OPTION...] SESSION PROVIDER...", NULL},
    .description =
        "Enables providers in a session, in all of the user's processes, also in those that start "
        "later. What was asked of a provider before is replaced.",
    .details =
        (const char *const[]){
            "PROVIDER is a GUID or a name. A name is that of a provider that a process has "
            "registered. Else the GUID is made of it, as TraceLogging and EventSource do. It is "
            "said which. Names of system providers (SystemProcessProvider) are for system loggers.",
            "LEVEL is critical, error, warning, information or verbose, or a number. 0 and 255 are "
            "all.",
            "--property adds to events sid, ts_id, stack, event_key, process_start_key, container "
            "and counters. It leaves out keyword_0 and inprivate. group says that PROVIDER is one. "
            "A number is the bits themselves.",
            "--event is for modern providers. --pid, --process and --event take lists with commas.",
            "--timeout is how long to wait until providers have heard of it. 0 does not wait.",
            "If one provider cannot be enabled, the others are, and the exit status is 2.",
            NULL,
        },
    .options = enable_options,
    .examples =
        (const struct etwas_example[]){
            {"etwas enable --level warning recorder Shop.Till", "Enable a provider by its name."},
            {"etwas enable --process shop --any 3 rec 5ab7a3c2-1f0e-4d7b-9a31-6e02d48c7710",
             "Enable some keywords of a GUID in one program."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_SESSIONS,
    .run = run_enable,
};

static const struct etwas_option disable_options[] = {
    TIMEOUT_OPTION,
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_disable_command = {
    .name = "disable",
    .summary = "disable providers in a session",
    .usages = (const char *const[]){"[OPTION...] SESSION PROVIDER...", NULL},
    .description = "Disables providers in a session. PROVIDER is what etwas enable takes.",
    .details =
        (const char *const[]){
            "--timeout is how long to wait until providers have heard of it. 0 does not wait.",
            "If one provider cannot be disabled, the others are, and the exit status is 2.",
            NULL,
        },
    .options = disable_options,
    .examples =
        (const struct etwas_example[]){
            {"etwas disable shop Shop.Till", "Disable a provider by its name."},
            {"etwas disable --timeout 0 shop Shop.Till Shop.Stock",
             "Disable two, and wait for neither."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_SESSIONS,
    .run = run_disable,
};
