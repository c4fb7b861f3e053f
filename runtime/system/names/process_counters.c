/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/process_facts.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/names/proc_list.h"

enum {
    TEXT_BYTES = 4096,
    LONGEST_PATH = 64,
    DECIMAL = 10,
    BYTES_PER_KB = 1024,
};

/* ---- texts ----------------------------------------------------------------------------------- */

/* The 10th and the 12th field, the sums over all threads; the name may contain any characters. */
void etwas_process_parse_faults(const char *text, struct etwas_process_counters *counters)
{
    const char *end = strrchr(text, ')');
    uint64_t minor;
    uint64_t major;

    if (end != NULL && sscanf(end, ") %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64, &minor,
                              &major) == 2) {
        counters->page_faults = minor + major;
    }
}

/*
 * Parses the line that begins with `begin`. The process's name cannot fake such a line, because the
 * kernel escapes new lines in it.
 */
static void process_counters_parse_line(const char *text, const char *begin, uint64_t unit,
                                        uint64_t *value)
{
    const char *line = strstr(text, begin);

    if (line != NULL) {
        *value = strtoull(line + strlen(begin), NULL, DECIMAL) * unit;
    }
}

void etwas_process_parse_memory(const char *text, struct etwas_process_counters *counters)
{
    process_counters_parse_line(text, "\nVmPeak:", BYTES_PER_KB, &counters->peak_virtual_bytes);
    process_counters_parse_line(text, "\nVmSize:", BYTES_PER_KB, &counters->virtual_bytes);
    process_counters_parse_line(text, "\nVmHWM:", BYTES_PER_KB, &counters->peak_resident_bytes);
    process_counters_parse_line(text, "\nVmRSS:", BYTES_PER_KB, &counters->resident_bytes);
    process_counters_parse_line(text, "\nRssAnon:", BYTES_PER_KB, &counters->anonymous_bytes);
    process_counters_parse_line(text, "\nVmSwap:", BYTES_PER_KB, &counters->swapped_bytes);
}

void etwas_process_parse_io(const char *text, struct etwas_process_counters *counters)
{
    if (strncmp(text, "rchar:", strlen("rchar:")) == 0) {
        counters->characters_read = strtoull(text + strlen("rchar:"), NULL, DECIMAL);
    }
    process_counters_parse_line(text, "\nwchar:", 1, &counters->characters_written);
    process_counters_parse_line(text, "\nread_bytes:", 1, &counters->bytes_read);
    process_counters_parse_line(text, "\nwrite_bytes:", 1, &counters->bytes_written);
}

/* ---- a process ------------------------------------------------------------------------------- */

static uint32_t count_handles(uint32_t process_id)
{
    char path[LONGEST_PATH];
    const struct dirent *entry;
    uint32_t count = 0;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%u/fd", process_id);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

bool etwas_process_counters_read(uint32_t process_id, struct etwas_process_counters *counters)
{
    struct etwas_process_text io;
    char text[TEXT_BYTES];

    *counters = (struct etwas_process_counters){0};
    if (etwas_process_read_file(process_id, "stat", text, sizeof text) < 0) {
        return false;
    }
    etwas_process_parse_faults(text, counters);
    if (etwas_process_read_file(process_id, "status", text, sizeof text) < 0) {
        return false;
    }
    etwas_process_parse_memory(text, counters);
    io = etwas_process_text_read(process_id, "io", TEXT_BYTES);
    if (io.state == ETWAS_TEXT_READ) {
        etwas_process_parse_io(io.text, counters);
    }
    free(io.text);
    counters->handles = count_handles(process_id);
    return true;
}

static void keep_most(uint64_t *most, uint64_t value)
{
    *most = value > *most ? value : *most;
}

void etwas_process_counters_add(struct etwas_process_counters *sum,
                                const struct etwas_process_counters *counters)
{
    sum->page_faults += counters->page_faults;
    keep_most(&sum->peak_virtual_bytes, counters->peak_virtual_bytes);
    keep_most(&sum->peak_resident_bytes, counters->peak_resident_bytes);
    sum->characters_read += counters->characters_read;
    sum->characters_written += counters->characters_written;
    sum->bytes_read += counters->bytes_read;
    sum->bytes_written += counters->bytes_written;
}

/* ---- the record ------------------------------------------------------------------------------ */

static uint32_t saturated(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

const void *etwas_process_counters_make(struct etwas_record_builder *record, uint8_t type,
                                        uint32_t process_id,
                                        const struct etwas_process_counters *counters,
                                        bool is_incomplete)
{
    ETWAS_RECORD_MAKE(
        record, COUNTERS, type, .ProcessId = process_id,
        .PageFaultCount = saturated(counters->page_faults), .HandleCount = counters->handles,
        .Reserved = is_incomplete ? ETWAS_COUNTERS_INCOMPLETE : 0,
        .PeakVirtualSize = counters->peak_virtual_bytes,
        .PeakWorkingSetSize = counters->peak_resident_bytes, .VirtualSize = counters->virtual_bytes,
        .WorkingSetSize = counters->resident_bytes, .PagefileUsage = counters->swapped_bytes,
        .PrivatePageCount = counters->anonymous_bytes + counters->swapped_bytes,
        .ReadTransferCount = counters->characters_read,
        .WriteTransferCount = counters->characters_written, .DiskReadBytes = counters->bytes_read,
        .DiskWriteBytes = counters->bytes_written);
    return etwas_record_builder_end(record);
}
