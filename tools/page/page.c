/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes the frame of a page around its data. */

#include "page/page.h"

#include "cli/built.h"
#include "print/text.h"

#include <etwas/etwas.h>
#include <stdio.h>

bool etwas_page_possible(const char *command)
{
    if (etwas_page_d3.text == NULL) {
        fprintf(stderr,
                "%s: --html: this etwas was built without d3, which draws pages. " ETWAS_BUILT_CURE(
                    "node-d3") "\n",
                command);
    }
    return etwas_page_d3.text != NULL;
}

static void put_escaped(struct etwas_output *output, const char *text)
{
    etwas_text_utf8(output, ETWAS_TEXT_HTML, text, strlen(text));
}

/* No whitespace: the hash covers everything between the tags. */
static void put_file(struct etwas_output *output, const char *tag,
                     const struct etwas_page_file *file)
{
    etwas_output_format(output, "<%s>", tag);
    etwas_output_text(output, file->text);
    etwas_output_format(output, "</%s>\n", tag);
}

/* The files of every page, which precede the page's own. */
static const struct etwas_page_file *const shared[] = {
    &etwas_page_d3, &etwas_page_words, &etwas_page_plots, &etwas_page_charts, &etwas_page_timeline,
};

enum {
    SHARED = sizeof shared / sizeof shared[0]
};

static void put_policy(struct etwas_output *output, const struct etwas_page_file *scripts)
{
    etwas_output_text(output, "<meta http-equiv=\"Content-Security-Policy\" "
                              "content=\"default-src 'none'; base-uri 'none'; form-action 'none'; "
                              "style-src '");
    etwas_output_text(output, etwas_page_css.hash);
    etwas_output_text(output, "'; script-src");
    for (size_t i = 0; i < SHARED; i++) {
        etwas_output_format(output, " '%s'", shared[i]->hash);
    }
    for (; scripts->text != NULL; scripts++) {
        etwas_output_format(output, " '%s'", scripts->hash);
    }
    etwas_output_text(output, "\">\n");
}

static void put_head(struct etwas_output *output, const char *title,
                     const struct etwas_page_file *scripts)
{
    etwas_output_text(output, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                              "<meta charset=\"utf-8\">\n");
    put_policy(output, scripts);
    etwas_output_text(output, "<meta name=\"viewport\" content=\"width=device-width, "
                              "initial-scale=1\">\n"
                              "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    put_escaped(output, title);
    etwas_output_text(output, "</title>\n");
    put_file(output, "style", &etwas_page_css);
    for (size_t i = 0; i < SHARED; i++) {
        put_file(output, "script", shared[i]);
    }
    for (; scripts->text != NULL; scripts++) {
        put_file(output, "script", scripts);
    }
    etwas_output_text(output, "</head>\n");
}

void etwas_page_begin(struct etwas_output *output, const char *title,
                      const struct etwas_page_file *scripts)
{
    put_head(output, title, scripts);
    etwas_output_text(output, "<body>\n<main>\n<noscript>This page is drawn by its own scripts; "
                              "they are switched off.</noscript>\n</main>\n"
                              "<footer>\n<p>Made by etwas ");
    etwas_output_text(output, etwas_version());
    etwas_output_text(output, ".</p>\n<details><summary>Drawn with d3, whose license this is"
                              "</summary><pre>");
    etwas_output_text(output, etwas_page_d3_license);
    etwas_output_text(output, "</pre></details>\n</footer>\n"
                              "<script type=\"application/json\" id=\"data\">");
    etwas_output_flush(output);
    output->script = (struct etwas_output_script){.is_on = true};
}

void etwas_page_end(struct etwas_output *output)
{
    etwas_output_flush(output);
    output->script.is_on = false;
    etwas_output_text(output, "</script>\n</body>\n</html>\n");
}
