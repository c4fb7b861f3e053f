/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_DECODE_H
#define ETWAS_DECODE_H

/*
 * Events by name and value: libetwas-tdh (pkg-config etwas-tdh, etwas::tdh for CMake).
 *
 *     etwas_decoder_open(&decoder);
 *     ... for each record of a first pass over the file, as ProcessTrace gives it:
 *         etwas_decoder_learn_ahead(decoder, record);
 *     ... for each record of the second:
 *         if (etwas_decoder_learn(decoder, record) == ERROR_NOT_FOUND &&
 *             etwas_decoder_schema(decoder, record, &schema) == ERROR_SUCCESS) {
 *             etwas_fields_begin(&fields, schema, record);
 *             while (etwas_fields_next(&fields, &value)) {
 *                 ... value.field->name, etwas_value_text(&value, text, sizeof text) ...
 *             }
 *         }
 *     etwas_decoder_close(decoder);
 *
 * etwas_decode_file (decode_file.h) does all of this for a file. It opens both, and passes each
 * event with its schema to a callback.
 *
 * A description may follow the events that it describes. Therefore a file is read twice, whereas a
 * consumer of a running session learns while it reads. If a program was changed, a file may have
 * several descriptions of one event. Each is valid from its position on, and the first one also for
 * the events before it.
 *
 * An event is described by, in this order:
 *
 *     the event itself      TraceLogging: the items EVENT_SCHEMA_TL and PROV_TRAITS
 *     a manifest in chunks  as .NET's EventSource writes them, anywhere in the file
 *     event metadata        records of the class bbccf6c1-6cd1-48c4-80ff-839482e37671, as etwas
 *                           writes them for described classes, and xperf -merge for others
 *     built-in schemas      the header event, the kernel's classes
 *     the event's payload   TraceLogging of systems that write no items: both at its head
 *
 * A message of TraceMessage has no schema but a text, if its format was described: see
 * etwas_decoder_message.
 *
 * A schema is learned once and kept by its content. Names and descriptions come from files. They
 * are checked, and may still hold any character, control characters too. Payloads are untrusted:
 * whatever a schema says, nothing beyond a payload is read.
 *
 * A decoder and its results are for one thread at a time. Functions are not async-signal-safe. They
 * return ERROR_SUCCESS or a code of <etwas/winerror.h>.
 */

#include <etwas/evntcons.h>
#include <etwas/spans.h>
#include <etwas/tdh.h>
#include <etwas/types.h>
#include <etwas/winerror.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

typedef struct etwas_decoder etwas_decoder;

/*
 * Creates a decoder. Free it with etwas_decoder_close.
 *
 * ERROR_INVALID_PARAMETER: `decoder` is NULL.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_decoder_open(etwas_decoder **decoder) ETWAS_API(etwas_decoder_open);

/* Frees the decoder and every schema it gave. NULL is allowed. */
void etwas_decoder_close(etwas_decoder *decoder) ETWAS_API(etwas_decoder_close);

/*
 * Learns what a record says about other events. A later description of the same event replaces the
 * earlier one from then on. Schemas that were returned before do not change, except that a field's
 * map is the newest of its name.
 *
 * ERROR_SUCCESS: the record is a description, and not an event to be shown.
 * ERROR_NOT_FOUND: the record is not a description.
 * ERROR_INVALID_DATA: the record is an invalid description, and nothing is learned from it.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_decoder_learn(etwas_decoder *decoder, const EVENT_RECORD *record)
    ETWAS_API(etwas_decoder_learn);

/*
 * etwas_decoder_learn for a record that is read ahead, as in the first pass over a file: existing
 * descriptions are not replaced.
 */
uint32_t etwas_decoder_learn_ahead(etwas_decoder *decoder, const EVENT_RECORD *record)
    ETWAS_API(etwas_decoder_learn_ahead);

/*
 * Describes the parts of the learned manifests that could not be used, for example "2 elements, the
 * first is <event> in line 12". `text` and the result are as for etwas_value_text. Returns 0 if
 * everything could be used. Fields that cannot be read are reported with the events.
 */
size_t etwas_decoder_left_out(const etwas_decoder *decoder, char *text, size_t size)
    ETWAS_API(etwas_decoder_left_out);

/*
 * One property of a schema. TDH has no expression for two cases. In TraceLogging a count or length
 * precedes the elements or bytes in the payload, in 16 bits: such a property names itself. An array
 * that extends to the end of the payload has PropertyParamCount and PropertyParamFixedCount, and is
 * counted by property 0xFFFF.
 */
typedef struct etwas_schema_field {
    const char *name; /* UTF-8; several fields may have the same */
    const EVENT_PROPERTY_INFO *info;
    const EVENT_MAP_INFO *map; /* names of its values or bits; NULL: none, or not known yet */
} etwas_schema_field;

struct etwas_plan;

/*
 * The schema of an event. The decoder owns it, and it is constant, except for maps, until the
 * decoder is closed.
 */
typedef struct etwas_schema {
    const TRACE_EVENT_INFO *info; /* as TdhGetEventInformation returns it */
    uint32_t info_bytes;
    uint32_t field_count;             /* number of `fields`: info->PropertyCount */
    const etwas_schema_field *fields; /* parallel to info->EventPropertyInfoArray */
    const char *provider;             /* UTF-8, "" if it has no name */
    const char *event; /* UTF-8: the event's name, or TASK, TASK/OPCODE, the symbol; may be "" */
    /*
     * The event's version is not described, and the fields of another version are used; `info` has
     * that version. For built-in schemas these are the fields on which all known versions agree,
     * and `info` has the event's own version.
     */
    bool other_version;
    const struct etwas_plan *plan; /* private to the decoder */
} etwas_schema;

/*
 * Finds the schema of an event.
 *
 * ERROR_NOT_FOUND: nothing describes the event.
 * ERROR_INVALID_DATA: the description is invalid, and the event has no schema. If only a field is
 *   invalid, this is not returned: the fields before it are read, and it is UNDESCRIBED.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_decoder_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                              const etwas_schema **schema) ETWAS_API(etwas_decoder_schema);

/*
 * Passes every schema that the decoder knows to `visit`, also those of events that never came, in
 * the order of provider and event. Built-in schemas are included if they were used. `visit` may
 * stop this with false.
 *
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_decoder_schemas(etwas_decoder *decoder,
                               bool (*visit)(const etwas_schema *schema, void *context),
                               void *context) ETWAS_API(etwas_decoder_schemas);

/* ---- the fields of one event ----------------------------------------------------------------- */

#define ETWAS_TOKEN_VALUE 0u       /* one value: of a field, or an element of an array */
#define ETWAS_TOKEN_ARRAY_BEGIN 1u /* `count` elements follow, if the payload has them */
#define ETWAS_TOKEN_ARRAY_END 2u
#define ETWAS_TOKEN_STRUCT_BEGIN 3u /* its members follow */
#define ETWAS_TOKEN_STRUCT_END 4u
#define ETWAS_TOKEN_TRUNCATED 5u /* the payload ends in `field`; `data` is what is left of it */
#define ETWAS_TOKEN_TRAILING 6u  /* `data` follows the last field */
/* The description does not say how to read `field`; `data` is the rest of the payload. */
#define ETWAS_TOKEN_UNDESCRIBED 7u

typedef struct etwas_value {
    uint32_t token;    /* ETWAS_TOKEN_* */
    uint16_t in_type;  /* TDH_INTYPE_*; a pointer as HEXINT32 or 64, a size as UINT32 or 64 */
    uint16_t out_type; /* TDH_OUTTYPE_*: what the schema says, or in_type's own */
    uint32_t index;    /* index of an element, or of a message's argument; else 0 */
    uint32_t count;    /* ARRAY_BEGIN: elements */
    const etwas_schema_field *field; /* NULL for TRAILING and for a message's argument */
    const void *data;                /* in the payload, unaligned */
    uint32_t bytes;                  /* the value alone, without its count or terminating 0 */
    uint32_t behind;                 /* for a text: bytes after it, its 0 and what follows that */
} etwas_value;

/*
 * The position of the next field in an event. The caller keeps it on its stack. Its members are
 * private.
 */
typedef struct etwas_fields {
    const etwas_schema *schema;
    const EVENT_RECORD *record;
    uint64_t state[256];
} etwas_fields;

/*
 * Begins at the first field. The three arguments must stay valid until the last call for `fields`.
 */
void etwas_fields_begin(etwas_fields *fields, const etwas_schema *schema,
                        const EVENT_RECORD *record) ETWAS_API(etwas_fields_begin);

/*
 * Reads the next token. Returns false after the last one. After a TRUNCATED or UNDESCRIBED token,
 * open arrays and structs are ended, and no more fields follow. It allocates no memory.
 */
bool etwas_fields_next(etwas_fields *fields, etwas_value *value) ETWAS_API(etwas_fields_next);

/* ---- values ---------------------------------------------------------------------------------- */

/* The kind of a value for comparisons and for JSON. */
#define ETWAS_VALUE_TEXT 0u     /* only text: strings, GUIDs, dates, addresses, binary … */
#define ETWAS_VALUE_UNSIGNED 1u /* etwas_number.u */
#define ETWAS_VALUE_SIGNED 2u   /* etwas_number.i */
#define ETWAS_VALUE_FLOAT 3u    /* etwas_number.f */
#define ETWAS_VALUE_BOOLEAN                                                                        \
    4u /* etwas_number.u: 0 or 1; any other value of a boolean is a number */

typedef union etwas_number {
    uint64_t u;
    int64_t i;
    double f;
} etwas_number;

/*
 * Returns the kind of a VALUE and stores its number in *number, unless it is ETWAS_VALUE_TEXT. A
 * port is converted to host byte order.
 */
uint32_t etwas_value_number(const etwas_value *value, etwas_number *number)
    ETWAS_API(etwas_value_number);

/*
 * Returns whether a value's text is the payload's own (a string, XML, JSON), which is shown in
 * quotes.
 */
bool etwas_value_is_string(const etwas_value *value) ETWAS_API(etwas_value_is_string);

/*
 * Writes a value as text, which is valid UTF-8 whatever the payload holds. The text has names of
 * enumerations and bits, decimal or 0x hexadecimal numbers as the schema says, dates in ISO 8601,
 * GUIDs, addresses, security ids, or error codes. It is neither quoted nor escaped. `text` receives
 * at most `size` bytes, the last of which is 0 (none if `size` is 0). Returns the length of the
 * whole text without the 0.
 */
size_t etwas_value_text(const etwas_value *value, char *text, size_t size)
    ETWAS_API(etwas_value_text);

/*
 * Describes what the text of a VALUE does not show, or what is irregular in it. `text` and the
 * result are as for etwas_value_text; 0 means that there is nothing to report. Examples:
 * - "odd byte: 41": UTF-16 with an extra byte;
 * - "not UTF-8: 63E9" and "not UTF-16: …": characters that the text has replaced;
 * - "17 sub-authorities, 15 are allowed" and "revision 2, only 1 is known": a SID;
 * - "no such date": a SYSTEMTIME;
 * - "behind its 0: 6263": a text of fixed length with other bytes than 0 there.
 */
size_t etwas_value_odd(const etwas_value *value, char *text, size_t size)
    ETWAS_API(etwas_value_odd);

/*
 * Writes the message of an event. `text` and the result are as for etwas_value_text. For a
 * TraceMessage it is the described format with the arguments, for other events it is the schema's
 * EventMessage with the fields. Returns 0 if the event has none. An argument or field that is
 * missing in a short payload is shown as "…", or left as the message has it. If the text of an
 * argument of TraceMessage had to replace characters, these follow it, as in " [not UTF-8: 63E9]";
 * for fields see etwas_value_odd. The message may have several lines.
 */
size_t etwas_decoder_message(etwas_decoder *decoder, const EVENT_RECORD *record, char *text,
                             size_t size) ETWAS_API(etwas_decoder_message);

/*
 * Passes every message format that the decoder knows to `visit`, in the order of GUID and number.
 * It is the text that was given to etwas_describe_message: text of the file that ends with 0.
 * `visit` may stop this with false.
 *
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_decoder_messages(const etwas_decoder *decoder,
                                bool (*visit)(const etwas_guid *guid, uint16_t number,
                                              const char *format, void *context),
                                void *context) ETWAS_API(etwas_decoder_messages);

/*
 * Reports the part of a message's payload that is not in its text. TRUNCATED: the payload ends in
 * the argument with the number `index`, from 1, or the format does not say how to read that one;
 * `data` is the rest. TRAILING: `data` follows the last argument. Returns false if there is no such
 * part, or if the record is not a message of TraceMessage with a described format.
 */
bool etwas_decoder_message_rest(const etwas_decoder *decoder, const EVENT_RECORD *record,
                                etwas_value *rest) ETWAS_API(etwas_decoder_message_rest);

/*
 * Finds the name of an event's provider if nothing describes the event. The name comes from the
 * item PROV_TRAITS, or from descriptions of other events of the provider or, for a classic event,
 * of its class, and last from a table of providers of Windows and .NET. `text` and the result are
 * as for etwas_value_text; 0 means that the name is unknown.
 */
size_t etwas_decoder_provider(const etwas_decoder *decoder, const EVENT_RECORD *record, char *text,
                              size_t size) ETWAS_API(etwas_decoder_provider);

ETWAS_END_DECLS

#include <etwas/decode_file.h>

#endif
