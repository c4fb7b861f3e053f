/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Classic classes whose layouts are public, or the library's own: no file describes them.
 *
 * A class is a table of layouts. A layout states for which event types and class versions it is
 * known to hold, and its fields in the order of the payload, which is packed:
 *
 *     {"10 Load, 2 Unload", 2, 3, "ptr ImageBase; ptr ImageSize; pid ProcessId; wstr FileName"}
 *
 * If two layouts hold for one version, systems differ: the event has the first layout that its
 * payload has room for. A version without a layout has the leading fields that all layouts of its
 * type share.
 *
 * A field is a type (table in builtin.c), optionally the number of elements, and a name:
 *
 *     x32[8] GroupMasks           eight of them
 *     wchar[32] StandardName      a string of so many characters
 *     ptr[*] Stack                as many as the payload has
 *     wstr[Count] Names           as many as the field Count before it states
 *     struct Zone; .i32 Bias      the fields after it that begin with a dot are its members
 *     i8=WaitMode OldMode         a number that the map WaitMode has names for
 *
 * A layout without fields gives only the name; the payload is not known.
 *
 * Records that the system logger writes too have their layouts in etl/kernel_layouts.h, and are
 * written ETWAS_BUILTIN_LAYOUT(NAME, "other types of the same layout").
 */
#ifndef ETWAS_DECODE_BUILTIN_H
#define ETWAS_DECODE_BUILTIN_H

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/kernel_layouts.h"

struct etwas_builtin_layout {
    const char *types;
    uint8_t since, until;
    const char *fields;
};

struct etwas_builtin_class {
    etwas_guid guid;
    bool is_kernel;
    const char *provider;
    const char *name;
    const struct etwas_builtin_layout *layouts;
    size_t count;
};

/* Names of numbers, or of bits: "0 KernelMode, 1 UserMode". */
struct etwas_builtin_map {
    const char *name;
    bool is_bits;
    const char *entries;
};

extern const char etwas_system_call_names[]; /* system_call_names.c */
extern const struct etwas_builtin_map etwas_kernel_maps[];
extern const size_t etwas_kernel_map_count;
extern const struct etwas_builtin_class etwas_kernel_classes[];
extern const size_t etwas_kernel_class_count;
extern const struct etwas_builtin_class etwas_config_classes[];
extern const size_t etwas_config_class_count;
extern const struct etwas_builtin_class etwas_other_classes[];
extern const size_t etwas_other_class_count;

/* The class of an index; NULL: there are no more. */
const struct etwas_builtin_class *etwas_builtin_class_at(size_t index);

/* The provider's name of a class; NULL: the class is not built in. */
const char *etwas_builtin_provider(const etwas_guid *guid);

/* ---- layouts of the kernel's records as text ------------------------------------------------- */

#define ETWAS_TEXT_LAYOUT(NAME, header, group, since, version)
#define ETWAS_TEXT_TYPE(NAME, number, name)
#define ETWAS_TEXT_FIELD(type, name) #type " " #name "; "
#define ETWAS_TEXT_MAPPED(type, map, name) #type "=" #map " " #name "; "
#define ETWAS_TEXT_WIDE(count, name) "wchar[" #count "] " #name "; "
#define ETWAS_TEXT_STRING(type, name) #type " " #name "; "
#define ETWAS_TEXT_REST(type, name) #type "[*] " #name "; "

#define ETWAS_TYPES_LAYOUT(NAME, header, group, since, version)
#define ETWAS_TYPES_TYPE(NAME, number, name) #number " " #name ", "
#define ETWAS_TYPES_FIELD(type, name)
#define ETWAS_TYPES_MAPPED(type, map, name)
#define ETWAS_TYPES_WIDE(count, name)
#define ETWAS_TYPES_STRING(type, name)
#define ETWAS_TYPES_REST(type, name)

#define ETWAS_BUILTIN_FIELDS(LAYOUT) ETWAS_LAYOUT_##LAYOUT(ETWAS_TEXT)
#define ETWAS_BUILTIN_TYPES(LAYOUT) ETWAS_LAYOUT_##LAYOUT(ETWAS_TYPES)
#define ETWAS_BUILTIN_LAYOUT(LAYOUT, other_types)                                                  \
    {                                                                                              \
        ETWAS_BUILTIN_TYPES(LAYOUT)                                                                \
        other_types, ETWAS_##LAYOUT##_SINCE, ETWAS_##LAYOUT##_VERSION,                             \
            ETWAS_BUILTIN_FIELDS(LAYOUT)                                                           \
    }

/* A GUID, with the last eight bytes as one number, in the order in which they are written. */
#define ETWAS_BUILTIN_GUID(a, b, c, d)                                                             \
    {                                                                                              \
        a, b, c,                                                                                   \
        {                                                                                          \
            (d) >> 56 & 0xFF, (d) >> 48 & 0xFF, (d) >> 40 & 0xFF, (d) >> 32 & 0xFF,                \
                (d) >> 24 & 0xFF, (d) >> 16 & 0xFF, (d) >> 8 & 0xFF, (d)&0xFF                      \
        }                                                                                          \
    }

#define ETWAS_BUILTIN_CLASS(a, b, c, d, is_kernel, provider, name, layouts)                        \
    {                                                                                              \
        ETWAS_BUILTIN_GUID(a, b, c, d), is_kernel, provider, name, layouts,                        \
            sizeof(layouts) / sizeof((layouts)[0])                                                 \
    }

#endif
