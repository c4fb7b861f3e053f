/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/running.h"

#include "steer/provider.h"

#include "cli/files.h"
#include "cli/suggest.h"

#include <etwas/shared.h>
#include <etwas/winerror.h>

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    ROOM_BEYOND = 8, /* sessions that may start between two queries */
    TRIES = 16,
    FOLDERS = 64,
    MOST_DIFFERING = 2, /* characters in which a mistyped name may differ */
};

/* ---- runtime folders ------------------------------------------------------------------------- */

/*
 * Returns the runtime folder of a session or process, the same pointer for the same folder while
 * the command runs. Returns NULL if there is only one folder, or it is not known.
 */
static const char *folder_of(const etwas_guid *session, uint32_t process)
{
    static char folders[FOLDERS][PATH_MAX];
    char path[PATH_MAX];
    int index = 0;

    if (etwas_steer_count_folders() < 2 ||
        etwas_sharing_folder(session, process, path, sizeof path) != ERROR_SUCCESS) {
        return NULL;
    }
    while (index < FOLDERS && folders[index][0] != '\0' && strcmp(folders[index], path) != 0) {
        index++;
    }
    return index < FOLDERS ? strcpy(folders[index], path) : NULL;
}

static bool is_elsewhere(const char *folder)
{
    return folder != NULL && folder != folder_of(NULL, 0);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Returns a thread's process, from /proc; 0 if it is not found, as in another PID namespace. */
static uint32_t process_of(uint32_t thread)
{
    char path[64];
    char line[128];
    unsigned process = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%u/status", thread);
    file = thread != 0 ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return 0;
    }
    while (process == 0 && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "Tgid: %u", &process);
    }
    (void)fclose(file);
    return process;
}

void etwas_steer_program(uint32_t process, char program[ETWAS_STEER_PROGRAM_BYTES])
{
    static const char removed[] = " (deleted)";
    char link[64];
    char path[PATH_MAX];
    ssize_t length;

    (void)snprintf(link, sizeof link, "/proc/%u/exe", process);
    length = process != 0 ? readlink(link, path, sizeof path - 1) : 0;
    path[length > 0 ? length : 0] = '\0';
    length = (ssize_t)strlen(path) - (ssize_t)strlen(removed);
    if (length > 0 && strcmp(path + length, removed) == 0) {
        path[length] = '\0';
    }
    (void)snprintf(program, ETWAS_STEER_PROGRAM_BYTES, "%.*s", ETWAS_STEER_PROGRAM_BYTES - 1,
                   etwas_files_name(path));
}

/* ---- sessions -------------------------------------------------------------------------------- */

/*
 * Returns whether the pool's file was removed, from the descriptors of its process; false also if
 * they cannot be read.
 */
static bool is_pool_removed(uint32_t process, const etwas_guid *guid)
{
    char folder[64];
    char link[128];
    char name[64];
    char target[PATH_MAX];
    const struct dirent *entry;
    DIR *files;
    bool is_removed = false;

    (void)snprintf(
        name, sizeof name, "/s.%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x.pool (deleted)",
        guid->Data1, guid->Data2, guid->Data3, guid->Data4[0], guid->Data4[1], guid->Data4[2],
        guid->Data4[3], guid->Data4[4], guid->Data4[5], guid->Data4[6], guid->Data4[7]);
    (void)snprintf(folder, sizeof folder, "/proc/%u/fd", process);
    files = process != 0 ? opendir(folder) : NULL;
    while (files != NULL && !is_removed && (entry = readdir(files)) != NULL) {
        ssize_t length;

        (void)snprintf(link, sizeof link, "%s/%.32s", folder, entry->d_name);
        length = readlink(link, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        is_removed = length > (ssize_t)strlen(name) &&
                     strcmp(target + length - (ssize_t)strlen(name), name) == 0;
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    return is_removed;
}

/* Fills in what the block does not contain. */
static void complete(struct etwas_steer_found_session *session)
{
    const EVENT_TRACE_PROPERTIES *properties = &session->block.properties;
    TRACEHANDLE handle = properties->Wnode.HistoricalContext;

    session->process = process_of((uint32_t)(uintptr_t)properties->LoggerThreadId);
    etwas_steer_program(session->process, session->program);
    session->is_pool_removed = (properties->LogFileMode & EVENT_TRACE_ADDTO_TRIAGE_DUMP) != 0 &&
                               is_pool_removed(session->process, &properties->Wnode.Guid);
    session->folder = folder_of(&properties->Wnode.Guid, 0);
    session->is_silent = properties->BufferSize == 0; /* which every session has */
    if (session->is_silent) {
        return;
    }
    session->has_counts = etwas_counts(handle, &session->counts) == ERROR_SUCCESS;
    session->has_retention =
        (properties->LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0 &&
        etwas_retention_query(handle, &session->retention, NULL, 0) == ERROR_SUCCESS;
}

bool etwas_steer_find_session(const char *command, const char *name,
                              struct etwas_steer_found_session *session)
{
    uint32_t code;

    etwas_steer_prepare(&session->block);
    if (!etwas_steer_look(command)) {
        return false;
    }
    code = etwas_steer_ask(name, &session->block, EVENT_TRACE_CONTROL_QUERY);
    /* If the host does not answer, the block has what other processes know of the session. */
    if (code != ERROR_SUCCESS && code != ERROR_TIMEOUT) {
        etwas_steer_refuse(command, name, code);
        return false;
    }
    complete(session);
    session->folder = is_elsewhere(session->folder) ? session->folder : NULL;
    return true;
}

/* Queries up to `room` sessions. Sets session_count to how many there are. */
static uint32_t query_all(struct etwas_steer_found *found, uint32_t room)
{
    EVENT_TRACE_PROPERTIES **blocks = calloc(room, sizeof *blocks);
    uint32_t code = ERROR_NOT_ENOUGH_MEMORY;

    found->sessions = calloc(room, sizeof *found->sessions);
    if (blocks != NULL && found->sessions != NULL) {
        for (uint32_t i = 0; i < room; i++) {
            etwas_steer_prepare(&found->sessions[i].block);
            blocks[i] = &found->sessions[i].block.properties;
        }
        code = QueryAllTracesA(blocks, room, &found->session_count);
    }
    free(blocks);
    return code;
}

/* Keeps the sessions that could be queried: the blocks of others have no name. */
static void keep_named(struct etwas_steer_found *found, uint32_t room)
{
    uint32_t filled = found->session_count < room ? found->session_count : room;

    found->session_count = 0;
    for (uint32_t i = 0; i < filled; i++) {
        if (found->sessions[i].block.session_name[0] != '\0') {
            found->sessions[found->session_count++] = found->sessions[i];
        }
    }
}

static uint32_t look_for_sessions(struct etwas_steer_found *found)
{
    uint32_t room = ROOM_BEYOND;
    uint32_t code = query_all(found, room);

    /* There is room for all names, so ERROR_MORE_DATA means more sessions. */
    for (int i = 0; code == ERROR_MORE_DATA && i < TRIES; i++) {
        room = found->session_count + ROOM_BEYOND;
        free(found->sessions);
        code = query_all(found, room);
    }
    keep_named(found, code == ERROR_MORE_DATA || found->sessions == NULL ? 0 : room);
    for (uint32_t i = 0; i < found->session_count; i++) {
        complete(&found->sessions[i]);
    }
    return code;
}

/* Queries all hosts, which takes one second at most. */
bool etwas_steer_find_session_quietly(const char *name, struct etwas_steer_found_session *session)
{
    struct etwas_steer_found found = {0};
    bool is_there = false;

    (void)look_for_sessions(&found);
    for (uint32_t i = 0; i < found.session_count && !is_there; i++) {
        is_there = strcasecmp(found.sessions[i].block.session_name, name) == 0;
        if (is_there) {
            *session = found.sessions[i];
        }
    }
    etwas_steer_found_free(&found);
    return is_there;
}

void etwas_steer_refuse(const char *command, const char *name, uint32_t code)
{
    struct etwas_steer_found found = {0};
    struct etwas_suggestion near = {0};
    char text[ETWAS_STEER_NAME_BYTES + 512];

    if (code == ERROR_WMI_INSTANCE_NOT_FOUND) {
        (void)look_for_sessions(&found);
    }
    for (uint32_t i = 0; i < found.session_count; i++) {
        etwas_suggest(&near, name, found.sessions[i].block.session_name);
    }
    (void)snprintf(text, sizeof text, "%s", etwas_steer_reason(code));
    /* A larger difference is not a typing error: names of a family differ by little. */
    if (near.name != NULL && near.distance != 0 && near.distance <= MOST_DIFFERING) {
        (void)snprintf(text, sizeof text, "%s. Did you mean '%s'?", etwas_steer_reason(code),
                       near.name);
    }
    etwas_steer_complain(command, name, text);
    etwas_steer_found_free(&found);
}

enum etwas_steer_cannot etwas_steer_cannot(const struct etwas_steer_found_session *session)
{
    const etwas_session_counts *counts = session != NULL ? &session->counts : NULL;

    if (counts == NULL || !session->has_counts) {
        return ETWAS_STEER_CANNOT_READ;
    }
    return etwas_steer_unshared_reason(counts) != NULL ? ETWAS_STEER_CANNOT_SHARE
           : counts->unattached_code != 0 && counts->unattached_code != ERROR_NOT_SUPPORTED
               ? ETWAS_STEER_CANNOT_ATTACH
               : ETWAS_STEER_CANNOT_READ;
}

const struct etwas_steer_found_session *etwas_steer_session_of(
    const struct etwas_steer_found *found, const TRACE_ENABLE_INFO *enable)
{
    for (uint32_t i = 0; i < found->session_count; i++) {
        if ((found->sessions[i].block.properties.Wnode.HistoricalContext & ETWAS_STEER_LOGGER_ID) ==
            enable->LoggerId) {
            return &found->sessions[i];
        }
    }
    return NULL;
}

bool etwas_steer_put_filters(struct etwas_output *output, const char *lead,
                             const TRACE_ENABLE_INFO *enable)
{
    static const struct {
        uint32_t bit;
        const char *option;
    } filters[] = {
        {ETWAS_ENABLE_FILTERED_PROCESSES, "--pid"},
        {ETWAS_ENABLE_FILTERED_PROGRAMS, "--process"},
        {ETWAS_ENABLE_FILTERED_EVENTS, "--event"},
    };
    bool any = false;

    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        if ((enable->Reserved2 & filters[i].bit) != 0) {
            etwas_output_format(output, "%s%s", any ? ", " : lead, filters[i].option);
            any = true;
        }
    }
    return any;
}

/* ---- providers ------------------------------------------------------------------------------- */

static bool add_provider(struct etwas_steer_found *found, const etwas_guid *guid,
                         const TRACE_PROVIDER_INSTANCE_INFO *instance)
{
    struct etwas_steer_found_provider *grown =
        realloc(found->providers, (found->provider_count + 1) * sizeof *grown); /* there are few */

    if (grown == NULL) {
        return false;
    }
    found->providers = grown;
    grown[found->provider_count++] = (struct etwas_steer_found_provider){
        .guid = *guid,
        .process = instance->Pid,
        .is_classic = (instance->Flags & TRACE_PROVIDER_FLAG_LEGACY) != 0,
        .enabling = instance->EnableCount,
        .enables = (const void *)(instance + 1),
    };
    (void)etwas_steer_provider_name(guid, grown[found->provider_count - 1].name);
    return true;
}

/* Whether only a part was found: any other error leaves the rest. */
static bool is_partial(uint32_t code)
{
    return code != ERROR_SUCCESS && code != ERROR_NOT_ENOUGH_MEMORY;
}

static uint32_t look_for_provider(struct etwas_steer_found *found, etwas_guid *guid)
{
    TRACE_GUID_INFO *info;
    const TRACE_PROVIDER_INSTANCE_INFO *instance;
    uint32_t bytes;
    uint32_t code;

    info = etwas_steer_enumerate(TraceGuidQueryInfo, guid, &bytes, &code);
    if (info == NULL) {
        return code == ERROR_NOT_ENOUGH_MEMORY
                   ? code
                   : (uint32_t)ERROR_SUCCESS; /* it is no longer registered */
    }
    found->answers[found->answer_count++] = info;
    instance = (const void *)(info + 1);
    for (uint32_t i = 0; i < info->InstanceCount; i++) {
        if (!add_provider(found, guid, instance)) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        instance = (const void *)((const char *)instance + instance->NextOffset);
    }
    return ERROR_SUCCESS;
}

static int compare_providers(const void *left, const void *right)
{
    const struct etwas_steer_found_provider *a = left;
    const struct etwas_steer_found_provider *b = right;
    int by_guid = memcmp(&a->guid, &b->guid, sizeof a->guid);

    return a->process != b->process ? (a->process < b->process ? -1 : 1) : by_guid;
}

static uint32_t look_for_providers(struct etwas_steer_found *found)
{
    uint32_t bytes;
    uint32_t code;
    etwas_guid *guids = etwas_steer_enumerate(TraceGuidQueryList, NULL, &bytes, &code);
    size_t count = guids != NULL ? bytes / sizeof *guids : 0;

    found->answers = calloc(count + 1, sizeof *found->answers);
    code = found->answers != NULL ? code : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < count && code != ERROR_NOT_ENOUGH_MEMORY; i++) {
        uint32_t failed = look_for_provider(found, &guids[i]);

        code = failed != ERROR_SUCCESS ? failed : code;
    }
    free(guids);
    if (found->provider_count != 0) {
        qsort(found->providers, found->provider_count, sizeof *found->providers, compare_providers);
    }
    return code;
}

/* ---- sessions and providers ------------------------------------------------------------------ */

/* Providers are sorted by process. */
static void name_folders(struct etwas_steer_found *found)
{
    struct etwas_steer_found_provider *providers = found->providers;

    for (uint32_t i = 0; i < found->provider_count; i++) {
        providers[i].folder = i > 0 && providers[i].process == providers[i - 1].process
                                  ? providers[i - 1].folder
                              : providers[i].process != 0 ? folder_of(NULL, providers[i].process)
                                                          : NULL;
        found->has_folders = found->has_folders || is_elsewhere(providers[i].folder);
    }
    for (uint32_t i = 0; i < found->session_count; i++) {
        found->has_folders = found->has_folders || is_elsewhere(found->sessions[i].folder);
    }
    for (uint32_t i = 0; i < found->provider_count && !found->has_folders; i++) {
        providers[i].folder = NULL;
    }
    for (uint32_t i = 0; i < found->session_count && !found->has_folders; i++) {
        found->sessions[i].folder = NULL;
    }
}

static void say_partial(const char *command, const char *what, uint32_t code)
{
    fprintf(stderr, "%s: not every %s can be read: %s\n", command, what,
            code == ERROR_NOT_SUPPORTED ? "one is of another release, whose own etwas shows it"
            : code == ERROR_INVALID_DATA
                ? "what a process says of one is damaged. Restart that process"
                : etwas_steer_reason(code));
}

bool etwas_steer_find_running(const char *command, struct etwas_steer_found *found)
{
    uint32_t code;

    *found = (struct etwas_steer_found){0};
    if (!etwas_steer_look(command)) {
        return false;
    }
    code = look_for_sessions(found);
    found->is_partial = is_partial(code);
    if (found->is_partial) {
        say_partial(command, "session", code);
    }
    if (code != ERROR_NOT_ENOUGH_MEMORY) {
        code = look_for_providers(found);
    }
    /*
     * A session that cannot be read makes the list of providers partial too, and was reported
     * already.
     */
    if (is_partial(code) && !found->is_partial) {
        found->is_partial = true;
        say_partial(command, "provider", code);
    }
    name_folders(found);
    if (code == ERROR_NOT_ENOUGH_MEMORY) {
        fprintf(stderr, "%s: %s\n", command, etwas_steer_reason(code));
        etwas_steer_found_free(found);
    }
    return code != ERROR_NOT_ENOUGH_MEMORY;
}

void etwas_steer_found_free(struct etwas_steer_found *found)
{
    for (size_t i = 0; i < found->answer_count; i++) {
        free(found->answers[i]);
    }
    free(found->answers);
    free(found->providers);
    free(found->sessions);
    *found = (struct etwas_steer_found){0};
}
