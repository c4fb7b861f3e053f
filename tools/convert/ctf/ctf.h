/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_CTF_H
#define ETWAS_TOOLS_CONVERT_CTF_H

/*
 * What the files of the target `ctf` share: a trace of the Common Trace Format, version 1.8, is a
 * folder with a file for each stream, which is packets of events, and the file `metadata`, text
 * that says what is in the packets.
 */

#include "convert/bytes.h"
#include "convert/convert.h"

enum {
    ETWAS_CTF_UUID_BYTES = 16,
    /* A packet ends with the event that reaches so much. */
    ETWAS_CTF_PACKET_BYTES = 64 * 1024,
    /* Numbers of streams behind those of processors. */
    ETWAS_CTF_GAPS = 1 << 16,
    ETWAS_CTF_LOSSES,
    /* And what was lost on a processor or, the last one, somewhere, when that is known. */
    ETWAS_CTF_LOST = 1 << 17,
    ETWAS_CTF_LOST_ANYWHERE = ETWAS_CTF_LOST + (1 << 16),
};

/* Bounds of what is kept in memory. */
#define ETWAS_CTF_PENDING_BYTES ((size_t)64 << 20) /* packets of all streams that are not written */
#define ETWAS_CTF_CLASSES_BYTES ((size_t)256 << 20)

/* ---- event classes --------------------------------------------------------------------------- */

/* Bits: what only some events have beside their fields. */
enum {
    ETWAS_CTF_INSTANCE = 1,
    ETWAS_CTF_PARENT = 2,
    ETWAS_CTF_ACTIVITY = 4,
    ETWAS_CTF_RELATED_ACTIVITY = 8,
    ETWAS_CTF_SEQUENCE = 16, /* of a message */
    /*
     * It stands behind the fields: babeltrace2 2.0.4 aborts if a sequence with a length comes
     * before them.
     */
    ETWAS_CTF_CALL_STACK = 32,
    ETWAS_CTF_OTHER_VERSION = 64, /* by which version's schema its fields were read */
};

/* What the fields of an event are. */
enum etwas_ctf_form {
    ETWAS_CTF_FIELDS,         /* those of its schema */
    ETWAS_CTF_FIELDS_REST,    /* and behind them what the schema does not know of */
    ETWAS_CTF_TEXT,           /* a message's */
    ETWAS_CTF_TEXT_REST,      /* and what of its payload is not in the text */
    ETWAS_CTF_TEXT_TRUNCATED, /* and which argument its payload ends in, and what is left of it */
    ETWAS_CTF_PAYLOAD,        /* bytes, of which there is no schema */
    ETWAS_CTF_UNDESCRIBED,    /* bytes, behind the field of which it is not known how it is read */
    ETWAS_CTF_TRUNCATED,      /* bytes too short for their schema, behind the field they end in */
};

/* What the values of a field of a schema have been so far: it decides how they are declared. */
struct etwas_ctf_shape {
    uint16_t in_type;
    uint16_t out_type;
    uint8_t bytes;
    bool is_array;
    bool has_value; /* else there were only empty arrays, if anything */
};

/* Events that are declared alike. */
struct etwas_ctf_class {
    const struct etwas_schema_texts
        *schema_texts;       /* NULL: nothing describes them, or they are messages */
    struct etwas_bytes name; /* of these */
    uint32_t id;
    uint8_t level;
    uint8_t has; /* bits */
    uint8_t form;
    bool is_complete;               /* the shapes of all fields are known */
    struct etwas_ctf_shape shape[]; /* of each field of the schema */
};

struct etwas_ctf_classes {
    struct etwas_ctf_class **classes; /* by id */
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;
    size_t bytes;
    struct etwas_output title; /* of an event that nothing describes */
};

/*
 * The class of the convert's event. NULL without memory, which it is out of at
 * ETWAS_CTF_CLASSES_BYTES too. Until the next call `name` is the event's, if nothing describes it.
 */
struct etwas_ctf_class *etwas_ctf_class_of(struct etwas_ctf_classes *classes,
                                           const struct etwas_convert *convert, uint8_t has,
                                           enum etwas_ctf_form form);

void etwas_ctf_classes_free(struct etwas_ctf_classes *classes);

/* ---- values ---------------------------------------------------------------------------------- */

/* How a value is written. */
enum etwas_ctf_kind {
    ETWAS_CTF_UNSIGNED,
    ETWAS_CTF_SIGNED,
    ETWAS_CTF_FLOAT,
    ETWAS_CTF_BOOLEAN,
    ETWAS_CTF_GUID,
    ETWAS_CTF_BYTES,  /* counted */
    ETWAS_CTF_STRING, /* what else there is, as text */
};

enum etwas_ctf_kind etwas_ctf_kind_of(const etwas_value *value);

/* Returns how many bytes a number has. Pointers have the most, whatever machine wrote them. */
uint32_t etwas_ctf_number_bytes(const etwas_value *value);

/* The length of an array that its schema says, which is not written with it; 0: it is written. */
uint32_t etwas_ctf_fixed_count(const etwas_schema_field *field);

/* Appends the payload of the convert's event, and says what it is. */
enum etwas_ctf_form etwas_ctf_put_payload(struct etwas_bytes *bytes, struct etwas_convert *convert);

/* Text that ends with a NUL, and has none inside. */
void etwas_ctf_put_text(struct etwas_bytes *bytes, const char *text, size_t count);

/* In the order in which it is written as text. */
void etwas_ctf_put_guid(struct etwas_bytes *bytes, const etwas_guid *guid);

/* ---- streams --------------------------------------------------------------------------------- */

struct etwas_ctf_stream {
    struct etwas_bytes bytes; /* packets that are not written yet; the last may be open */
    size_t packet_at;         /* where the open one begins */
    bool is_open;
    bool has_processor;
    uint32_t number;      /* a processor's index, or behind all of these */
    uint64_t begin_ns;    /* of the open packet */
    uint64_t end_ns;      /* of the last event or packet */
    uint64_t next_packet; /* its number; lost packets have one too */
    uint64_t discarded;   /* events so far */
};

/* A file's. */
struct etwas_ctf_trace {
    const struct etwas_input *input;
    const char *path; /* of the output, for messages */
    int folder;
    uint8_t uuid[ETWAS_CTF_UUID_BYTES];
    struct etwas_bytes session;        /* its name, harmless on a terminal */
    struct etwas_ctf_stream **streams; /* by processor index; NULL: nothing came from there */
    uint32_t stream_count;
    /*
     * Without events: damages between the events around them, and what was lost nobody knows where.
     */
    struct etwas_ctf_stream gaps;
    struct etwas_ctf_stream losses;
    uint32_t gap_count; /* since the last event */
    bool has_processors;
    uint64_t last_ns;          /* of an event */
    uint64_t largest_error_ns; /* of a time; UINT64_MAX: of some it is not known */
    struct etwas_ctf_classes classes;
};

struct etwas_ctf {
    struct etwas_ctf_trace traces[ETWAS_INPUT_FILES]; /* by the file's number - 1 */
    size_t pending_bytes;                             /* of all streams */
    uint64_t odd_values;                              /* which the traces do not say */
    bool is_broken; /* it cannot be written, or there is no memory: the former was told */
};

/* NULL without memory. */
struct etwas_ctf_stream *etwas_ctf_stream_of(struct etwas_ctf_trace *trace, uint32_t processor);

/*
 * Makes sure that a packet is open, for something at this time; which is moved to that of the last
 * if it is older, since times rise in a stream.
 */
uint64_t etwas_ctf_open_packet(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream,
                               uint64_t time_ns);
void etwas_ctf_close_packet(struct etwas_ctf_stream *stream);

/*
 * Writes all closed packets of a stream behind what its file has. False: it cannot, which was told.
 */
bool etwas_ctf_write_packets(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream);

/* The last packets of one stream, and of all. */
bool etwas_ctf_finish_stream(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream);
bool etwas_ctf_finish_streams(struct etwas_ctf_trace *trace);
void etwas_ctf_streams_free(struct etwas_ctf_trace *trace);

/*
 * Writes an empty packet. What its counters say was lost, was lost between the packet before it and
 * this one.
 */
void etwas_ctf_mark(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream,
                    uint64_t time_ns);

/*
 * Converts a time to ns since 1970. Earlier times become 0; the last one that there is, in 2262,
 * becomes one less, since babeltrace2 2.0.4 refuses it.
 */
uint64_t etwas_ctf_since_1970(int64_t time_ns);

/* Adds without overflow: a file may state any number. */
void etwas_ctf_add(uint64_t *count, uint64_t more);

/*
 * Writes when events were lost, as far as the file states it: a stream for each processor. Sorts
 * the losses. Returns false if a file cannot be written or there is no memory.
 */
bool etwas_ctf_put_losses(const struct etwas_ctf_trace *trace, struct etwas_trace_losses *losses);

/* Reports that the existing output could not be written, with the reason in errno. */
void etwas_ctf_complain(const char *path);

/* Opens a file of the trace's folder for writing. Returns false after a message if it cannot. */
bool etwas_ctf_open_file(const struct etwas_ctf_trace *trace, const char *name,
                         struct etwas_output *output);
bool etwas_ctf_close_file(struct etwas_output *output);

/* ---- metadata -------------------------------------------------------------------------------- */

/* Writes the file that says what the streams are. False: it cannot be written, which was told. */
bool etwas_ctf_write_metadata(const struct etwas_ctf_trace *trace);

/* The declarations of a class's events. False without memory. */
bool etwas_ctf_declare(struct etwas_output *output, const struct etwas_ctf_trace *trace,
                       const struct etwas_ctf_class *class);

/* Text in quotes, that leads a terminal nowhere. */
void etwas_ctf_put_quoted(struct etwas_output *output, const char *text, size_t bytes);

#endif
