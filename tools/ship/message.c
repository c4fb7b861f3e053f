/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/message.h"

#include "print/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    SENTENCE_BYTES = 1024
};

void etwas_ship_message(const char *subject, const char *format, ...)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    struct etwas_output *errors;
    char sentence[SENTENCE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    (void)pthread_mutex_lock(&one_at_a_time);
    errors = etwas_standard_error();
    etwas_output_text(errors, "etwas ship: ");
    etwas_text_plain(errors, subject);
    etwas_output_text(errors, ": ");
    etwas_text_plain(errors, sentence);
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
    (void)pthread_mutex_unlock(&one_at_a_time);
}
