/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A checked schema. Every source's description becomes a TRACE_EVENT_INFO first. It is checked here
 * that nothing in it refers outside of it. Then the names become UTF-8, and each property gets a
 * step, which says how fields.c reads its bytes.
 *
 * The checks: offsets are valid; strings end inside; each property's type is known; structs are
 * nested at most ETWAS_SCHEMA_DEPTH deep; each member belongs to one struct. Counts and lengths
 * refer to an integer that is read before, in the same struct or in one around it. A property that
 * fails a check keeps its name; its value and everything after it are undecoded bytes.
 */
#ifndef ETWAS_DECODE_SCHEMA_H
#define ETWAS_DECODE_SCHEMA_H

#include <etwas/decode.h>

enum {
    ETWAS_SCHEMA_DEPTH = 32,
    ETWAS_SCHEMA_SLOTS = 128, /* saved values of properties that are counts or lengths */
    ETWAS_SCHEMA_PROPERTIES = 1024,
    ETWAS_SCHEMA_NAME_UNITS = 256,      /* of a property or a map */
    ETWAS_SCHEMA_NAMES_BYTES = 1 << 16, /* of all names: an event without a payload may show them */
};

enum etwas_read_method {
    ETWAS_READ_FIXED,        /* step.bytes */
    ETWAS_READ_POINTER,      /* of the event's pointer size */
    ETWAS_READ_UTF16,        /* up to its 0 */
    ETWAS_READ_UTF8,         /* up to its 0 */
    ETWAS_READ_UTF16_LENGTH, /* `length` characters; ends at a 0 */
    ETWAS_READ_UTF8_LENGTH,
    ETWAS_READ_BINARY,   /* `length` bytes */
    ETWAS_READ_COUNTED,  /* u16 size, then as many bytes */
    ETWAS_READ_REVERSED, /* big-endian u16 size, then as many bytes */
    ETWAS_READ_HEXDUMP,  /* u32 size, then as many bytes */
    ETWAS_READ_REST,     /* to the end of the payload, except a final 0 of step.bytes */
    ETWAS_READ_SID,
    ETWAS_READ_WBEMSID,
    ETWAS_READ_STRUCT,  /* no bytes of its own */
    ETWAS_READ_UNKNOWN, /* the schema does not say how */
};

/* Where a count or a length comes from: a slot below ETWAS_SCHEMA_SLOTS, or one of these. */
enum {
    ETWAS_FROM_REST = 0xFFFD,   /* as many elements of fixed size as the payload has room for */
    ETWAS_FROM_SCHEMA = 0xFFFE, /* the schema itself */
    ETWAS_FROM_PAYLOAD =
        0xFFFF, /* a u16 before the elements or the bytes: the property refers to itself */
    ETWAS_NO_SLOT = 0xFFFF,
};

struct etwas_read_step {
    uint8_t method; /* enum etwas_read_method, of one element */
    bool is_array;
    bool is_text;     /* an array of characters, returned as one value */
    uint16_t in_type; /* as in etwas_value */
    uint16_t out_type;
    uint16_t bytes;      /* for ETWAS_READ_FIXED */
    uint16_t count_from; /* if is_array */
    uint16_t count;
    uint16_t length_from;
    uint16_t length;
    uint16_t slot;  /* where its value is saved, or ETWAS_NO_SLOT */
    uint16_t first; /* for ETWAS_READ_STRUCT: its members */
    uint16_t end;
    uint16_t parent; /* the struct around it, for the checks */
};

/* The parts of a schema that fields.c needs besides its fields. */
struct etwas_plan {
    uint32_t top;           /* number of top-level properties, which come first */
    uint32_t payload_begin; /* where the first field begins */
    const struct etwas_read_step *steps;
};

/* A schema with the store's data: one allocation. */
struct etwas_stored_schema {
    etwas_schema exact;
    etwas_schema other; /* the same, for events of another version */
    struct etwas_plan plan;
    etwas_schema_field *fields;

    /* Used by the store. */
    /* the next lower version of the same event, or its next layout */
    struct etwas_stored_schema *older;
    struct etwas_stored_schema *next;   /* of all */
    struct etwas_map_field *map_fields; /* one for each field that names a map */
    uint32_t map_field_count;
    uint32_t bytes;    /* of this allocation */
    uint16_t least[2]; /* the least size of a payload, with 32-bit and with 64-bit pointers */
    uint8_t rank;
    bool is_whole; /* every property can be read */
};

/* A field that refers to a map, in the list of all fields that do. */
struct etwas_map_field {
    struct etwas_map_field *next;
    etwas_schema_field *field;
};

/*
 * Makes the schema of a TRACE_EVENT_INFO, which may be unaligned and is copied; the caller frees
 * it. ERROR_INVALID_DATA: it is invalid. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_schema_make(const void *info, size_t bytes, struct etwas_stored_schema **stored);

/* Makes the steps by which the bytes of properties are read. */

/*
 * Fills a step for each property. Returns false if one is ETWAS_READ_UNKNOWN, because its type is
 * unknown, its members are not its own, its count or length is not read before it, or a bound is
 * exceeded.
 */
bool etwas_read_steps_make(const TRACE_EVENT_INFO *info, struct etwas_read_step *steps);

/*
 * Returns the size of the type's values, with 8-byte pointers; 0: sizes vary, or there is no such
 * type.
 */
uint16_t etwas_in_type_bytes(uint16_t in_type);

#endif
