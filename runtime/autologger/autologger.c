/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "autologger/autologger.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/autologger.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "autologger/folder.h"
#include "control/prepare.h"
#include "control/properties.h"
#include "platform/cancel.h"
#include "session/sharing.h"

enum {
    LINE_BYTES = 2048 /* what a log should accept (RFC 5424) */
};

/*
 * Logs the text as a warning of this program: a line in the journal. It does not use syslog(),
 * whose connection and settings are the program's. Never waits; does nothing if there is no log.
 */
static void autologger_write_journal(const char *text)
{
    const struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "<%d>%s[%ld]: etwas: %s", LOG_USER | LOG_WARNING,
                          program_invocation_short_name, (long)getpid(), text);
    size_t bytes = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (descriptor >= 0) {
        (void)sendto(descriptor, line, bytes, MSG_NOSIGNAL, (const struct sockaddr *)&log,
                     sizeof log);
        (void)close(descriptor);
    }
}

/* The caller, and its request. */
struct request {
    bool is_check;              /* nothing is started */
    bool is_host;               /* for all programs, whichever the file names */
    const etwas_wchar *program; /* otherwise for this program; NULL: for one that the file names */
    etwas_autologger_callback callback;
    void *context;
    etwas_trace_handle session; /* for a host: the session that was started */
    uint32_t code;              /* of the last session */
};

/* Too large for a stack. */
struct one {
    struct etwas_autologger_source source;
    struct etwas_autologger autologger;
    struct etwas_configuration configuration;
};

/* ---- reporting ------------------------------------------------------------------------------- */

static void autologger_report(struct request *request, const struct one *one, uint32_t line,
                              uint32_t code, const char *reason)
{
    const etwas_autologger_report report = {one->source.path, one->source.session, line, code,
                                            reason != NULL          ? reason
                                            : code == ERROR_SUCCESS ? ""
                                                                    : etwas_error_text(code)};

    request->code = code;
    if (request->callback != NULL) {
        request->callback(&report, request->context);
    }
}

static void autologger_log(const etwas_autologger_report *report, void *context)
{
    char text[ETWAS_AUTOLOGGER_PATH_BYTES + 256];

    (void)context;
    /* It is no failure that the session runs in another program. */
    if (report->code == ERROR_SUCCESS || report->code == ERROR_NOT_FOUND ||
        report->code == ERROR_ALREADY_EXISTS) {
        return;
    }
    if (report->line != 0) {
        (void)snprintf(text, sizeof text, "%s:%u: %s", report->path, report->line, report->reason);
    } else {
        (void)snprintf(text, sizeof text, "%s: %s", report->path, report->reason);
    }
    autologger_write_journal(text);
}

/* ---- one file -------------------------------------------------------------------------------- */

static bool autologger_may_share(const struct request *request)
{
    return request->is_host || etwas_sharing.is_wanted();
}

static bool autologger_is_private(const struct etwas_autologger *autologger)
{
    return (autologger->log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0;
}

/* Returns why a session is not meant for this program; NULL: it is. */
static const char *autologger_is_not_for(const struct one *one, const struct request *request)
{
    const struct etwas_autologger *autologger = &one->autologger;

    if (request->is_host || one->source.is_in_environment) {
        return NULL;
    }
    if (autologger->start == 0) {
        return "its Start is 0";
    }
    if (autologger->programs[0] == 0) {
        return "it has no ExecutableName: 'etwas start' starts it";
    }
    return request->program == NULL || etwas_filter_names(autologger->programs, request->program)
               ? NULL
               : "no ExecutableName of it is this program's";
}

/* Whether the folder of its log file, or of its snapshots, is missing. */
static bool autologger_lacks_folder(const struct etwas_autologger *autologger)
{
    const char *slash = strrchr(autologger->file_name, '/');
    char folder[ETWAS_AUTOLOGGER_PATH_BYTES];
    struct stat status;

    if (slash == NULL || slash == autologger->file_name) {
        return false;
    }
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - autologger->file_name),
                   autologger->file_name);
    return stat(folder, &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* Returns why the file's session is impossible; NULL: it is possible. */
static const char *autologger_is_wrong(const struct etwas_autologger *autologger,
                                       const struct request *request)
{
    const uint32_t without_file = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_REAL_TIME_MODE;
    const uint32_t sized = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE |
                           EVENT_TRACE_FILE_MODE_PREALLOCATE;

    if (autologger->file_name[0] == '\0' && (autologger->log_file_mode & without_file) == 0) {
        return "it has no FileName";
    }
    if ((autologger->log_file_mode & sized) != 0 && autologger->maximum_file_size == 0) {
        return "it has no MaxFileSize, which circular files, sets of files and preallocation "
               "(LogFileMode) need";
    }
    if (autologger->file_max != 0 &&
        (autologger->log_file_mode & (EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_FILE_MODE_APPEND |
                                      EVENT_TRACE_PRIVATE_LOGGER_MODE)) != 0) {
        return "FileMax does not go with this LogFileMode";
    }
    if (autologger_is_private(autologger)) {
        return request->is_host ? "it is private (LogFileMode): programs start it, each for itself"
                                : NULL;
    }
    return autologger_may_share(request)
               ? NULL
               : "it is shared, and this program shares nothing (ETWAS_SHARED, AT_SECURE)";
}

/* The session is shared or private; otherwise each program would write a file of this name. */
static etwas_session_options autologger_options_of(const struct etwas_autologger *autologger)
{
    return (etwas_session_options){
        .log_file_mode = autologger->log_file_mode,
        .clock = autologger->clock,
        .buffer_size_kb = autologger->buffer_size_kb,
        .minimum_buffers = autologger->minimum_buffers,
        .maximum_buffers = autologger->maximum_buffers,
        .maximum_file_size = autologger->maximum_file_size,
        .flush_timer = autologger->flush_timer,
        .sharing = autologger_is_private(autologger) ? ETWAS_SHARING_NONE : ETWAS_SHARING_USER,
    };
}

static const char *autologger_file_of(const struct etwas_autologger *autologger)
{
    return autologger->file_name[0] != '\0' ? autologger->file_name : NULL;
}

/* Also runs the callbacks of providers that a fork's child has from its parent. */
static uint32_t autologger_enable(etwas_trace_handle session,
                                  const struct etwas_autologger *autologger, uint32_t *line)
{
    for (uint32_t i = 0; i < autologger->provider_count; i++) {
        const struct etwas_autologger_provider *provider = &autologger->providers[i];
        bool is_group = (provider->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0;
        EVENT_FILTER_DESCRIPTOR filter = {.Ptr = (uint64_t)(uintptr_t)provider->name,
                                          .Size = (uint32_t)strlen(provider->name) + 1,
                                          .Type = ETWAS_FILTER_TYPE_PROVIDER_NAME};
        ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                              .EnableProperty = provider->property,
                                              .EnableFilterDesc = &filter,
                                              .FilterDescCount = filter.Size > 1 && !is_group};
        uint32_t code;

        if (provider->enabled == 0) {
            continue;
        }
        code = EnableTraceEx2(session, &provider->guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                              (uint8_t)provider->level, provider->match_any, provider->match_all, 0,
                              &parameters);
        if (code != ERROR_SUCCESS) {
            *line = provider->line;
            return code;
        }
    }
    return ERROR_SUCCESS;
}

static uint32_t autologger_start(struct one *one, uint32_t *line, etwas_trace_handle *session)
{
    const etwas_session_options options = autologger_options_of(&one->autologger);
    uint32_t code;

    if (one->autologger.file_max != 0) {
        etwas_autologger_choose_file(one->autologger.file_name, one->autologger.file_max);
    }
    code =
        etwas_start(one->source.session, autologger_file_of(&one->autologger), &options, session);
    if (code == ERROR_SUCCESS) {
        code = autologger_enable(*session, &one->autologger, line);
        if (code != ERROR_SUCCESS) {
            (void)etwas_stop(*session, NULL);
            *session = 0;
        }
    }
    return code;
}

/* Whether the session could start, as far as can be checked without trying. */
static uint32_t autologger_check(struct one *one)
{
    const etwas_session_options options = autologger_options_of(&one->autologger);
    uint32_t code;

    one->configuration = (struct etwas_configuration){0};
    code = etwas_session_options_read(one->source.session, autologger_file_of(&one->autologger),
                                      &options, &one->configuration);
    etwas_flusher_configuration_free(&one->configuration.flusher);
    return code;
}

/* Starts or checks one file. A check reports errors even in a file that is not for this program. */
static void autologger_start_source(struct request *request, struct one *one)
{
    struct etwas_autologger_error fault = {0};
    const char *not_for;
    const char *wrong;
    uint32_t line = 0;
    uint32_t code;

    if (one->source.code != ERROR_SUCCESS) {
        autologger_report(request, one, 0, one->source.code, one->source.reason);
        return;
    }
    if (!etwas_autologger_parse(one->source.text, one->source.bytes, &one->autologger, &fault)) {
        autologger_report(request, one, fault.line, ERROR_INVALID_DATA, fault.reason);
        return;
    }
    not_for = autologger_is_not_for(one, request);
    wrong = autologger_is_wrong(&one->autologger, request);
    if (not_for != NULL && !request->is_check) {
        autologger_report(request, one, 0, ERROR_NOT_FOUND, not_for);
        return;
    }
    if (wrong != NULL) {
        autologger_report(request, one, 0, ERROR_INVALID_PARAMETER, wrong);
        return;
    }
    if (request->is_check && autologger_lacks_folder(&one->autologger)) {
        autologger_report(request, one, 0, ERROR_PATH_NOT_FOUND,
                          "there is no such folder as that of its FileName");
        return;
    }
    code =
        request->is_check ? autologger_check(one) : autologger_start(one, &line, &request->session);
    if (code == ERROR_SUCCESS && not_for != NULL) {
        autologger_report(request, one, 0, ERROR_NOT_FOUND, not_for);
    } else {
        autologger_report(request, one, line, code, NULL);
    }
}

/* ---- all files ------------------------------------------------------------------------------- */

/* `name`: one file; NULL: those of the environment and of the folders. */
static uint32_t autologger_start_all(struct request *request, const char *name)
{
    ETWAS_UNCANCELLED_SCOPE;
    struct one *one = malloc(sizeof *one);
    struct etwas_autologger_search search;
    uint32_t code = one != NULL ? etwas_prepare_to_serve() : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;

    if (code == ERROR_SUCCESS) {
        etwas_autologger_search_begin(&search, name);
        while (etwas_autologger_search_next(&search, &one->source)) {
            autologger_start_source(request, one);
            etwas_autologger_source_free(&one->source);
        }
        etwas_autologger_search_end(&search);
    }
    free(one);
    return code;
}

/*
 * Taken before all other locks: sessions are started under it. Recursive, since a callback that
 * runs meanwhile may register a provider.
 */
static pthread_mutex_t beginning = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static bool has_begun; /* guarded by it */
/*
 * stored with release when the sessions have been started, read with acquire by each registration
 */
static uint32_t is_done;

void etwas_autologgers_begin(void)
{
    etwas_wchar program[NAME_MAX + 1];
    struct request request = {.program = program, .callback = autologger_log};
    ETWAS_UNCANCELLED_SCOPE;

    if (ck_pr_load_32(&is_done) != 0) {
        ck_pr_fence_acquire();
        return;
    }
    (void)pthread_mutex_lock(&beginning);
    if (!has_begun) {
        has_begun = true;
        if (!etwas_filter_program(program)) {
            program[0] = 0; /* no file names it */
        }
        (void)autologger_start_all(&request, NULL);
        ck_pr_fence_release();
        ck_pr_store_32(&is_done, 1);
    }
    (void)pthread_mutex_unlock(&beginning);
}

void etwas_autologgers_forget(void)
{
    static const pthread_mutex_t unlocked = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

    beginning = unlocked;
    has_begun = false;
    ck_pr_store_32(&is_done, 0);
}

/* ---- public functions ------------------------------------------------------------------------ */

uint32_t etwas_autologger_check(const char *name, const char *program,
                                etwas_autologger_callback callback, void *context)
{
    struct request request = {.is_check = true, .callback = callback, .context = context};
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    etwas_wchar wide[ETWAS_NAME_UNITS + 1];

    if (callback == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (program != NULL) {
        if (etwas_copy_name(slash != NULL ? slash + 1 : program, ETWAS_NAMES_UTF8, wide) !=
            ERROR_SUCCESS) {
            wide[0] = 0;
        }
        request.program = wide;
    }
    return autologger_start_all(&request, name);
}

uint32_t etwas_autologger_start(const char *name, etwas_autologger_callback callback, void *context,
                                etwas_trace_handle *session)
{
    struct request request = {.is_host = true, .callback = callback, .context = context};
    uint32_t code;

    if (name == NULL || session == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = autologger_start_all(&request, name);
    if (code != ERROR_SUCCESS && callback != NULL) {
        const etwas_autologger_report report = {name, name, 0, code, etwas_error_text(code)};

        callback(&report, context);
    }
    *session = request.session;
    return code != ERROR_SUCCESS ? code : request.code;
}
