/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads a file of options. */

#include "ship/config.h"

#include "ship/lines.h"
#include "ship/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Terminates name and value in place. The byte behind each is a blank, =, a newline or the end of
 * the text, which is not needed any more.
 */
static bool take_line(struct etwas_ship_config *config, const struct etwas_ship_line *line,
                      char *text)
{
    char *name = text + (line->name - text);
    char *value = text + (line->value - text);

    name[line->name_bytes] = '\0';
    value[line->value_bytes] = '\0';
    if (strlen(name) != line->name_bytes || strlen(value) != line->value_bytes) {
        etwas_ship_message(config->place, "has a byte of 0");
        return false;
    }
    return config->take(config->context, name, line->has_value ? value : NULL);
}

bool etwas_ship_config_parse(struct etwas_ship_config *config, const char *path, char *text,
                             size_t bytes)
{
    struct etwas_ship_lines lines = {text, text + bytes, 0};
    struct etwas_ship_line line;

    while (etwas_ship_lines_next(&lines, &line)) {
        (void)snprintf(config->place, sizeof config->place, "%s:%u", path, lines.number);
        if (!take_line(config, &line, text)) {
            return false;
        }
    }
    return true;
}

static bool read_all(int descriptor, char *text, size_t *used)
{
    ssize_t bytes = 1;

    *used = 0;
    while (bytes != 0 && *used < ETWAS_SHIP_CONFIG_BYTES) {
        bytes = read(descriptor, text + *used, ETWAS_SHIP_CONFIG_BYTES - *used);
        if (bytes < 0 && errno != EINTR) {
            return false;
        }
        *used += bytes > 0 ? (size_t)bytes : 0;
    }
    errno = EFBIG;
    return *used < ETWAS_SHIP_CONFIG_BYTES;
}

bool etwas_ship_config_read(struct etwas_ship_config *config, const char *path)
{
    static char text[ETWAS_SHIP_CONFIG_BYTES + 1];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    size_t bytes;

    if (descriptor < 0 || !read_all(descriptor, text, &bytes)) {
        etwas_ship_message(path, "cannot be read: %s", strerror(errno));
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return false;
    }
    (void)close(descriptor);
    return etwas_ship_config_parse(config, path, text, bytes);
}
