/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counts the events of a file for `etwas stat`.
 */

#include "analyse/counts/counts.h"

#include "event/names.h"
#include "trace/condition.h"

#include <etwas/winmeta.h>
#include <search.h>
#include <stdlib.h>

_Static_assert(sizeof(struct etwas_counts_key) == 20 + ETWAS_COUNTS_NAME_BYTES,
               "keys are compared as bytes and have no padding");

static int compare_keys(const void *left, const void *right)
{
    return memcmp(&((const struct etwas_counts_kind *)left)->key,
                  &((const struct etwas_counts_kind *)right)->key, sizeof(struct etwas_counts_key));
}

static void keep_name(char kept[ETWAS_COUNTS_NAME_BYTES], const struct etwas_event_string *name)
{
    if (name->text != NULL) {
        memcpy(kept, name->text,
               name->bytes < ETWAS_COUNTS_NAME_BYTES ? name->bytes : ETWAS_COUNTS_NAME_BYTES);
    }
}

static void count_record(struct etwas_counts_sum *counted, const EVENT_RECORD *record)
{
    counted->events++;
    counted->payload_bytes += record->UserDataLength;
}

/* Finds the kind with the key of `wanted`, or adds it. Returns NULL if there are too many. */
static struct etwas_counts_kind *find_kind(struct etwas_counts *counts,
                                           const struct etwas_counts_kind *wanted)
{
    struct etwas_counts_kind *kind;
    void *node = tfind(wanted, &counts->kinds, compare_keys);

    if (node != NULL) {
        return *(struct etwas_counts_kind **)node;
    }
    if (counts->kind_count == ETWAS_COUNTS_KINDS) {
        return NULL;
    }
    kind = malloc(sizeof *kind);
    if (kind == NULL) {
        counts->out_of_memory = true;
        return NULL;
    }
    *kind = *wanted;
    kind->number = counts->kind_count;
    if (tsearch(kind, &counts->kinds, compare_keys) == NULL) {
        counts->out_of_memory = true;
        free(kind);
        return NULL;
    }
    counts->kind_count++;
    return kind;
}

/*
 * A TraceLogging event without items may have its names in the payload. Kinds do not keep a
 * payload, so the names are read when the event is counted.
 */
static void read_payload_names(const struct etwas_counts *counts, const EVENT_RECORD *record,
                               struct etwas_event *event)
{
    const etwas_schema *schema;

    if (!event->classic && !event->message && event->event_name.text == NULL &&
        record->EventHeader.EventDescriptor.Channel == WINEVENT_CHANNEL_TRACELOGGING &&
        etwas_decoder_schema(counts->descriptions->decoder, record, &schema) == ERROR_SUCCESS &&
        schema->info->DecodingSource == DecodingSourceTlg) {
        event->provider_name =
            (struct etwas_event_string){schema->provider, strlen(schema->provider)};
        event->event_name = (struct etwas_event_string){schema->event, strlen(schema->event)};
    }
}

struct etwas_counts_kind *etwas_counts_kind_of(struct etwas_counts *counts,
                                               const EVENT_RECORD *record)
{
    const EVENT_HEADER *header = &record->EventHeader;
    struct etwas_counts_kind wanted = {.count = {0, 0}};
    struct etwas_event event;

    etwas_event_read(record, &event);
    read_payload_names(counts, record, &event);
    wanted.key.guid = header->ProviderId;
    wanted.key.type = header->EventDescriptor.Opcode;
    wanted.key.id = event.classic ? 0 : header->EventDescriptor.Id;
    wanted.key.classic = event.classic;
    keep_name(wanted.key.event_name, &event.event_name);
    keep_name(wanted.provider_name, &event.provider_name);
    wanted.header = *header;
    if (counts->latest == NULL || compare_keys(counts->latest, &wanted) != 0) {
        counts->latest = find_kind(counts, &wanted);
    }
    return counts->latest;
}

/* Keeps a UTF-16 string of at most `bytes` bytes. Returns its size in bytes with its terminator. */
static size_t keep_log_name(uint16_t kept[ETWAS_COUNTS_LOG_NAME_UNITS], size_t *units,
                            const char *text, size_t bytes)
{
    size_t length = 0;
    uint16_t unit = 0;

    for (; 2 * length + 2 <= bytes; length++) {
        memcpy(&unit, text + 2 * length, sizeof unit);
        if (unit == 0) {
            break;
        }
        if (length < ETWAS_COUNTS_LOG_NAME_UNITS) {
            kept[length] = unit;
            *units = length + 1;
        }
    }
    return 2 * length + 2 <= bytes ? 2 * length + 2 : bytes;
}

/* The two names follow the log file header in the payload of the header event. */
static void keep_log_names(struct etwas_counts *counts, const EVENT_RECORD *record)
{
    bool is_32_bit = (record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) != 0;
    size_t offset = is_32_bit ? sizeof(TRACE_LOGFILE_HEADER32) : sizeof(TRACE_LOGFILE_HEADER64);
    const char *payload = record->UserData;
    size_t bytes = record->UserDataLength;

    if (offset < bytes) {
        offset += keep_log_name(counts->session_name, &counts->session_name_units, payload + offset,
                                bytes - offset);
        keep_log_name(counts->log_file_name, &counts->log_file_name_units, payload + offset,
                      bytes - offset);
    }
}

static void keep_header_name(uint16_t kept[ETWAS_COUNTS_LOG_NAME_UNITS], size_t *units,
                             const etwas_wchar *name)
{
    size_t length = 0;

    while (name != NULL && name[length] != 0) {
        length++;
    }
    (void)keep_log_name(kept, units, (const char *)name, length * sizeof *name);
}

void etwas_counts_keep_names(struct etwas_counts *counts, const struct etwas_input *input)
{
    const TRACE_LOGFILE_HEADER *header = &input->logfile.LogfileHeader;

    keep_header_name(counts->session_name, &counts->session_name_units, header->LoggerName);
    keep_header_name(counts->log_file_name, &counts->log_file_name_units, header->LogFileName);
}

/* Returns whether --where lets the event through. */
static bool is_wanted(struct etwas_counts *counts, const struct etwas_input *input,
                      const EVENT_RECORD *record)
{
    if (counts->where == NULL) {
        return true;
    }
    etwas_current_event_read(&counts->current, input, record, counts->descriptions,
                             etwas_descriptions_find(counts->descriptions, record, NULL),
                             counts->spans);
    etwas_current_event_find_provider(&counts->current);
    /* If all events are wanted, the run was not narrowed to the window. */
    return etwas_condition_holds(counts->where, &counts->current) &&
           (!etwas_where_wants_all(counts->where) ||
            etwas_window_holds(&counts->window, input, record));
}

enum meaning {
    NO_EVENT,
    EVENT,
    EVENT_BY_HEADER, /* and so is every record with this header */
};

/* Records that describe the trace or other records are no events. */
static enum meaning meaning_of(struct etwas_counts *counts, const struct etwas_input *input,
                               const EVENT_RECORD *record)
{
    uint32_t learned;

    if (etwas_event_is_header_class(record) || etwas_trace_coverage_is_window(record) ||
        etwas_trace_coverage_is_of_addresses(input, record)) {
        return NO_EVENT;
    }
    learned = etwas_descriptions_add_record(counts->descriptions, record);
    if (learned == ERROR_SUCCESS) {
        return NO_EVENT;
    }
    return learned == ERROR_NOT_FOUND && etwas_descriptions_header_is_enough(record) &&
                   !etwas_event_is_of_class(record, &etwas_names_own_class)
               ? EVENT_BY_HEADER
               : EVENT;
}

bool etwas_counts_is_event(struct etwas_counts *counts, const struct etwas_input *input,
                           const EVENT_RECORD *record)
{
    return meaning_of(counts, input, record) != NO_EVENT;
}

static void keep_kernel_loss(struct etwas_counts *counts, const EVENT_RECORD *record)
{
    uint64_t no_room;
    uint64_t others;

    if (etwas_event_kernel_loss(record, &no_room, &others)) {
        counts->kernel_no_room += no_room;
        counts->kernel_lost += others;
        if (etwas_event_is_account_of_switches(record)) {
            counts->has_kernel_switches = true;
            counts->kernel_switches_lost += no_room + others;
        }
    }
}

/* Adds a gap. One that directly follows another of the same processor extends it. */
static void add_gap(struct etwas_counts *counts, const struct etwas_counts_gap *gap)
{
    for (uint32_t i = 0; i < counts->gap_count && i < ETWAS_COUNTS_GAPS; i++) {
        if (counts->gaps[i].processor == gap->processor &&
            counts->gaps[i].until_ns == gap->from_ns) {
            counts->gaps[i].until_ns = gap->until_ns;
            return;
        }
    }
    if (counts->gap_count < ETWAS_COUNTS_GAPS) {
        counts->gaps[counts->gap_count] = *gap;
    }
    counts->gap_count++;
}

static void keep_gap(struct etwas_counts *counts, const struct etwas_input *input,
                     const EVENT_RECORD *record)
{
    struct etwas_event_loss loss;

    if (etwas_event_ring_loss(record, &loss) && loss.is_off) {
        const struct etwas_counts_gap gap = {
            .processor = record->BufferContext.ProcessorIndex,
            .from_ns =
                loss.from_raw == 0 ? INT64_MIN : etwas_trace_time_ns(input->trace, loss.from_raw),
            .until_ns = etwas_trace_time_ns(input->trace, loss.until_raw)};

        add_gap(counts, &gap);
    }
}

/* Returns the part of a header that identifies a kind, apart from the flags. */
static inline const uint8_t *identity_of(const EVENT_HEADER *header)
{
    return (const uint8_t *)header + offsetof(EVENT_HEADER, ProviderId);
}

/* Returns the cache entry for a header. */
static inline struct etwas_counts_alike *alike_of(struct etwas_counts *counts,
                                                  const EVENT_HEADER *header)
{
    uint64_t of_guid;
    uint64_t of_descriptor; /* all but the keyword */

    memcpy(&of_guid, &header->ProviderId, sizeof of_guid);
    memcpy(&of_descriptor, &header->EventDescriptor, sizeof of_descriptor);
    return &counts->alike[((of_guid ^ of_descriptor) * UINT64_C(0x9E3779B97F4A7C15) >> 48) %
                          ETWAS_COUNTS_ALIKE];
}

static inline bool is_alike(const struct etwas_counts_alike *alike, const EVENT_HEADER *header)
{
    return alike->kind != NULL && alike->flags == header->Flags &&
           memcmp(alike->identity, identity_of(header), sizeof alike->identity) == 0;
}

bool etwas_counts_has_events(const struct etwas_counts *counts)
{
    return counts->kind_count > 0 || counts->other_kinds.events > 0;
}

static inline void keep_time(struct etwas_counts *counts, int64_t time_ns)
{
    if (time_ns > counts->last_ns) {
        counts->last_ns = time_ns;
    } else if (time_ns < counts->first_ns) {
        counts->first_ns = time_ns;
    }
}

/*
 * Keeps the times of the first and last event. Events of the session itself do not extend the time
 * that a file covers.
 */
static void keep_time_of(struct etwas_counts *counts, const struct etwas_input *input,
                         const EVENT_RECORD *record, int64_t time_ns)
{
    if (!etwas_trace_coverage_is_event(input, record)) {
        return;
    }
    if (!counts->has_time) {
        counts->has_time = true;
        counts->first_ns = time_ns;
        counts->last_ns = time_ns;
    }
    keep_time(counts, time_ns);
}

/* `kind` is NULL if there are too many kinds. */
static inline void count_event(struct etwas_counts *counts, const struct etwas_input *input,
                               const EVENT_RECORD *record, int64_t time_ns,
                               struct etwas_counts_kind *kind)
{
    uint16_t processor = record->BufferContext.ProcessorIndex;

    count_record(&counts->processors[processor], record);
    count_record(kind != NULL ? &kind->count : &counts->other_kinds, record);
    if (input->coverage.is_said && etwas_trace_coverage_leaves_out(&input->coverage, time_ns)) {
        counts->outside[processor]++;
        *(kind != NULL ? &kind->outside : &counts->other_outside) += 1;
    }
}

/* Counts an event whose header is not cached, or a record that is no event. */
static __attribute__((noinline)) bool add_unlike(struct etwas_counts *counts,
                                                 const struct etwas_input *input,
                                                 const EVENT_RECORD *record, int64_t time_ns)
{
    const EVENT_HEADER *header = &record->EventHeader;
    struct etwas_counts_kind *kind;
    enum meaning meaning;

    if (etwas_event_is_header_class(record) &&
        header->EventDescriptor.Opcode == EVENT_TRACE_TYPE_INFO) {
        keep_log_names(counts, record);
    }
    meaning = meaning_of(counts, input, record);
    if (meaning == NO_EVENT) {
        count_record(&counts->header, record);
        return false;
    }
    keep_kernel_loss(counts, record);
    keep_gap(counts, input, record);
    if (!is_wanted(counts, input, record)) {
        return false;
    }
    counts->without_processors |=
        !etwas_event_has_processor(input->logfile.LogfileHeader.LogFileMode);
    keep_time_of(counts, input, record, time_ns);
    kind = etwas_counts_kind_of(counts, record);
    count_event(counts, input, record, time_ns, kind);
    if (kind != NULL && counts->where == NULL && meaning == EVENT_BY_HEADER) {
        struct etwas_counts_alike *alike = alike_of(counts, header);

        memcpy(alike->identity, identity_of(header), sizeof alike->identity);
        alike->flags = header->Flags;
        alike->kind = kind;
    }
    return true;
}

static inline void add_alike(struct etwas_counts *counts, const struct etwas_input *input,
                             const EVENT_RECORD *record, int64_t time_ns,
                             const struct etwas_counts_alike *alike)
{
    keep_time(counts, time_ns);
    count_event(counts, input, record, time_ns, alike->kind);
}

bool etwas_counts_add(struct etwas_counts *counts, const struct etwas_input *input,
                      const EVENT_RECORD *record, int64_t time_ns)
{
    const struct etwas_counts_alike *alike = alike_of(counts, &record->EventHeader);

    if (!is_alike(alike, &record->EventHeader)) {
        return add_unlike(counts, input, record, time_ns);
    }
    add_alike(counts, input, record, time_ns, alike);
    return true;
}

static __attribute__((noinline)) void on_other_record(struct etwas_input *input,
                                                      const EVENT_RECORD *record)
{
    struct etwas_counts *counts = input->context;

    if (counts->where != NULL) {
        etwas_trace_coverage_add_record(input, record);
        etwas_descriptions_add_process(counts->descriptions, input, record);
    }
    (void)etwas_counts_add(counts, input, record, etwas_input_shown_ns(input, record));
}

/* Counts what is cached, mostly all of it, without a call. Nothing is cached with --where. */
static void on_record(EVENT_RECORD *record)
{
    struct etwas_input *input = record->UserContext;
    struct etwas_counts *counts = input->context;
    const struct etwas_counts_alike *alike = alike_of(counts, &record->EventHeader);

    if (input->time == ETWAS_INPUT_NANOSECONDS && is_alike(alike, &record->EventHeader)) {
        add_alike(counts, input, record, record->EventHeader.TimeStamp.QuadPart, alike);
    } else {
        on_other_record(input, record);
    }
}

const struct etwas_input_callbacks etwas_counts_callbacks = {.record = on_record,
                                                             .time = ETWAS_INPUT_NANOSECONDS};

/* ---- Sections ---- */

static void add_count(struct etwas_counts_sum *sum, const struct etwas_counts_sum *more)
{
    sum->events += more->events;
    sum->payload_bytes += more->payload_bytes;
}

struct etwas_counts_sum etwas_counts_total(const struct etwas_counts *counts)
{
    struct etwas_counts_sum total = {0, 0};

    for (uint32_t i = 0; i < ETWAS_COUNTS_PROCESSORS; i++) {
        add_count(&total, &counts->processors[i]);
    }
    return total;
}

/* Adds a kind of a section. The header kept is that of the kind's first event. */
static void merge_kind(const void *node, VISIT visit, void *context)
{
    struct etwas_counts_kind wanted = **(struct etwas_counts_kind *const *)node;
    struct etwas_counts_sum more = wanted.count;
    uint64_t outside = wanted.outside;
    struct etwas_counts *counts = context;
    struct etwas_counts_kind *kind;

    if (visit != postorder && visit != leaf) {
        return;
    }
    wanted.count = (struct etwas_counts_sum){0, 0};
    wanted.outside = 0;
    kind = find_kind(counts, &wanted);
    add_count(kind != NULL ? &kind->count : &counts->other_kinds, &more);
    *(kind != NULL ? &kind->outside : &counts->other_outside) += outside;
    if (kind != NULL && wanted.header.TimeStamp.QuadPart < kind->header.TimeStamp.QuadPart) {
        kind->header = wanted.header;
        memcpy(kind->provider_name, wanted.provider_name, sizeof kind->provider_name);
    }
}

void etwas_counts_merge(struct etwas_counts *counts, const struct etwas_counts *section)
{
    if (section->has_time) {
        if (!counts->has_time || section->first_ns < counts->first_ns) {
            counts->first_ns = section->first_ns;
        }
        if (!counts->has_time || section->last_ns > counts->last_ns) {
            counts->last_ns = section->last_ns;
        }
        counts->has_time = true;
    }
    counts->other_outside += section->other_outside;
    add_count(&counts->header, &section->header);
    add_count(&counts->other_kinds, &section->other_kinds);
    /* Most are 0, and memory that nobody writes to takes no page. */
    for (uint32_t i = 0; i < ETWAS_COUNTS_PROCESSORS; i++) {
        if (section->processors[i].events > 0) {
            add_count(&counts->processors[i], &section->processors[i]);
            counts->outside[i] += section->outside[i];
        }
    }
    counts->without_processors |= section->without_processors;
    counts->out_of_memory |= section->out_of_memory;
    counts->kernel_no_room += section->kernel_no_room;
    counts->kernel_lost += section->kernel_lost;
    counts->has_kernel_switches |= section->has_kernel_switches;
    counts->kernel_switches_lost += section->kernel_switches_lost;
    for (uint32_t i = 0; i < section->gap_count && i < ETWAS_COUNTS_GAPS; i++) {
        add_gap(counts, &section->gaps[i]);
    }
    twalk_r(section->kinds, merge_kind, counts);
}

/* ---- Names ---- */

/* Finds the schema of a kind by its header. An event that carries its own schema has none there. */
static void describe(const void *node, VISIT visit, void *context)
{
    struct etwas_counts_kind *kind = *(struct etwas_counts_kind *const *)node;
    struct etwas_counts *counts = context;
    EVENT_RECORD record = {.EventHeader = kind->header};
    char provider[ETWAS_CURRENT_EVENT_PROVIDER_BYTES];

    if (visit == postorder || visit == leaf) {
        kind->schema_texts = etwas_descriptions_find(counts->descriptions, &record, NULL);
        if (kind->schema_texts == NULL && kind->provider_name[0] == '\0') {
            etwas_decoder_provider(counts->descriptions->decoder, &record, provider,
                                   sizeof provider);
            keep_name(kind->provider_name,
                      &(struct etwas_event_string){provider, strlen(provider)});
        }
    }
}

void etwas_counts_describe(struct etwas_counts *counts)
{
    twalk_r(counts->kinds, describe, counts);
}

/* ---- Sorting ---- */

struct collector {
    struct etwas_counts_kind **kinds;
    size_t used;
};

static void collect(const void *node, VISIT visit, void *context)
{
    struct collector *collector = context;

    if (visit == postorder || visit == leaf) {
        collector->kinds[collector->used++] = *(struct etwas_counts_kind *const *)node;
    }
}

static int most_events_first(const void *left, const void *right)
{
    const struct etwas_counts_kind *first = *(struct etwas_counts_kind *const *)left;
    const struct etwas_counts_kind *second = *(struct etwas_counts_kind *const *)right;

    if (first->count.events != second->count.events) {
        return first->count.events > second->count.events ? -1 : 1;
    }
    return compare_keys(first, second);
}

struct etwas_counts_kind **etwas_counts_sorted_kinds(const struct etwas_counts *counts)
{
    struct collector collector = {malloc((counts->kind_count + 1) * sizeof *collector.kinds), 0};

    if (collector.kinds != NULL) {
        twalk_r(counts->kinds, collect, &collector);
        qsort(collector.kinds, collector.used, sizeof *collector.kinds, most_events_first);
    }
    return collector.kinds;
}

void etwas_counts_clear(struct etwas_counts *counts)
{
    tdestroy(counts->kinds, free);
    etwas_spans_close(counts->spans);
    etwas_current_event_free(&counts->current);
}
