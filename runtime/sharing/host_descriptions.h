/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What guests describe of their events and images (DESCRIBE). It is stored with what this process
 * describes itself.
 */
#ifndef ETWAS_SHARING_HOST_DESCRIPTIONS_H
#define ETWAS_SHARING_HOST_DESCRIPTIONS_H

#include <stdint.h>

/*
 * Stores a subject of description.h with its records; records of the Image class are those of
 * images. They are checked to be whole records of known classes; what they say is for the reader of
 * the file to check. Others are left out, as is everything without memory.
 */
void etwas_host_store_descriptions(const void *body, uint32_t bytes);

#endif
