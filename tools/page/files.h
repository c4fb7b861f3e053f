/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PAGE_FILES_H
#define ETWAS_TOOLS_PAGE_FILES_H

/* The files that pages consist of. */

struct etwas_page_file {
    const char *text;
    const char *hash; /* as in a content security policy */
};

/* The files of every page. The text of d3 is NULL if the build has no d3. */
extern const struct etwas_page_file etwas_page_css;
extern const struct etwas_page_file etwas_page_d3;
extern const struct etwas_page_file etwas_page_words;
extern const struct etwas_page_file etwas_page_plots;
extern const struct etwas_page_file etwas_page_charts;
extern const struct etwas_page_file etwas_page_timeline;

/* The scripts of one command, in this order. An entry without text ends the list. */
extern const struct etwas_page_file etwas_page_clocks[];
extern const struct etwas_page_file etwas_page_report[];

/* The license of d3, included in each page with d3. */
extern const char etwas_page_d3_license[];

#endif
