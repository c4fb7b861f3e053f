/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Makes blocks: the next one, whose bounds are found while reading, or one with known bounds. */

#include "ship/read/partition_day.h"
#include "ship/read/rows.h"

enum {
    MOST_ROWS = 10 * ETWAS_SHIP_BLOCK_ROWS, /* whatever the limits are */
    MOST_BUFFERS = 4096,                    /* buffers in a block */
    FEW_BUFFERS = 64,    /* fewer without events wait for more: an idle session has one a second */
    SIZE_EACH_ROWS = 16, /* the size of a block is checked this often, unless events are large */
    LARGE_PAYLOAD = 1024,
    NEAR_A_SECOND = 100, /* stamps within a hundredth of a second are near */
};

struct cut {
    struct etwas_ship_file *file;
    struct etwas_ship_block *block;
    const struct etwas_ship_limits *limits; /* NULL: the bounds are known, */
    uint32_t known_rows;                    /* and have this number of events */
    struct etwas_ship_common common;
    int64_t known_until; /* for a new block: raw; later events cannot be sent yet */
    struct etwas_ship_partition_day day;
    bool has_session;
    uint32_t session;

    /* The buffer that is being read. */
    struct etwas_ship_buffer_row buffer;
    uint32_t kind;
    uint32_t skip;      /* its events in earlier blocks */
    uint32_t pos;       /* its events so far */
    uint32_t first_row; /* its first row in the block */

    struct etwas_ship_position reached;
    bool is_begun;    /* a buffer was read */
    bool is_full;     /* nothing more goes into the block */
    bool has_stopped; /* in the middle of the buffer */
    const char *failure;
};

static const char not_there[] = "a place in it is not where it was: it is not what it was";

/* ---- where a block ends ---------------------------------------------------------------------- */

/* Returns whether the block ends before this event. */
static bool ends_before(struct cut *cut, int64_t raw)
{
    struct etwas_ship_bounds *bounds = &cut->block->bounds;

    if (cut->limits == NULL) {
        return cut->buffer.offset == bounds->until.offset && cut->pos == bounds->until.pos;
    }
    if (cut->is_full || raw > cut->known_until) {
        return true;
    }
    if (bounds->rows == 0) {
        bounds->day = etwas_ship_partition_day_begin(&cut->day, cut->file, raw);
        return false;
    }
    return etwas_ship_partition_day_is_other(&cut->day, cut->file, raw);
}

static size_t size(const struct etwas_ship_block *block)
{
    return etwas_columns_size(block->events) + etwas_columns_size(block->buffers);
}

static void note_full(struct cut *cut, const EVENT_RECORD *record)
{
    const struct etwas_ship_block *block = cut->block;
    uint32_t rows = block->bounds.rows;

    if (cut->limits == NULL) {
        return;
    }
    if (rows >= cut->limits->rows || rows >= MOST_ROWS) {
        cut->is_full = true;
    } else if (rows % SIZE_EACH_ROWS == 0 || record->UserDataLength >= LARGE_PAYLOAD) {
        cut->is_full = size(block) >= cut->limits->bytes;
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static void put_event(struct cut *cut, struct etwas_schema_texts *schema_texts,
                      const EVENT_RECORD *record)
{
    struct etwas_ship_learned *learned = &cut->file->learned;

    if (schema_texts == NULL) {
        schema_texts = etwas_descriptions_find(&learned->descriptions, record, NULL);
    }
    etwas_ship_put_event(cut->block->events, &cut->common, learned, schema_texts, record,
                         cut->buffer.buffer, cut->pos);
    cut->block->bounds.rows++;
    note_full(cut, record);
}

/*
 * If the block ends before the first event of a buffer, it ends with the previous buffer, wherever
 * that ends.
 */
static void stop(struct cut *cut)
{
    cut->has_stopped = true;
    if (cut->pos > 0) {
        cut->reached = (struct etwas_ship_position){cut->buffer.offset, cut->pos};
    }
}

static void note_stamp(struct cut *cut, int64_t raw)
{
    if (cut->pos == 0) {
        cut->buffer.first = raw;
        cut->buffer.last = raw;
    }
    cut->buffer.first = raw < cut->buffer.first ? raw : cut->buffer.first;
    cut->buffer.last = raw > cut->buffer.last ? raw : cut->buffer.last;
}

/*
 * In files of etwas, each record in a buffer of events is an event, also in the session's counts.
 * Files of other systems may have descriptions among them.
 */
static void take_record(EVENT_RECORD *record, void *context)
{
    struct cut *cut = context;
    int64_t raw = record->EventHeader.TimeStamp.QuadPart;
    struct etwas_schema_texts *schema_texts;
    uint32_t code = ERROR_NOT_FOUND;

    if (cut->has_stopped || cut->failure != NULL) {
        return;
    }
    if (cut->kind == ETWAS_BUFFER_EVENTS && cut->pos >= cut->skip && ends_before(cut, raw)) {
        stop(cut);
        return;
    }
    if (cut->limits == NULL && cut->block->bounds.rows > cut->known_rows) {
        cut->failure = not_there;
        return;
    }
    schema_texts = etwas_descriptions_known(&cut->file->learned.descriptions, record);
    if (schema_texts == NULL) {
        code = etwas_descriptions_add_record(&cut->file->learned.descriptions, record);
    }
    if (cut->kind != ETWAS_BUFFER_EVENTS || (!cut->file->is_own && code != ERROR_NOT_FOUND)) {
        return;
    }
    note_stamp(cut, raw);
    if (cut->pos >= cut->skip) {
        put_event(cut, schema_texts, record);
    }
    cut->pos++;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void put_buffer(struct cut *cut)
{
    const struct etwas_ship_file *file = cut->file;

    etwas_ship_put_buffer(cut->block->buffers, file->host, file->name, cut->common.session,
                          file->facts.part, 0, &cut->buffer);
    cut->reached = (struct etwas_ship_position){cut->buffer.offset + cut->buffer.bytes, 0};
    cut->is_full |= cut->block->buffers->rows >= MOST_BUFFERS;
}

/* A block has events of one session only. */
static bool is_of_session(struct cut *cut, uint32_t session)
{
    if (!cut->has_session) {
        cut->has_session = true;
        cut->session = session;
        cut->common.session = etwas_ship_file_session(cut->file, session);
    }
    return session == cut->session;
}

/* Returns whether the block continues with this buffer. */
static bool goes_on(struct cut *cut, const etwas_trace_buffer *buffer)
{
    const struct etwas_ship_bounds *bounds = &cut->block->bounds;

    if (cut->failure != NULL || !is_of_session(cut, buffer->session)) {
        return false;
    }
    if (cut->limits != NULL) {
        return !cut->is_full;
    }
    return buffer->file_offset < bounds->until.offset ||
           (buffer->file_offset == bounds->until.offset && bounds->until.pos > 0);
}

static uint32_t begin_buffer(const etwas_trace_buffer *buffer, void *context)
{
    struct cut *cut = context;
    const struct etwas_ship_position *from = &cut->block->bounds.from;

    if (!goes_on(cut, buffer)) {
        return ETWAS_BUFFER_STOP;
    }
    if (!cut->is_begun && from->pos > 0 && buffer->file_offset != from->offset) {
        cut->failure = not_there;
        return ETWAS_BUFFER_STOP;
    }
    cut->buffer = (struct etwas_ship_buffer_row){
        .state = ETWAS_SHIP_STATE_BUFFER,
        .cpu = cut->file->has_cpus ? (uint16_t)buffer->processor : ETWAS_SHIP_UNKNOWN_CPU,
        .buffer = buffer->number,
        .bytes = buffer->file_bytes,
        .offset = buffer->file_offset,
    };
    cut->kind = buffer->kind;
    cut->skip = cut->is_begun ? 0 : from->pos;
    cut->pos = 0;
    cut->first_row = cut->block->bounds.rows;
    cut->is_begun = true;
    if (buffer->kind == ETWAS_BUFFER_READINGS) {
        put_buffer(cut);
        return ETWAS_BUFFER_PASS;
    }
    return ETWAS_BUFFER_READ;
}

/* Returns the distance up to which stamps are near, in ticks. */
static uint64_t near(const struct etwas_ship_file *file)
{
    uint64_t ticks = file->information.clock_frequency / NEAR_A_SECOND;

    return ticks > 0 ? ticks : 1;
}

/*
 * Called at the end of a buffer, when the trace knows the clock readings on both sides of its
 * events.
 */
static void take_samples(struct cut *cut)
{
    struct etwas_ship_samples *samples = &cut->file->samples;
    const int64_t *stamps = etwas_columns_values(cut->block->events, ETWAS_SHIP_EVENT_TIME);
    uint32_t rows = cut->block->bounds.rows - cut->first_row;

    if (cut->limits == NULL || cut->block->events->failed) {
        return;
    }
    if (rows > 0) {
        etwas_ship_samples_take(samples, cut->file->trace, stamps + cut->first_row, rows,
                                near(cut->file));
    }
    if (cut->pos > 0 && !cut->has_stopped) {
        etwas_ship_samples_take(samples, cut->file->trace, &cut->buffer.first, 1, 1);
        etwas_ship_samples_take(samples, cut->file->trace, &cut->buffer.last, 1, 1);
    }
}

static uint32_t end_buffer(const etwas_trace_buffer *buffer, void *context)
{
    struct cut *cut = context;

    take_samples(cut);
    if (cut->has_stopped || cut->failure != NULL) {
        return ETWAS_BUFFER_STOP;
    }
    if (cut->pos < cut->skip) {
        cut->failure = not_there;
        return ETWAS_BUFFER_STOP;
    }
    cut->buffer.events = cut->pos;
    cut->buffer.damages = buffer->damages;
    put_buffer(cut);
    return cut->is_full ? ETWAS_BUFFER_STOP : ETWAS_BUFFER_READ;
}

/* ---- whole blocks ---------------------------------------------------------------------------- */

static void begin_block(struct cut *cut)
{
    struct etwas_ship_block *block = cut->block;

    etwas_columns_reset(block->events, &block->events->dialect);
    etwas_columns_reset(block->buffers, &block->buffers->dialect);
    cut->common.file = cut->file;
    cut->reached = block->bounds.from;
}

static bool read_block(struct cut *cut, uint64_t until)
{
    const struct etwas_ship_reader reader = {begin_buffer, end_buffer, take_record, cut};
    struct etwas_ship_block *block = cut->block;

    if (!etwas_ship_file_read(cut->file, block->bounds.from.offset, until, &reader)) {
        return false;
    }
    if (cut->failure == NULL && block->bounds.from.pos > 0 && !cut->is_begun) {
        cut->failure = not_there;
    }
    if (cut->failure != NULL) {
        return etwas_ship_file_fail(cut->file, cut->failure);
    }
    return (!cut->file->learned.descriptions.out_of_memory && !block->events->failed &&
            !block->buffers->failed && !cut->file->samples.failed) ||
           etwas_ship_file_fail(cut->file, "there is no memory for its rows");
}

/* Sets the columns that are known only when the block is complete. */
static void finish_rows(struct cut *cut)
{
    const struct etwas_ship_block *block = cut->block;
    const struct etwas_ship_bounds *bounds = &block->bounds;
    struct etwas_columns *events = block->events;
    struct etwas_columns *buffers = block->buffers;
    uint16_t *days = etwas_columns_values(events, ETWAS_SHIP_EVENT_DAY);
    uint32_t *errors = etwas_columns_values(events, ETWAS_SHIP_EVENT_TIME_ERROR);
    const uint64_t *counts = etwas_columns_values(buffers, ETWAS_SHIP_BUFFER_EVENTS);
    int64_t *first = etwas_columns_values(buffers, ETWAS_SHIP_BUFFER_FIRST_TIME);
    int64_t *last = etwas_columns_values(buffers, ETWAS_SHIP_BUFFER_LAST_TIME);

    etwas_ship_times_convert(&bounds->times, etwas_columns_values(events, ETWAS_SHIP_EVENT_TIME),
                             events->rows);
    for (uint32_t i = 0; i < events->rows; i++) {
        days[i] = (uint16_t)bounds->day;
        errors[i] = bounds->times.error_ns;
    }
    etwas_ship_times_convert(&bounds->times, first, buffers->rows);
    etwas_ship_times_convert(&bounds->times, last, buffers->rows);
    days = etwas_columns_values(buffers, ETWAS_SHIP_BUFFER_DAY);
    for (uint32_t i = 0; i < buffers->rows; i++) {
        days[i] = (uint16_t)bounds->day;
        first[i] = counts[i] > 0 ? first[i] : 0;
        last[i] = counts[i] > 0 ? last[i] : 0;
    }
}

/* A block without events gets the day up to which the file's clocks are known. */
static uint32_t day_without_events(const struct cut *cut)
{
    const struct etwas_ship_file *file = cut->file;
    int64_t unix_ns = 0;
    uint64_t error_ns;

    if (cut->known_until == INT64_MAX ||
        !etwas_ship_wall_clock(file->trace, cut->known_until, &unix_ns, &error_ns)) {
        unix_ns =
            file->facts.has_ended ? etwas_ship_file_end_ns(file) : etwas_ship_file_start_ns(file);
    }
    return etwas_ship_partition_day_of(file, unix_ns);
}

/*
 * Returns whether there is too little for a block. While more may come, a few buffers without
 * events are too little.
 */
static bool is_too_little(const struct cut *cut)
{
    const struct etwas_ship_block *block = cut->block;
    bool waits = !etwas_ship_file_is_over(cut->file) && !cut->is_full;

    return block->bounds.rows == 0 && block->buffers->rows < (waits ? FEW_BUFFERS : 1);
}

static void finish_bounds(struct cut *cut)
{
    struct etwas_ship_bounds *bounds = &cut->block->bounds;

    bounds->until = cut->reached;
    etwas_ship_times_make(&cut->file->samples, &bounds->times);
    if (bounds->rows == 0 && bounds->times.count == 0) {
        bounds->day = day_without_events(cut);
    } else if (bounds->rows == 0) {
        /* The block completes a buffer whose events are in earlier blocks. */
        bounds->day = etwas_ship_partition_day_of(cut->file, bounds->times.point[0].unix_ns);
    }
}

static bool know_until(struct etwas_ship_file *file, int64_t *raw)
{
    *raw = INT64_MAX;
    return etwas_ship_file_is_over(file) ||
           etwas_trace_known_until(file->trace, raw) == ERROR_SUCCESS ||
           etwas_ship_file_fail(file, "it does not say how far its clocks are known");
}

enum etwas_ship_block_result etwas_ship_block_next(struct etwas_ship_file *file,
                                                   const struct etwas_ship_position *from,
                                                   const struct etwas_ship_limits *limits,
                                                   struct etwas_ship_block *block)
{
    struct cut cut = {.file = file, .block = block, .limits = limits};

    block->bounds = (struct etwas_ship_bounds){.from = *from, .until = *from};
    begin_block(&cut);
    if (from->offset > file->facts.bytes) {
        (void)etwas_ship_file_fail(file, not_there);
        return ETWAS_SHIP_FAILED;
    }
    if (file->facts.is_circular && !etwas_ship_file_is_over(file)) {
        return ETWAS_SHIP_NOTHING_YET;
    }
    if (file->facts.written_as == 0 && !file->facts.is_circular) {
        return etwas_ship_file_is_over(file) ? ETWAS_SHIP_FILE_END : ETWAS_SHIP_NOTHING_YET;
    }
    if (!etwas_ship_learn(file, from, UINT64_MAX) || !know_until(file, &cut.known_until)) {
        return ETWAS_SHIP_FAILED;
    }
    block->bounds.learned_until = file->learned.ahead_until;
    etwas_ship_samples_begin(&file->samples);
    file->learned.is_sound = read_block(&cut, UINT64_MAX);
    if (!file->learned.is_sound) {
        return ETWAS_SHIP_FAILED;
    }
    if (is_too_little(&cut)) {
        return etwas_ship_file_is_over(file) ? ETWAS_SHIP_FILE_END : ETWAS_SHIP_NOTHING_YET;
    }
    finish_bounds(&cut);
    file->learned.at = block->bounds.until;
    finish_rows(&cut);
    return ETWAS_SHIP_BLOCK;
}

static bool is_behind(const struct etwas_ship_position *place,
                      const struct etwas_ship_position *other)
{
    return place->offset > other->offset ||
           (place->offset == other->offset && place->pos > other->pos);
}

static bool are_sound(const struct etwas_ship_bounds *bounds)
{
    return is_behind(&bounds->until, &bounds->from) && bounds->rows <= MOST_ROWS &&
           bounds->day <= UINT16_MAX && (bounds->rows == 0 || bounds->times.count > 0) &&
           etwas_ship_times_are_sound(&bounds->times);
}

enum etwas_ship_block_result etwas_ship_block_again(struct etwas_ship_file *file,
                                                    const struct etwas_ship_bounds *bounds,
                                                    struct etwas_ship_block *block)
{
    struct cut cut = {.file = file, .block = block, .known_rows = bounds->rows};
    uint64_t until = bounds->until.offset;

    if (!are_sound(bounds)) {
        (void)etwas_ship_file_fail(file, "the bounds of a block make no sense");
        return ETWAS_SHIP_FAILED;
    }
    block->bounds = *bounds;
    block->bounds.rows = 0;
    begin_block(&cut);
    if (!etwas_ship_learn(file, &bounds->from, bounds->learned_until)) {
        return ETWAS_SHIP_FAILED;
    }
    until += bounds->until.pos > 0 && until < UINT64_MAX;
    file->learned.is_sound = read_block(&cut, until);
    if (!file->learned.is_sound) {
        return ETWAS_SHIP_FAILED;
    }
    if (block->bounds.rows != bounds->rows || cut.reached.offset != bounds->until.offset ||
        cut.reached.pos != bounds->until.pos) {
        (void)etwas_ship_file_fail(file, not_there);
        file->learned.is_sound = false;
        return ETWAS_SHIP_FAILED;
    }
    file->learned.at = bounds->until;
    finish_rows(&cut);
    return ETWAS_SHIP_BLOCK;
}
