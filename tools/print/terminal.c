/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Finds width, characters and colours of a terminal. */

#include "print/terminal.h"

#include "print/text.h"

#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    LEAST_COLUMNS = 40, /* on a narrower terminal lines wrap */
    USUAL_COLUMNS = 80, /* if the terminal does not report it */
    LABEL_COLUMNS = 13,
};

/* Determined once, since loading a locale takes 20 µs; constant afterwards. */
static bool has_utf8;
static pthread_once_t utf8_chosen = PTHREAD_ONCE_INIT;

static void choose_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);

    if (locale != (locale_t)0) {
        has_utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
        freelocale(locale);
    }
}

bool etwas_terminal_has_utf8(void)
{
    (void)pthread_once(&utf8_chosen, choose_utf8);
    return has_utf8;
}

static bool is_terminal(const struct etwas_output *output)
{
    return output->has_descriptor && isatty(output->descriptor) == 1;
}

size_t etwas_terminal_columns(const struct etwas_output *output)
{
    const char *given = getenv("COLUMNS");
    size_t columns = given != NULL ? strtoul(given, NULL, 10) : 0;
    struct winsize size;

    if (!is_terminal(output)) {
        return SIZE_MAX;
    }
    if (columns == 0 && ioctl(output->descriptor, TIOCGWINSZ, &size) == 0) {
        columns = size.ws_col;
    }
    if (columns == 0) {
        return USUAL_COLUMNS;
    }
    return columns > LEAST_COLUMNS ? columns : LEAST_COLUMNS;
}

/* ---- colours --------------------------------------------------------------------------------- */

int etwas_color_when;
const char *const etwas_color_choices[] = {"auto", "always", "never", NULL};

static bool has_color(struct etwas_output *output)
{
    const char *refused = getenv("NO_COLOR");
    const char *kind = getenv("TERM");

    if (!output->color_is_known) {
        output->color_is_known = true;
        output->has_color = etwas_color_when == ETWAS_COLOR_ALWAYS ||
                            (etwas_color_when == ETWAS_COLOR_AUTO && is_terminal(output) &&
                             (refused == NULL || refused[0] == '\0') &&
                             (kind == NULL || strcmp(kind, "dumb") != 0));
    }
    return output->has_color;
}

void etwas_color_begin(struct etwas_output *output, enum etwas_color color)
{
    if (has_color(output)) {
        etwas_output_text(output, color == ETWAS_COLOR_HEADING ? "\033[1m" : "\033[31m");
    }
}

void etwas_color_end(struct etwas_output *output)
{
    if (has_color(output)) {
        etwas_output_text(output, "\033[m");
    }
}

void etwas_label(struct etwas_output *output, const char *label)
{
    bool is_wrong = label[0] >= 'A' && label[0] <= 'Z';

    etwas_output_text(output, "  ");
    if (is_wrong) {
        etwas_color_begin(output, ETWAS_COLOR_WRONG);
    }
    etwas_text_left(output, label, LABEL_COLUMNS);
    if (is_wrong) {
        etwas_color_end(output);
    }
    etwas_output_char(output, ' ');
}
