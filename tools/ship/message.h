/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_MESSAGE_H
#define ETWAS_TOOLS_SHIP_MESSAGE_H

/*
 * Prints "etwas ship: SUBJECT: a sentence" on standard error; may be called from any thread.
 * Characters that could control a terminal are escaped. The sentence is cut at 1,024 bytes.
 */
void etwas_ship_message(const char *subject, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
