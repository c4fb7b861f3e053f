/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/session.h"

#include <errno.h>
#include <etwas/etwas.h>
#include <etwas/shared.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/no_room.h"
#include "event/names.h"
#include "print/output.h"
#include "print/text.h"
#include "steer/running.h"

enum {
    SESSION_FILES =
        16, /* with fewer unused descriptors, a failed start is probably caused by them */
};

void etwas_steer_prepare(struct etwas_steer_block *block)
{
    memset(block, 0, sizeof *block);
    block->properties.Wnode.BufferSize = sizeof *block;
    block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block->properties.LoggerNameOffset = offsetof(struct etwas_steer_block, session_name);
    block->properties.LogFileNameOffset = offsetof(struct etwas_steer_block, file_name);
}

/* Returns whether this process can open fewer files than a session needs. */
static bool files_are_short(void)
{
    struct rlimit limit;
    int unused = 0;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return false;
    }
    for (rlim_t at = 0; at < limit.rlim_cur && unused < SESSION_FILES; at++) {
        unused += fcntl((int)at, F_GETFD) < 0;
    }
    return unused < SESSION_FILES;
}

const char *etwas_steer_shortage(void)
{
    return files_are_short()
               ? "no more files may be opened: 'ulimit -n' says how many may, and raises it"
               : NULL;
}

const char *etwas_steer_reason(uint32_t code)
{
    const char *shortage;

    switch (code) {
    case ERROR_WMI_INSTANCE_NOT_FOUND:
        return "no such session runs that can be seen: 'etwas ps' shows them. One whose file "
               "reached --max-size has ended by itself, with a whole file; one that a program "
               "keeps for itself is steered by the program";
    case ERROR_ALREADY_EXISTS:
        return "a session of this name runs already";
    case ERROR_INVALID_HANDLE:
        return "it has ended";
    case ERROR_ACTIVE_CONNECTIONS:
        return "it is being stopped";
    case ERROR_INVALID_PARAMETER:
        return "the session does not take that";
    case ERROR_NOT_SUPPORTED:
        return "it does not have what is asked for";
    case ERROR_BAD_PATHNAME:
        return "the file is in use by a session, or its name cannot be used";
    case ERROR_PATH_NOT_FOUND:
        return "there is no folder for the file";
    case ERROR_FILE_CORRUPT:
        return "the file is there, and no whole event trace";
    case ERROR_INVALID_NAME:
        return "the file's name has not one %d";
    case ERROR_ACCESS_DENIED:
        return "permission denied";
    case ERROR_DISK_FULL:
        return etwas_no_room_reason(0);
    case ERROR_LOG_FILE_FULL:
        return "nobody takes its events, and there is no more room for them";
    case ERROR_NO_SYSTEM_RESOURCES:
        shortage = etwas_steer_shortage();
        return shortage != NULL
                   ? shortage
                   : "there are as many sessions or providers as there can be, or the "
                     "session's process may have no more threads or open files (ulimit -n)";
    case ERROR_TIMEOUT:
        return "not everybody has answered in time; it is done all the same";
    default:
        return etwas_no_room_error_text(code);
    }
}

const char *etwas_steer_enable_reason(uint32_t code)
{
    return code == ERROR_NO_SYSTEM_RESOURCES
               ? "8 sessions enable it, and no more can ('etwas ps' lists them); or 1,024 "
                 "providers are enabled, or the session's process may open no more files"
               : etwas_steer_reason(code);
}

static const struct {
    const char *word;
    const char *reason;
} unshared[] = {
    [ETWAS_UNSHARED_MODE] = {"mode",
                             "a session of its mode is of one process (docs/reference/modes.md)"},
    [ETWAS_UNSHARED_SEQUENCES] = {"sequences", "its process can run no restartable sequences"},
    [ETWAS_UNSHARED_DISK] =
        {"disk", "its buffers lie on a disk, which would hold them up; a folder in memory, "
                 "as ETWAS_RUNTIME_DIR or its crash-safe one, does not"},
    [ETWAS_UNSHARED_MEMORY] = {"memory",
                               "there was no memory for its buffers that processes can share"},
    [ETWAS_UNSHARED_HIDDEN] = {"hidden", "they cannot find its process"},
};

static bool is_unshared(const etwas_session_counts *counts)
{
    return counts->unshared > ETWAS_UNSHARED_ASKED &&
           counts->unshared < sizeof unshared / sizeof *unshared;
}

const char *etwas_steer_unshared_reason(const etwas_session_counts *counts)
{
    return is_unshared(counts) ? unshared[counts->unshared].reason : NULL;
}

const char *etwas_steer_unshared_word(const etwas_session_counts *counts)
{
    return is_unshared(counts) ? unshared[counts->unshared].word : NULL;
}

void etwas_steer_put_unattached(struct etwas_output *output, const etwas_session_counts *counts)
{
    const bool is_now = counts->unattached_processes != 0;

    etwas_names_put_unattached(
        output, is_now ? counts->unattached_processes : counts->unattached_total,
        is_now ? "cannot log into it" : "could not log into it", counts->unattached_code);
}

void etwas_steer_complain(const char *command, const char *name, const char *reason)
{
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_format(errors, "%s: '", command);
    etwas_text_plain(errors, name);
    etwas_output_format(errors, "': %s\n", reason);
    etwas_output_flush(errors);
}

/* Returns why no other process can be found. */
static const char *alone_reason(uint32_t code, bool is_named)
{
    switch (code) {
    case ERROR_PATH_NOT_FOUND:
        return is_named ? "there is no folder that the one where they meet could be made in"
                        : "there is no folder where they meet; ETWAS_RUNTIME_DIR names one";
    case ERROR_ACCESS_DENIED:
        return "the folder where they meet is not this user's alone ('chmod 700'), or cannot be "
               "written";
    default:
        return etwas_steer_reason(code);
    }
}

/* Returns the folder in ETWAS_RUNTIME_DIR; NULL if it is not set. */
static const char *named_folder(void)
{
    const char *folder = getenv("ETWAS_RUNTIME_DIR");

    return folder != NULL && folder[0] != '\0' ? folder : NULL;
}

static void complain_of_folder(const char *command, const char *folder, const char *reason)
{
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_format(errors, "%s: ", command);
    if (folder != NULL) {
        etwas_output_char(errors, '\'');
        etwas_text_plain(errors, folder);
        etwas_output_text(errors, "' (ETWAS_RUNTIME_DIR): ");
    }
    etwas_output_format(errors, "other processes cannot be found: %s\n", reason);
    etwas_output_flush(errors);
}

enum {
    FOLDERS = 64,
    OF_OTHERS = 077,
};

/* Returns why a folder is skipped; NULL if it belongs to this user alone, or does not exist. */
static const char *why_passed_over(const char *path, struct stat *facts)
{
    *facts = (struct stat){0};
    if (lstat(path, facts) != 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? NULL
                   : "it is passed over, with what may be in it: it cannot be looked at";
    }
    return S_ISDIR(facts->st_mode) && facts->st_uid == geteuid() &&
                   (facts->st_mode & OF_OTHERS) == 0
               ? NULL
               : "it is passed over, with what may be in it: it is not a folder of this user "
                 "alone; 'chmod 700' makes it one, if it is this user's";
}

/*
 * Counts the folders, each once, even if it has two names. Reports skipped ones unless `command` is
 * NULL.
 */
static uint32_t count_folders(const char *command)
{
    struct stat seen[FOLDERS];
    struct stat facts;
    char path[PATH_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < FOLDERS && etwas_crash_safe_folder(i, path, sizeof path) == 0; i++) {
        const char *reason = why_passed_over(path, &facts);
        uint32_t same = 0;

        if (reason != NULL && command != NULL) {
            etwas_steer_complain(command, path, reason);
        }
        if (reason != NULL || facts.st_mode == 0) {
            continue;
        }
        while (same < count &&
               (seen[same].st_dev != facts.st_dev || seen[same].st_ino != facts.st_ino)) {
            same++;
        }
        seen[same] = facts;
        count += same == count;
    }
    return count;
}

uint32_t etwas_steer_count_folders(void)
{
    return count_folders(NULL);
}

bool etwas_steer_take_part(const char *command)
{
    static bool has_said;
    const char *wish = getenv("ETWAS_SHARED");
    bool is_forbidden = wish != NULL && strcmp(wish, "0") == 0;
    uint32_t code = is_forbidden ? (uint32_t)ERROR_SUCCESS : etwas_share();
    const char *folder = named_folder();
    bool is_found = !is_forbidden && code == ERROR_SUCCESS;

    if (is_forbidden) {
        complain_of_folder(command, NULL, "ETWAS_SHARED is 0");
    } else if (!is_found) {
        complain_of_folder(command, folder, alone_reason(code, folder != NULL));
    }
    if (!is_forbidden && (is_found || folder == NULL) && !has_said) {
        has_said = true;
        (void)count_folders(command);
    }
    return is_found;
}

bool etwas_steer_look(const char *command)
{
    const char *folder = named_folder();
    struct stat facts;

    if (folder != NULL && stat(folder, &facts) != 0 && errno == ENOENT) {
        complain_of_folder(command, folder, "there is no such folder");
        return false;
    }
    return etwas_steer_take_part(command);
}

uint32_t etwas_steer_ask(const char *name, struct etwas_steer_block *block, uint32_t control_code)
{
    etwas_wchar units[ETWAS_STEER_NAME_UNITS + 1];

    /* No session can have a name that is not valid. */
    return etwas_text_to_utf16(name, units, sizeof units / sizeof *units) != 0
               ? ControlTraceA(0, name, &block->properties, control_code)
               : (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND;
}

bool etwas_steer_control(const char *command, const char *name, struct etwas_steer_block *block,
                         uint32_t control_code)
{
    char file_name[ETWAS_STEER_NAME_BYTES];
    uint32_t code;

    if (!etwas_steer_look(command)) {
        return false;
    }
    memcpy(file_name, block->file_name, sizeof file_name);
    code = etwas_steer_ask(name, block, control_code);
    return etwas_steer_judge(command, etwas_steer_subject(code, name, file_name), code);
}

const char *etwas_steer_subject(uint32_t code, const char *name, const char *file_name)
{
    const bool is_of_file = code == ERROR_PATH_NOT_FOUND || code == ERROR_BAD_PATHNAME ||
                            code == ERROR_ACCESS_DENIED || code == ERROR_INVALID_NAME ||
                            code == ERROR_FILE_CORRUPT;

    return is_of_file && file_name[0] != '\0' ? file_name : name;
}

bool etwas_steer_judge(const char *command, const char *name, uint32_t code)
{
    if (code == ERROR_TIMEOUT) {
        etwas_steer_complain(
            command, name,
            "its process does not answer; it does what was asked for when it goes on");
    } else if (code != ERROR_SUCCESS) {
        etwas_steer_refuse(command, name, code);
    }
    return code == ERROR_SUCCESS;
}

bool etwas_steer_name_file(const char *command, const char *path,
                           char file_name[ETWAS_STEER_NAME_BYTES])
{
    char folder[ETWAS_STEER_NAME_BYTES] = "";
    int length;

    if (path[0] == '\0') {
        etwas_steer_complain(command, path, "a file has a name");
        return false;
    }
    if (path[0] != '/' && getcwd(folder, sizeof folder) == NULL) {
        etwas_steer_complain(command, path, strerror(errno));
        return false;
    }
    length = snprintf(file_name, ETWAS_STEER_NAME_BYTES, "%s%s%s", folder,
                      path[0] != '/' ? "/" : "", path);
    if (length >= ETWAS_STEER_NAME_BYTES) {
        etwas_steer_complain(command, path, "its name is too long");
        return false;
    }
    return true;
}
