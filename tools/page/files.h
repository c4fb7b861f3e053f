/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PAGE_FILES_H
#define ETWAS_TOOLS_PAGE_FILES_H

/*
 * What pages are made of.
 */

struct etwas_page_file {
    const char *text;
    const char *hash; /* as a content security policy has it */
};

/* The files of every page. The text of d3 is NULL if the build had no d3. */
extern const struct etwas_page_file etwas_page_css;
extern const struct etwas_page_file etwas_page_d3;
extern const struct etwas_page_file etwas_page_words;
extern const struct etwas_page_file etwas_page_plots;
extern const struct etwas_page_file etwas_page_charts;
extern const struct etwas_page_file etwas_page_timeline;

/* The scripts of one command, in this order; behind the last is one without text. */
extern const struct etwas_page_file etwas_page_clocks[];
extern const struct etwas_page_file etwas_page_report[];

/* The license of d3, which is in each page that has d3. */
extern const char etwas_page_d3_license[];

#endif
