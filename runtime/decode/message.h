/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Messages of events. Both forms of format come from files: an insert or conversion that cannot be
 * filled is left out or left as it is, whatever it contains.
 */
#ifndef ETWAS_DECODE_MESSAGE_H
#define ETWAS_DECODE_MESSAGE_H

#include <etwas/decode.h>

#include "decode/text_writer.h"

/*
 * Writes a message with the conversions of printf that etwas_describe_message lists, each with the
 * next argument of the payload. Where the payload has ended writes U+2026. Returns whether there is
 * a *rest, as etwas_decoder_message_rest returns it.
 */
bool etwas_message_write_printf(struct etwas_text_writer *text, const char *format,
                                const EVENT_RECORD *record, etwas_value *rest);

/*
 * Writes a message of a manifest, `units` long: %1 to %99 are the top-level fields, %n, %t, %% and
 * the like are characters, %0 ends it. An insert may have a conversion of printf between
 * exclamation marks, without its percent sign: %1!08x!. It formats a number, and sets the width of
 * any other value.
 */
void etwas_message_write_inserts(struct etwas_text_writer *text, const etwas_wchar *message,
                                 size_t units, const etwas_schema *schema,
                                 const EVENT_RECORD *record);

#endif
