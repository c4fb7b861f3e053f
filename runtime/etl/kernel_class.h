/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The classes of kernel records, whose headers have a group and a type instead of a GUID. */
#ifndef ETWAS_ETL_KERNEL_CLASS_H
#define ETWAS_ETL_KERNEL_CLASS_H

#include <etwas/types.h>
#include <stdint.h>

#include "etl/layout.h"

/*
 * Returns the class of a kernel record: that of its group, except for image loads. All 0: an
 * unknown group.
 */
const etwas_guid *etwas_class_of_hook(uint8_t group, uint8_t type);

/*
 * How a file describes the images of programs (docs/reference/file-format.md): by a record of ETW's
 * Image class and, if the image has a build id, one of its debug identifiers.
 */

/* Types and versions of the Image class, and of debug identifiers. */
enum {
    ETWAS_ETL_IMAGE_EXISTS_TYPE = 3,
    ETWAS_ETL_IMAGE_LOADED_TYPE = 10,
    ETWAS_ETL_IMAGE_VERSION = 2,
    ETWAS_ETL_DEBUG_ID_TYPE = 36,
    ETWAS_ETL_DEBUG_ID_VERSION = 2,
};

/* b3e675d7-2554-4f18-830b-2762732560de: which build an image is */
extern const etwas_guid etwas_etl_debug_id_class;

/* What a record describes: an image, or the build id of the previous one. */
enum etwas_image_record {
    ETWAS_NO_IMAGE_RECORD,
    ETWAS_IMAGE_RECORD,
    ETWAS_IMAGE_RECORD_OF_BUILD,
};

enum etwas_image_record etwas_image_record_of(const struct etwas_etl_full_header *header);

#endif
