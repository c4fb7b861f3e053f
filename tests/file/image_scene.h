/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the tests of images share: libraries to load, and what a file says of them. */
#ifndef ETWAS_FILE_IMAGE_SCENE_H
#define ETWAS_FILE_IMAGE_SCENE_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/fixture.h"

/* A library of the C library's package that nobody uses. */
#define LIBRARY "libBrokenLocale.so.1"

/* Types of the Image class. */
enum {
    THERE = 3,
    LOADED = 10,
    DEBUG_ID = 36,
};

bool is_image_record(const struct event *event, const etwas_guid *class, uint8_t type);

/* A number in a record's payload. */
uint64_t image_u64(const struct event *event, size_t at);

/* The image of this type whose path ends so; NULL: there is none. */
const struct event *find_image(const struct events *events, uint8_t type, const char *end);

/* Whether there is one, whenever it was loaded. */
bool has_image(const struct events *events, const char *name);
bool is_in_file(const char *path, const char *name);

/*
 * Load LIBRARY, or a copy of it in the test's folder, which is another image. The caller closes it
 * with dlclose.
 */
void *load_library(void);
void *load_library_copy(const char *name);

/* A session without a thread that takes stacks. NULL: without a file. */
etwas_trace_handle start_with_stacks(const char *name, uint32_t mode, uint32_t size_kb);

#endif
