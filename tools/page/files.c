/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The files that pages consist of, in this folder, each terminated by a NUL. The build has their
 * paths and hashes.
 */

#include "page/files.h"

#include "page_hashes.h"

#include <stddef.h>

/* Embeds a file with the assembler: C guarantees no string literals of such a length. */
#define EMBED(name, path)                                                                          \
    extern const char name[] __attribute__((visibility("hidden")));                                \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #name "\n" #name ":\n"                                                      \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n")

#define PAGE_FILE(name, path, hash_of)                                                             \
    EMBED(name##_text, path);                                                                      \
    const struct etwas_page_file name = {name##_text, hash_of}

PAGE_FILE(etwas_page_css, ETWAS_TOOLS_FOLDER "/page/style.css", ETWAS_PAGE_HASH_CSS);
PAGE_FILE(etwas_page_words, ETWAS_TOOLS_FOLDER "/page/words.js", ETWAS_PAGE_HASH_WORDS);
PAGE_FILE(etwas_page_plots, ETWAS_TOOLS_FOLDER "/page/plots.js", ETWAS_PAGE_HASH_PLOTS);
PAGE_FILE(etwas_page_charts, ETWAS_TOOLS_FOLDER "/page/charts.js", ETWAS_PAGE_HASH_CHARTS);
PAGE_FILE(etwas_page_timeline, ETWAS_TOOLS_FOLDER "/page/timeline.js", ETWAS_PAGE_HASH_TIMELINE);
EMBED(etwas_page_d3_license, ETWAS_TOOLS_FOLDER "/page/d3_license.txt");
#ifdef ETWAS_PAGE_D3
PAGE_FILE(etwas_page_d3, ETWAS_PAGE_D3, ETWAS_PAGE_HASH_D3);
#else
const struct etwas_page_file etwas_page_d3 = {NULL, ""};
#endif

EMBED(clocks_words, ETWAS_TOOLS_FOLDER "/clocks/page_words.js");
EMBED(clocks_cost, ETWAS_TOOLS_FOLDER "/clocks/page_cost.js");
EMBED(clocks_order, ETWAS_TOOLS_FOLDER "/clocks/page_order.js");
EMBED(clocks_rate, ETWAS_TOOLS_FOLDER "/clocks/page_rate.js");
EMBED(clocks_page, ETWAS_TOOLS_FOLDER "/clocks/page.js");

const struct etwas_page_file etwas_page_clocks[] = {
    {clocks_words, ETWAS_PAGE_HASH_CLOCKS_WORDS}, {clocks_cost, ETWAS_PAGE_HASH_CLOCKS_COST},
    {clocks_order, ETWAS_PAGE_HASH_CLOCKS_ORDER}, {clocks_rate, ETWAS_PAGE_HASH_CLOCKS_RATE},
    {clocks_page, ETWAS_PAGE_HASH_CLOCKS_PAGE},   {NULL, NULL},
};

EMBED(report_time, ETWAS_TOOLS_FOLDER "/report/page_time.js");
EMBED(report_health, ETWAS_TOOLS_FOLDER "/report/page_health.js");
EMBED(report_rates, ETWAS_TOOLS_FOLDER "/report/page_rates.js");
EMBED(report_spans, ETWAS_TOOLS_FOLDER "/report/page_spans.js");
EMBED(report_trees, ETWAS_TOOLS_FOLDER "/report/page_trees.js");
EMBED(report_usage, ETWAS_TOOLS_FOLDER "/report/page_usage.js");
EMBED(report_heap, ETWAS_TOOLS_FOLDER "/report/page_heap.js");
EMBED(report_page, ETWAS_TOOLS_FOLDER "/report/page.js");

const struct etwas_page_file etwas_page_report[] = {
    {report_time, ETWAS_PAGE_HASH_REPORT_TIME},
    {report_health, ETWAS_PAGE_HASH_REPORT_HEALTH},
    {report_rates, ETWAS_PAGE_HASH_REPORT_RATES},
    {report_spans, ETWAS_PAGE_HASH_REPORT_SPANS},
    {report_trees, ETWAS_PAGE_HASH_REPORT_TREES},
    {report_usage, ETWAS_PAGE_HASH_REPORT_USAGE},
    {report_heap, ETWAS_PAGE_HASH_REPORT_HEAP},
    {report_page, ETWAS_PAGE_HASH_REPORT_PAGE},
    {NULL, NULL},
};
