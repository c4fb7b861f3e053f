/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The commands `etwas enable` and `etwas disable`.
 */

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/shared.h>

#include "cli/command.h"
#include "cli/quiet.h"
#include "cli/value.h"
#include "commands.h"
#include "exit.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/filters.h"
#include "steer/provider.h"
#include "steer/session.h"

#include <getopt.h>
#include <string.h>
#include <strings.h>

#define NS_A_MS UINT64_C(1000000)

enum {
    NAME_BYTES = 24,   /* longest name of a property, with its 0 */
    MOST_NAMED = 1024, /* most matches of a pattern: as many as a process may enable */
};

struct request {
    const char *command; /* "etwas enable" */
    struct etwas_steer_request asked;
    bool captures; /* requests the state of enabled providers instead of enabling */
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
           etwas_option_refuse(use, ETWAS_STEER_A_LEVEL);
}

static bool read_property(const struct etwas_option_use *use)
{
    return parse_property(use->text, use->place) ||
           etwas_option_refuse(use, "a list of properties, such as stack,counters, or their bits");
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Prints the GUID, since a name may later belong to another provider. */
static void say_guid(const char *text, const etwas_guid *guid)
{
    struct etwas_output *output = etwas_standard_output();

    etwas_text_plain(output, text);
    etwas_output_text(output, ": ");
    etwas_text_guid(output, guid);
    etwas_output_char(output, '\n');
}

/* Appends the providers that are registered now with a name or pattern to those listed. */
static uint32_t list_named(const char *text, etwas_guid *guids, uint32_t count)
{
    uint32_t named = 0;

    (void)etwas_provider_guids(text, guids + count, MOST_NAMED - count, &named);
    return count + named;
}

static void say_target(const char *text, const struct etwas_steer_target *target)
{
    char name[ETWAS_STEER_PROVIDER_BYTES];
    etwas_guid guids[MOST_NAMED];
    uint32_t count;

    if (!target->is_pattern) {
        say_guid(text, &target->guid);
        return;
    }
    count = list_named(text, guids, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (etwas_steer_provider_name(&guids[i], name)) {
            say_guid(name, &guids[i]);
        }
    }
    if (count == MOST_NAMED) {
        etwas_output_text(etwas_standard_output(), "and more\n");
    }
}

static bool is_enabled(const etwas_guid *guid, TRACEHANDLE session)
{
    struct etwas_steer_standing standing;

    return etwas_steer_find_folder(guid, session, &standing) && standing.is_enabled;
}

/* The session may also enable the provider by another name, until that is disabled. */
static void note_still_enabled(const char *command, const etwas_guid *guid)
{
    struct etwas_output *errors = etwas_standard_error();
    char name[ETWAS_STEER_PROVIDER_BYTES];

    etwas_output_format(errors, "%s: '", command);
    if (etwas_steer_provider_name(guid, name)) {
        etwas_text_plain(errors, name);
    } else {
        etwas_text_guid(errors, guid);
    }
    etwas_output_text(errors, "': note: it is still enabled, by a name or pattern that it fits. "
                              "'etwas ps' shows which: disable that\n");
    etwas_output_flush(errors);
}

/*
 * Disables what a text names, or requests its state: what was enabled by that text, and else the
 * enabled providers of that name.
 */
static bool ask_enabled(const struct request *request, TRACEHANDLE session, const char *text,
                        const struct etwas_steer_target *target)
{
    const bool disables = request->asked.control_code == EVENT_CONTROL_CODE_DISABLE_PROVIDER;
    struct etwas_steer_target one = *target;
    etwas_guid guids[MOST_NAMED];
    uint32_t count = list_named(text, guids, 1);
    bool asks_once = false; /* one request by that text reaches all that it enabled */
    bool any = false;
    bool good = true;

    (void)etwas_steer_guid(text, &guids[0]);
    for (uint32_t i = 0; i < count && !asks_once; i++) {
        one.guid = guids[i];
        if (is_enabled(&guids[i], session)) {
            uint32_t code = etwas_steer_request(session, &one, &request->asked);

            any = true;
            asks_once = !disables && i == 0;
            if (code != ERROR_SUCCESS) {
                etwas_steer_complain(request->command, text, etwas_steer_reason(code));
            }
            good = (code == ERROR_SUCCESS || code == ERROR_TIMEOUT) && good;
        }
    }
    if (!any && !etwas_is_quiet) {
        etwas_steer_complain(request->command, text, "note: it is not enabled in this session");
    }
    for (uint32_t i = 0; disables && !etwas_is_quiet && i < count; i++) {
        if (is_enabled(&guids[i], session)) {
            note_still_enabled(request->command, &guids[i]);
        }
    }
    return good;
}

static bool ask(const struct request *request, TRACEHANDLE session, const char *text)
{
    struct etwas_steer_target target;
    bool enables = request->asked.control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;

    /*
     * Only enabled providers are disabled or captured, so one that may be registered later is not a
     * target.
     */
    if (!etwas_steer_find_provider(request->command, text, !enables, &target) ||
        !(enables
              ? etwas_steer_enable_target(request->command, session, text, &target, &request->asked)
              : ask_enabled(request, session, text, &target))) {
        return false;
    }
    say_target(text, &target);
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

/* Returns what is wrong with the session or the providers; NULL if nothing is. */
static const char *misuse(const struct request *request, int count, char **names)
{
    bool is_group = (request->asked.property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0;
    etwas_guid guid;

    if (count < 2) {
        return "which session, and which provider?";
    }
    for (int i = 1; i < count; i++) {
        if (!etwas_steer_guid(names[i], &guid)) {
            return "a provider is a GUID or a name, and one of these is neither";
        }
        if (is_group && strpbrk(names[i], "*?") != NULL) {
            return "a group has no name that a pattern could be for";
        }
    }
    return NULL;
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int run(const struct etwas_command *command, struct request *request, int argc, char **argv)
{
    int result;

    if (!etwas_command_read(command, argc, argv, request, &result) ||
        !etwas_command_fits(command, misuse(request, argc - optind, argv + optind), &result)) {
        return result;
    }
    if (request->captures) {
        request->asked.control_code = EVENT_CONTROL_CODE_CAPTURE_STATE;
    }
    request->asked.timeout_ms = (uint32_t)((request->timeout_ns + NS_A_MS - 1) / NS_A_MS);
    request->asked.filters = &request->filters;
    return ask_all(request, argc - optind, argv + optind);
}

static int run_enable(int argc, char **argv)
{
    struct request request = {
        .command = "etwas enable",
        .timeout_ns = ETWAS_STEER_PATIENCE_MS * NS_A_MS,
        .asked = {.control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                  .level = ETWAS_STEER_ANY_LEVEL},
    };

    return run(&etwas_enable_command, &request, argc, argv);
}

static int run_disable(int argc, char **argv)
{
    struct request request = {
        .command = "etwas disable",
        .timeout_ns = ETWAS_STEER_PATIENCE_MS * NS_A_MS,
        .asked = {.control_code = EVENT_CONTROL_CODE_DISABLE_PROVIDER},
    };

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
     ETWAS_PLACE(struct request, asked.level)},
    {.name = "any",
     .value = "KEYWORDS",
     .help = "events with one of these bits, such as 0x11 (0: all)",
     .type = ETWAS_OPTION_COUNT,
     ETWAS_PLACE(struct request, asked.any)},
    {.name = "all-keywords",
     .value = "KEYWORDS",
     .help = "and with every one of these",
     .type = ETWAS_OPTION_COUNT,
     ETWAS_PLACE(struct request, asked.all)},
    {.name = "property",
     .value = "NAMES",
     .help = "what is added, such as stack,counters; or left out",
     .type = ETWAS_OPTION_READ,
     .read = read_property,
     ETWAS_PLACE(struct request, asked.property)},
    ETWAS_STEER_FILTER_OPTIONS(struct request, filters, "Filters",
                               "only in these processes, 8 at most"),
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
            "registered. Else the GUID is made of it, as TraceLogging and EventSource do, and a "
            "provider that comes with this name and another GUID is enabled too. It is said "
            "which. Names of system providers (SystemProcessProvider) are for system loggers.",
            ETWAS_STEER_PATTERN_TEXT,
            "LEVEL is critical, error, warning, information or verbose, or a number. 0 and 255 are "
            "all.",
            "--property adds to events sid, ts_id, stack, event_key, process_start_key, container "
            "and counters. It leaves out keyword_0 and inprivate. group says that PROVIDER is one. "
            "A number is the bits themselves.",
            ETWAS_STEER_EVENT_TEXT,
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
            {"etwas enable --event 'Order*,Sale' recorder 'Shop.*'",
             "Enable some events of every provider whose name begins so."},
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
            "A pattern, with * and ?, disables what was enabled by it, and providers that have "
            "such "
            "a name. What another pattern enables as well stays so, which is noted.",
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
