/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What guests say of their events and images (DESCRIBE): it goes where what this process says of its own goes. */
#ifndef ETWAS_SHARING_HOST_DESCRIPTIONS_H
#define ETWAS_SHARING_HOST_DESCRIPTIONS_H

#include <stdint.h>

/*
 * A subject of description.h, and its records; of the Image class, those of images. Taken if they could be of this
 * library: whole records of the classes that they are of; what they say is read by who reads the file. Else, and
 * without memory, they are left out.
 */
void etwas_host_store_descriptions(const void *body, uint32_t bytes);

#endif
