/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_GUIDES_H
#define ETWAS_TOOLS_CLI_GUIDES_H

/*
 * What several commands share, and `etwas help GUIDE` explains.
 */

struct etwas_guide {
    const char *name; /* NULL behind the last */
    const char *summary;
    const char *const *parts; /* of the text; NULL behind the last */
};

extern const struct etwas_guide etwas_guides[];

#endif
