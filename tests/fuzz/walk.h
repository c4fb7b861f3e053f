/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the fuzz targets share: an event from a target's bytes, and going through all that the
 * decoder says of it. What must always hold is asserted here; the sanitizers see the rest.
 */
#ifndef TESTS_FUZZ_WALK_H
#define TESTS_FUZZ_WALK_H

#include <etwas/decode.h>
#include <stdio.h>
#include <stdlib.h>

/* assert() that no build leaves out. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The bytes that a target was given; what is taken is gone. */
struct input {
    const uint8_t *at;
    size_t left;
};

/* 0 when nothing is left. */
uint8_t take_u8(struct input *input);
uint16_t take_u16(struct input *input);

/*
 * `bytes` of it, or what is left, in an allocation of that very size: what lies beyond is seen. The
 * caller's to free.
 */
void *take_bytes(struct input *input, size_t bytes, uint16_t *taken);

/* Opens a decoder; there is memory. */
etwas_decoder *open_decoder(void);

/*
 * Asks for the event's schema, goes through its fields, makes text of each value and its message.
 */
void walk_event(etwas_decoder *decoder, const EVENT_RECORD *record);

/* The same for each schema of the decoder, and an event with this payload. */
void walk_all(etwas_decoder *decoder, const void *payload, uint16_t bytes, uint16_t flags);

void walk_value(const etwas_value *value);

#endif
