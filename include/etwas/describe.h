/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_DESCRIBE_H
#define ETWAS_DESCRIBE_H

/*
 * Descriptions of classic events and messages. This header is a part of <etwas/etwas.h>, which
 * states what holds for all of its functions.
 */

#include <etwas/types.h>

#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * A program describes once the names and fields of its classic events. Every log file, part,
 * snapshot and real-time consumer gets the description as event metadata. Readers use it to show
 * events by name and value; they need only the file. An event costs no more for this.
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
 * Lists of providers (`etwas ps`, etwas_provider_name) have the provider_name of the first of its
 * described classes as the name of a classic provider, and sessions can enable it by that name.
 *
 * Texts are UTF-8. All arguments are copied. A description is kept until the process ends, because
 * events outlive the registration of their class; a fork's child has it too. Descriptions made
 * before a session starts are at the beginning of its files. Later ones come with the next buffers
 * that are written, or at the end; in a session with a flusher thread this takes about a second.
 * Therefore a reader searches a file before it shows an event.
 */

/*
 * A value of etwas_field_description.count or .length: the field directly before this one has it.
 */
#define ETWAS_BY_FIELD_BEFORE 0xFFFFu

/* A field. In the payload, fields follow one another without gaps. */
typedef struct etwas_field_description {
    const char *name;
    const char *map;   /* map of the same class for its values or bits; NULL: none */
    uint16_t in_type;  /* TDH_INTYPE_* of <etwas/tdh.h>: the type in the payload */
    uint16_t out_type; /* TDH_OUTTYPE_*: the form of display; 0: that of the in type */
    uint16_t count;    /* elements of an array; 0 or 1: a single value */
    uint16_t length;   /* bytes of BINARY, characters of strings; 0: up to a NUL; else 0 */
} etwas_field_description;

/* One type of the events of a class. */
typedef struct etwas_type_description {
    const char *name;                      /* such as "Start"; NULL: events have the class's name */
    const etwas_field_description *fields; /* NULL: none */
    uint32_t field_count;
    uint8_t type;  /* Class.Type */
    uint8_t level; /* Class.Level */
    uint16_t reserved;
} etwas_type_description;

typedef struct etwas_map_entry {
    const char *name;
    uint32_t value; /* for bits: one of them, or several */
    uint32_t reserved;
} etwas_map_entry;

/* Names for the values of an enumeration, or for bits. */
typedef struct etwas_map_description {
    const char *name; /* the versions of a class share their maps */
    const etwas_map_entry *entries;
    uint32_t entry_count;
    uint32_t is_bits; /* not 0: a value may have several of them */
} etwas_map_description;

typedef struct etwas_class_description {
    const etwas_guid *guid; /* as given to RegisterTraceGuids, or in event headers */
    const char *provider_name;
    const char *name; /* NULL: events have the names of their types */
    const etwas_type_description *types;
    const etwas_map_description *maps; /* NULL: none */
    uint32_t type_count;
    uint32_t map_count;
    uint32_t version; /* Class.Version, up to 255; each is described separately */
    uint32_t reserved;
} etwas_class_description;

/* etwas_describe_class with the size of the caller's struct. */
uint32_t etwas_describe_class_sized(const etwas_class_description *description,
                                    size_t description_bytes, const char **fault)
    ETWAS_API(etwas_describe_class_sized);

/*
 * Describes a version of a class, which need not be registered. An identical description changes
 * nothing. A different one replaces the old one, also in the files that are being written. On
 * failure nothing is described. If sessions enable the provider by the name that it gets from the
 * description (ETWAS_FILTER_TYPE_PROVIDER_NAME), its control callback is called before this
 * returns; if sessions of other processes do, or 50 ms have passed.
 *
 * A type or a map takes 200 to 300 bytes, and about 50 for each field or value. A session leaves
 * out what does not fit into one of its buffers, and what needs more than half of a log file of
 * limited size.
 *
 * ERROR_INVALID_PARAMETER: the description is invalid.
 * ERROR_MORE_DATA: a type or a map is longer than a record, 65,535 bytes.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 * ERROR_ALREADY_INITIALIZED: this is a second copy of the library.
 *
 * For the first two, *fault receives a sentence that says what is wrong, as static text; for all
 * other results it receives NULL. `fault` may be NULL.
 */
static inline uint32_t etwas_describe_class(const etwas_class_description *description,
                                            const char **fault)
{
    return etwas_describe_class_sized(description, sizeof *description, fault);
}

/*
 * Gives a text to the messages with this GUID and number that TraceMessage writes. In `format` each
 * conversion is one argument, in their order:
 *
 *     %d %i %u %o %x %X    4 bytes; with hh 1, h 2, l ll j z t 8
 *     %e %f %g %a          8 bytes, a double; E F G A likewise
 *     %c                   1 byte, a character
 *     %s                   8-bit text up to a 0; with l UTF-16
 *     %p                   8 bytes, an address
 *     %%                   a percent sign, and no argument
 *
 * Flags, width and precision are those of printf, but `*` is not allowed. Another description
 * replaces it, as for a class.
 *
 * ERROR_INVALID_PARAMETER: an argument is NULL, or `format` is not UTF-8 or has another conversion.
 * ERROR_MORE_DATA: `format` is longer than 65,000 bytes.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 * ERROR_ALREADY_INITIALIZED: this is a second copy of the library.
 */
uint32_t etwas_describe_message(const etwas_guid *message_guid, uint16_t number, const char *format)
    ETWAS_API(etwas_describe_message);

ETWAS_END_DECLS

#endif
