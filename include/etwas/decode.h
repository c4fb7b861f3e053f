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
 * Descriptions may stand behind the events they are of, so a file is gone through twice; a consumer
 * of a running session learns as it goes. Of several descriptions of one event, which a program that
 * was changed leaves in a file, each counts from where it stands, the first for what is before it too.
 *
 * What describes an event, in this order:
 *
 *     the event itself      TraceLogging: the items EVENT_SCHEMA_TL and PROV_TRAITS
 *     a manifest in chunks  as .NET's EventSource writes them, anywhere in the file
 *     event metadata        records of the class bbccf6c1-6cd1-48c4-80ff-839482e37671, as etwas
 *                           writes them for described classes, and xperf -merge for others
 *     what is built in      the header event, the kernel's classes
 *     the event's payload   TraceLogging of systems that write no items: both at its head
 *
 * A message of TraceMessage has no schema but a text, if its format was described:
 * etwas_decoder_message.
 *
 * A schema is learned once and kept by its content. Names and descriptions come from files: they
 * are checked, and may still hold any character, control characters too. Payloads are hostile:
 * whatever a schema says, nothing beyond a payload is read.
 *
 * A decoder and what came of it are for one thread at a time. Functions are not async-signal-safe.
 * They return ERROR_SUCCESS or a code of <etwas/winerror.h>.
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

/* ERROR_INVALID_PARAMETER for NULL, ERROR_NOT_ENOUGH_MEMORY. Close it with etwas_decoder_close. */
uint32_t etwas_decoder_open(etwas_decoder **decoder) ETWAS_API(etwas_decoder_open);

/* Frees the decoder and every schema it gave. NULL is allowed. */
void etwas_decoder_close(etwas_decoder *decoder) ETWAS_API(etwas_decoder_close);

/*
 * Takes in what a record says about other events. ERROR_SUCCESS: it is such a record, and not an
 * event to be shown. ERROR_NOT_FOUND: it is not. ERROR_INVALID_DATA: it is one and makes no sense;
 * nothing is learned of it. ERROR_NOT_ENOUGH_MEMORY. A description that comes again replaces the
 * earlier one from then on; schemas given before stay as they are, but that a field's map is the
 * newest of its name.
 */
uint32_t etwas_decoder_learn(etwas_decoder *decoder, const EVENT_RECORD *record)
    ETWAS_API(etwas_decoder_learn);

/*
 * The same for a record that is read before its turn, as in the first pass over a file: what is
 * described already stays as it is.
 */
uint32_t etwas_decoder_learn_ahead(etwas_decoder *decoder, const EVENT_RECORD *record)
    ETWAS_API(etwas_decoder_learn_ahead);

/*
 * What of the manifests that were learned could not be used, in words, as etwas_value_text gives a value: "2 elements, the
 * first is <event> in line 12". 0: all could. Of fields that cannot be read the events themselves tell.
 */
size_t etwas_decoder_left_out(const etwas_decoder *decoder, char *text, size_t size)
    ETWAS_API(etwas_decoder_left_out);

/*
 * One property of a schema. Two things TDH has no word for are said like this: a count or length
 * that the payload has right before the elements or the bytes, in 16 bits (TraceLogging), is that of
 * a property that names itself; an array that goes to the end of the payload has PropertyParamCount and
 * PropertyParamFixedCount, and is counted by property 0xFFFF.
 */
typedef struct etwas_schema_field {
    const char *name; /* UTF-8; several fields may have the same */
    const EVENT_PROPERTY_INFO *info;
    const EVENT_MAP_INFO *map; /* names of its values or bits; NULL: none known, or not yet */
} etwas_schema_field;

struct etwas_plan;

/* What an event is. Belongs to the decoder, and is constant, but for maps, until it is closed. */
typedef struct etwas_schema {
    const TRACE_EVENT_INFO *info; /* as TdhGetEventInformation gives it */
    uint32_t info_bytes;
    uint32_t field_count;             /* of `fields`: info->PropertyCount */
    const etwas_schema_field *fields; /* parallel to info->EventPropertyInfoArray */
    const char *provider;             /* UTF-8, "" if it has no name */
    const char *event; /* UTF-8: the event's name, or TASK, TASK/OPCODE, the symbol; may be "" */
    /*
     * The event's version is not described. Another one's fields were taken, whose version `info` has; of what is
     * built in, those on which all known versions agree: `info` has the event's own version then.
     */
    bool other_version;
    const struct etwas_plan *plan; /* the decoder's own */
} etwas_schema;

/*
 * The schema of an event. ERROR_NOT_FOUND: nothing describes it. ERROR_INVALID_DATA: what describes
 * it makes no sense; it is an event without a schema then. Where that is so of a field alone, the fields
 * before it are read, and it is UNDESCRIBED. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_decoder_schema(etwas_decoder *decoder, const EVENT_RECORD *record,
                              const etwas_schema **schema) ETWAS_API(etwas_decoder_schema);

/*
 * Gives every schema the decoder knows to `visit`, described events that never came too, in the
 * order of provider and event; of what is built in, what was asked for. `visit` may stop it with
 * false. ERROR_NOT_ENOUGH_MEMORY.
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
/* How `field` is read its description does not say; `data` is all that is left. */
#define ETWAS_TOKEN_UNDESCRIBED 7u

typedef struct etwas_value {
    uint32_t token;    /* ETWAS_TOKEN_* */
    uint16_t in_type;  /* TDH_INTYPE_*; a pointer as HEXINT32 or 64, a size as UINT32 or 64 */
    uint16_t out_type; /* TDH_OUTTYPE_*: what the schema says, or in_type's own */
    uint32_t index;    /* of an element in its array, or of a message's argument; else 0 */
    uint32_t count;    /* ARRAY_BEGIN: elements */
    const etwas_schema_field *field; /* NULL: TRAILING, or a message's argument */
    const void *data;                /* in the payload, not aligned */
    uint32_t bytes;  /* of the value alone: without the count before it, or the 0 behind it */
    uint32_t behind; /* of a text: how many bytes of it follow those, a 0 and what is behind it */
} etwas_value;

/* Where in an event the next field is: the caller's, on its stack. Its members are not public. */
typedef struct etwas_fields {
    const etwas_schema *schema;
    const EVENT_RECORD *record;
    uint64_t state[256];
} etwas_fields;

/* Begins at the first field. What the three lead to must stay until the last. */
void etwas_fields_begin(etwas_fields *fields, const etwas_schema *schema,
                        const EVENT_RECORD *record) ETWAS_API(etwas_fields_begin);

/*
 * The next token: false behind the last. After a TRUNCATED or UNDESCRIBED one, open arrays and structs
 * are ended, and no more fields come. Takes memory nowhere.
 */
bool etwas_fields_next(etwas_fields *fields, etwas_value *value) ETWAS_API(etwas_fields_next);

/* ---- values ---------------------------------------------------------------------------------- */

/* What a value is when it is compared, or written as JSON. */
#define ETWAS_VALUE_TEXT 0u     /* only text: strings, GUIDs, dates, addresses, binary … */
#define ETWAS_VALUE_UNSIGNED 1u /* etwas_number.u */
#define ETWAS_VALUE_SIGNED 2u   /* etwas_number.i */
#define ETWAS_VALUE_FLOAT 3u    /* etwas_number.f */
#define ETWAS_VALUE_BOOLEAN                                                                        \
    4u /* etwas_number.u: 0 or 1; a boolean that is neither is the number it is */

typedef union etwas_number {
    uint64_t u;
    int64_t i;
    double f;
} etwas_number;

/* What a VALUE is; *number is set unless it is ETWAS_VALUE_TEXT. A port has its bytes turned. */
uint32_t etwas_value_number(const etwas_value *value, etwas_number *number)
    ETWAS_API(etwas_value_number);

/* Whether a value's text is the payload's own (a string, XML, JSON): shown in quotes. */
bool etwas_value_is_string(const etwas_value *value) ETWAS_API(etwas_value_is_string);

/*
 * A value as text, UTF-8 and valid whatever the payload holds: names of enumerations and bits,
 * decimal or 0x hexadecimal numbers as the schema says, dates in ISO 8601, GUIDs, addresses,
 * security ids, error codes. Not quoted or escaped. At most `size` bytes go to `text`, the last of
 * them 0 (none for size 0); returns how many there are in all, without the 0.
 */
size_t etwas_value_text(const etwas_value *value, char *text, size_t size)
    ETWAS_API(etwas_value_text);

/*
 * What of a VALUE its text does not say, or what it should not be, in words, as etwas_value_text gives the value; 0:
 * there is no such thing. "odd byte: 41" of UTF-16 with a byte too many, "not UTF-8: 63E9" and "not UTF-16: …" of
 * characters that the text has replaced, "17 sub-authorities, 15 are allowed" and "revision 2, only 1 is known" of a
 * SID, "no such date" of a SYSTEMTIME, "behind its 0: 6263" of a text of fixed length in which that is not nothing.
 */
size_t etwas_value_odd(const etwas_value *value, char *text, size_t size)
    ETWAS_API(etwas_value_odd);

/*
 * The message of an event, as etwas_value_text gives a value: of a TraceMessage the format that was
 * described for it with the arguments, of others the schema's EventMessage with the fields. 0 when it
 * has none. What an argument or field lacks in a payload that is too short is shown as "…", or left
 * as the message has it. Behind an argument of TraceMessage that its text had to replace characters of
 * stands what it is, " [not UTF-8: 63E9]"; of fields etwas_value_odd says it. It may have several lines.
 */
size_t etwas_decoder_message(etwas_decoder *decoder, const EVENT_RECORD *record, char *text,
                             size_t size) ETWAS_API(etwas_decoder_message);

/*
 * Gives every format of a message that the decoder knows to `visit`, in the order of GUID and number:
 * as etwas_describe_message was given it, text of the file that ends with 0. `visit` may stop it with
 * false. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_decoder_messages(const etwas_decoder *decoder,
                                bool (*visit)(const etwas_guid *guid, uint16_t number,
                                              const char *format, void *context),
                                void *context) ETWAS_API(etwas_decoder_messages);

/*
 * What of a message's payload is not in its text. TRUNCATED: the payload ends in the argument of number
 * `index`, from 1, or how that one is read the format does not say; `data` is what is left. TRAILING:
 * `data` follows the last argument. False: there is no such thing, or the record is no message of
 * TraceMessage whose format was described.
 */
bool etwas_decoder_message_rest(const etwas_decoder *decoder, const EVENT_RECORD *record,
                                etwas_value *rest) ETWAS_API(etwas_decoder_message_rest);

/*
 * What an event's provider is called, where nothing describes the event: by the item PROV_TRAITS, or
 * by what was learned so far of other events of the provider or, of a classic event, of its class;
 * last by a table of some providers of Windows and .NET. Likewise; 0 when it is not known.
 */
size_t etwas_decoder_provider(const etwas_decoder *decoder, const EVENT_RECORD *record, char *text,
                              size_t size) ETWAS_API(etwas_decoder_provider);

ETWAS_END_DECLS

#endif
