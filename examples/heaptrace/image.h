/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The images of the process (program, libraries) that appear in stacks. The first address in an
 * image, in each trace, writes an event with the image's mapping, so that a reader can later find
 * what was at an address. This includes libraries opened while the program runs.
 *
 * Images are found by _dl_find_object, which takes no lock: a stack may be taken while the dynamic
 * linker holds its own.
 *
 *   function                  may be called by
 *   heaptrace_image_find      any thread, signal handlers
 *   heaptrace_images_forget   any thread, signal handlers
 */
#ifndef ETWAS_HEAPTRACE_IMAGE_H
#define ETWAS_HEAPTRACE_IMAGE_H

#include "frame_rule.h"

/*
 * Finds the mapping of an address; returns false if it is in no image. Logs an image that is new.
 */
bool heaptrace_image_find(uint64_t address, struct heaptrace_mapping *mapping);

/* Makes every image new again. */
void heaptrace_images_forget(void);

#endif
