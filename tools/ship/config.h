/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_CONFIG_H
#define ETWAS_TOOLS_SHIP_CONFIG_H

/* The file named by --config. Its lines (lines.h) have the names of long options. */

#include <stdbool.h>
#include <stddef.h>

enum {
    ETWAS_SHIP_CONFIG_BYTES = 256 * 1024, /* a longer file is refused */
    ETWAS_SHIP_PLACE_BYTES = 4096,
};

struct etwas_ship_config {
    /*
     * Takes a line; `value` is NULL if the line is NAME alone. Returns false after reporting that
     * the line is wrong.
     */
    bool (*take)(void *context, const char *name, const char *value);
    void *context;
    /* The position of the line, for messages: "FILE:3". */
    char place[ETWAS_SHIP_PLACE_BYTES];
};

/*
 * Reads the file. Values stay valid until the program ends. Returns false after reporting that the
 * file cannot be read or a line is wrong.
 */
bool etwas_ship_config_read(struct etwas_ship_config *config, const char *path);

/* Does the same for a text in memory, and modifies it. The text has room for one byte behind it. */
bool etwas_ship_config_parse(struct etwas_ship_config *config, const char *path, char *text,
                             size_t bytes);

#endif
