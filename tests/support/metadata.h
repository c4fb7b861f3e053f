/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event metadata: describing made-up classes, and finding what is described in a file.
 */
#ifndef ETWAS_SUPPORT_METADATA_H
#define ETWAS_SUPPORT_METADATA_H

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    METADATA_CLASSES = 1024, /* as many may be made up */
};

/*
 * Describes the next made-up class, one type with so many fields and, if there are any, a map; its
 * number, from 0. Fails the test when it is refused.
 */
uint32_t describe_one(uint32_t fields);

/* How many have been made up. */
uint32_t described_classes(void);

/* What is described in a file: how often each of the made-up classes is, and others. */
struct metadata {
    uint32_t classes[METADATA_CLASSES];
    uint32_t maps[METADATA_CLASSES];
    uint32_t others; /* events described of other classes */
    uint32_t formats;
    uint32_t images;   /* of programs and libraries */
    uint32_t programs; /* of these, the test itself */
    uint32_t builds;   /* of images */
    uint64_t events;   /* of any class but EventTrace and metadata */
};

/* The classes of images, and of what build one is. */
extern const etwas_guid image_class;
extern const etwas_guid build_class;

/* EnableTraceEx2 of a provider that nobody is, with stacks: the session's images are recorded. */
void take_stacks(etwas_trace_handle session);

/* Whether a record is event metadata, a message's format, an image or of a window, and no event. */
bool is_metadata(const EVENT_RECORD *record);

/* Adds a record to it. */
void metadata_add(struct metadata *metadata, const EVENT_RECORD *record);

/* Reads it with ProcessTrace. Fails the test when that fails. */
void metadata_read(const char *path, struct metadata *metadata);

/* Whether the made-up classes below `end` are there so often at least. */
bool has_classes(const struct metadata *metadata, uint32_t end, uint32_t times);

#endif
