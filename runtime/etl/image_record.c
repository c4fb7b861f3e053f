/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "etl/kernel_class.h"

#include <etwas/evntrace.h>
#include <string.h>

const etwas_guid etwas_etl_debug_id_class = {
    0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};

enum etwas_image_record etwas_image_record_of(const struct etwas_etl_full_header *header)
{
    if (memcmp(&header->guid, &ImageLoadGuid, sizeof header->guid) == 0) {
        return header->version == ETWAS_ETL_IMAGE_VERSION &&
                       (header->type == ETWAS_ETL_IMAGE_EXISTS_TYPE ||
                        header->type == ETWAS_ETL_IMAGE_LOADED_TYPE)
                   ? ETWAS_IMAGE_RECORD
                   : ETWAS_NO_IMAGE_RECORD;
    }
    return memcmp(&header->guid, &etwas_etl_debug_id_class, sizeof header->guid) == 0 &&
                   header->version == ETWAS_ETL_DEBUG_ID_VERSION &&
                   header->type == ETWAS_ETL_DEBUG_ID_TYPE
               ? ETWAS_IMAGE_RECORD_OF_BUILD
               : ETWAS_NO_IMAGE_RECORD;
}
