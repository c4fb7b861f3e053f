/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The images of the process (program, libraries), as stacks come to them. The first address in an
 * image, in each trace, writes an event that says what is mapped where, so that a reader can say
 * later what lay at an address. A library that is opened while the program runs needs nothing else.
 *
 * An image is found by _dl_find_object, which takes no lock: a stack may be wanted while the
 * dynamic linker holds its own.
 *
 *   function                  may be called by
 *   heaptrace_image_find      any thread, signal handlers
 *   heaptrace_images_forget   any thread, signal handlers
 */
#ifndef ETWAS_HEAPTRACE_IMAGE_H
#define ETWAS_HEAPTRACE_IMAGE_H

#include "frame_rule.h"

/* Where an address lies; false where in no image. Logs an image that is new. */
bool heaptrace_image_find(uint64_t address, struct heaptrace_mapping *mapping);

/* Lets each image be new again. */
void heaptrace_images_forget(void);

#endif
