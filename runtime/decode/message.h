/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What an event says in a sentence. Both forms of it come from files: whatever stands in them, what
 * cannot be put in is left out or left as it is.
 */
#ifndef ETWAS_DECODE_MESSAGE_H
#define ETWAS_DECODE_MESSAGE_H

#include <etwas/decode.h>

#include "decode/text_writer.h"

/*
 * The conversions of printf that etwas_describe_message names, each with the next argument of the
 * payload. Where the payload has ended it is U+2026. Returns whether there is a *rest, as
 * etwas_decoder_message_rest gives it.
 */
bool etwas_message_write_printf(struct etwas_text_writer *text, const char *format,
                                const EVENT_RECORD *record, etwas_value *rest);

/*
 * A message of a manifest, `units` long: %1 to %99 are the top-level fields, %n, %t, %% and the like
 * are characters, %0 ends it. Between exclamation marks an insert may have a conversion of printf,
 * without its percent sign: %1!08x!. It shows a number by that, and of all else it sets the width.
 */
void etwas_message_write_inserts(struct etwas_text_writer *text, const etwas_wchar *message,
                                 size_t units, const etwas_schema *schema,
                                 const EVENT_RECORD *record);

#endif
