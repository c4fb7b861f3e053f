/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Descriptions of the events of one class, as records of event metadata, and its events. */
#ifndef TESTS_DECODE_METADATA_SCENE_H
#define TESTS_DECODE_METADATA_SCENE_H

#include "blob.h"
#include "decode/builder.h"
#include "shown.h"

/* The GUID of the class. */
extern const etwas_guid guid;

/* What one test needs: a decoder, an EventInfo in the making, and what events have as payload. */
struct state {
    etwas_decoder *decoder;
    struct etwas_info_builder builder;
    struct blob payload;
};

int open_scene(void **state);
int close_scene(void **state);

/* A string of the EventInfo. */
uint32_t string(struct state *s, const char *text);

/* Begins one of the type 1, "shop/Order/Start" with this opcode; an opened scene has "Start". */
void begin(struct state *s, const char *opcode);
uint16_t add(struct state *s, uint16_t parent, const char *name, uint16_t in_type,
             uint16_t out_type);
/* A field whose values the map Kinds names. */
void add_kind(struct state *s, const char *name, uint16_t in_type);
/* Ends it and has the decoder learn it, and begins the next. */
uint32_t learn_event(struct state *s);

/* A record of metadata, of bytes that end where the allocation does. */
uint32_t learn_record(etwas_decoder *decoder, uint8_t type, const void *bytes, size_t count);
/* The map Kinds of the class. */
uint32_t learn_map(etwas_decoder *decoder, MAP_FLAGS flag, const char *const *names,
                   const uint32_t *values, size_t count);

EVENT_RECORD event_of(struct state *s, uint8_t type, uint8_t version);
const char *line_of(struct state *s, uint8_t type, uint8_t version);

#endif
