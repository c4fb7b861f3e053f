/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command line of a session.
 */

#include <etwas/etwas.h>

#include "steer/start_request.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/replace.h"
#include "event/names.h"
#include "steer/number.h"

/* Options without a letter. */
enum {
    BUFFERING = 256,
    CIRCULAR,
    REAL_TIME,
    APPEND,
    NEW_FILE,
    COMPRESSED,
    BUFFER_SIZE,
    MINIMUM,
    MAXIMUM,
    FLUSH,
    MAXIMUM_SIZE,
    MODE,
};

const char etwas_steer_start_request_letters[] = "a:o:fc:e:h";

const struct option etwas_steer_start_request_options[] = {
    {"autologger", required_argument, NULL, 'a'},
    {"output", required_argument, NULL, 'o'},
    {"force", no_argument, NULL, 'f'},
    {"clock", required_argument, NULL, 'c'},
    {"enable", required_argument, NULL, 'e'},
    {"buffering", no_argument, NULL, BUFFERING},
    {"circular", no_argument, NULL, CIRCULAR},
    {"realtime", no_argument, NULL, REAL_TIME},
    {"append", no_argument, NULL, APPEND},
    {"newfile", no_argument, NULL, NEW_FILE},
    {"compressed", no_argument, NULL, COMPRESSED},
    {"buffer-size", required_argument, NULL, BUFFER_SIZE},
    {"minimum", required_argument, NULL, MINIMUM},
    {"maximum", required_argument, NULL, MAXIMUM},
    {"flush", required_argument, NULL, FLUSH},
    {"max-size", required_argument, NULL, MAXIMUM_SIZE},
    {"mode", required_argument, NULL, MODE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

const char etwas_steer_start_request_help[] =
    "  -a, --autologger NAME\n"
    "                       the session of NAME.autologger in ~/.config/etwas or\n"
    "                       /etc/etwas, or of a file by its path, which says all the\n"
    "                       rest ('etwas autologger')\n"
    "  -o, --output FILE    the log file; of a flight recorder where its snapshots go\n"
    "                       that name none. One that is there stays, and nothing is\n"
    "                       started, unless it is appended to\n"
    "  -f, --force          it is replaced\n"
    "  -e, --enable PROVIDER[:KEYWORDS[:LEVEL]]\n"
    "                       a provider from the start on, in whichever process; as\n"
    "                       often as there are providers. KEYWORDS is a number, 0 all\n"
    "                       (the default); LEVEL a number up to 255 (the default), or\n"
    "                       critical, error, warning, information, verbose\n"
    "  -c, --clock CLOCK    that stamps events: qpc (the default), system or tsc\n"
    "  --buffer-size KB     of each buffer, 4 to 16384; default: 64\n"
    "  --minimum N          buffers from the start on; what a flight recorder has\n"
    "  --maximum N          buffers at most\n"
    "  --flush MS           how often what is in buffers is written, full or not\n"
    "  --max-size MB        of the log file; the session ends when it is full, unless\n"
    "                       --circular or --newfile says otherwise\n";

const char etwas_steer_start_request_modes_help[] =
    "How it is written (docs/modes.md); without one of these to a file, to its end:\n"
    "  --buffering          a flight recorder: the newest events stay in memory, and\n"
    "                       'etwas snapshot' writes them to a file\n"
    "  --circular           in a file of --max-size: the oldest buffers are replaced\n"
    "  --newfile            in files of --max-size, with a number for %d in -o\n"
    "  --append             behind what FILE has; the clock is system then, and\n"
    "                       --buffer-size has to be given\n"
    "  --compressed         the buffers of the file are compressed\n"
    "  --realtime           for consumers in other processes; with -o in the file too\n"
    "  --mode BITS          other bits of LogFileMode, as 0x08000000\n";

static bool print_error(const char *command, const char *sentence, const char *bad)
{
    fprintf(stderr, "%s: %s, not '%s'\n", command, sentence, bad);
    return false;
}

static bool take_number(const char *command, const char *name, uint32_t least, uint32_t most,
                        uint32_t *number)
{
    if (etwas_steer_number_32(optarg, least, most, number)) {
        return true;
    }
    fprintf(stderr, "%s: --%s takes a number from %u to %u, not '%s'\n", command, name, least, most,
            optarg);
    return false;
}

static bool take_provider(struct etwas_steer_start_request *request, const char *command)
{
    if (request->provider_count == ETWAS_STEER_PROVIDERS) {
        fprintf(stderr, "%s: at most %d providers from the start on; 'etwas enable' for more\n",
                command, ETWAS_STEER_PROVIDERS);
        return false;
    }
    if (!etwas_steer_parse_provider(optarg, &request->providers[request->provider_count])) {
        fprintf(stderr, "%s: --enable takes PROVIDER[:KEYWORDS[:LEVEL]]\n", command);
        return false;
    }
    request->provider_count++;
    return true;
}

/* Modes without a value; 0: it is none. */
static uint32_t mode_of(int option)
{
    switch (option) {
    case BUFFERING:
        return EVENT_TRACE_BUFFERING_MODE;
    case CIRCULAR:
        return EVENT_TRACE_FILE_MODE_CIRCULAR;
    case REAL_TIME:
        return EVENT_TRACE_REAL_TIME_MODE;
    case APPEND:
        return EVENT_TRACE_FILE_MODE_APPEND;
    case NEW_FILE:
        return EVENT_TRACE_FILE_MODE_NEWFILE;
    case COMPRESSED:
        return EVENT_TRACE_COMPRESSED_MODE;
    default:
        return 0;
    }
}

bool etwas_steer_start_request_option(struct etwas_steer_start_request *request,
                                      const char *command, int option)
{
    uint32_t bits = mode_of(option);

    request->has_options = request->has_options || option != 'a';
    switch (option) {
    case 'a':
        request->autologger = optarg;
        return true;
    case 'o':
        request->path = optarg;
        return true;
    case 'f':
        request->force = true;
        return true;
    case 'c':
        return etwas_names_parse_clock(optarg, &request->clock) ||
               print_error(command, "--clock takes qpc, system or tsc", optarg);
    case 'e':
        return take_provider(request, command);
    case BUFFER_SIZE:
        return take_number(command, "buffer-size", 4, 16384, &request->buffer_kb);
    case MINIMUM:
        return take_number(command, "minimum", 1, UINT32_MAX, &request->minimum_buffers);
    case MAXIMUM:
        return take_number(command, "maximum", 1, UINT32_MAX, &request->maximum_buffers);
    case FLUSH:
        return take_number(command, "flush", 1, UINT32_MAX, &request->flush_ms);
    case MAXIMUM_SIZE:
        return take_number(command, "max-size", 1, UINT32_MAX, &request->maximum_mb);
    case MODE:
        if (!etwas_steer_number_32(optarg, 0, UINT32_MAX, &bits)) {
            return print_error(command, "--mode takes the bits of LogFileMode as a number", optarg);
        }
        break;
    default: /* a mode, or getopt_long has said what is wrong */
        break;
    }
    request->log_file_mode |= bits;
    return bits != 0 || option == MODE;
}

/* Which may be a path. */
static bool finish_autologger(struct etwas_steer_start_request *request, const char *command,
                              int names)
{
    if (request->has_options || names != 0) {
        fprintf(stderr, "%s: --autologger says all, the session's name too\n", command);
        return false;
    }
    request->name = request->autologger;
    if (strchr(request->autologger, '/') == NULL) {
        return true;
    }
    request->autologger = request->file_name;
    return etwas_steer_name_file(command, request->name, request->file_name);
}

bool etwas_steer_start_request_finish(struct etwas_steer_start_request *request,
                                      const char *command, int argc, char **argv)
{
    const uint32_t without_file = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_REAL_TIME_MODE;
    const uint32_t sized = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE |
                           EVENT_TRACE_FILE_MODE_PREALLOCATE;
    const char *wrong = NULL;

    if (request->autologger != NULL) {
        return finish_autologger(request, command, argc - optind);
    }
    if (argc - optind != 1 || argv[optind][0] == '\0') {
        wrong = argc > optind + 1 ? "one session at a time" : "which session?";
    } else if (request->path == NULL && (request->log_file_mode & without_file) == 0) {
        wrong = "to which file (-o), or is it --buffering or --realtime?";
    } else if (request->force && (request->path == NULL ||
                                  (request->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0)) {
        wrong = "--force goes with -o, and not with --append";
    } else if ((request->log_file_mode & sized) != 0 && request->maximum_mb == 0) {
        wrong = "how large may the file be (--max-size)?";
    } else if (request->maximum_buffers != 0 &&
               request->maximum_buffers < request->minimum_buffers) {
        wrong = "--maximum is less than --minimum";
    }
    if (wrong != NULL) {
        fprintf(stderr, "%s: %s\n", command, wrong);
        return false;
    }
    request->name = argv[optind];
    return request->path == NULL ||
           etwas_steer_name_file(command, request->path, request->file_name);
}

/* ---- starting it ----------------------------------------------------------------------------- */

static etwas_session_options options_of(const struct etwas_steer_start_request *request)
{
    etwas_session_options options = {
        .log_file_mode = request->log_file_mode,
        .clock = request->clock,
        .buffer_size_kb = request->buffer_kb,
        .minimum_buffers = request->minimum_buffers,
        .maximum_buffers = request->maximum_buffers,
        .maximum_file_size = request->maximum_mb,
        .flush_timer = request->flush_ms,
        .sharing = ETWAS_SHARING_USER,
    };

    if (request->flush_ms != 0) {
        options.log_file_mode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
    }
    if ((request->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0 && request->clock == 0) {
        options.clock = ETWAS_CLOCK_SYSTEM_TIME; /* no other goes on from one boot to the next */
    }
    return options;
}

/* The session would be of etwas-host alone, and record nothing. */
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
           "sequences (docs/steering.md)";
}

/* Returns what a code of StartTrace means. */
static const char *start_reason(uint32_t code, uint32_t log_file_mode)
{
    const char *shortage;

    switch (code) {
    case ERROR_INVALID_PARAMETER:
        return "these options do not go together (docs/modes.md), or the name is too long";
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
    bool is_file = request->autologger == NULL && request->path != NULL;

    if (!is_file || (request->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0) {
        return true;
    }
    return (request->log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0
               ? etwas_replace_may_numbered(command, request->file_name, request->force)
               : etwas_replace_may(command, request->file_name, request->force);
}

/* Returns why a session does not write to what has the file's name; NULL: for another reason. */
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

/* False after a message: then nothing runs. */
static bool begin(const struct etwas_steer_start_request *request, const char *command,
                  TRACEHANDLE *session)
{
    etwas_session_options options = options_of(request);
    uint32_t code = etwas_start(request->name, request->path != NULL ? request->file_name : NULL,
                                &options, session);

    if (code != ERROR_SUCCESS) {
        const char *odd = code == ERROR_BAD_PATHNAME ? odd_file_reason(request->file_name) : NULL;

        etwas_steer_complain(command, request->name,
                             odd != NULL ? odd : start_reason(code, request->log_file_mode));
        return false;
    }
    for (uint32_t i = 0; i < request->provider_count; i++) {
        if (!etwas_steer_enable(command, *session, &request->providers[i], NULL)) {
            (void)etwas_stop(*session, NULL);
            return false;
        }
    }
    return true;
}

/* Is its file, or the first of them, there from its start on, and a new one? */
static bool makes_file(const struct etwas_steer_start_request *request)
{
    return request->path != NULL && (request->log_file_mode & (EVENT_TRACE_FILE_MODE_APPEND |
                                                               EVENT_TRACE_BUFFERING_MODE)) == 0;
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
                              request->force))) {
        etwas_replace_end(&replaced, false);
        return false;
    }
    has_begun = begin(request, command, session);
    etwas_replace_end(&replaced, has_begun);
    return has_begun;
}
