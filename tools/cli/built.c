/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "cli/built.h"

#include "commands.h"
#include "page/page.h"
#include "print/output.h"
#include "ship/http.h"

#include <etwas/etwas.h>
#include <stdbool.h>

#ifdef ETWAS_LIBCURL
#define HAS_LIBCURL true
#else
#define HAS_LIBCURL false
#endif
#ifdef ETWAS_ZLIB
#define HAS_ZLIB true
#else
#define HAS_ZLIB false
#endif
#ifdef ETWAS_LIBDW
#define HAS_LIBDW true
#else
#define HAS_LIBDW false
#endif
#ifdef ETWAS_CXX_NAMES
#define HAS_CXX_NAMES true
#else
#define HAS_CXX_NAMES false
#endif

struct part {
    const char *name;
    bool is_in;
    const char *use;
    const char *cure;
};

static void put_part(struct etwas_output *output, const struct part *part)
{
    etwas_output_format(output, "%s %s: %s%s%s\n", part->is_in ? "with" : "without", part->name,
                        part->use, part->is_in ? "" : ". ", part->is_in ? "" : part->cure);
}

int etwas_show_version(void)
{
    const struct part parts[] = {
        {"libcurl", HAS_LIBCURL, "etwas ship", ETWAS_BUILT_CURE("libcurl4-openssl-dev")},
        {"zlib", HAS_ZLIB, "etwas ship --compress", ETWAS_BUILT_CURE("zlib1g-dev")},
        {"libdw", HAS_LIBDW, "names of functions, stacks of etwas record --dwarf",
         ETWAS_BUILT_CURE("libdw-dev")},
        {"libstdc++", HAS_CXX_NAMES, "names of C++ as they were written", ETWAS_BUILT_CURE("g++")},
        {"d3", etwas_page_d3.text != NULL, "pages with plots (--html)",
         ETWAS_BUILT_CURE("node-d3")},
    };
    struct etwas_output *output = etwas_standard_output();

    etwas_output_format(output, "etwas %s\n", etwas_version());
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        put_part(output, &parts[i]);
    }
    if (HAS_LIBCURL && !etwas_ship_http_begin()) {
        etwas_output_text(output,
                          "libcurl is not installed: etwas ship needs it. On Debian install "
                          "libcurl4\n");
    }
    return etwas_output_finish(output) ? ETWAS_EXIT_FINE : ETWAS_EXIT_OUTPUT;
}
