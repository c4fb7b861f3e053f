/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/recover.h"

#include "cli/no_room.h"
#include "print/human.h"
#include "print/json.h"
#include "print/terminal.h"
#include "print/text.h"

#include <etwas/winerror.h>
#include <stdio.h>

const char *etwas_recover_error(uint32_t code)
{
    switch (code) {
    case ERROR_FILE_NOT_FOUND:
        return "there is no such file";
    case ERROR_PATH_NOT_FOUND:
        return "there is no folder for the file to be made";
    case ERROR_ACCESS_DENIED:
        return "it cannot be opened, is another user's, or a symbolic link";
    case ERROR_NOT_FOUND:
        return "there is no session in it that had begun";
    case ERROR_NOT_SUPPORTED:
        return "it is of another version of etwas, whose layout is another one";
    case ERROR_FILE_CORRUPT:
        return "it is neither what a crash-safe session leaves nor a core file, or it is damaged";
    case ERROR_NOT_ENOUGH_MEMORY:
        return "there is not enough memory";
    case ERROR_SHARING_VIOLATION:
        return "the file to be made is this one, the session's log file, or one that somebody "
               "writes";
    case ERROR_DISK_FULL:
        return etwas_no_room_reason(0);
    default:
        return "the file cannot be made";
    }
}

void etwas_recover_complain(const char *path, const char *reason, uint32_t code)
{
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_text(errors, "etwas recover: ");
    etwas_text_plain(errors, path);
    etwas_output_format(errors, ": %s", reason);
    if (code != ERROR_SUCCESS) {
        etwas_output_format(errors, " (error %u)", code);
    }
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
}

/* ---- the place of a pool --------------------------------------------------------------------- */

static const char *place_name(uint32_t place)
{
    switch (place) {
    case ETWAS_PLACE_MEMFD:
        return "memfd";
    case ETWAS_PLACE_MEMORY:
        return "memory";
    case ETWAS_PLACE_DISK:
        return "disk";
    default:
        return "";
    }
}

static void say_place(struct etwas_output *to, const etwas_recovered *found)
{
    char text[3][ETWAS_HUMAN_CHARACTERS];

    switch (found->place) {
    case ETWAS_PLACE_MEMFD:
        etwas_output_format(to, "  lay in        a memfd: costs what memory does\n");
        break;
    case ETWAS_PLACE_MEMORY:
        etwas_output_format(to, "  lay in        a file in memory (%s): costs what memory does\n",
                            found->file_system);
        break;
    case ETWAS_PLACE_DISK:
        etwas_output_format(to,
                            "  lay in        a file on a disk (%s): costs writers a page fault for "
                            "each page that was written back\n",
                            found->file_system);
        break;
    default:
        break;
    }
    if (found->touches != 0) {
        etwas_label(to, "");
        etwas_output_format(to,
                            "of %s pages that the flusher touched, %s took a millisecond or more, "
                            "the longest %s\n",
                            etwas_human_count(text[0], found->touches),
                            etwas_human_count(text[1], found->slow_touches),
                            etwas_human_ns(text[2], (double)found->longest_touch_ns));
    }
}

void etwas_recover_file_name(const etwas_recovered *found, char *name, size_t room)
{
    size_t bytes = etwas_text_cut(found->session_name, strnlen(found->session_name, room - 1));

    memcpy(name, found->session_name, bytes);
    name[bytes] = '\0';
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '/' || (unsigned char)*at < ' ' || *at == '\x7F') {
            *at = '_';
        }
    }
}

/* ---- one session ----------------------------------------------------------------------------- */

static void begin_json(struct etwas_output *to, const char *source)
{
    etwas_json_begin(to, "recovery");
    etwas_json_text(to, "source", source);
}

static void show_json(const char *source, const char *output, bool is_removed,
                      const etwas_recovered *found)
{
    struct etwas_output *to = etwas_standard_output();

    begin_json(to, source);
    if (is_removed) {
        etwas_json_boolean(to, "removed", true);
    }
    if (output != NULL) {
        etwas_json_text(to, "output", output);
    }
    etwas_json_text(to, "session", found->session_name);
    etwas_json_guid(to, "session_id", &found->session);
    etwas_json_number(to, "pid", found->process_id);
    etwas_json_boolean(to, "alive", found->is_alive);
    etwas_json_boolean(to, "other_boot", found->other_boot);
    etwas_json_text(to, "place", place_name(found->place));
    etwas_json_text(to, "file_system", found->file_system);
    etwas_json_number(to, "touches", found->touches);
    etwas_json_number(to, "longest_touch", found->longest_touch_ns);
    etwas_json_number(to, "slow_touches", found->slow_touches);
    etwas_json_text(to, "log_file", found->log_file);
    etwas_json_number(to, "attempted", found->attempted);
    etwas_json_number(to, "events", found->events);
    etwas_json_number(to, "in_log_file", found->in_log_file);
    etwas_json_number(to, "overwritten", found->overwritten);
    etwas_json_number(to, "lost", found->lost);
    etwas_json_number(to, "unfinished", found->unfinished);
    etwas_json_number(to, "schemas", found->schemas);
    etwas_json_number(to, "schemas_left_out", found->schemas_left_out);
    etwas_json_number(to, "damaged_buffers", found->damaged_buffers);
    etwas_json_number(to, "passed_buffers", found->passed_buffers);
    etwas_json_number(to, "missing_buffers", found->missing_buffers);
    etwas_json_boolean(to, "settling", found->is_settling);
    etwas_output_bytes(to, "}\n", 2);
}

static void put_count(struct etwas_output *to, uint64_t count, const char *what)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_label(to, etwas_human_count(text, count));
    etwas_output_format(to, "%s\n", what);
}

static void print_count(struct etwas_output *to, uint64_t count, const char *what)
{
    if (count != 0) {
        put_count(to, count, what);
    }
}

/* Escapes the name, which is not trusted. */
static void say_name(struct etwas_output *to, const char *what, const char *name)
{
    etwas_label(to, what);
    etwas_text_plain(to, name);
    etwas_output_char(to, '\n');
}

static void show_text(const char *source, const char *output, const etwas_recovered *found)
{
    struct etwas_output *to = etwas_standard_output();

    etwas_text_plain(to, source);
    etwas_output_char(to, '\n');
    say_name(to, "session", found->session_name);
    etwas_output_format(to, "  process       %u, %s\n", found->process_id,
                        found->is_alive     ? "which lives"
                        : found->other_boot ? "of another boot, or another machine"
                                            : "which has ended");
    say_place(to, found);
    if (found->log_file[0] != '\0') {
        say_name(to, "log file", found->log_file);
    }
    if (output != NULL) {
        say_name(to, "recovered to", output);
    }
    put_count(to, found->events, found->events == 1 ? "event" : "events");
    print_count(to, found->in_log_file, "events that the log file has already");
    print_count(to, found->overwritten, "events overwritten by newer ones");
    print_count(to, found->lost, "events lost by the session");
    print_count(to, found->unfinished,
                "events hidden behind one that was not finished, or damaged");
    print_count(to, found->attempted, "events that the session was asked to record, in all");
    print_count(to, found->schemas_left_out,
                "descriptions there was no room for, or that are damaged");
    print_count(to, found->damaged_buffers, "buffers damaged");
    print_count(to, found->passed_buffers, "buffers that were reused when they were read");
    print_count(to, found->missing_buffers,
                "buffers with events that the core file, or the copy, does not have");
    if (found->is_settling) {
        etwas_output_format(
            to, "  the counts of attempted, lost and overwritten events may be wrong by a few\n"
                "  buffers: the process was just booking them\n");
    }
}

void etwas_recover_show(const char *source, const char *output, const etwas_recovered *recovered,
                        bool json)
{
    if (json) {
        show_json(source, output, false, recovered);
    } else {
        show_text(source, output, recovered);
    }
}

void etwas_recover_show_removed(const char *path, const etwas_recovered *found, const char *reason,
                                bool json)
{
    struct etwas_output *to = etwas_standard_output();
    char count[ETWAS_HUMAN_CHARACTERS];

    if (json && found != NULL) {
        show_json(path, NULL, true, found);
    } else if (json) {
        begin_json(to, path);
        etwas_json_boolean(to, "removed", true);
        etwas_json_text(to, "reason", reason);
        etwas_output_bytes(to, "}\n", 2);
    } else {
        etwas_output_text(to, "removed ");
        etwas_text_plain(to, path);
        etwas_output_text(to, ": ");
        if (found != NULL) {
            etwas_text_plain(to, found->session_name);
            etwas_output_format(to, " of process %u, %s event%s\n", found->process_id,
                                etwas_human_count(count, found->events),
                                etwas_human_plural(found->events));
        } else {
            etwas_output_format(to, "%s\n", reason);
        }
    }
}
