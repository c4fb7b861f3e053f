/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Finds the parts of new-file sets. */

#include "trace/parts.h"

#include "math/hash.h"

#include <stdlib.h>
#include <string.h>

struct etwas_parts_file {
    const char *path;
    uint32_t part; /* 0: it belongs to no set */
    uint32_t clock;
    int64_t start_filetime;
    etwas_wchar *session; /* terminated */
    uint64_t place;       /* 0: it could not be opened */
    bool is_snapshot;
    int64_t end_filetime; /* 0: it has no end */
    uint64_t attempted;
    uint64_t bytes;
};

static etwas_wchar *copy_name(const etwas_wchar *name)
{
    size_t units = 0;
    etwas_wchar *copy;

    while (name[units] != 0) {
        units++;
    }
    copy = malloc((units + 1) * sizeof *copy);
    if (copy != NULL) {
        memcpy(copy, name, (units + 1) * sizeof *copy);
    }
    return copy;
}

static bool is_snapshot(const EVENT_TRACE_LOGFILEA *logfile,
                        const etwas_trace_information *information)
{
    return (logfile->LogfileHeader.LogFileMode & EVENT_TRACE_BUFFERING_MODE) != 0 &&
           (information->ends & ETWAS_TRACE_IS_RECOVERED) == 0;
}

static uint64_t hash_name(uint64_t hash, const etwas_wchar *name)
{
    size_t units = 0;

    while (name != NULL && name[units] != 0) {
        units++;
    }
    hash = etwas_hash(hash, name, units * sizeof *name);
    return etwas_hash(hash, &units, sizeof units);
}

uint64_t etwas_parts_place(const EVENT_TRACE_LOGFILEA *logfile,
                           const etwas_trace_information *information)
{
    const TRACE_LOGFILE_HEADER *header = &logfile->LogfileHeader;
    bool is_recovered = (information->ends & ETWAS_TRACE_IS_RECOVERED) != 0;
    bool snapshot = is_snapshot(logfile, information);
    const uint64_t numbers[] = {(uint64_t)header->StartTime.QuadPart, header->ReservedFlags,
                                information->part, is_recovered, snapshot};
    uint64_t hash = hash_name(ETWAS_HASH_OF_NOTHING, header->LoggerName);

    hash = hash_name(hash, snapshot || is_recovered ? NULL : header->LogFileName);
    hash = etwas_hash(hash, numbers, sizeof numbers);
    return hash != 0 ? hash : 1;
}

static bool read_file(struct etwas_parts_file *file, char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = path};
    etwas_trace_handle trace = OpenTraceA(&logfile);
    etwas_trace_information information;

    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        return true;
    }
    if (etwas_trace_query(trace, &information) == ERROR_SUCCESS) {
        *file = (struct etwas_parts_file){
            .path = path,
            .part = information.part,
            .clock = logfile.LogfileHeader.ReservedFlags,
            .start_filetime = logfile.LogfileHeader.StartTime.QuadPart,
            .session = copy_name(logfile.LogfileHeader.LoggerName),
            .place = etwas_parts_place(&logfile, &information),
            .is_snapshot = is_snapshot(&logfile, &information),
            .end_filetime = logfile.LogfileHeader.EndTime.QuadPart,
            .attempted = information.attempted_events,
            .bytes = information.file_bytes,
        };
    }
    CloseTrace(trace);
    return file->place == 0 || file->session != NULL;
}

bool etwas_parts_read(struct etwas_parts *parts, char *const *paths, uint32_t count)
{
    *parts = (struct etwas_parts){calloc(count, sizeof *parts->files), count};
    if (parts->files == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!read_file(&parts->files[i], paths[i])) {
            return false;
        }
    }
    return true;
}

static bool are_same_names(const etwas_wchar *left, const etwas_wchar *right)
{
    while (*left != 0 && *left == *right) {
        left++;
        right++;
    }
    return *left == *right;
}

static bool are_of_one_set(const struct etwas_parts_file *left,
                           const struct etwas_parts_file *right)
{
    return left->part != 0 && right->part != 0 && left->clock == right->clock &&
           left->start_filetime == right->start_filetime &&
           are_same_names(left->session, right->session);
}

/* Returns the lowest part of the set that is at least `least`; 0 if there is none. */
static uint32_t find_part(const struct etwas_parts *parts, uint32_t file, uint64_t least)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < parts->count; i++) {
        const struct etwas_parts_file *other = &parts->files[i];

        if (are_of_one_set(&parts->files[file - 1], other) && other->part >= least &&
            (found == 0 || other->part < found)) {
            found = other->part;
        }
    }
    return found;
}

static bool is_alone(const struct etwas_parts *parts, uint32_t file)
{
    const struct etwas_parts_file *own = &parts->files[file - 1];

    for (uint32_t i = 0; i < parts->count; i++) {
        if (are_of_one_set(own, &parts->files[i]) && parts->files[i].part != own->part) {
            return false;
        }
    }
    return true;
}

bool etwas_parts_next_missing(const struct etwas_parts *parts, uint32_t file, uint32_t *first,
                              uint32_t *last)
{
    uint64_t next = (uint64_t)*last + 1;
    uint32_t found;

    if (is_alone(parts, file)) {
        return false;
    }
    for (found = find_part(parts, file, next); found == next;
         found = find_part(parts, file, next)) {
        next++;
    }
    *first = (uint32_t)next;
    *last = found - 1;
    return found != 0;
}

const char *etwas_parts_last(const struct etwas_parts *parts, uint32_t file)
{
    const struct etwas_parts_file *last = &parts->files[file - 1];

    for (uint32_t i = 0; i < parts->count; i++) {
        if (are_of_one_set(last, &parts->files[i]) && parts->files[i].part > last->part) {
            last = &parts->files[i];
        }
    }
    return last == &parts->files[file - 1] ? NULL : last->path;
}

/* Two snapshots are copies only if they were taken at the same time. */
static bool are_copies(const struct etwas_parts_file *left, const struct etwas_parts_file *right)
{
    return left->place != 0 && left->place == right->place &&
           (!left->is_snapshot || left->end_filetime == right->end_filetime);
}

/* A file with an end has more than one without. */
static bool has_more(const struct etwas_parts_file *one, const struct etwas_parts_file *other)
{
    if (one->end_filetime != other->end_filetime) {
        return one->end_filetime > other->end_filetime;
    }
    return one->attempted != other->attempted ? one->attempted > other->attempted
                                              : one->bytes > other->bytes;
}

const char *etwas_parts_copied(const struct etwas_parts *parts, uint32_t file)
{
    const struct etwas_parts_file *own = &parts->files[file - 1];
    const struct etwas_parts_file *most = own;

    for (uint32_t i = 0; i < parts->count; i++) {
        const struct etwas_parts_file *other = &parts->files[i];

        if (are_copies(own, other) &&
            (has_more(other, most) || (other < most && !has_more(most, other)))) {
            most = other;
        }
    }
    return most != own ? most->path : NULL;
}

void etwas_parts_free(struct etwas_parts *parts)
{
    for (uint32_t i = 0; parts->files != NULL && i < parts->count; i++) {
        free(parts->files[i].session);
    }
    free(parts->files);
}
