/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_PERFETTO_H
#define ETWAS_TOOLS_CONVERT_PERFETTO_H

/*
 * `etwas convert --to perfetto`: a trace in the protocol buffers that Perfetto's trace processor
 * reads.
 *
 * The files are read once. What becomes of each event is made then and put by (the spool, a
 * temporary file), but for what is not known yet: whether a span is properly nested on its thread,
 * which is known at its end. When all is read, the spool is, and the trace written: packet by
 * packet, in the order of time.
 *
 * Memory is bounded: a byte a span, for ETWAS_PERFETTO_SPANS (what is beyond them is on tracks of
 * its own); what etwas_spans and this keep of spans that are open; ETWAS_PERFETTO_TRACKS processes
 * and threads; ETWAS_PERFETTO_NAMES names, after which all are forgotten and told again. The
 * temporary file is about three times the trace that is made.
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
    ETWAS_PERFETTO_PROCESSORS = 1024, /* further ones Perfetto refuses */
    ETWAS_PERFETTO_FRAMES = 256,      /* of a stack, the innermost ones */
};

/* Clocks as Perfetto numbers them. */
enum {
    ETWAS_PERFETTO_REALTIME = 1,
    ETWAS_PERFETTO_MONOTONIC_COARSE = 4,
    ETWAS_PERFETTO_MONOTONIC_RAW = 5,
    ETWAS_PERFETTO_BOOTTIME = 6,
    ETWAS_PERFETTO_STEPS = 64, /* our own: each time is the difference to the one before */
};

/* Streams of packets. */
enum {
    ETWAS_PERFETTO_EVENTS = 1, /* with interned names and the clock of differences */
    ETWAS_PERFETTO_APART = 2,  /* each packet speaks for itself */
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

/* What is interned: fields of InternedData. */
enum etwas_perfetto_kind {
    ETWAS_PERFETTO_CATEGORY = 1,
    ETWAS_PERFETTO_EVENT_NAME = 2,
    ETWAS_PERFETTO_ANNOTATION = 3,
    ETWAS_PERFETTO_STRING = 29,
    ETWAS_PERFETTO_KINDS,
};

/* Our own annotations have the first numbers, and are told with every state. */
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

/* A text with its number among those of its kind. */
struct etwas_perfetto_name {
    enum etwas_perfetto_kind kind;
    uint32_t iid;
    uint32_t epoch; /* that it was last told in */
    uint32_t bytes;
    char text[];
};

struct etwas_perfetto_names {
    struct etwas_perfetto_name **names;
    uint32_t count;
    size_t capacity;
    struct etwas_hash_index places;
    uint32_t iids[ETWAS_PERFETTO_KINDS]; /* the newest of each kind */
    uint32_t epoch;                      /* since the reader was told to forget */
    uint32_t generation;                 /* since they were forgotten here */
};

/* A GUID with its text. */
struct etwas_perfetto_guid {
    etwas_guid guid;
    uint32_t generation; /* of the names */
    struct etwas_perfetto_name *name;
};

/* What is known of a schema. */
struct etwas_perfetto_schema {
    const struct etwas_schema_texts *schema_texts;
    uint32_t generation; /* of the names */
    uint32_t span_class; /* number */
    bool is_counter;     /* its fields are nothing but numbers */
    struct etwas_perfetto_name *event;
    struct etwas_perfetto_name *span;
    struct etwas_perfetto_name *category; /* NULL: it has none */
    struct etwas_perfetto_name **fields;
};

/* A process, a thread, or what has neither. */
struct etwas_perfetto_track {
    uint32_t process; /* or ETWAS_EVENT_UNKNOWN_ID */
    uint32_t thread;  /* likewise: of the process's own track */
    uint32_t first;   /* which process had the id: etwas_processes_now */
    uint32_t uuid;
    uint32_t process_track; /* index */
    /* place + 1 of the newest open span: of the plan first, then of what is written */
    uint32_t top;
    uint32_t top_file; /* the file of the track's last begin or end */
    int64_t top_ns;    /* its time */
    uint64_t events;
    uint16_t processor;      /* of its last event */
    uint64_t activity_maker; /* of a process: the end of the ids that it counts; 0: not known */
};

enum etwas_perfetto_record_kind {
    ETWAS_PERFETTO_PUT_BEGIN,   /* of a span */
    ETWAS_PERFETTO_PUT_END,     /* likewise */
    ETWAS_PERFETTO_PUT_INSTANT, /* of a thread */
    ETWAS_PERFETTO_PUT_EVENT,   /* a TrackEvent that has its track */
    ETWAS_PERFETTO_PUT_PACKET,  /* all of a packet */
    ETWAS_PERFETTO_PUT_STATE,   /* names are told anew from here on */
    ETWAS_PERFETTO_PUT_SWITCH,  /* `place` is the processor; the payload */
    ETWAS_PERFETTO_PUT_READY,   /* likewise; `thread` woke it */
    ETWAS_PERFETTO_PUT_HOLE,    /* events of the processor are missing before it */
    ETWAS_PERFETTO_PUT_HEAP,    /* stacks that allocated or freed; `place`: more of them follow */
    ETWAS_PERFETTO_PUT_SAMPLE,  /* of a thread that ran on the processor `place` */
};

/*
 * A stored record. It is followed by the names to write and the event's fields, or by the packet.
 */
struct etwas_perfetto_record {
    uint32_t bytes;       /* of what comes behind it */
    uint32_t names_bytes; /* of these */
    int64_t time_ns;
    uint32_t track; /* index of the thread's */
    uint32_t place; /* of the span */
    uint32_t thread;
    uint16_t parent_bytes; /* at the end of all: what names the parent */
    uint16_t file;         /* number */
    uint8_t kind;
    uint16_t stack_frames;  /* addresses of 8 bytes directly behind the record, innermost first */
    uint32_t stack_process; /* the process of these addresses */
};

/* Follows the record of a span's begin, before everything else. */
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

/* What is told of a file beside its events. Times are of the primary clock. */
struct etwas_perfetto_file {
    bool has_events;
    int64_t first_ns;
    int64_t last_ns;
    uint64_t events;                  /* of which something was put by, */
    uint64_t written;                 /* and is written */
    bool is_kernel;                   /* of a session of the kernel's events, */
    bool is_linux;                    /* and of ours */
    struct etwas_perfetto_heap *heap; /* NULL: it has none */
    int64_t next_clock_ns;            /* when its clock is told of again */
    uint64_t error_track;             /* of its times' error; 0: not told yet */
    uint64_t error_ns;                /* as it was told last */
    uint64_t loss_track;              /* 0: not told yet */
    uint64_t damages;                 /* since its last event */
    uint64_t bytes_skipped;
    etwas_damage_kind damage; /* the first of them */
};

struct etwas_perfetto {
    struct etwas_convert *convert;
    struct etwas_output *output;
    struct etwas_wire event;    /* a TrackEvent in the making */
    struct etwas_wire interned; /* what it needs that was not told */
    struct etwas_wire packet;   /* any other packet in the making */
    uint32_t uuid;              /* of the newest track */
    uint32_t usual_track;       /* uuid; where events are that do not say so; 0: nowhere */
    struct etwas_perfetto_spool *spool;
    const uint8_t *behind; /* the record that was read last, and its frames */
    const uint8_t *frames;

    bool has_begun;
    bool needs_state;  /* told anew before the next event */
    bool has_dropped;  /* because something is missing */
    uint32_t primary;  /* clock */
    int64_t offset_ns; /* of the primary clock to that of struct etwas_convert */
    int64_t first_ns;
    int64_t latest_ns;
    int64_t last_ns;      /* of the newest packet of ETWAS_PERFETTO_EVENTS */
    uint64_t state_bytes; /* put by since the state was told */
    struct etwas_perfetto_file files[ETWAS_INPUT_FILES]; /* by number - 1 */

    struct etwas_processes processes; /* what they are called */
    struct etwas_addresses addresses;
    uint32_t schedule_file; /* number of the file that has context switches; 0: none yet */
    struct etwas_perfetto_schedule *schedule;
    struct etwas_perfetto_counters *counters;
    uint32_t loss_tracks[ETWAS_PERFETTO_PROCESSORS]; /* of processors; 0: not told yet */
    uint32_t profile_index;                          /* of the next packet of a heap */
    struct etwas_perfetto_stacks *stacks;
    struct etwas_place place;                /* that was found for a frame last */
    struct etwas_perfetto_pending **pending; /* samples by processor, without all of their stacks */
    uint64_t stack[ETWAS_PERFETTO_FRAMES];   /* of the record in the making */
    struct etwas_perfetto_names names;
    struct etwas_perfetto_guid last_guid;
    struct etwas_perfetto_schema *schemas;
    uint32_t schema_count;
    size_t schema_capacity;
    struct etwas_hash_index schema_places;
    uint32_t schema_last;                 /* that was found */
    struct etwas_perfetto_schema loose;   /* of an event that nothing describes */
    struct etwas_perfetto_name **classes; /* what spans are called, by number */
    uint32_t class_count;
    size_t class_capacity;
    struct etwas_perfetto_names class_names;

    struct etwas_perfetto_track *tracks;
    uint32_t track_count;
    size_t track_capacity;
    struct etwas_hash_index track_places;
    uint32_t track_last; /* that was found */

    struct etwas_perfetto_plan *plan;
    struct etwas_perfetto_open *open; /* by place */
    size_t open_capacity;
    struct etwas_perfetto_lanes *lanes;
};

/* ---- clocks.c ---- */

/*
 * Returns the current event's time in the primary clock. The first call begins the trace. Stores
 * what is written about clocks.
 */
int64_t etwas_perfetto_time(struct etwas_perfetto *perfetto);

/* Has names told anew from here on, if that is to be. */
void etwas_perfetto_put_state(struct etwas_perfetto *perfetto, int64_t time_ns);

/* A time of struct etwas_convert by the primary clock. */
int64_t etwas_perfetto_primary_ns(const struct etwas_perfetto *perfetto, int64_t time_ns);

/* A trace of nothing begins too. */
void etwas_perfetto_begin(struct etwas_perfetto *perfetto);

/* Writes that the reader must forget all names and times. */
void etwas_perfetto_write_state(struct etwas_perfetto *perfetto, int64_t time_ns, bool has_dropped);

/* ---- names.c ---- */

void etwas_perfetto_names_open(struct etwas_perfetto_names *names);
void etwas_perfetto_names_close(struct etwas_perfetto_names *names);

/* Any bytes; kept until the names are forgotten. NULL without memory. */
struct etwas_perfetto_name *etwas_perfetto_name(struct etwas_perfetto_names *names,
                                                enum etwas_perfetto_kind kind, const char *text,
                                                size_t bytes);

/* Its number, for the event in the making; tells it if it was not. */
uint32_t etwas_perfetto_iid(struct etwas_perfetto *perfetto, struct etwas_perfetto_name *name);

/* They are all told again when they are used next; bounds how many there are. */
void etwas_perfetto_names_tell_again(struct etwas_perfetto_names *names);

/* The names of enum etwas_perfetto_own, into the packet in the making. */
void etwas_perfetto_put_own_names(struct etwas_wire *packet);

/* ---- schemas.c ---- */

/* What the event is called; without a schema for this event alone. NULL without memory. */
const struct etwas_perfetto_schema *etwas_perfetto_schema(struct etwas_perfetto *perfetto);
void etwas_perfetto_schemas_close(struct etwas_perfetto *perfetto);

/* ---- tracks.c ---- */

/* Its index; UINT32_MAX without memory. */
uint32_t etwas_perfetto_track(struct etwas_perfetto *perfetto, uint32_t process, uint32_t thread);

/* Writes what all of them are called. */
void etwas_perfetto_write_tracks(struct etwas_perfetto *perfetto);

/* Has events of the one with most of them go without its number. */
void etwas_perfetto_choose_track(struct etwas_perfetto *perfetto);

/* Into the TrackEvent in the making, of which no more is written than is needed. */
static inline void etwas_perfetto_put_track(struct etwas_perfetto *perfetto, uint64_t uuid)
{
    if (uuid != perfetto->usual_track) {
        etwas_wire_number(&perfetto->event, EVENT_TRACK, uuid);
    }
}
void etwas_perfetto_tracks_close(struct etwas_perfetto *perfetto);

/* Begins the packet of a track of ours. The caller may write more to its descriptor. */
size_t etwas_perfetto_begin_track(struct etwas_perfetto *perfetto, uint64_t uuid, uint64_t parent);
void etwas_perfetto_end_track(struct etwas_perfetto *perfetto, size_t began);

/* A text from a file, as `etwas` shows it. */
void etwas_perfetto_put_utf8(struct etwas_wire *wire, uint32_t field, const char *text,
                             size_t bytes);

/* ---- plan.c ---- */

/* What is planned for a span. */
struct etwas_perfetto_fate {
    bool is_wanted;    /* --where holds for one of its ends */
    bool is_on_thread; /* it is properly nested in the others of its thread */
    uint32_t flows;    /* so many children are on other tracks */
};

bool etwas_perfetto_plan_open(struct etwas_perfetto *perfetto);
void etwas_perfetto_plan_close(struct etwas_perfetto *perfetto);

/* The event begins or ends a span. */
void etwas_perfetto_plan_start(struct etwas_perfetto *perfetto, uint32_t track);
void etwas_perfetto_plan_end(struct etwas_perfetto *perfetto, uint32_t track);

/* There are no more; from now on fates are known. */
void etwas_perfetto_plan_finish(struct etwas_perfetto *perfetto);
struct etwas_perfetto_fate etwas_perfetto_fate_of(const struct etwas_perfetto *perfetto,
                                                  uint64_t span);

/* ---- annotations.c ---- */

/* All that the event says, into the TrackEvent in the making. */
void etwas_perfetto_annotate(struct etwas_perfetto *perfetto,
                             const struct etwas_perfetto_schema *schema, uint32_t track);

/* What names its parent, which is how many bytes of it. */
size_t etwas_perfetto_annotate_parent(struct etwas_perfetto *perfetto, uint32_t track);

/* One of ours. */
void etwas_perfetto_annotate_number(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                                    uint64_t number);
void etwas_perfetto_annotate_text(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                                  const char *text);

/* ---- events.c ---- */

/* Makes of the event what it becomes, and puts it by. */
void etwas_perfetto_take_event(struct etwas_perfetto *perfetto, int64_t time_ns);

/* ---- schedule.c ---- */

/* Stores the event if it is about scheduling. Returns whether it was. */
bool etwas_perfetto_take_schedule(struct etwas_perfetto *perfetto,
                                  struct etwas_perfetto_record *record);
void etwas_perfetto_write_schedule(struct etwas_perfetto *perfetto,
                                   const struct etwas_perfetto_record *record);

/* There is no more. */
void etwas_perfetto_end_schedule(struct etwas_perfetto *perfetto);
void etwas_perfetto_schedule_close(struct etwas_perfetto *perfetto);

/* ---- samples.c ---- */

/*
 * Is the event a sample, or the stack of one? Then it is put by as that, when all of it is there.
 */
bool etwas_perfetto_take_sample(struct etwas_perfetto *perfetto,
                                const struct etwas_perfetto_record *record);
void etwas_perfetto_end_samples(struct etwas_perfetto *perfetto);
void etwas_perfetto_write_sample(struct etwas_perfetto *perfetto,
                                 const struct etwas_perfetto_record *record);

/* ---- stacks.c ---- */

/* Where an address is; texts until the next is looked for, or NULL. */
struct etwas_perfetto_spot {
    const char *image;
    uint64_t offset; /* in it, or the address */
    const char *function;
    const struct etwas_inlined *inlined; /* NULL: nothing that is known; until the next is found */
};

typedef struct etwas_perfetto_spot etwas_perfetto_find_spot(struct etwas_perfetto *perfetto,
                                                            const void *context, uint64_t address,
                                                            bool is_return);

/*
 * The number of a stack of at most ETWAS_PERFETTO_FRAMES addresses, innermost first, which is told
 * if it was not; 0: there is no room. Within a group an address is the same everywhere.
 */
uint32_t etwas_perfetto_stack_of(struct etwas_perfetto *perfetto, const uint64_t *addresses,
                                 uint32_t count, uint64_t group, etwas_perfetto_find_spot *find,
                                 const void *context);

/* The number of the record's stack, which is told if it was not; 0: it has none. */
uint32_t etwas_perfetto_stack(struct etwas_perfetto *perfetto,
                              const struct etwas_perfetto_record *record);
/* Into a TrackEvent; 0 is none. */
static inline void etwas_perfetto_put_stack(struct etwas_wire *event, uint32_t stack)
{
    if (stack != 0) {
        etwas_wire_number(event, EVENT_CALLSTACK, stack);
    }
}

/* They are all told again when they come next. */
void etwas_perfetto_stacks_tell_again(struct etwas_perfetto *perfetto);
void etwas_perfetto_stacks_close(struct etwas_perfetto *perfetto);

/* ---- counters.c ---- */

/* Are events of the schema nothing but numbers? */
bool etwas_perfetto_is_counter(const etwas_schema *schema);

/* If so, what the event counts, into the TrackEvent in the making. */
void etwas_perfetto_put_counters(struct etwas_perfetto *perfetto,
                                 const struct etwas_perfetto_schema *schema, uint32_t track);
void etwas_perfetto_counters_close(struct etwas_perfetto *perfetto);

/* ---- heap.c ---- */

/*
 * Stores the event if it is a call that heaptrace saw. All calls of a trace are written together.
 * Returns true if nothing else is to be written of the event.
 */
bool etwas_perfetto_take_heap(struct etwas_perfetto *perfetto,
                              const struct etwas_perfetto_record *record);
void etwas_perfetto_end_heaps(struct etwas_perfetto *perfetto);
void etwas_perfetto_write_heap(struct etwas_perfetto *perfetto,
                               const struct etwas_perfetto_record *record);
void etwas_perfetto_heaps_close(struct etwas_perfetto *perfetto);

/* ---- losses.c ---- */

/* The event's file goes on here: what was missing before it is told. */
void etwas_perfetto_take_losses(struct etwas_perfetto *perfetto, int64_t time_ns);
void etwas_perfetto_gap(struct etwas_convert *convert, const struct etwas_input *input,
                        const etwas_damage *damage);

/* The event says that the kernel lost others of this processor, below ETWAS_PERFETTO_PROCESSORS. */
void etwas_perfetto_take_kernel_loss(struct etwas_perfetto *perfetto, uint32_t processor,
                                     int64_t time_ns);

/* What was missing at the end of the files, and what each says in all. */
void etwas_perfetto_take_totals(struct etwas_perfetto *perfetto);

/* ---- spool.c ---- */

/* False after a message on standard error. */
bool etwas_perfetto_spool_open(struct etwas_perfetto *perfetto);
void etwas_perfetto_spool_close(struct etwas_perfetto *perfetto);

/*
 * Puts by the TrackEvent in the making with the names that it needs; of a span's begin with
 * `begin`, else NULL. What the record says of bytes is filled in.
 */
void etwas_perfetto_put_event(struct etwas_perfetto *perfetto, struct etwas_perfetto_record *record,
                              const struct etwas_perfetto_begin *begin);

/* Likewise the other packet in the making. */
void etwas_perfetto_put_packet(struct etwas_perfetto *perfetto);

/*
 * Goes back to the first record. False after a message on standard error: not all could be put by.
 */
bool etwas_perfetto_spool_rewind(struct etwas_perfetto *perfetto);

/* The next record with what is behind it, until the next call. NULL: there is none. */
const struct etwas_perfetto_record *etwas_perfetto_spool_next(struct etwas_perfetto *perfetto);
bool etwas_perfetto_spool_has_failed(const struct etwas_perfetto *perfetto);

/* ---- packet.c ---- */

/* The packet in the making. */
void etwas_perfetto_write_packet(struct etwas_perfetto *perfetto);
void etwas_perfetto_write_bytes(struct etwas_perfetto *perfetto, const uint8_t *packet,
                                size_t bytes);

/* Parts of a TrackEvent. */
struct etwas_perfetto_part {
    const uint8_t *bytes;
    size_t count;
};

/* A packet of this field, or of a TrackEvent, in two parts, with the names that it needs. */
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

/* Ends what is still open in a file after its last event, or in all files (0). */
void etwas_perfetto_end_open(struct etwas_perfetto *perfetto, uint32_t file, int64_t time_ns);

/* ---- lanes.c ---- */

/* A track that a span has for itself while it is open. */
struct etwas_perfetto_lane {
    uint64_t uuid;
    int64_t free_ns;    /* from then on */
    uint64_t group;     /* spans of one name of one process */
    uint32_t next_free; /* of that group; from 1 */
};

/* Its number, from 1, which leads to it; 0 without memory. */
uint32_t etwas_perfetto_take_lane(struct etwas_perfetto *perfetto, uint64_t process_track,
                                  uint32_t span_class, int64_t time_ns);
uint64_t etwas_perfetto_lane_uuid(const struct etwas_perfetto *perfetto, uint32_t lane);
void etwas_perfetto_leave_lane(struct etwas_perfetto *perfetto, uint32_t lane, int64_t time_ns);
void etwas_perfetto_lanes_close(struct etwas_perfetto *perfetto);

#endif
