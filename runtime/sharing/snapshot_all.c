/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/propagate.h"

#include <dirent.h>
#include <errno.h>
#include <etwas/etwas.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/layout.h"
#include "etl/utf16.h"
#include "platform/cancel.h"
#include "platform/file.h"
#include "platform/time_namespace.h"
#include "platform/wait.h"
#include "registry/names.h"
#include "registry/sessions.h"
#include "session/configuration.h"
#include "session/trigger.h"
#include "sharing/host_request.h"
#include "sharing/remote.h"

#define TIMEOUT_NS UINT64_C(5000000000)
#define NS_A_SECOND 1000000000
#define FILETIME_OF_1970 INT64_C(116444736000000000)

enum {
    NAME_BYTES = 64, /* of the session's name in a file name */
    FILE_BYTES = 128,
};

/* One recorder. */
struct part {
    char name[ETWAS_PATH_BYTES]; /* of the session */
    char file[FILE_BYTES];       /* name in the folder */
    uint32_t process_id;
    uint32_t code;
    bool is_dead;
    int connection; /* for its answer; -1: none */
    /* NULL: the recorder is dead, or its entry cannot be read */
    struct etwas_registry_entry *entry;
};

struct gathering {
    const struct etwas_snapshot_all_options *options;
    char *folder; /* absolute */
    bool is_made; /* this call has created the folder */
    struct part *parts;
    uint32_t count;
};

/* ---- names ----------------------------------------------------------------------------------- */

static void snapshot_clean_name(char *text)
{
    for (char *character = text; *character != '\0'; character++) {
        if (*character == '/' || (unsigned char)*character < ' ' || *character == '\x7F') {
            *character = '_';
        }
    }
}

/*
 * Writes the beginning of a session's name without characters that a file name should not have. No
 * character is cut in two.
 */
static void snapshot_write_stem(char stem[NAME_BYTES + 1], const char *name)
{
    size_t length = strnlen(name, NAME_BYTES);

    while (length != 0 && ((unsigned char)name[length] & 0xC0) == 0x80) {
        length--;
    }
    memcpy(stem, name, length);
    stem[length] = '\0';
    snapshot_clean_name(stem);
    if (stem[0] == '.') {
        stem[0] = '_'; /* otherwise it would be hidden */
    }
}

static bool snapshot_is_taken(const struct gathering *all, const char *file)
{
    for (uint32_t index = 0; index < all->count; index++) {
        if (strcmp(all->parts[index].file, file) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Names the file of a part. Two sessions may have the same name and process id, in two namespaces,
 * and even the same GUID if both are dead.
 */
static void snapshot_name_file(const struct gathering *all, struct part *part)
{
    char stem[NAME_BYTES + 1];

    snapshot_write_stem(stem, part->name);
    (void)snprintf(part->file, sizeof part->file, "%s-%u.etl", stem, part->process_id);
    for (uint32_t number = 2; snapshot_is_taken(all, part->file); number++) {
        (void)snprintf(part->file, sizeof part->file, "%s-%u-%u.etl", stem, part->process_id,
                       number);
    }
}

/*
 * Returns the next part, which the caller counts when it is filled. Returns NULL if there is no
 * memory.
 */
static struct part *snapshot_next_part(struct gathering *all)
{
    struct part *more = realloc(all->parts, (all->count + 1) * sizeof *more);

    if (more == NULL) {
        return NULL;
    }
    all->parts = more;
    all->parts[all->count] = (struct part){.connection = -1};
    return &all->parts[all->count];
}

/* ---- living recorders ------------------------------------------------------------------------ */

static bool snapshot_is_requested(const struct gathering *all,
                                  const struct etwas_registry_entry *entry)
{
    return entry->state == ETWAS_REGISTRY_OPEN &&
           (entry->kind == ETWAS_REGISTRY_RECORDER ||
            (entry->kind == ETWAS_REGISTRY_SHARED &&
             (entry->log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0)) &&
           memcmp(&entry->session, &all->options->except, sizeof entry->session) != 0;
}

static uint32_t snapshot_make_path(const struct gathering *all, const struct part *part,
                                   etwas_wchar path[ETWAS_NAME_UNITS + 1])
{
    char text[ETWAS_PATH_BYTES];
    size_t units;
    int length = snprintf(text, sizeof text, "%s/%s", all->folder, part->file);

    if (length < 0 || (size_t)length >= sizeof text ||
        etwas_utf8_to_utf16(text, (size_t)length, path, ETWAS_NAME_UNITS, &units) != ETWAS_UTF_OK) {
        return ERROR_BAD_PATHNAME;
    }
    path[units] = 0;
    return ERROR_SUCCESS;
}

static uint32_t snapshot_send_request(const struct gathering *all, struct part *part)
{
    struct etwas_snapshot_request request = {
        .moment = all->options->moment - etwas_time_offset_known_ns(),
        .before_ns = all->options->before_ns,
    };
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_SNAPSHOT, .bytes = sizeof request, .descriptor = -1};
    uint32_t code = snapshot_make_path(all, part, request.file_name);

    if (code == ERROR_SUCCESS) {
        code = etwas_remote_send(part->entry, &message, &request, &part->connection);
    }
    part->connection = code == ERROR_SUCCESS ? part->connection : -1;
    return code;
}

/* Requests a snapshot from one recorder. Returns false if there is no memory. */
static bool snapshot_request_one(struct gathering *all, struct etwas_registry_entry *entry)
{
    struct part *part = snapshot_next_part(all);
    size_t bytes = 0;

    if (part == NULL) {
        free(entry);
        return false;
    }
    part->entry = entry;
    part->process_id = entry->process_id;
    if (etwas_utf16_to_utf8(entry->name, etwas_utf16_length(entry->name, ETWAS_NAME_UNITS),
                            part->name, sizeof part->name - 1, &bytes) != ETWAS_UTF_OK) {
        (void)strcpy(part->name, "session");
    }
    snapshot_name_file(all, part);
    part->code = snapshot_send_request(all, part);
    all->count++;
    return true;
}

/*
 * Adds a session whose entry cannot be read, which may be a recorder's. It is reported by the name
 * of its entry. Returns false if there is no memory.
 */
static bool snapshot_add_unread(struct gathering *all, const etwas_guid *session, uint32_t code)
{
    const struct etwas_file_name name = {.kind = ETWAS_REGISTRY_FILE_SESSION, .session = *session};
    struct part *part = snapshot_next_part(all);

    if (part != NULL) {
        _Static_assert(ETWAS_REGISTRY_FILE_BYTES <= sizeof part->file, "a name of the registry");
        etwas_file_name_format(&name, part->file);
        part->code = code;
        all->count++;
    }
    return part != NULL;
}

static uint32_t snapshot_request_all(struct gathering *all)
{
    etwas_guid *sessions;
    uint32_t count;
    uint32_t code = etwas_registry_list(&sessions, &count);

    for (uint32_t index = 0; code == ERROR_SUCCESS && index < count; index++) {
        struct etwas_registry_entry *entry;
        uint32_t read = etwas_registry_read(&sessions[index], &entry);

        if (read != ERROR_SUCCESS) {
            /* A session that is not found has ended meanwhile. */
            if (read != ERROR_NOT_FOUND && !snapshot_add_unread(all, &sessions[index], read)) {
                code = ERROR_NOT_ENOUGH_MEMORY;
            }
        } else if (!snapshot_is_requested(all, entry)) {
            free(entry);
        } else if (!snapshot_request_one(all, entry)) {
            code = ERROR_NOT_ENOUGH_MEMORY;
        }
    }
    free(sessions);
    return code;
}

static void snapshot_receive_all(struct gathering *all, void *body, uint64_t deadline_ns)
{
    for (uint32_t index = 0; index < all->count; index++) {
        struct part *part = &all->parts[index];
        struct etwas_message answer = {.descriptor = -1};

        if (part->connection >= 0) {
            part->code = etwas_remote_receive(part->entry, part->connection, ETWAS_MESSAGE_SNAPSHOT,
                                              &answer, body, deadline_ns);
            part->code = part->code == ERROR_SUCCESS ? answer.code : part->code;
        }
        free(part->entry);
    }
}

/* ---- dead recorders -------------------------------------------------------------------------- */

static bool snapshot_is_pool_file(const char *name)
{
    size_t length = strlen(name);

    return length > 5 && strcmp(name + length - 5, ".pool") == 0;
}

/*
 * Recovers one pool file. If it cannot be read, reports it by the name of the file. Returns false
 * if there is no memory.
 */
static bool snapshot_recover_one(struct gathering *all, const char *path, etwas_recovered *found)
{
    uint32_t code;
    char output[ETWAS_PATH_BYTES + FILE_BYTES];
    struct part *part;

    found->is_alive = false; /* left unset without memory */
    code = etwas_recover(path, 0, NULL, found);
    if (found->is_alive) {
        return true;
    }
    part = snapshot_next_part(all);
    if (part == NULL) {
        return false;
    }
    part->is_dead = true;
    if (code == ERROR_SUCCESS) {
        (void)strcpy(part->name, found->session_name);
        part->process_id = found->process_id;
        snapshot_name_file(all, part);
        (void)snprintf(output, sizeof output, "%s/%s", all->folder, part->file);
        code = etwas_recover(path, 0, output, found);
    } else {
        (void)snprintf(part->file, sizeof part->file, "%s", strrchr(path, '/') + 1);
        snapshot_clean_name(part->file);
    }
    part->code = code;
    all->count++;
    return true;
}

static uint32_t snapshot_recover_folder(struct gathering *all, const char *folder,
                                        etwas_recovered *found)
{
    DIR *files = opendir(folder);
    const struct dirent *entry;
    bool has_memory = true;

    while (files != NULL && has_memory && (entry = readdir(files)) != NULL) {
        char path[ETWAS_PATH_BYTES + 1 + NAME_MAX];

        if (snapshot_is_pool_file(entry->d_name)) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            has_memory = snapshot_recover_one(all, path, found);
        }
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    return has_memory ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

/* Recovers the pools of all folders; folders that are missing have none. */
static uint32_t snapshot_recover_all(struct gathering *all)
{
    etwas_recovered *found = malloc(sizeof *found);
    char folder[ETWAS_PATH_BYTES];
    uint32_t code = found != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;

    for (uint32_t index = 0;
         code == ERROR_SUCCESS && etwas_crash_safe_folder(index, folder, sizeof folder) == 0;
         index++) {
        code = snapshot_recover_folder(all, folder, found);
    }
    free(found);
    return code;
}

/* ---- the account ----------------------------------------------------------------------------- */

/* as `etwas dump --from` reads it */
static void snapshot_print_time(FILE *file, const char *option, int64_t unix_ns)
{
    const time_t seconds = unix_ns / NS_A_SECOND;
    struct tm time;

    if (unix_ns > 0 && gmtime_r(&seconds, &time) != NULL) {
        (void)fprintf(file, " %s %04d-%02d-%02dT%02d:%02d:%02d.%09dZ", option, time.tm_year + 1900,
                      time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec,
                      (int)(unix_ns % NS_A_SECOND));
    }
}

static void snapshot_print_window(FILE *file, const struct etwas_snapshot_all_options *options)
{
    int64_t filetime =
        etwas_trigger_stamp(ETWAS_CLOCK_KIND_QPC, options->moment, ETWAS_CLOCK_KIND_SYSTEM);
    int64_t unix_ns = (filetime - FILETIME_OF_1970 + 1) * 100; /* so that the moment is inside */

    (void)fputs("window", file);
    if (options->before_ns != 0 && options->before_ns < (uint64_t)unix_ns) {
        snapshot_print_time(file, "--from", unix_ns - (int64_t)options->before_ns);
    }
    snapshot_print_time(file, "--until", unix_ns);
    (void)fputc('\n', file);
}

static const char *snapshot_result_text(const struct part *part)
{
    if (part->code != ERROR_SUCCESS) {
        return part->code == ERROR_TIMEOUT ? "has not answered" : etwas_error_text(part->code);
    }
    return part->is_dead ? "recovered" : "taken";
}

/*
 * Writes recorders.txt. ERROR_WRITE_FAULT, and the errors of creating it. An incomplete file is
 * removed.
 */
static uint32_t snapshot_write_account(const struct gathering *all)
{
    char path[ETWAS_PATH_BYTES + FILE_BYTES];
    bool is_whole;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/recorders.txt", all->folder);
    file = fopen(path, "we");
    if (file == NULL) {
        return etwas_file_open_error(errno);
    }
    snapshot_print_window(file, all->options);
    for (uint32_t index = 0; index < all->count; index++) {
        (void)fprintf(file, "%s: %s\n", all->parts[index].file,
                      snapshot_result_text(&all->parts[index]));
    }
    is_whole = ferror(file) == 0;
    is_whole = fclose(file) == 0 && is_whole;
    if (!is_whole) {
        (void)unlink(path);
    }
    return is_whole ? ERROR_SUCCESS : ERROR_WRITE_FAULT;
}

static uint32_t snapshot_report(const struct gathering *all, etwas_snapshot_callback each,
                                void *context)
{
    uint32_t code = all->count != 0 ? ERROR_SUCCESS : ERROR_NOT_FOUND;

    for (uint32_t index = 0; index < all->count; index++) {
        const struct part *one = &all->parts[index];
        const etwas_snapshot_part part = {
            .session_name = one->name,
            .log_file = one->file,
            .process_id = one->process_id,
            .code = one->code,
            .is_dead = one->is_dead,
        };

        if (each != NULL) {
            each(&part, context);
        }
        code = code == ERROR_SUCCESS ? one->code : code;
    }
    return code;
}

/* ---- all recorders --------------------------------------------------------------------------- */

static uint32_t snapshot_open_folder(struct gathering *all)
{
    const char *folder = all->options->folder;
    struct stat facts;

    all->is_made = mkdir(folder, 0700) == 0;
    if (!all->is_made && errno != EEXIST) {
        return errno == ENOENT ? ERROR_PATH_NOT_FOUND : etwas_file_open_error(errno);
    }
    all->folder = realpath(folder, NULL);
    if (all->folder == NULL) {
        return etwas_file_open_error(errno);
    }
    return stat(all->folder, &facts) == 0 && S_ISDIR(facts.st_mode) &&
                   strlen(all->folder) < ETWAS_PATH_BYTES - FILE_BYTES
               ? ERROR_SUCCESS
               : ERROR_BAD_PATHNAME;
}

/* `body` has room for an answer */
static uint32_t snapshot_all_recorders(struct gathering *all, void *body)
{
    ETWAS_UNCANCELLED_SCOPE;
    uint64_t deadline_ns = etwas_monotonic_ns() + TIMEOUT_NS;
    uint32_t code = body != NULL ? snapshot_open_folder(all) : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;
    uint32_t recovered;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = snapshot_request_all(all);
    recovered = snapshot_recover_all(all);
    snapshot_receive_all(all, body, deadline_ns);
    code = code == ERROR_SUCCESS ? recovered : code;
    if (code == ERROR_SUCCESS && all->count != 0) {
        return snapshot_write_account(all);
    }
    if (all->count == 0 && all->is_made) {
        (void)rmdir(all->folder);
    }
    return code;
}

uint32_t etwas_snapshot_all_of(const struct etwas_snapshot_all_options *options,
                               etwas_snapshot_callback each, void *context)
{
    struct gathering all = {.options = options};
    void *body = malloc(ETWAS_MESSAGE_BYTES);
    uint32_t code = snapshot_all_recorders(&all, body);
    uint32_t reported;

    free(body);
    reported = snapshot_report(&all, each, context);
    free(all.parts);
    free(all.folder);
    return code != ERROR_SUCCESS ? code : reported;
}

uint32_t etwas_snapshot_all(const char *folder, uint64_t before_ns, etwas_snapshot_callback each,
                            void *context)
{
    const struct etwas_snapshot_all_options options = {
        .folder = folder,
        .moment = etwas_clock_now(ETWAS_CLOCK_KIND_QPC),
        .before_ns = before_ns,
    };

    return folder != NULL && folder[0] != '\0' ? etwas_snapshot_all_of(&options, each, context)
                                               : (uint32_t)ERROR_BAD_PATHNAME;
}
