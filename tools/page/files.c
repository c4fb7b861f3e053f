/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The files that pages are made of, as they lie in this folder, each with a NUL behind it. The build says where they
 * are and hashes them.
 */

#include "page/files.h"

#include "page_hashes.h"

#include <stddef.h>

/* By the assembler: C promises no literal of such length. */
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

PAGE_FILE(etwas_page_css, ETWAS_PAGE_FOLDER "/style.css", ETWAS_PAGE_HASH_CSS);
PAGE_FILE(etwas_page_words, ETWAS_PAGE_FOLDER "/words.js", ETWAS_PAGE_HASH_WORDS);
PAGE_FILE(etwas_page_plots, ETWAS_PAGE_FOLDER "/plots.js", ETWAS_PAGE_HASH_PLOTS);
PAGE_FILE(etwas_page_charts, ETWAS_PAGE_FOLDER "/charts.js", ETWAS_PAGE_HASH_CHARTS);
EMBED(etwas_page_d3_license, ETWAS_PAGE_FOLDER "/d3_license.txt");
#ifdef ETWAS_PAGE_D3
PAGE_FILE(etwas_page_d3, ETWAS_PAGE_D3, ETWAS_PAGE_HASH_D3);
#else
const struct etwas_page_file etwas_page_d3 = {NULL, ""};
#endif
