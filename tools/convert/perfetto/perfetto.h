/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_PERFETTO_H
#define ETWAS_TOOLS_CONVERT_PERFETTO_H

/*
 * `etwas convert --to perfetto`: writes a trace in the protocol buffers that Perfetto's trace
 * processor reads.
 *
 * The input files are read once. Each event is converted immediately and stored in the spool, a
 * temporary file. What is not known yet is added later: whether a span is properly nested on its
 * thread is known when it ends. When all input is read, the spool is read, and the trace is
 * written, packet by packet, in the order of time.
 *
 * Memory is bounded: one byte for each span, up to ETWAS_PERFETTO_SPANS (spans beyond get tracks of
 * their own); the data of open spans here and in etwas_spans; ETWAS_PERFETTO_TRACKS processes and
 * threads; ETWAS_PERFETTO_NAMES interned strings, after which all are dropped and written again.
 * The temporary file is about three times as large as the trace.
 */

#include "address/addresses.h"
#include "convert/convert.h"
#include "convert/wire.h"
#include "kernel/processes.h"
#include "math/hash_index.h"

enum {
    ETWAS_PERFETTO_SPANS = 1 << 26,
    ETWAS_PERFETTO_TRACKS = 1 << 20,
    ETWAS_PERFETTO_NAMES = 1 << 16,
    ETWAS_PERFETTO_PROCESSORS = 1024, /* Perfetto rejects further ones */
    ETWAS_PERFETTO_FRAMES = 256,      /* limit of frames of a stack; inner ones are kept */
};

/* Perfetto's numbers of clocks. */
enum {
    ETWAS_PERFETTO_REALTIME = 1,
    ETWAS_PERFETTO_MONOTONIC_COARSE = 4,
    ETWAS_PERFETTO_MONOTONIC_RAW = 5,
    ETWAS_PERFETTO_BOOTTIME = 6,
    ETWAS_PERFETTO_STEPS = 64, /* ours: each time is the difference to the previous one */
};

/* Packet sequences. */
enum {
    ETWAS_PERFETTO_EVENTS = 1, /* with interned strings and the incremental clock */
    ETWAS_PERFETTO_APART = 2,  /* each packet is independent of others */
};

/* Fields of TracePacket. */
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLOCK = 58,
};

/* Values of PACKET_FLAGS. */
enum {
    PACKET_CLEARED = 1,
    PACKET_NEEDS_STATE = 2,
};

/* Fields of TrackEvent, and values of its type. */
enum {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_TEXT_NAME = 23,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    EVENT_CALLSTACK = 56,
    EVENT_BEGINS = 1,
    EVENT_ENDS = 2,
    EVENT_INSTANT = 3,
    EVENT_COUNTER = 4,
};

/* Fields of TrackDescriptor. */
enum {
    DESCRIPTOR_NAME = 2,
};

/* Kinds of interned strings: fields of InternedData. */
enum etwas_perfetto_kind {
    ETWAS_PERFETTO_CATEGORY = 1,
    ETWAS_PERFETTO_EVENT_NAME = 2,
    ETWAS_PERFETTO_ANNOTATION = 3,
    ETWAS_PERFETTO_STRING = 29,
    ETWAS_PERFETTO_KINDS,
};

/* Our own annotation names. They have the first ids, and are written with every state. */
enum etwas_perfetto_own {
    ETWAS_PERFETTO_INSTANCE = 1,
    ETWAS_PERFETTO_PARENT,
    ETWAS_PERFETTO_PARENT_CLASS,
    ETWAS_PERFETTO_ACTIVITY,
    ETWAS_PERFETTO_RELATED_ACTIVITY,
    ETWAS_PERFETTO_THREAD,
    ETWAS_PERFETTO_END_THREAD,
    ETWAS_PERFETTO_START,
    ETWAS_PERFETTO_END,
    ETWAS_PERFETTO_LEVEL,
    ETWAS_PERFETTO_KEYWORD,
    ETWAS_PERFETTO_VERSION,
    ETWAS_PERFETTO_PROCESSOR,
    ETWAS_PERFETTO_TEXT,
    ETWAS_PERFETTO_PAYLOAD,
    ETWAS_PERFETTO_TRUNCATED,
    ETWAS_PERFETTO_UNDESCRIBED,
    ETWAS_PERFETTO_REST,
    ETWAS_PERFETTO_ODD,
    ETWAS_PERFETTO_TIME,
    ETWAS_PERFETTO_DECODED_AS,
    ETWAS_PERFETTO_PROCESS,
    ETWAS_PERFETTO_OWN_COUNT,
};

/* An interned string, with its id among those of its kind. */
struct etwas_perfetto_name {
    enum etwas_perfetto_kind kind;
    uint32_t iid;
    uint32_t epoch; /* in which it was last written */
    uint32_t bytes;
    char text[];
};

struct etwas_perfetto_names {
    struct etwas_perfetto_name **names;
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;
    uint32_t iids[ETWAS_PERFETTO_KINDS]; /* the last id of each kind */
    uint32_t epoch;                      /* of the reader's state; grows when that is cleared */
    uint32_t generation;                 /* grows when all names are dropped here */
};

/* A GUID with its interned text. */
struct etwas_perfetto_guid {
    etwas_guid guid;
    uint32_t generation; /* generation of the names */
    struct etwas_perfetto_name *name;
};

/* Interned names and properties of a schema. */
struct etwas_perfetto_schema {
    const struct etwas_schema_texts *schema_texts;
    uint32_t generation; /* generation of the names */
    uint32_t span_class; /* index in `classes` */
    bool is_counter;     /* all its fields are numbers */
    struct etwas_perfetto_name *event;
    struct etwas_perfetto_name *span;
    struct etwas_perfetto_name *category; /* NULL: none */
    struct etwas_perfetto_name **fields;
};

/* The track of a process, of a thread, or of events without a process. */
struct etwas_perfetto_track {
    uint32_t process; /* or ETWAS_EVENT_UNKNOWN_ID */
    uint32_t thread;  /* ETWAS_EVENT_UNKNOWN_ID: the process's own track */
    uint32_t first;   /* which process with that id: etwas_processes_now */
    uint32_t uuid;
    uint32_t process_track; /* index */
    /* place + 1 of the newest open span: while planning, then again while writing */
    uint32_t top;
    uint32_t top_file; /* the file of the track's last begin or end */
    int64_t top_ns;    /* its time */
    uint64_t events;
    uint16_t processor;      /* of the last event */
    uint64_t activity_maker; /* of a process: the second half of its activity ids; 0: unknown */
};

enum etwas_perfetto_record_kind {
    ETWAS_PERFETTO_PUT_BEGIN,   /* begin of a span */
    ETWAS_PERFETTO_PUT_END,     /* end of a span */
    ETWAS_PERFETTO_PUT_INSTANT, /* instant of a thread */
    ETWAS_PERFETTO_PUT_EVENT,   /* a complete TrackEvent, with its track */
    ETWAS_PERFETTO_PUT_PACKET,  /* a complete packet */
    ETWAS_PERFETTO_PUT_STATE,   /* names are written again from here on */
    ETWAS_PERFETTO_PUT_SWITCH,  /* `place`: the processor; followed by the payload */
    ETWAS_PERFETTO_PUT_READY,   /* likewise; `thread`: the waker */
    ETWAS_PERFETTO_PUT_HOLE,    /* events of the processor are missing before this */
    ETWAS_PERFETTO_PUT_HEAP,    /* changed heap stacks; `place`: more of the dump follows */
    ETWAS_PERFETTO_PUT_SAMPLE,  /* CPU sample; `place`: the processor */
};

/*
 * A spool record. It is followed by the new interned strings and the event's fields, or by the
 * packet.
 */
struct etwas_perfetto_record {
    uint32_t bytes;       /* size of what follows it, without frames */
    uint32_t names_bytes; /* of these, interned strings */
    int64_t time_ns;
    uint32_t track; /* index of the thread's track */
    uint32_t place; /* of the span */
    uint32_t thread;
    uint16_t parent_bytes; /* at the end: the annotations of the parent */
    uint16_t file;         /* number of the input file */
    uint8_t kind;
    uint16_t stack_frames;  /* 8-byte addresses directly after the record, innermost first */
    uint32_t stack_process; /* process of the addresses */
};

/* Follows the record of a span's begin and its frames, before everything else. */
struct etwas_perfetto_begin {
    uint64_t number;
    uint64_t parent;
    uint32_t parent_place;
    uint32_t span_class;
};

struct etwas_perfetto_plan;
struct etwas_perfetto_lanes;
struct etwas_perfetto_open;
struct etwas_perfetto_spool;
struct etwas_perfetto_schedule;
struct etwas_perfetto_stacks;
struct etwas_perfetto_pending;
struct etwas_perfetto_heap;
struct etwas_perfetto_counters;

/* The state of an input file. Times are of the primary clock. */
struct etwas_perfetto_file {
    bool has_events;
    int64_t first_ns;
    int64_t last_ns;
    uint64_t events;                  /* records stored in the spool */
    uint64_t written;                 /* of these, written to the trace */
    bool is_kernel;                   /* of a kernel session */
    bool is_linux;                    /* recorded by etwas on Linux */
    struct etwas_perfetto_heap *heap; /* NULL: none */
    int64_t next_clock_ns;            /* when its clock is written next */
    uint64_t error_track;             /* counter track of the time error; 0: not written yet */
    uint64_t error_ns;                /* as it was written last */
    uint64_t loss_track;              /* 0: not written yet */
    uint64_t damages;                 /* damage since its last event */
    uint64_t bytes_skipped;
    etwas_damage_kind damage; /* kind of the first one */
};

struct etwas_perfetto {
    struct etwas_convert *convert;
    struct etwas_output *output;
    struct etwas_wire event;    /* the TrackEvent being built */
    struct etwas_wire interned; /* new interned strings for it */
    struct etwas_wire packet;   /* any other packet being built */
    uint32_t uuid;              /* of the last track */
    uint32_t usual_track;       /* uuid of the default track of events; 0: none */
    struct etwas_perfetto_spool *spool;
    const uint8_t *behind; /* data of the last record read; below: its frames */
    const uint8_t *frames;

    bool has_begun;
    bool needs_state;  /* the state is written again before the next event */
    bool has_dropped;  /* the state is repeated because events are missing */
    uint32_t primary;  /* id of the primary clock */
    int64_t offset_ns; /* times in struct etwas_convert minus primary times */
    int64_t first_ns;
    int64_t latest_ns;
    int64_t last_ns;      /* of the last packet of ETWAS_PERFETTO_EVENTS */
    uint64_t state_bytes; /* stored in the spool since the state was written */
    struct etwas_perfetto_file files[ETWAS_INPUT_FILES]; /* by number - 1 */

    struct etwas_processes processes; /* names of processes */
    struct etwas_addresses addresses;
    uint32_t schedule_file; /* number of the file that has context switches; 0: none yet */
    struct etwas_perfetto_schedule *schedule;
    struct etwas_perfetto_counters *counters;
    uint32_t loss_tracks[ETWAS_PERFETTO_PROCESSORS]; /* by processor; 0: not written yet */
    uint32_t profile_index;                          /* of the next heap packet */
    struct etwas_perfetto_stacks *stacks;
    struct etwas_place place;                /* of the last frame looked up */
    struct etwas_perfetto_pending **pending; /* by processor: samples whose stack may follow */
    uint64_t stack[ETWAS_PERFETTO_FRAMES];   /* frames of the record being built */
    struct etwas_perfetto_names names;
    struct etwas_perfetto_guid last_guid;
    struct etwas_perfetto_schema *schemas;
    uint32_t schema_count;
    size_t schema_capacity;
    struct etwas_hash_index schema_places;
    uint32_t schema_last;                 /* found last */
    struct etwas_perfetto_schema loose;   /* for an event without schema */
    struct etwas_perfetto_name **classes; /* names of spans, by span class */
    uint32_t class_count;
    size_t class_capacity;
    struct etwas_perfetto_names class_names;

    struct etwas_perfetto_track *tracks;
    uint32_t track_count;
    size_t track_capacity;
    struct etwas_hash_index track_places;
    uint32_t track_last; /* found last */

    struct etwas_perfetto_plan *plan;
    struct etwas_perfetto_open *open; /* by place */
    size_t open_capacity;
    struct etwas_perfetto_lanes *lanes;
};

/* ---- clocks.c ---- */

/*
 * Returns the current event's time in the primary clock. The first call begins the trace. Stores
 * clock snapshots and errors in the spool.
 */
int64_t etwas_perfetto_time(struct etwas_perfetto *perfetto);

/* Stores a state record in the spool if one is due: names are written again from here on. */
void etwas_perfetto_put_state(struct etwas_perfetto *perfetto, int64_t time_ns);

/* Converts a time of struct etwas_convert to the primary clock. */
int64_t etwas_perfetto_primary_ns(const struct etwas_perfetto *perfetto, int64_t time_ns);

/* Begins a trace without events, unless it has begun. */
void etwas_perfetto_begin(struct etwas_perfetto *perfetto);

/* Writes packets that make the reader clear all interned strings and times. */
void etwas_perfetto_write_state(struct etwas_perfetto *perfetto, int64_t time_ns, bool has_dropped);

/* ---- names.c ---- */

void etwas_perfetto_names_open(struct etwas_perfetto_names *names);
void etwas_perfetto_names_close(struct etwas_perfetto_names *names);

/*
 * Returns the name with this text, which may be any bytes. It is kept until all names are dropped.
 * Returns NULL if memory runs out.
 */
struct etwas_perfetto_name *etwas_perfetto_name(struct etwas_perfetto_names *names,
                                                enum etwas_perfetto_kind kind, const char *text,
                                                size_t bytes);

/*
 * Returns a name's id, for the event being built. Adds the interned string if it was not written
 * yet.
 */
uint32_t etwas_perfetto_iid(struct etwas_perfetto *perfetto, struct etwas_perfetto_name *name);

/* Makes all names be written again at their next use. Drops them if there are too many. */
void etwas_perfetto_names_tell_again(struct etwas_perfetto_names *names);

/* Adds the names of enum etwas_perfetto_own to a packet. */
void etwas_perfetto_put_own_names(struct etwas_wire *packet);

/* ---- schemas.c ---- */

/*
 * Returns the names for the current event. Without a schema, they are for this event only. Returns
 * NULL if memory runs out.
 */
const struct etwas_perfetto_schema *etwas_perfetto_schema(struct etwas_perfetto *perfetto);
void etwas_perfetto_schemas_close(struct etwas_perfetto *perfetto);

/* ---- tracks.c ---- */

/* Returns the index of a track, made if it is new; UINT32_MAX if memory runs out. */
uint32_t etwas_perfetto_track(struct etwas_perfetto *perfetto, uint32_t process, uint32_t thread);

/* Writes the descriptors of all tracks. */
void etwas_perfetto_write_tracks(struct etwas_perfetto *perfetto);

/* Makes the track with most events the default one, whose uuid its events omit. */
void etwas_perfetto_choose_track(struct etwas_perfetto *perfetto);

/* Adds the track to the TrackEvent being built, unless it is the default. */
static inline void etwas_perfetto_put_track(struct etwas_perfetto *perfetto, uint64_t uuid)
{
    if (uuid != perfetto->usual_track) {
        etwas_wire_number(&perfetto->event, EVENT_TRACK, uuid);
    }
}
void etwas_perfetto_tracks_close(struct etwas_perfetto *perfetto);

/* Begins a packet that describes a track. The caller may add fields to the descriptor. */
size_t etwas_perfetto_begin_track(struct etwas_perfetto *perfetto, uint64_t uuid, uint64_t parent);
void etwas_perfetto_end_track(struct etwas_perfetto *perfetto, size_t began);

/* Adds a text from a file, escaped as `etwas` prints it. */
void etwas_perfetto_put_utf8(struct etwas_wire *wire, uint32_t field, const char *text,
                             size_t bytes);

/* ---- plan.c ---- */

/* The plan for a span. */
struct etwas_perfetto_fate {
    bool is_wanted;    /* --where holds for its START or END */
    bool is_on_thread; /* it is properly nested in its thread */
    uint32_t flows;    /* number of children on other tracks */
};

bool etwas_perfetto_plan_open(struct etwas_perfetto *perfetto);
void etwas_perfetto_plan_close(struct etwas_perfetto *perfetto);

/* Handle the START or END of a span. */
void etwas_perfetto_plan_start(struct etwas_perfetto *perfetto, uint32_t track);
void etwas_perfetto_plan_end(struct etwas_perfetto *perfetto, uint32_t track);

/* Completes the plan after the last event. From then on, the fates are known. */
void etwas_perfetto_plan_finish(struct etwas_perfetto *perfetto);
struct etwas_perfetto_fate etwas_perfetto_fate_of(const struct etwas_perfetto *perfetto,
                                                  uint64_t span);

/* ---- annotations.c ---- */

/* Adds annotations for the current event to the TrackEvent being built. */
void etwas_perfetto_annotate(struct etwas_perfetto *perfetto,
                             const struct etwas_perfetto_schema *schema, uint32_t track);

/* Adds the annotations that identify the parent. Returns their size in bytes. */
size_t etwas_perfetto_annotate_parent(struct etwas_perfetto *perfetto, uint32_t track);

/* Add an annotation with one of our own names. */
void etwas_perfetto_annotate_number(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                                    uint64_t number);
void etwas_perfetto_annotate_text(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                                  const char *text);

/* ---- events.c ---- */

/* Converts the current event, and stores the result in the spool. */
void etwas_perfetto_take_event(struct etwas_perfetto *perfetto, int64_t time_ns);

/* ---- schedule.c ---- */

/*
 * Stores the event if it is about scheduling. Returns true if nothing else is to be written for it.
 */
bool etwas_perfetto_take_schedule(struct etwas_perfetto *perfetto,
                                  struct etwas_perfetto_record *record);
void etwas_perfetto_write_schedule(struct etwas_perfetto *perfetto,
                                   const struct etwas_perfetto_record *record);

/* Writes the last bundles. */
void etwas_perfetto_end_schedule(struct etwas_perfetto *perfetto);
void etwas_perfetto_schedule_close(struct etwas_perfetto *perfetto);

/* ---- samples.c ---- */

/*
 * Takes an event that is a sample or the stack of one, and returns whether it is. A sample is
 * stored in the spool when its stack is complete.
 */
bool etwas_perfetto_take_sample(struct etwas_perfetto *perfetto,
                                const struct etwas_perfetto_record *record);
void etwas_perfetto_end_samples(struct etwas_perfetto *perfetto);
void etwas_perfetto_write_sample(struct etwas_perfetto *perfetto,
                                 const struct etwas_perfetto_record *record);

/* ---- stacks.c ---- */

/* The result of looking up an address. Texts may be NULL, and are valid until the next lookup. */
struct etwas_perfetto_spot {
    const char *image;
    uint64_t offset; /* in the image; without one, the address */
    const char *function;
    const struct etwas_inlined *inlined; /* NULL: unknown; valid until the next lookup */
};

typedef struct etwas_perfetto_spot etwas_perfetto_find_spot(struct etwas_perfetto *perfetto,
                                                            const void *context, uint64_t address,
                                                            bool is_return);

/*
 * Returns the id of a stack of at most ETWAS_PERFETTO_FRAMES addresses, innermost first, and writes
 * it if it is new; 0 if there is no room. Equal addresses of one group have the same meaning.
 */
uint32_t etwas_perfetto_stack_of(struct etwas_perfetto *perfetto, const uint64_t *addresses,
                                 uint32_t count, uint64_t group, etwas_perfetto_find_spot *find,
                                 const void *context);

/* Returns the id of the record's stack, and writes it if it is new; 0 if the record has none. */
uint32_t etwas_perfetto_stack(struct etwas_perfetto *perfetto,
                              const struct etwas_perfetto_record *record);
/* Adds a stack to a TrackEvent; 0: none. */
static inline void etwas_perfetto_put_stack(struct etwas_wire *event, uint32_t stack)
{
    if (stack != 0) {
        etwas_wire_number(event, EVENT_CALLSTACK, stack);
    }
}

/* Makes all stacks be written again at their next use. */
void etwas_perfetto_stacks_tell_again(struct etwas_perfetto *perfetto);
void etwas_perfetto_stacks_close(struct etwas_perfetto *perfetto);

/* ---- counters.c ---- */

/* Returns whether the schema has fields, and all are numbers that measure something. */
bool etwas_perfetto_is_counter(const etwas_schema *schema);

/*
 * Adds the counter values of the current event to the TrackEvent being built, if its schema is one
 * of counters.
 */
void etwas_perfetto_put_counters(struct etwas_perfetto *perfetto,
                                 const struct etwas_perfetto_schema *schema, uint32_t track);
void etwas_perfetto_counters_close(struct etwas_perfetto *perfetto);

/* ---- heap.c ---- */

/*
 * Takes the event if heaptrace recorded it. Its calls are written as counters and as periodic
 * dumps. Returns true if nothing else is to be written for it.
 */
bool etwas_perfetto_take_heap(struct etwas_perfetto *perfetto,
                              const struct etwas_perfetto_record *record);
void etwas_perfetto_end_heaps(struct etwas_perfetto *perfetto);
void etwas_perfetto_write_heap(struct etwas_perfetto *perfetto,
                               const struct etwas_perfetto_record *record);
void etwas_perfetto_heaps_close(struct etwas_perfetto *perfetto);

/* ---- losses.c ---- */

/* The current event's file continues here. Writes the damage before it. */
void etwas_perfetto_take_losses(struct etwas_perfetto *perfetto, int64_t time_ns);
void etwas_perfetto_gap(struct etwas_convert *convert, const struct etwas_input *input,
                        const etwas_damage *damage);

/* The current event reports kernel losses of this processor, below ETWAS_PERFETTO_PROCESSORS. */
void etwas_perfetto_take_kernel_loss(struct etwas_perfetto *perfetto, uint32_t processor,
                                     int64_t time_ns);

/* Writes the damage at the end of the files, and the losses that each file reports. */
void etwas_perfetto_take_totals(struct etwas_perfetto *perfetto);

/* ---- spool.c ---- */

/* Returns false after a message on standard error, or if memory runs out. */
bool etwas_perfetto_spool_open(struct etwas_perfetto *perfetto);
void etwas_perfetto_spool_close(struct etwas_perfetto *perfetto);

/*
 * Stores the TrackEvent being built in the spool, with the interned strings that it needs. `begin`
 * is for a span's begin, else NULL. The sizes in the record are filled in.
 */
void etwas_perfetto_put_event(struct etwas_perfetto *perfetto, struct etwas_perfetto_record *record,
                              const struct etwas_perfetto_begin *begin);

/* Stores the other packet being built in the spool. */
void etwas_perfetto_put_packet(struct etwas_perfetto *perfetto);

/*
 * Goes back to the first record. Returns false, after a message on standard error, if not
 * everything could be stored.
 */
bool etwas_perfetto_spool_rewind(struct etwas_perfetto *perfetto);

/*
 * Returns the next record, valid with its data until the next call; NULL at the end or on an error.
 */
const struct etwas_perfetto_record *etwas_perfetto_spool_next(struct etwas_perfetto *perfetto);
bool etwas_perfetto_spool_has_failed(const struct etwas_perfetto *perfetto);

/* ---- packet.c ---- */

/* Writes the packet being built, and clears it. */
void etwas_perfetto_write_packet(struct etwas_perfetto *perfetto);
void etwas_perfetto_write_bytes(struct etwas_perfetto *perfetto, const uint8_t *packet,
                                size_t bytes);

/* Parts of a TrackEvent. */
struct etwas_perfetto_part {
    const uint8_t *bytes;
    size_t count;
};

/*
 * Write a packet with this field, or with a TrackEvent, from two parts, and with the interned
 * strings that it needs.
 */
void etwas_perfetto_write_timed(struct etwas_perfetto *perfetto, uint32_t field, int64_t time_ns,
                                const struct etwas_perfetto_part *names,
                                const struct etwas_perfetto_part parts[2]);
void etwas_perfetto_write_event(struct etwas_perfetto *perfetto, int64_t time_ns,
                                const struct etwas_perfetto_part *names,
                                const struct etwas_perfetto_part parts[2]);

/* ---- slices.c ---- */

void etwas_perfetto_write_begin(struct etwas_perfetto *perfetto,
                                const struct etwas_perfetto_record *record);
void etwas_perfetto_write_end(struct etwas_perfetto *perfetto,
                              const struct etwas_perfetto_record *record);

/* Ends the spans that are still open in a file after its last event; 0: in all files. */
void etwas_perfetto_end_open(struct etwas_perfetto *perfetto, uint32_t file, int64_t time_ns);

/* ---- lanes.c ---- */

/* A lane: a track that one span uses while it is open. */
struct etwas_perfetto_lane {
    uint64_t uuid;
    int64_t free_ns;    /* free from this time on */
    uint64_t group;     /* spans of one name in one process */
    uint32_t next_free; /* next free lane of the group, from 1; 0: none */
};

/* Returns the number of a free lane, from 1, made if there is none; 0 if memory runs out. */
uint32_t etwas_perfetto_take_lane(struct etwas_perfetto *perfetto, uint64_t process_track,
                                  uint32_t span_class, int64_t time_ns);
uint64_t etwas_perfetto_lane_uuid(const struct etwas_perfetto *perfetto, uint32_t lane);
void etwas_perfetto_leave_lane(struct etwas_perfetto *perfetto, uint32_t lane, int64_t time_ns);
void etwas_perfetto_lanes_close(struct etwas_perfetto *perfetto);

#endif
