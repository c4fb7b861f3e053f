/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_WHY_H
#define ETWAS_TOOLS_WHY_H

/*
 * `etwas why`: where the time of instances and activities went, by the kernel's events on the same time
 * line.
 *
 * The files are read twice: first for how long each took and which were slowest, then for where all of
 * them, and in detail the slowest, spent it. An instance is on the thread that logged its START until
 * another logs an event of it. What the kernel's events do not say of a thread is not known.
 *
 * Memory is bounded: by the instances that are open at once (etwas_spans), the threads that are told
 * apart (etwas_schedule), ETWAS_WHY_CLASSES classes, and the slowest that are asked for.
 */

#include "addresses.h"
#include "descriptions.h"
#include "input.h"
#include "processes.h"
#include "schedule.h"

enum {
    ETWAS_WHY_CLASSES = 4096,
    ETWAS_WHY_NAME_BYTES = 128,
    ETWAS_WHY_SLOWEST = 1000,
    ETWAS_WHY_HOLDERS = 32, /* of one instance */
    ETWAS_WHY_BLOCKS = 32,  /* likewise */
    ETWAS_WHY_FRAMES = 32,
    ETWAS_WHY_RUNS = 256, /* a power of 2; what a processor did last */
    ETWAS_WHY_PARENTS = 8,
};

/* Together they are all of the duration, but for what is said to be a part. */
struct etwas_why_times {
    uint64_t running_ns;
    uint64_t ready_ns;
    uint64_t blocked_ns;
    uint64_t unknown_ns;
    uint64_t interrupt_ns;  /* a part of running_ns */
    uint64_t hard_fault_ns; /* a part of the others */
    uint64_t faults;        /* page faults; the hard ones too, if they were recorded */
};

struct etwas_why_class {
    char name[ETWAS_WHY_NAME_BYTES];
    etwas_guid guid;
    uint64_t count; /* that ended */
    uint64_t duration_ns;
    uint64_t longest_ns;
    struct etwas_why_times times;
};

/* Who had the processor that an instance waited for. */
struct etwas_why_holder {
    uint32_t thread;
    uint64_t ns;
};

enum {
    ETWAS_WHY_NO_CALL = -1,
    ETWAS_WHY_ANY_CALL = -2, /* more kinds of waiting than are told apart */
};

enum etwas_why_waker {
    ETWAS_WHY_WAKER_UNKNOWN,
    ETWAS_WHY_WAKER_THREAD,
    ETWAS_WHY_WAKER_INTERRUPT,
};

/* Where a stack is from, which says what its addresses are. */
struct etwas_why_stack {
    uint32_t input; /* number of the file - 1 */
    uint32_t process;
    int64_t stamp; /* raw, of the file */
    uint32_t user; /* where the program's frames begin, behind the kernel's */
};

/* Waiting of one kind: in a system call, until somebody ended it. */
struct etwas_why_block {
    int64_t call; /* or ETWAS_WHY_..._CALL */
    enum etwas_why_waker waker;
    uint32_t thread; /* that woke it */
    uint64_t times;
    uint64_t ns;
    uint64_t longest_ns;
    uint32_t frame_count; /* of the stack where the longest began */
    uint64_t frames[ETWAS_WHY_FRAMES];
    struct etwas_why_stack stack; /* of what these are */
};

/* An instance or activity, as somebody names it. */
struct etwas_why_name {
    uint32_t class_index;
    etwas_guid activity; /* 0 of an instance */
    uint32_t instance;
};

/* One of the slowest, as the first reading finds it. */
struct etwas_why_slow {
    uint64_t number; /* of the span */
    uint64_t duration_ns;
};

/* What the second reading finds of it. */
struct etwas_why_chosen {
    uint64_t duration_ns;
    struct etwas_why_name name;
    struct etwas_why_name parents[ETWAS_WHY_PARENTS]; /* its parent, that one's, … */
    uint32_t parent_count;
    uint32_t process;
    uint32_t thread;  /* that began it */
    uint32_t threads; /* that had it, one after the other */
    int64_t start_unix_ns;
    struct etwas_why_times times;
    uint64_t preemptions;
    uint64_t faults[ETWAS_KERNEL_FAULT_TYPES];
    uint64_t lost_ns;   /* of unknown: switches are missing in it */
    uint64_t nobody_ns; /* of ready: nobody is known to have had the processor */
    uint32_t holder_count;
    uint32_t block_count;
    struct etwas_why_holder holders[ETWAS_WHY_HOLDERS];
    struct etwas_why_block blocks[ETWAS_WHY_BLOCKS];
    /* While it is open. */
    bool is_open;
    uint32_t on; /* the number of a thread, or ETWAS_KERNEL_NOBODY */
    int64_t from_ns;
    int64_t stack_ns; /* of the newest stack */
    uint32_t stack_count;
    uint64_t stack[ETWAS_WHY_FRAMES];
    struct etwas_why_stack stack_origin;
};

/* What a thread counts, beside its times. */
struct etwas_why_thread {
    uint64_t interrupt_ns;
    uint64_t hard_fault_ns;
    uint64_t faults;
    bool is_in_call;
    uint64_t call;
};

/* An open span, by its place. */
struct etwas_why_open {
    uint64_t number;
    uint32_t class_index;
    struct etwas_why_name parent;
    uint64_t parent_number;
    uint32_t parent_place;
    uint32_t on; /* the number of a thread, or ETWAS_KERNEL_NOBODY */
    uint32_t thread;
    uint64_t ns[ETWAS_SCHEDULE_STATES]; /* the thread's, when it came there */
    struct etwas_why_thread counts;     /* likewise */
    struct etwas_why_times times;       /* of threads before */
    etwas_guid activity;
    uint32_t instance;
    struct etwas_why_chosen *chosen; /* NULL: it is not */
};

struct etwas_why_run {
    uint32_t thread;
    int64_t from_ns;
    int64_t to_ns;
};

/* What a processor did last, the newest at `count` - 1. */
struct etwas_why_runs {
    uint64_t count;
    struct etwas_why_run runs[ETWAS_WHY_RUNS];
};

struct etwas_why {
    struct etwas_input_run run;
    struct etwas_descriptions descriptions[ETWAS_INPUT_FILES];
    struct etwas_addresses *addresses; /* by the number of the file - 1 */
    struct etwas_field_paths paths;    /* none */
    bool follows;                      /* the second time */

    /* What is asked for. */
    bool json;
    const char *class_name; /* NULL: all */
    bool has_instance;
    uint32_t instance;
    uint32_t slowest;

    /* What was found. */
    etwas_spans *spans;
    struct etwas_why_class *classes;
    uint32_t class_count;
    uint64_t other_classes;          /* spans of more classes than are told apart */
    struct etwas_why_slow *slow;     /* the slowest first */
    struct etwas_why_chosen *chosen; /* likewise, when the files are read again */
    uint32_t chosen_count;
    struct etwas_why_open *open;
    uint32_t open_capacity;
    struct etwas_schedule schedule;
    struct etwas_processes processes;
    struct etwas_why_thread *threads; /* by the numbers of the schedule's */
    uint32_t thread_capacity;
    struct etwas_why_runs **runs; /* by processor */
    bool has_kernel_events;
    bool has_calls;
    int64_t kernel_begin_ns;
    int64_t kernel_end_ns;
    uint64_t events_lost;
    bool out_of_memory;
};

/* ---- classes.c ---- */

/* The class of what an event starts; UINT32_MAX: there are too many. */
uint32_t etwas_why_class(struct etwas_why *why, const struct etwas_input *input,
                         const EVENT_RECORD *record);

/* Whether a class is called as --class says, or may be: there were too many. */
bool etwas_why_has_class(const struct etwas_why *why);

bool etwas_why_is_asked_for(const struct etwas_why *why, uint32_t class_index,
                            const etwas_span *span);

/* Notes it if it is one of the slowest. */
void etwas_why_choose(struct etwas_why *why, const etwas_span *span, uint32_t class_index,
                      uint64_t duration_ns);

/* The chosen one with this number; NULL: there is none. */
struct etwas_why_chosen *etwas_why_chosen(const struct etwas_why *why, uint64_t number);

/* ---- follow.c ---- */

/* The record of a span; its class is UINT32_MAX where that is not known. */
void etwas_why_start(struct etwas_why *why, const struct etwas_input *input,
                     const EVENT_RECORD *record, const etwas_span *span, uint32_t class_index);
void etwas_why_move(struct etwas_why *why, const etwas_span *span, uint32_t thread,
                    int64_t time_ns);
void etwas_why_end(struct etwas_why *why, const etwas_span *span, int64_t time_ns);

/* ---- events.c ---- */

void etwas_why_kernel(struct etwas_why *why, const struct etwas_input *input,
                      const struct etwas_kernel_event *event, int64_t time_ns);

/* What was counted of a thread; NULL without memory. */
struct etwas_why_thread *etwas_why_thread(struct etwas_why *why, uint32_t number);

/* ---- causes.c ---- */

/* A thread that has chosen ones was in a state. An etwas_schedule_interval. */
void etwas_why_interval(void *context, const struct etwas_schedule_thread *thread,
                        enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                        const struct etwas_kernel_event *event);

/* The thread that has a chosen one was in a state, as long as it had it. */
void etwas_why_attribute(struct etwas_why *why, struct etwas_why_chosen *chosen,
                         const struct etwas_schedule_thread *thread,
                         enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                         const struct etwas_kernel_event *event);

/* ---- calls.c ---- */

/* The name of a system call of the machine that the command was built for; NULL: not known. */
const char *etwas_why_call_name(int64_t call);

/* ---- stacks.c ---- */

/* A stack of the thread that has it. */
void etwas_why_keep_stack(struct etwas_why_chosen *chosen, const struct etwas_input *input,
                          const struct etwas_kernel_event *event, int64_t stack_ns);

/* Writes a frame of its stack as etwas_addresses_put does. */
void etwas_why_put_frame(struct etwas_output *output, enum etwas_text_style style,
                         const struct etwas_why *why, const struct etwas_why_block *block,
                         uint32_t index);

/* ---- text.c, json.c ---- */

void etwas_why_text(struct etwas_output *output, const struct etwas_why *why);
void etwas_why_json(struct etwas_output *output, const struct etwas_why *why, int result);

#endif
