/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_CTF_H
#define ETWAS_TOOLS_CONVERT_CTF_H

/*
 * Shared by the files of the target `ctf`. A trace in the Common Trace Format, version 1.8, is a
 * folder. It has a file for each stream, which consists of packets of events, and the file
 * `metadata`, a text that describes the packets.
 */

#include "convert/bytes.h"
#include "convert/convert.h"

enum {
    ETWAS_CTF_UUID_BYTES = 16,
    /* A packet ends with the event that reaches this size. */
    ETWAS_CTF_PACKET_BYTES = 64 * 1024,
    /* Numbers of streams, after those of processors. */
    ETWAS_CTF_GAPS = 1 << 16,
    ETWAS_CTF_LOSSES,
    /*
     * Streams of dated losses: one for each processor, and a last one if the processor is unknown.
     */
    ETWAS_CTF_LOST = 1 << 17,
    ETWAS_CTF_LOST_ANYWHERE = ETWAS_CTF_LOST + (1 << 16),
};

/* Bounds of what is kept in memory. */
#define ETWAS_CTF_PENDING_BYTES ((size_t)64 << 20) /* of unwritten packets of all streams */
#define ETWAS_CTF_CLASSES_BYTES ((size_t)256 << 20)

/* ---- event classes --------------------------------------------------------------------------- */

/* Bits of what only some events have besides their fields. */
enum {
    ETWAS_CTF_INSTANCE = 1,
    ETWAS_CTF_PARENT = 2,
    ETWAS_CTF_ACTIVITY = 4,
    ETWAS_CTF_RELATED_ACTIVITY = 8,
    ETWAS_CTF_SEQUENCE = 16, /* of messages */
    /* It follows the fields: babeltrace2 2.0.4 aborts if a sequence with a length precedes them. */
    ETWAS_CTF_CALL_STACK = 32,
    ETWAS_CTF_OTHER_VERSION = 64, /* the version whose schema was used */
};

/* The form of an event's fields. */
enum etwas_ctf_form {
    ETWAS_CTF_FIELDS,         /* the fields of its schema */
    ETWAS_CTF_FIELDS_REST,    /* and the bytes that follow them */
    ETWAS_CTF_TEXT,           /* the text of a message */
    ETWAS_CTF_TEXT_REST,      /* and the bytes of its payload that are not in the text */
    ETWAS_CTF_TEXT_TRUNCATED, /* and the argument that is truncated, and its remaining bytes */
    ETWAS_CTF_PAYLOAD,        /* bytes; there is no schema */
    ETWAS_CTF_UNDESCRIBED,    /* bytes, after the name of the field that cannot be decoded */
    ETWAS_CTF_TRUNCATED,      /* bytes, truncated, after the name of the last field */
};

/* What the values of a schema's field have been so far. It decides how they are declared. */
struct etwas_ctf_shape {
    uint16_t in_type;
    uint16_t out_type;
    uint8_t bytes;
    bool is_array;
    bool has_value; /* else only empty arrays, if anything, were seen */
};

/* Events with the same declaration. */
struct etwas_ctf_class {
    const struct etwas_schema_texts *schema_texts; /* NULL: no schema, or messages */
    struct etwas_bytes name;                       /* name of events without schema_texts */
    uint32_t id;
    uint8_t level;
    uint8_t has; /* ETWAS_CTF_INSTANCE and so on */
    uint8_t form;
    bool is_complete;               /* the shapes of all fields are known */
    struct etwas_ctf_shape shape[]; /* by field of the schema */
};

struct etwas_ctf_classes {
    struct etwas_ctf_class **classes; /* by id */
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;
    size_t bytes;
    struct etwas_output title; /* of the current event, if it has no schema */
};

/*
 * Returns the class of the current event, made if it is new. Returns NULL if memory runs out, or at
 * ETWAS_CTF_CLASSES_BYTES.
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
    ETWAS_CTF_STRING, /* all other values, as text */
};

enum etwas_ctf_kind etwas_ctf_kind_of(const etwas_value *value);

/* Returns the size of a number. Pointers have the largest size, whatever machine wrote them. */
uint32_t etwas_ctf_number_bytes(const etwas_value *value);

/*
 * Returns the length of an array of fixed length, which is not written with it. 0: it is written.
 */
uint32_t etwas_ctf_fixed_count(const etwas_schema_field *field);

/* Appends the payload of the current event, and returns its form. */
enum etwas_ctf_form etwas_ctf_put_payload(struct etwas_bytes *bytes, struct etwas_convert *convert);

/* Appends a text and a NUL. NULs inside the text become U+2400. */
void etwas_ctf_put_text(struct etwas_bytes *bytes, const char *text, size_t count);

/* Appends a GUID's bytes in the order of its text. */
void etwas_ctf_put_guid(struct etwas_bytes *bytes, const etwas_guid *guid);

/* ---- streams --------------------------------------------------------------------------------- */

struct etwas_ctf_stream {
    struct etwas_bytes bytes; /* unwritten packets; the last one may be open */
    size_t packet_at;         /* where the open one begins */
    bool is_open;
    bool has_processor;
    uint32_t number;      /* a processor's index, or ETWAS_CTF_GAPS and so on */
    uint64_t begin_ns;    /* start of the open packet */
    uint64_t end_ns;      /* of the last event or packet */
    uint64_t next_packet; /* number of the next packet; lost packets are counted */
    uint64_t discarded;   /* events so far */
};

/* The trace of one input file. */
struct etwas_ctf_trace {
    const struct etwas_input *input;
    const char *path; /* of the output, for messages */
    int folder;
    uint8_t uuid[ETWAS_CTF_UUID_BYTES];
    struct etwas_bytes session;        /* the session's name, escaped */
    struct etwas_ctf_stream **streams; /* by processor index; NULL: no events */
    uint32_t stream_count;
    /*
     * Streams without events: damage between the events around it, and losses at an unknown time.
     */
    struct etwas_ctf_stream gaps;
    struct etwas_ctf_stream losses;
    uint32_t gap_count; /* damage since the last event */
    bool has_processors;
    uint64_t last_ns;          /* of an event */
    uint64_t largest_error_ns; /* of any time; UINT64_MAX: unknown for some */
    struct etwas_ctf_classes classes;
};

struct etwas_ctf {
    struct etwas_ctf_trace traces[ETWAS_INPUT_FILES]; /* by the file's number - 1 */
    size_t pending_bytes;                             /* of all streams */
    uint64_t odd_values;                              /* values with oddities that are left out */
    bool is_broken; /* it cannot be written, which was reported, or memory ran out */
};

/* Returns a processor's stream, made if it is new; NULL if memory runs out. */
struct etwas_ctf_stream *etwas_ctf_stream_of(struct etwas_ctf_trace *trace, uint32_t processor);

/*
 * Opens a packet if none is open, for data of this time. Returns the time, or that of the previous
 * data if it is later, since times never decrease in a stream.
 */
uint64_t etwas_ctf_open_packet(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream,
                               uint64_t time_ns);
void etwas_ctf_close_packet(struct etwas_ctf_stream *stream);

/*
 * Appends all closed packets of a stream to its file. Returns false if they cannot be written,
 * after reporting that.
 */
bool etwas_ctf_write_packets(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream);

/*
 * Closes and writes the last packets of one stream, or of all. Returns false if they cannot be
 * written, after reporting that.
 */
bool etwas_ctf_finish_stream(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream);
bool etwas_ctf_finish_streams(struct etwas_ctf_trace *trace);
void etwas_ctf_streams_free(struct etwas_ctf_trace *trace);

/* Adds an empty packet. Increments of its counters are losses since the packet before it. */
void etwas_ctf_mark(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream,
                    uint64_t time_ns);

/*
 * Converts a time to ns since 1970. Earlier times become 0. INT64_MAX, in 2262, becomes one less,
 * because babeltrace2 2.0.4 rejects it.
 */
uint64_t etwas_ctf_since_1970(int64_t time_ns);

/* Adds with saturation: a file may state any number. */
void etwas_ctf_add(uint64_t *count, uint64_t more);

/*
 * Writes when events were lost, as far as the file states it: one stream for each processor. Sorts
 * the losses. Returns false if a file cannot be written or memory runs out.
 */
bool etwas_ctf_put_losses(const struct etwas_ctf_trace *trace, struct etwas_trace_losses *losses);

/* Reports that the output cannot be written, with the reason in errno. */
void etwas_ctf_complain(const char *path);

/*
 * Opens a file of the trace's folder for writing. Returns false if it cannot, after reporting that.
 */
bool etwas_ctf_open_file(const struct etwas_ctf_trace *trace, const char *name,
                         struct etwas_output *output);
bool etwas_ctf_close_file(struct etwas_output *output);

/* ---- metadata -------------------------------------------------------------------------------- */

/*
 * Writes the metadata. Returns false if it cannot be written, after reporting that, or if memory
 * runs out.
 */
bool etwas_ctf_write_metadata(const struct etwas_ctf_trace *trace);

/* Writes the declaration of a class. Returns false if memory runs out. */
bool etwas_ctf_declare(struct etwas_output *output, const struct etwas_ctf_trace *trace,
                       const struct etwas_ctf_class *class);

/* Writes a text in quotes, with `"` and `\` escaped. Control characters must be escaped already. */
void etwas_ctf_put_quoted(struct etwas_output *output, const char *text, size_t bytes);

#endif
