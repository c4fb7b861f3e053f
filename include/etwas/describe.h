/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_DESCRIBE_H
#define ETWAS_DESCRIBE_H

/*
 * Describing classic events and messages: a part of <etwas/etwas.h>, which says what holds for all of
 * its functions.
 */

#include <etwas/types.h>

#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * A program says once what its classic events are called and which fields they have; every log file,
 * part, snapshot and real-time consumer gets that as event metadata, from which readers show events
 * by name and value, with nothing beside the file. An event costs no more by it.
 *
 *     static const etwas_field_description fields[] = {
 *         {.name = "size", .in_type = TDH_INTYPE_UINT64},
 *         {.name = "address", .in_type = TDH_INTYPE_POINTER},
 *     };
 *     static const etwas_type_description types[] = {
 *         {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = fields, .field_count = 2},
 *     };
 *     const etwas_class_description description = {
 *         .guid = &class_guid, .provider_name = "shop", .name = "Order",
 *         .types = types, .type_count = 1,
 *     };
 *     error = etwas_describe_class(&description, NULL);
 *
 * Texts are UTF-8. All of it is copied. It is kept until the process ends, for events outlive the
 * registration of their class, and a fork's child has it too. What is described before a session
 * starts stands at the beginning of its files; what is described later comes with the next buffers
 * that are written, in a session with a flusher's thread after a second or so, or at the end: a
 * reader looks through a file before it shows an event.
 */

/* etwas_field_description.count or .length: what the field right before this one says. */
#define ETWAS_BY_FIELD_BEFORE 0xFFFFu

/* A field. In the payload they follow one another without gaps. */
typedef struct etwas_field_description {
    const char *name;
    const char *map;   /* of the same class: names of its values or bits; NULL: none */
    uint16_t in_type;  /* TDH_INTYPE_* of <etwas/tdh.h>: what lies in the payload */
    uint16_t out_type; /* TDH_OUTTYPE_*: how it is shown; 0: as usual for the in type */
    uint16_t count;    /* elements of an array; 0 or 1: a single value */
    uint16_t length;   /* BINARY: bytes; strings: characters, 0: up to a 0 of their own; else 0 */
} etwas_field_description;

/* One type of the events of a class. */
typedef struct etwas_type_description {
    const char *name;                      /* as "Start"; NULL: they are called by their class */
    const etwas_field_description *fields; /* NULL: none */
    uint32_t field_count;
    uint8_t type;  /* Class.Type */
    uint8_t level; /* Class.Level */
    uint16_t reserved;
} etwas_type_description;

typedef struct etwas_map_entry {
    const char *name;
    uint32_t value; /* of bits: one of them, or several */
    uint32_t reserved;
} etwas_map_entry;

/* Names of the values of an enumeration, or of bits. */
typedef struct etwas_map_description {
    const char *name; /* the versions of a class share their maps */
    const etwas_map_entry *entries;
    uint32_t entry_count;
    uint32_t is_bits; /* not 0: several may be set in a value */
} etwas_map_description;

typedef struct etwas_class_description {
    const etwas_guid *guid; /* of the class: as given to RegisterTraceGuids, or in event headers */
    const char *provider_name;
    const char *name; /* NULL: its events are called by the names of their types */
    const etwas_type_description *types;
    const etwas_map_description *maps; /* NULL: none */
    uint32_t type_count;
    uint32_t map_count;
    uint32_t version; /* Class.Version, up to 255; each is described by itself */
    uint32_t reserved;
} etwas_class_description;

/* etwas_describe_class with the size of the caller's struct. */
uint32_t etwas_describe_class_sized(const etwas_class_description *description,
                                    size_t description_bytes, const char **fault)
    ETWAS_API(etwas_describe_class_sized);

/*
 * Describes a version of a class; it need not be registered. What is described again as it is
 * changes nothing; described otherwise the new description replaces the old one, in the files that
 * are being written too.
 *
 * ERROR_INVALID_PARAMETER: it makes no sense. ERROR_MORE_DATA: what a type or a map takes is longer
 * than a record, 65,535 bytes. Of both *fault, unless `fault` is NULL, is a sentence that says what is
 * wrong, static text; else it is NULL. ERROR_NOT_ENOUGH_MEMORY; ERROR_ALREADY_INITIALIZED in a second
 * copy of the library. On failure nothing is described.
 *
 * A type or a map takes 200 to 300 bytes, and about 50 for each field or value. A session leaves out
 * what does not fit into one of its buffers, and what needs more than half of a log file of limited
 * size.
 */
static inline uint32_t etwas_describe_class(const etwas_class_description *description,
                                            const char **fault)
{
    return etwas_describe_class_sized(description, sizeof *description, fault);
}

/*
 * Gives the messages with this GUID and number that TraceMessage writes a text. In `format` each
 * conversion is one argument, in their order:
 *
 *     %d %i %u %o %x %X    4 bytes; with hh 1, h 2, l ll j z t 8
 *     %e %f %g %a          8 bytes, a double; E F G A likewise
 *     %c                   1 byte, a character
 *     %s                   8-bit text up to a 0; with l UTF-16
 *     %p                   8 bytes, an address
 *     %%                   a percent sign, and no argument
 *
 * with the flags, width and precision of printf, but no `*`. Described again it is replaced, as a
 * class is. ERROR_INVALID_PARAMETER: NULL, no UTF-8, or another conversion. ERROR_MORE_DATA: it is
 * longer than 65,000 bytes. ERROR_NOT_ENOUGH_MEMORY; ERROR_ALREADY_INITIALIZED.
 */
uint32_t etwas_describe_message(const etwas_guid *message_guid, uint16_t number, const char *format)
    ETWAS_API(etwas_describe_message);

ETWAS_END_DECLS

#endif
