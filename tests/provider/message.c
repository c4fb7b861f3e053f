/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/places.h"

enum {
    FIELDS = 11
};

static uint32_t number_in(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

static void take_data(struct message *message, const char *digits)
{
    message->bytes = (uint32_t)strlen(digits) / 2;
    message->data = malloc(message->bytes + 1u);
    assert_non_null(message->data);
    for (uint32_t index = 0; index < message->bytes; index++) {
        const char pair[] = {digits[2 * index], digits[2 * index + 1], '\0'};

        message->data[index] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

static void take_line(struct messages *messages, char *line)
{
    char *fields[FIELDS] = {0};
    struct message *message;

    line[strcspn(line, "\n")] = '\0';
    for (int index = 0; index < FIELDS && line != NULL; index++) {
        fields[index] = strsep(&line, "\t");
    }
    if (strcmp(fields[2], "MESSAGE") != 0) {
        messages->others++;
        return;
    }
    assert_non_null(fields[FIELDS - 1]);
    if ((messages->count & (messages->count - 1)) == 0) {
        size_t room = messages->count == 0 ? 1 : messages->count * 2;

        messages->items = realloc(messages->items, room * sizeof *messages->items);
        assert_non_null(messages->items);
    }
    message = &messages->items[messages->count++];
    *message = (struct message){
        .processor = number_in(fields[0]),
        .stamp = strtoll(fields[1], NULL, 10),
        .number = (uint16_t)number_in(fields[3]),
        .sequence = number_in(fields[5]),
        .flags = (uint16_t)number_in(fields[6]),
        .has_ids = fields[9][0] != '-',
        .thread = number_in(fields[9]),
        .process = number_in(fields[10]),
    };
    (void)snprintf(message->guid, sizeof message->guid, "%s", fields[4]);
    take_data(message, fields[8]);
}

void walk_messages(const char *path, struct messages *messages)
{
    char command[1024];
    char *line = NULL;
    size_t room = 0;
    FILE *pipe;

    *messages = (struct messages){0};
    (void)snprintf(command, sizeof command, WALKER " --payloads '%s'", path);
    pipe = popen(command, "re");
    assert_non_null(pipe);
    while (getline(&line, &room, pipe) > 0 && line[0] != '{') {
        take_line(messages, line);
    }
    assert_non_null(line);
    if (pclose(pipe) != 0) {
        fail_msg("the walker on %s: %s", path, line);
    }
    free(line);
}

void free_messages(struct messages *messages)
{
    for (size_t index = 0; index < messages->count; index++) {
        free(messages->items[index].data);
    }
    free(messages->items);
    *messages = (struct messages){0};
}

void expect_numbers(const struct messages *messages, uint32_t last)
{
    uint8_t *seen = calloc(last + 1u, 1);

    assert_non_null(seen);
    assert_int_equal(messages->count, last);
    for (size_t index = 0; index < messages->count; index++) {
        uint32_t number = messages->items[index].sequence;

        if (number == 0 || number > last || seen[number] != 0) {
            fail_msg("number %u is not from 1 to %u, or is there twice", number, last);
        }
        seen[number] = 1;
    }
    free(seen);
}
