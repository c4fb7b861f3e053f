/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/process_facts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/names/proc_list.h"
#include "system/stream/pseudo_file.h"

enum {
    LONGEST_PATH = 64,
    TEXT_BYTES = 4096,
    DECIMAL = 10,
};

/* ---- texts ----------------------------------------------------------------------------------- */

/*
 *     42 (name) S 1 42 7 … with the start as its 22nd field
 *
 * The name may contain any characters, also closing parentheses; what follows it contains none.
 */
bool etwas_process_parse_stat(const char *text, struct etwas_process_facts *facts)
{
    const char *begin = strchr(text, '(');
    const char *end = strrchr(text, ')');
    size_t length;

    if (begin == NULL || end == NULL || end < begin ||
        sscanf(end,
               ") %*c %" SCNu32 " %*d %" SCNu32
               " %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
               &facts->parent_id, &facts->session_id, &facts->start_tick) != 3) {
        return false;
    }
    length = (size_t)(end - begin) - 1;
    length = length < sizeof facts->name ? length : sizeof facts->name - 1;
    memcpy(facts->name, begin + 1, length);
    facts->name[length] = 0;
    return true;
}

/* Parses the effective user. The process's name cannot fake the line: its new lines are escaped. */
bool etwas_process_parse_user(const char *text, uint32_t *user_id)
{
    const char *line = strstr(text, "\nUid:");

    return line != NULL && sscanf(line, "\nUid: %*u %" SCNu32, user_id) == 1;
}

/* 55d0c0000000-55d0c0001000 r-xp 00001000 fd:01 1234      /usr/bin/true */
bool etwas_process_parse_mapping(char *line, struct etwas_mapping *mapping)
{
    uint64_t end;
    char protection[5];
    int path_at = 0;

    *mapping = (struct etwas_mapping){0};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping->address, &end,
               protection, &mapping->file_offset, &path_at) != 4 ||
        path_at == 0 || end <= mapping->address || strlen(protection) != 4 ||
        protection[2] != 'x') {
        return false;
    }
    mapping->bytes = end - mapping->address;
    line[path_at + (int)strcspn(line + path_at, "\n")] = 0;
    mapping->path = line + path_at;
    return etwas_mapping_is_image(mapping->path);
}

uint64_t etwas_process_parse_device(const char *line)
{
    uint32_t major = 0;
    uint32_t minor = 0;

    (void)sscanf(line, "%*s %*s %*s %" SCNx32 ":%" SCNx32, &major, &minor);
    return (uint64_t)major << 32 | minor;
}

void etwas_process_join_arguments(char *text, size_t bytes)
{
    bytes -= bytes > 0 && text[bytes - 1] == 0;
    for (size_t index = 0; index < bytes; index++) {
        if (text[index] == 0) {
            text[index] = ' ';
        }
    }
    text[bytes] = 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

ssize_t etwas_process_read_file(uint32_t process_id, const char *name, char *text, size_t room)
{
    char path[LONGEST_PATH];
    ssize_t bytes;

    (void)snprintf(path, sizeof path, "/proc/%u/%s", process_id, name);
    bytes = etwas_pseudo_file_read(open(path, O_RDONLY | O_CLOEXEC), text, room - 1);
    text[bytes > 0 ? bytes : 0] = 0;
    return bytes;
}

bool etwas_process_facts_read(uint32_t process_id, struct etwas_process_facts *facts)
{
    char text[TEXT_BYTES];

    return etwas_process_read_file(process_id, "stat", text, sizeof text) >= 0 &&
           etwas_process_parse_stat(text, facts) &&
           etwas_process_read_file(process_id, "status", text, sizeof text) >= 0 &&
           etwas_process_parse_user(text, &facts->user_id);
}

bool etwas_process_command_line_read(uint32_t process_id, struct etwas_process_facts *facts)
{
    const size_t most = sizeof facts->command_line - 1;
    struct etwas_process_text read = etwas_process_text_read(process_id, "cmdline", most);
    char *line = facts->command_line;
    size_t bytes = read.bytes;

    if (read.state == ETWAS_TEXT_GONE) {
        return false;
    }
    facts->has_no_answer = read.state == ETWAS_TEXT_NO_ANSWER;
    facts->is_cut = bytes == most;
    while (bytes > 0 &&
           read.text[bytes - 1] == 0) { /* padding behind a title that the process wrote there */
        bytes--;
    }
    memcpy(line, read.text != NULL ? read.text : "", bytes);
    etwas_process_join_arguments(line, bytes);
    free(read.text);
    return true;
}
