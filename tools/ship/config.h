/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_CONFIG_H
#define ETWAS_TOOLS_SHIP_CONFIG_H

/*
 * The file of --config. Its lines (lines.h) have the names of long options. An option without a
 * value is NAME alone, or NAME = yes; NAME = no has no effect.
 */

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    ETWAS_SHIP_CONFIG_BYTES = 256 * 1024, /* a longer file is refused */
    ETWAS_SHIP_PLACE_BYTES = 4096,
};

struct etwas_ship_config {
    const struct option *named; /* as of getopt_long */
    /* Takes one, its value in optarg. False: it is wrong, and that has been said. */
    bool (*take)(void *context, int option);
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
