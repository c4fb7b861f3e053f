/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas why` as JSON. The keys are part of the command's interface.
 */

#include "show/why.h"

#include "exit.h"
#include "print/json.h"
#include "print/text.h"

#include <string.h>

static void put_times(struct etwas_output *output, const struct etwas_why_times *times)
{
    etwas_json_number(output, "running_time", times->running_ns);
    etwas_json_number(output, "ready_time", times->ready_ns);
    etwas_json_number(output, "blocked_time", times->blocked_ns);
    etwas_json_number(output, "unknown_time", times->unknown_ns);
    etwas_json_number(output, "interrupt_time", times->interrupt_ns);
    etwas_json_number(output, "hard_fault_time", times->hard_fault_ns);
    etwas_json_number(output, "page_faults", times->faults);
}

/* Opens an object, and writes the name as its first members. */
static void put_name(struct etwas_output *output, const struct etwas_why *why,
                     const struct etwas_why_name *name)
{
    static const etwas_guid none;
    const char *its_class =
        name->class_index != UINT32_MAX ? why->classes[name->class_index].name : "";

    etwas_json_object(output, NULL);
    etwas_json_text(output, "event_class", its_class);
    if (memcmp(&name->activity, &none, sizeof none) == 0) {
        etwas_json_number(output, "instance", name->instance);
    } else {
        etwas_json_guid(output, "activity", &name->activity);
    }
}

static void put_process(struct etwas_output *output, const struct etwas_why *why, uint32_t process,
                        int64_t time_ns)
{
    const char *name = etwas_processes_name(&why->processes, process, time_ns);

    etwas_json_number(output, "pid", process);
    if (name != NULL) {
        etwas_json_text(output, "process", name);
    }
}

static void put_thread(struct etwas_output *output, const struct etwas_why *why, uint32_t id,
                       uint32_t number)
{
    const struct etwas_schedule_thread *thread = number < why->schedule.thread_count
                                                     ? &why->schedule.threads[number]
                                                     : etwas_schedule_find(&why->schedule, id);

    etwas_json_number(output, "tid", id);
    if (thread != NULL && thread->has_process) {
        put_process(output, why, thread->process, thread->last_ns);
    }
}

static void put_classes(struct etwas_output *output, const struct etwas_why *why)
{
    etwas_json_array(output, "classes");
    for (uint32_t i = 0; i < why->class_count; i++) {
        const struct etwas_why_class *its = &why->classes[i];

        if (etwas_why_shows(why, its)) {
            etwas_json_object(output, NULL);
            etwas_json_text(output, "event_class", its->name);
            etwas_json_guid(output, "event_class_id", &its->guid);
            etwas_json_number(output, "count", its->count);
            etwas_json_number(output, "duration", its->duration_ns);
            etwas_json_number(output, "longest_duration", its->longest_ns);
            put_times(output, &its->times);
            etwas_json_number(output, "counted", its->counted);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

static void put_holders(struct etwas_output *output, const struct etwas_why *why,
                        const struct etwas_why_chosen *chosen)
{
    etwas_json_array(output, "cpu_had");
    for (uint32_t i = 0; i < chosen->holder_count; i++) {
        etwas_json_object(output, NULL);
        etwas_json_number(output, "duration", chosen->holders[i].ns);
        put_thread(output, why, why->schedule.threads[chosen->holders[i].number].thread,
                   chosen->holders[i].number);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "nobody_had_time", chosen->nobody_ns);
}

static void put_block(struct etwas_output *output, const struct etwas_why *why,
                      const struct etwas_why_block *block)
{
    static const char *const wakers[] = {
        [ETWAS_WHY_WAKER_UNKNOWN] = "unknown",
        [ETWAS_WHY_WAKER_THREAD] = "thread",
        [ETWAS_WHY_WAKER_INTERRUPT] = "interrupt",
    };
    char call[ETWAS_WHY_CALL_BYTES];

    etwas_json_object(output, NULL);
    etwas_json_known(output, "call", block->call >= 0, (uint64_t)block->call);
    if (block->call >= 0 && etwas_why_call_name(why, block->call, call)) {
        etwas_json_text(output, "call_name", call);
    }
    etwas_json_boolean(output, "hard_fault", block->is_fault);
    etwas_json_array(output, "files");
    for (uint32_t i = 0; i < ETWAS_WHY_FILES && block->files[i] != NULL; i++) {
        etwas_json_text(output, NULL, block->files[i]);
    }
    etwas_output_char(output, ']');
    if (block->has_socket) {
        etwas_json_key(output, "socket");
        etwas_output_char(output, '"');
        etwas_why_print_socket(output, &block->socket);
        etwas_output_char(output, '"');
    }
    etwas_json_text(output, "waker", wakers[block->waker]);
    if (block->waker == ETWAS_WHY_WAKER_THREAD) {
        put_thread(output, why, block->thread, block->number);
    }
    etwas_json_number(output, "duration", block->ns);
    etwas_json_number(output, "times", block->times);
    etwas_json_number(output, "longest_duration", block->longest_ns);
    etwas_json_array(output, "call_stack");
    for (uint32_t i = 0; i < block->frame_count; i++) {
        etwas_json_key(output, NULL);
        etwas_output_char(output, '"');
        etwas_output_hexadecimal(output, block->frames[i]);
        etwas_output_char(output, '"');
    }
    etwas_output_char(output, ']');
    etwas_json_array(output, "call_stack_names");
    for (uint32_t i = 0; i < block->frame_count; i++) {
        etwas_json_key(output, NULL);
        etwas_output_char(output, '"');
        etwas_why_print_frame(output, ETWAS_TEXT_JSON, why, block, i);
        etwas_output_char(output, '"');
    }
    etwas_output_text(output, "]}");
}

static void put_faults(struct etwas_output *output, const struct etwas_why_chosen *chosen)
{
    etwas_json_array(output, "fault_types");
    for (uint8_t i = 0; i < ETWAS_KERNEL_FAULT_TYPES; i++) {
        if (chosen->faults[i] > 0) {
            etwas_json_object(output, NULL);
            etwas_json_text(output, "type", etwas_kernel_fault_name(ETWAS_KERNEL_FIRST_FAULT + i));
            etwas_json_number(output, "count", chosen->faults[i]);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

/* Writes what the instance's own events show. */
static void put_own(struct etwas_output *output, const struct etwas_why_own *own)
{
    static const char *const by[] = {
        [ETWAS_WHY_BY_NOTHING] = "nothing",
        [ETWAS_WHY_BY_SWITCHES] = "switches",
        [ETWAS_WHY_BY_COUNTERS] = "counters",
    };
    static const struct {
        const char *key;
        uint32_t unit;
    } counters[ETWAS_WHY_COUNTERS] = {
        {"ran_time", 1},       {"waited_time", 1},        {"user_time", 1000},
        {"kernel_time", 1000}, {"voluntary_switches", 1}, {"involuntary_switches", 1},
        {"minor_faults", 1},   {"major_faults", 1},
    };

    etwas_json_text(output, "times_by", by[own->by]);
    if (!own->is_counted || own->is_elsewhere) {
        etwas_json_null(output, "counters");
    } else {
        etwas_json_object(output, "counters");
        etwas_json_number(output, "known", own->used.known);
        for (uint32_t i = 0; i < ETWAS_WHY_COUNTERS; i++) {
            etwas_json_number(output, counters[i].key, own->used.values[i] * counters[i].unit);
        }
        etwas_output_char(output, '}');
    }
    if (own->has_processor) {
        etwas_json_number(output, "cpu_changes", own->processor_changes);
    }
}

static void put_chosen(struct etwas_output *output, const struct etwas_why *why,
                       const struct etwas_why_chosen *chosen)
{
    put_name(output, why, &chosen->name);
    etwas_json_array(output, "parents");
    for (uint32_t i = 0; i < chosen->parent_count; i++) {
        put_name(output, why, &chosen->parents[i]);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    put_process(output, why, chosen->process, chosen->began_ns);
    etwas_json_number(output, "tid", chosen->thread);
    etwas_json_number(output, "threads", chosen->threads);
    etwas_json_time_ns(output, "start_time", chosen->start_unix_ns);
    etwas_json_number(output, "duration", chosen->duration_ns);
    etwas_json_error(output, "duration_error", chosen->error_ns);
    put_times(output, &chosen->times);
    etwas_json_number(output, "preemptions", chosen->preemptions);
    put_own(output, &chosen->own);
    put_faults(output, chosen);
    put_holders(output, why, chosen);
    etwas_why_json_requests(output, chosen);
    etwas_json_array(output, "blocked_on");
    for (uint32_t i = 0; i < chosen->block_count; i++) {
        put_block(output, why, &chosen->blocks[i]);
    }
    etwas_output_text(output, "]}");
}

static void put_files(struct etwas_output *output, const struct etwas_why *why)
{
    etwas_json_begin(output, "why");
    etwas_json_array(output, "files");
    for (uint32_t i = 0; i < why->run.count; i++) {
        etwas_json_text(output, NULL, why->run.inputs[i].path);
    }
    etwas_output_char(output, ']');
}

void etwas_why_json(struct etwas_output *output, const struct etwas_why *why, int result)
{
    put_files(output, why);
    etwas_json_boolean(output, "damaged", result != ETWAS_EXIT_DONE);
    etwas_json_number(output, "lost", why->events_lost);
    etwas_json_boolean(output, "kernel_events", why->has_kernel_events);
    etwas_json_boolean(output, "ready_known", why->schedule.has_ready_events);
    etwas_json_boolean(output, "calls_known", why->has_calls);
    etwas_json_number(output, "counted", why->counted);
    etwas_json_number(output, "kernel_access", why->rung);
    etwas_json_number(output, "started", etwas_spans_count(why->spans, ETWAS_SPANS_STARTED));
    etwas_json_number(output, "open", etwas_spans_count(why->spans, ETWAS_SPANS_OPEN));
    etwas_json_number(output, "replaced", etwas_spans_count(why->spans, ETWAS_SPANS_REPLACED));
    etwas_json_number(output, "unmatched", etwas_spans_count(why->spans, ETWAS_SPANS_UNMATCHED));
    etwas_json_number(output, "left_out", etwas_spans_count(why->spans, ETWAS_SPANS_LEFT_OUT));
    etwas_json_number(output, "other_classes", why->other_classes);
    put_classes(output, why);
    etwas_json_array(output, "slowest");
    for (uint32_t i = 0; i < why->chosen_count; i++) {
        put_chosen(output, why, &why->chosen[i]);
    }
    etwas_output_text(output, "]}\n");
}
