/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/proc_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/names/offload.h"

enum {
    LONGEST_PATH = 64,
    FIRST_ROOM = 16 << 10,
};

struct text_task {
    struct etwas_offload_task task;
    char path[LONGEST_PATH];
    size_t most;
    struct etwas_process_text text;
};

static bool process_text_has_room(struct text_task *asked, size_t *room)
{
    struct etwas_process_text *text = &asked->text;
    size_t more = *room == 0 ? FIRST_ROOM : 2 * *room;
    char *moved;

    if (text->bytes < *room) {
        return true;
    }
    more = more < asked->most ? more : asked->most;
    moved = more > *room ? realloc(text->text, more + 1) : NULL;
    if (moved == NULL) {
        return false;
    }
    text->text = moved;
    *room = more;
    return true;
}

static void process_text_read(struct etwas_offload_task *task)
{
    struct text_task *asked = (void *)task;
    struct etwas_process_text *text = &asked->text;
    int file = open(asked->path, O_RDONLY | O_CLOEXEC);
    size_t room = 0;
    ssize_t got = -1;

    while (file >= 0 && process_text_has_room(asked, &room)) {
        got = read(file, text->text + text->bytes, room - text->bytes);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            break;
        }
        text->bytes += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0) {
        (void)close(file);
    }
    text->state = got >= 0 ? ETWAS_TEXT_READ : ETWAS_TEXT_GONE;
    if (text->text != NULL) {
        text->text[text->bytes] = 0;
    }
}

static void free_text(struct etwas_offload_task *task)
{
    struct text_task *asked = (void *)task;

    free(asked->text.text);
    free(asked);
}

struct etwas_process_text etwas_process_text_read(uint32_t process_id, const char *name,
                                                  size_t most)
{
    struct etwas_process_text text = {.state = ETWAS_TEXT_NO_ANSWER};
    struct text_task *asked = calloc(1, sizeof *asked);

    if (asked == NULL) {
        return text;
    }
    asked->task = (struct etwas_offload_task){
        .run = process_text_read, .free = free_text, .process_id = process_id};
    asked->most = most;
    (void)snprintf(asked->path, sizeof asked->path, "/proc/%u/%s", process_id, name);
    if (!etwas_offload_run(&asked->task)) {
        return text;
    }
    text = asked->text;
    asked->text.text = NULL;
    free_text(&asked->task);
    if (text.state != ETWAS_TEXT_READ) {
        free(text.text);
        text.text = NULL;
    }
    return text;
}
