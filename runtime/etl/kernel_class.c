/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* The class GUID of each group of kernel records. */
#include "etl/kernel_class.h"

#include <etwas/evntrace.h>
#include <string.h>

#include "etl/layout.h"

#define BYTE(number, index) (uint8_t)((number) >> (56 - 8 * (index)) & 0xFF)
/* The last eight bytes as one number, in the order in which they are written. */
#define CLASS(a, b, c, d)                                                                          \
    {                                                                                              \
        a, b, c,                                                                                   \
        {                                                                                          \
            BYTE(d, 0), BYTE(d, 1), BYTE(d, 2), BYTE(d, 3), BYTE(d, 4), BYTE(d, 5), BYTE(d, 6),    \
                BYTE(d, 7)                                                                         \
        }                                                                                          \
    }

static const etwas_guid group_classes[] = {
    [0x00] = CLASS(0x68fdd900, 0x4a3e, 0x11d1, 0x84f40000f80464e3), /* header */
    [0x01] = CLASS(0x3d6fa8d4, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c), /* disk io */
    [0x02] = CLASS(0x3d6fa8d3, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c), /* memory / page fault */
    [0x03] = CLASS(0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c), /* process */
    [0x04] = CLASS(0x90cbdc39, 0x4a3e, 0x11d1, 0x84f40000f80464e3), /* file io */
    [0x05] = CLASS(0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c), /* thread */
    [0x06] = CLASS(0x9a280ac0, 0xc8e0, 0x11d1, 0x84e200c04fb998a2), /* tcpip */
    [0x07] = CLASS(0x3282fc76, 0xfeed, 0x498e, 0x8aa7e70f459d430e), /* job */
    [0x08] = CLASS(0xbf3a50c5, 0xa9c9, 0x4988, 0xa0052df0b7c80f80), /* udpip */
    [0x09] = CLASS(0xae53722e, 0xc863, 0x11d2, 0x865900c04fa321a1), /* registry */
    [0x0A] = CLASS(0x13976d09, 0xa327, 0x438c, 0x950b7f03192815c7), /* debug print */
    [0x0B] = CLASS(0x01853a65, 0x418f, 0x4f36, 0xaefcdc0f1d2fd235), /* system config */
    [0x0C] = CLASS(0x99134383, 0x5248, 0x43fc, 0x834b529454e75df3), /* spare */
    [0x0D] = CLASS(0x42695762, 0xea50, 0x497a, 0x90685cbbb35e0b95), /* WNF */
    [0x0E] = CLASS(0x0268a8b6, 0x74fd, 0x4302, 0x9dd06e8f1795c0cf), /* pool */
    [0x0F] = CLASS(0xce1dbfb4, 0x137e, 0x4da6, 0x87b03f59aa102cbc), /* perfinfo */
    [0x10] = CLASS(0x222962ab, 0x6180, 0x4b88, 0xa825346b75f2a24a), /* heap */
    [0x11] = CLASS(0x89497f50, 0xeffe, 0x4440, 0x8cf2ce6b1cdcaca7), /* object */
    [0x12] = CLASS(0xe43445e0, 0x0903, 0x48c3, 0xb878ff0fccebdd04), /* power */
    [0x13] = CLASS(0xa9152f00, 0x3f58, 0x4bee, 0x92a170c7d079d5dd), /* modbound */
    [0x14] = CLASS(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe100a0c911f518), /* image */
    [0x15] = CLASS(0xb2d14872, 0x7c5b, 0x463d, 0x8419ee9bf7d23e04), /* dpc */
    [0x16] = CLASS(0x7687a439, 0xf752, 0x45b8, 0xb741321aec0f8df9), /* cache manager */
    [0x17] = CLASS(0x3ac66736, 0xcc59, 0x4cff, 0x81158df50e39816b), /* critical section */
    [0x18] = CLASS(0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94f57fe20d0ce3), /* stackwalk */
    [0x19] = CLASS(0x9aec974b, 0x5b8e, 0x4118, 0x9b923186d8002ce5), /* UMS */
    [0x1A] = CLASS(0x45d8cccd, 0x539f, 0x4b72, 0xa8b75c683142609a), /* ALPC */
    [0x1B] = CLASS(0xd837ca92, 0x12b9, 0x44a5, 0xad6a3a65b3578aa8), /* split io */
    [0x1C] = CLASS(0xc861d0e2, 0xa2c1, 0x4d36, 0x9f9c970bab943a12), /* thread pool */
    [0x1D] = CLASS(0x7f2a405c, 0x69b5, 0x4bf9, 0xa1f530e8f1afab5e), /* hypervisor */
    [0x1E] = CLASS(0x2ce9a149, 0xeffe, 0x42f0, 0xa635a1d39e26c8f2), /* X */
};

static const etwas_guid no_class;

const etwas_guid *etwas_class_of_hook(uint8_t group, uint8_t type)
{
    if (((unsigned)group << 8 | type) == ETWAS_ETL_HOOK_IMAGE_LOAD) {
        group = 0x14;
    }
    return group < sizeof group_classes / sizeof group_classes[0] ? &group_classes[group]
                                                                  : &no_class;
}

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
