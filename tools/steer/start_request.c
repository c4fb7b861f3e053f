/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads and carries out the command line of a session. */

#include <etwas/etwas.h>

#include "steer/start_request.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/quiet.h"
#include "cli/replace.h"
#include "print/human.h"

#define NS_A_MS UINT64_C(1000000)
#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define DEFAULT_BYTES (64 * KIB) /* default size of a buffer; --help states it too */

/* ---- its options ----------------------------------------------------------------------------- */

static bool read_provider(const struct etwas_option_use *use)
{
    struct etwas_steer_start_request *request = use->request;

    if (request->provider_count == ETWAS_STEER_PROVIDERS) {
        fprintf(stderr, "etwas %s: --enable: at most %d providers. 'etwas enable' takes more\n",
                use->command, ETWAS_STEER_PROVIDERS);
        return false;
    }
    if (!etwas_steer_read_provider(use, &request->providers[request->provider_count])) {
        return false;
    }
    request->provider_count++;
    return true;
}

static const char *const clocks[] = {
    [ETWAS_CLOCK_QPC - 1] = "qpc",
    [ETWAS_CLOCK_SYSTEM_TIME - 1] = "system",
    [ETWAS_CLOCK_TSC - 1] = "tsc",
    NULL,
};

const struct etwas_option etwas_steer_start_options[] = {
    ETWAS_TRACE_OPTIONS(struct etwas_steer_start_request, output.path, output.force,
                        "the log file, or where a recorder's snapshots go"),
    {.name = "enable",
     .letter = 'e',
     .value = "PROVIDER[:KEYWORDS[:LEVEL]]",
     .help = "a provider from the start on; may be repeated",
     .type = ETWAS_OPTION_READ,
     .source = ETWAS_VALUES_PROVIDERS,
     .read = read_provider},
    ETWAS_STEER_FILTER_OPTIONS(struct etwas_steer_start_request, filters, NULL,
                               "only in these processes, 8 at most"),
    {.name = "autologger",
     .value = "NAME",
     .help = "the session that NAME.autologger describes, or a path",
     .type = ETWAS_OPTION_TEXT,
     .source = ETWAS_VALUES_FILES,
     ETWAS_PLACE(struct etwas_steer_start_request, autologger)},
    {.name = "clock",
     .value = "NAME",
     .help = "stamps events: qpc, system or tsc (qpc)",
     .type = ETWAS_OPTION_CHOICE,
     .choices = clocks,
     ETWAS_PLACE(struct etwas_steer_start_request, clock)},
    {.name = "buffer-size",
     .value = "SIZE",
     .group = "Buffers and file",
     .help = "of each buffer, in KiB: 4 to 16384 (64)",
     .type = ETWAS_OPTION_SIZE,
     .least = 4 * KIB,
     .most = 16384 * KIB,
     .unit = KIB,
     ETWAS_PLACE(struct etwas_steer_start_request, buffer_bytes)},
    {.name = "min-buffers",
     .value = "N",
     .help = "buffers from the start on; all that a recorder has",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = UINT32_MAX,
     ETWAS_PLACE(struct etwas_steer_start_request, minimum_buffers)},
    {.name = "max-buffers",
     .value = "N",
     .help = "buffers at most",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = UINT32_MAX,
     ETWAS_PLACE(struct etwas_steer_start_request, maximum_buffers)},
    {.name = "flush",
     .value = "DURATION",
     .help = "how often buffers are written, full or not, in ms",
     .type = ETWAS_OPTION_DURATION,
     .least = 1,
     .most = UINT32_MAX * NS_A_MS,
     .unit = NS_A_MS,
     ETWAS_PLACE(struct etwas_steer_start_request, flush_ns)},
    {.name = "max-size",
     .value = "SIZE",
     .help = "of the log file, in MiB; the session ends with it",
     .type = ETWAS_OPTION_SIZE,
     .least = 1,
     .most = UINT32_MAX * KIB,
     .unit = MIB,
     ETWAS_PLACE(struct etwas_steer_start_request, maximum_bytes)},
    {.name = "buffering",
     .help = "a flight recorder: the newest events, in memory",
     .type = ETWAS_OPTION_FLAG,
     ETWAS_PLACE(struct etwas_steer_start_request, buffering)},
    ETWAS_FLAG_OPTION(struct etwas_steer_start_request, circular, "circular",
                      "a file of --max-size: the oldest are replaced"),
    ETWAS_FLAG_OPTION(struct etwas_steer_start_request, new_file, "newfile",
                      "files of --max-size, with a number for %d in PATH"),
    ETWAS_FLAG_OPTION(struct etwas_steer_start_request, append, "append",
                      "behind what PATH has; needs --buffer-size"),
    ETWAS_FLAG_OPTION(struct etwas_steer_start_request, compress, "compress",
                      "compress the buffers of the file"),
    ETWAS_FLAG_OPTION(struct etwas_steer_start_request, real_time, "realtime",
                      "for consumers; with -o also to the file"),
    {.name = "mode",
     .value = "BITS",
     .help = "other bits of LogFileMode, such as 0x08000000",
     .type = ETWAS_OPTION_COUNT,
     .most = UINT32_MAX,
     ETWAS_PLACE(struct etwas_steer_start_request, mode)},
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

static uint32_t mode_of(const struct etwas_steer_start_request *request)
{
    return request->mode | (request->buffering ? EVENT_TRACE_BUFFERING_MODE : 0U) |
           (request->circular ? EVENT_TRACE_FILE_MODE_CIRCULAR : 0U) |
           (request->new_file ? EVENT_TRACE_FILE_MODE_NEWFILE : 0U) |
           (request->append ? EVENT_TRACE_FILE_MODE_APPEND : 0U) |
           (request->compress ? EVENT_TRACE_COMPRESSED_MODE : 0U) |
           (request->real_time ? EVENT_TRACE_REAL_TIME_MODE : 0U);
}

/* Returns whether there are options besides --autologger. */
static bool has_options(const struct etwas_steer_start_request *request)
{
    return request->output.path != NULL || request->output.force || request->provider_count != 0 ||
           request->clock != ETWAS_STEER_NO_CLOCK || request->buffer_bytes != 0 ||
           request->minimum_buffers != 0 || request->maximum_buffers != 0 ||
           request->flush_ns != 0 || request->maximum_bytes != 0 || request->log_file_mode != 0 ||
           etwas_steer_filters_are_any(&request->filters);
}

/* Returns which two options exclude each other; NULL if none do. */
static const char *excluding(const struct etwas_steer_start_request *request)
{
    const struct {
        bool is_given;
        const char *text;
    } pairs[] = {
        {request->buffering && request->real_time, "--buffering and --realtime"},
        {request->buffering && request->circular, "--buffering and --circular"},
        {request->buffering && request->new_file, "--buffering and --newfile"},
        {request->buffering && request->append, "--buffering and --append"},
        {request->circular && request->new_file, "--circular and --newfile"},
        {request->circular && request->append, "--circular and --append"},
        {request->circular && request->compress, "--circular and --compress"},
        {request->append && request->new_file, "--append and --newfile"},
        {request->append && request->real_time, "--append and --realtime"},
    };
    static char text[64];

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].is_given) {
            (void)snprintf(text, sizeof text, "%s exclude each other", pairs[i].text);
            return text;
        }
    }
    return NULL;
}

/* Returns what is wrong with the options or names; NULL if nothing is. */
static const char *misuse(const struct etwas_steer_start_request *request, int count, char **names)
{
    const uint32_t without_file = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_REAL_TIME_MODE;
    const uint32_t sized = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE |
                           EVENT_TRACE_FILE_MODE_PREALLOCATE;
    bool appends = (request->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0;

    if (request->autologger != NULL) {
        return has_options(request) || count != 0
                   ? "--autologger: its file says all, the session's name too. Leave out the rest"
                   : NULL;
    }
    if (count != 1 || names[0][0] == '\0') {
        return count > 1 ? "one session at a time" : "which session?";
    }
    if (excluding(request) != NULL) {
        return excluding(request);
    }
    if (request->provider_count == 0 && etwas_steer_filters_are_any(&request->filters)) {
        return "--pid, --process and --event choose of what --enable names, and it is missing";
    }
    if (request->output.path == NULL && (request->log_file_mode & without_file) == 0) {
        return "--output is missing. Without it a session needs --buffering or --realtime";
    }
    if (request->output.force && (request->output.path == NULL || appends)) {
        return "--force goes with --output, and not with --append";
    }
    if ((request->log_file_mode & sized) != 0 && request->maximum_bytes == 0) {
        return "--max-size is missing. --circular, --newfile and preallocation need it";
    }
    return request->maximum_buffers != 0 && request->maximum_buffers < request->minimum_buffers
               ? "--max-buffers is less than --min-buffers"
               : NULL;
}

/* An AutoLogger may be a path. Paths are relative to the current folder, so makes them absolute. */
static bool name_file(struct etwas_steer_start_request *request)
{
    const char *path = request->output.path;

    if (request->autologger != NULL && strchr(request->autologger, '/') != NULL) {
        path = request->autologger;
        request->autologger = request->file_name;
    }
    return path == NULL || etwas_steer_name_file("etwas start", path, request->file_name);
}

bool etwas_steer_start_request_read(struct etwas_steer_start_request *request, int argc,
                                    char **argv, int *result)
{
    *request = (struct etwas_steer_start_request){.clock = ETWAS_STEER_NO_CLOCK};
    if (!etwas_command_read(&etwas_start_command, argc, argv, request, result)) {
        return false;
    }
    request->log_file_mode = mode_of(request);
    if (!etwas_command_fits(&etwas_start_command, misuse(request, argc - optind, argv + optind),
                            result)) {
        return false;
    }
    request->name = request->autologger != NULL ? request->autologger : argv[optind];
    if (!name_file(request)) {
        *result = etwas_command_misused("start");
        return false;
    }
    return true;
}

/* ---- starting -------------------------------------------------------------------------------- */

/* Sets the size of the file in MiB, or in KiB if it is not a multiple of 1 MiB. */
static void set_file_size(etwas_session_options *options, uint64_t bytes)
{
    uint64_t unit = MIB;

    if (bytes % MIB != 0) {
        options->log_file_mode |= EVENT_TRACE_USE_KBYTES_FOR_SIZE;
    }
    if ((options->log_file_mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE) != 0) {
        unit = KIB;
    }
    options->maximum_file_size = (uint32_t)((bytes + unit - 1) / unit);
}

static etwas_session_options options_of(const struct etwas_steer_start_request *request)
{
    etwas_session_options options = {
        .log_file_mode = request->log_file_mode,
        .clock = (uint32_t)(request->clock - ETWAS_STEER_NO_CLOCK),
        .buffer_size_kb = (uint32_t)((request->buffer_bytes + KIB - 1) / KIB),
        .minimum_buffers = request->minimum_buffers,
        .maximum_buffers = request->maximum_buffers,
        .flush_timer = (uint32_t)((request->flush_ns + NS_A_MS - 1) / NS_A_MS),
        .sharing = ETWAS_SHARING_USER,
    };

    set_file_size(&options, request->maximum_bytes);
    if (request->flush_ns != 0) {
        options.log_file_mode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
    }
    if ((request->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0 && options.clock == 0) {
        options.clock = ETWAS_CLOCK_SYSTEM_TIME; /* the only clock that continues after a reboot */
    }
    return options;
}

/* Returns why a session cannot be shared. Only etwas-host could log to it, which has no events. */
static const char *unshared_reason(uint32_t log_file_mode)
{
    if ((log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0) {
        return "processes cannot share a session that appends to a file. Leave out --append";
    }
    if ((log_file_mode & EVENT_TRACE_ADDTO_TRIAGE_DUMP) != 0) {
        return "processes cannot share a crash-safe session whose runtime folder is on a disk, and "
               "none on a system without restartable sequences. Name a folder in memory "
               "(ETWAS_RUNTIME_DIR)";
    }
    return "processes cannot share a session of this mode, or this system has no restartable "
           "sequences (docs/howto/sessions.md)";
}

/* Returns what an error code of StartTrace means. */
static const char *start_reason(uint32_t code, uint32_t log_file_mode)
{
    const char *shortage;

    switch (code) {
    case ERROR_INVALID_PARAMETER:
        return "these options do not go together (docs/reference/modes.md), or the name is too "
               "long";
    case ERROR_NO_SYSTEM_RESOURCES:
        shortage = etwas_steer_shortage();
        return shortage != NULL ? shortage
                                : "64 sessions of this user run, and there can be no more ('etwas "
                                  "ps' lists them), or no more threads can be had";
    case ERROR_NOT_SUPPORTED:
        return unshared_reason(log_file_mode);
    default:
        return etwas_steer_reason(code);
    }
}

static void complain(const etwas_autologger_report *report, void *command)
{
    char place[PATH_MAX + 16];

    if (report->code == ERROR_SUCCESS) {
        return;
    }
    if (report->line != 0) {
        (void)snprintf(place, sizeof place, "%s:%u", report->path, report->line);
    } else {
        (void)snprintf(place, sizeof place, "%s", report->path);
    }
    etwas_steer_complain(command, place, report->reason);
}

bool etwas_steer_start_request_may_write(const struct etwas_steer_start_request *request,
                                         const char *command)
{
    bool is_file = request->autologger == NULL && request->output.path != NULL;

    if (!is_file || (request->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0) {
        return true;
    }
    return (request->log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0
               ? etwas_replace_may_numbered(command, request->file_name, request->output.force)
               : etwas_replace_may(command, request->file_name, request->output.force);
}

/* Returns why a session cannot write to the file of that name; NULL if there is another reason. */
static const char *odd_file_reason(const char *file_name)
{
    struct stat facts;

    if (lstat(file_name, &facts) != 0 || S_ISREG(facts.st_mode)) {
        return NULL;
    }
    return S_ISLNK(facts.st_mode)   ? "the file is a symbolic link, which no session follows"
           : S_ISDIR(facts.st_mode) ? "a folder has the file's name"
                                    : "the file is a device, pipe or socket: a session writes to "
                                      "regular files";
}

/*
 * Refuses more buffers than the library would allocate; it silently leaves out the rest. Returns
 * false after a message.
 */
static bool has_memory(const struct etwas_steer_start_request *request, const char *command)
{
    const uint64_t bytes = request->buffer_bytes != 0 ? request->buffer_bytes : DEFAULT_BYTES;
    const uint64_t limit = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    char text[3 * ETWAS_HUMAN_CHARACTERS + 128];
    char count[ETWAS_HUMAN_CHARACTERS];
    char wanted[ETWAS_HUMAN_CHARACTERS];
    char most[ETWAS_HUMAN_CHARACTERS];

    if (request->minimum_buffers <= limit / bytes) {
        return true;
    }
    (void)snprintf(text, sizeof text,
                   "--min-buffers: %s buffers are %s, and a session takes half of the memory at "
                   "most, %s",
                   etwas_human_count(count, request->minimum_buffers),
                   etwas_human_size(wanted, (double)request->minimum_buffers * (double)bytes),
                   etwas_human_size(most, (double)limit));
    etwas_steer_complain(command, request->name, text);
    return false;
}

/* A control group's limit may have left fewer buffers than requested. */
static void note_fewer(const struct etwas_steer_start_request *request, const char *command,
                       TRACEHANDLE session)
{
    static struct etwas_steer_block block;
    char text[2 * ETWAS_HUMAN_CHARACTERS + 128];
    char got[ETWAS_HUMAN_CHARACTERS];
    char wanted[ETWAS_HUMAN_CHARACTERS];

    etwas_steer_prepare(&block);
    if (ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_QUERY) !=
            ERROR_SUCCESS ||
        block.properties.MinimumBuffers >= request->minimum_buffers || etwas_is_quiet) {
        return;
    }
    (void)snprintf(text, sizeof text,
                   "note: it has %s buffers, not %s: the limit is half of the control group's "
                   "memory (docs/reference/limits.md)",
                   etwas_human_count(got, block.properties.MinimumBuffers),
                   etwas_human_count(wanted, request->minimum_buffers));
    etwas_steer_complain(command, request->name, text);
}

/* Returns false after a message; then no session is running. */
static bool begin(const struct etwas_steer_start_request *request, const char *command,
                  TRACEHANDLE *session)
{
    etwas_session_options options = options_of(request);
    uint32_t code;

    if (!has_memory(request, command)) {
        return false;
    }
    code = etwas_start(request->name, request->output.path != NULL ? request->file_name : NULL,
                       &options, session);
    if (code != ERROR_SUCCESS) {
        const char *odd = code == ERROR_BAD_PATHNAME ? odd_file_reason(request->file_name) : NULL;

        etwas_steer_complain(command, etwas_steer_subject(code, request->name, request->file_name),
                             odd != NULL ? odd : start_reason(code, request->log_file_mode));
        return false;
    }
    note_fewer(request, command, *session);
    for (uint32_t i = 0; i < request->provider_count; i++) {
        if (!etwas_steer_enable(command, *session, &request->providers[i], &request->filters,
                                false)) {
            (void)etwas_stop(*session, NULL);
            return false;
        }
    }
    return true;
}

/* Returns whether the session creates its file, or the first of several, when it starts. */
static bool makes_file(const struct etwas_steer_start_request *request)
{
    return request->output.path != NULL &&
           (request->log_file_mode & (EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_BUFFERING_MODE)) ==
               0;
}

bool etwas_steer_start_request_start(const struct etwas_steer_start_request *request,
                                     const char *command, TRACEHANDLE *session)
{
    struct etwas_replaced replaced = {.path = NULL};
    bool has_begun;

    if (!etwas_steer_take_part(command)) {
        return false;
    }
    if (request->autologger != NULL) {
        return etwas_autologger_start(request->autologger, complain, (void *)(uintptr_t)command,
                                      session) == ERROR_SUCCESS;
    }
    if (!etwas_steer_start_request_may_write(request, command) ||
        (makes_file(request) &&
         !etwas_replace_begin(&replaced, command, request->file_name,
                              (request->log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0,
                              request->output.force))) {
        etwas_replace_end(&replaced, false);
        return false;
    }
    has_begun = begin(request, command, session);
    etwas_replace_end(&replaced, has_begun);
    return has_begun;
}
