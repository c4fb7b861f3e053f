/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_CONFIG_H
#define ETWAS_TOOLS_SHIP_CONFIG_H

/*
 * The file of --config. Its lines (lines.h) have the names of long options.
 */

#include <stdbool.h>
#include <stddef.h>

enum {
    ETWAS_SHIP_CONFIG_BYTES = 256 * 1024, /* a longer file is refused */
    ETWAS_SHIP_PLACE_BYTES = 4096,
};

struct etwas_ship_config {
    /*
     * Takes a line; `value` is NULL where it is NAME alone. Returns false if it is wrong, and that
     * has been said.
     */
    bool (*take)(void *context, const char *name, const char *value);
    void *context;
    /* Where the line is, for messages: "FILE:3". */
    char place[ETWAS_SHIP_PLACE_BYTES];
};

/*
 * Values stay until the program ends. False: it cannot be read, or a line is wrong; that has been
 * said.
 */
bool etwas_ship_config_read(struct etwas_ship_config *config, const char *path);

/* The same of a text, which is changed; there is room for one byte behind it. */
bool etwas_ship_config_parse(struct etwas_ship_config *config, const char *path, char *text,
                             size_t bytes);

#endif
