/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_GUIDES_H
#define ETWAS_TOOLS_CLI_GUIDES_H

/* What several commands share, explained by `etwas help GUIDE`. */

struct etwas_guide {
    const char *name; /* NULL ends the table */
    const char *summary;
    const char *const *parts; /* parts of the text; ends with NULL */
};

extern const struct etwas_guide etwas_guides[];

#endif
