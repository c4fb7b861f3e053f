/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An event as one line, so that a test compares it whole:
 *
 *     provider/task/opcode size=37 name="x" list=[1,2] point={x=1 y=2}
 *
 * "~" behind the name: of another version. "name=…3": the payload ends there, with 3 bytes left.
 * "+5": so many bytes behind the last field. "(none)": no schema, "(senseless)": one without sense.
 */
#ifndef TESTS_DECODE_SHOWN_H
#define TESTS_DECODE_SHOWN_H

#include <etwas/decode.h>

/* Fixtures of a test whose state is a decoder. */
int open_decoder(void **state);
int close_decoder(void **state);

/* Returns the event as text, which is valid until the next call. */
const char *shown(etwas_decoder *decoder, const EVENT_RECORD *record);

/* A classic event with pointers of so many bytes, and the same as text. */
EVENT_RECORD classic_event(const etwas_guid *class, uint8_t type, uint8_t version, uint8_t pointer,
                           const void *payload, size_t bytes);
const char *shown_classic_event(etwas_decoder *decoder, const etwas_guid *class, uint8_t type,
                                uint8_t version, uint8_t pointer, const void *payload,
                                size_t bytes);

/* What learn_chunk and learn_manifest call; or etwas_decoder_learn_ahead. */
extern uint32_t (*learning)(etwas_decoder *, const EVENT_RECORD *);

/* A chunk of a manifest, as the provider writes it: `header` and `payload` are the caller's. */
struct chunk {
    etwas_guid provider;
    uint32_t process_id;
    uint32_t thread_id;
    uint8_t version[2];
    uint16_t total;
    uint16_t number;
    const void *xml;
    size_t bytes;
};
uint32_t learn_chunk(etwas_decoder *decoder, const struct chunk *chunk);

/* A whole document in chunks of `chunk_bytes`; returns what the last one was answered. */
uint32_t learn_manifest(etwas_decoder *decoder, const etwas_guid *provider, const char *xml,
                        size_t bytes, size_t chunk_bytes);

#endif
