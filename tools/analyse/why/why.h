/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_WHY_H
#define ETWAS_TOOLS_ANALYSE_WHY_H

/*
 * `etwas why`: where the time of instances and activities went, by the kernel's events on the same
 * time line.
 *
 * The files are read twice: first for how long each took and which were slowest, then for where all
 * of them, and in detail the slowest, spent it. An instance is on the thread that logged its START
 * until another logs an event of it. What the kernel's events do not say of a thread is not known.
 *
 * Memory is bounded: by the instances that are open at once (etwas_spans), the threads that are
 * told apart (etwas_schedule), ETWAS_WHY_CLASSES classes, and the slowest that are asked for.
 */

#include "address/addresses.h"
#include "kernel/file_names.h"
#include "kernel/processes.h"
#include "kernel/schedule.h"
#include "trace/condition.h"
#include "trace/descriptions.h"
#include "trace/input.h"
#include "trace/moment.h"
#include "trace/span_name.h"
#include "trace/window.h"

enum {
    ETWAS_WHY_CLASSES = 4096,
    ETWAS_WHY_SLOWEST = 1000,
    ETWAS_WHY_HOLDERS = 32, /* of one instance */
    ETWAS_WHY_BLOCKS = 32,  /* likewise */
    ETWAS_WHY_FRAMES = 32,
    ETWAS_WHY_RUNS = 256, /* a power of 2; what a processor did last */
    ETWAS_WHY_PARENTS = 8,
    ETWAS_WHY_CALL_BYTES = 64, /* of a system call's name */
    ETWAS_WHY_FILES = 2,       /* of one call: what it reads, and what it writes */
    ETWAS_WHY_PENDING = 8,
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
    char name[ETWAS_SPAN_NAME_BYTES];
    etwas_guid guid;
    uint64_t count; /* that ended */
    uint64_t duration_ns;
    uint64_t longest_ns;
    struct etwas_why_times times;
    uint64_t counted; /* of those that ended: their times are by counters */
};

/* What a thread has counted itself, or what it did between two events. */
enum {
    ETWAS_WHY_RAN_NS,
    ETWAS_WHY_WAITED_NS, /* for a processor */
    ETWAS_WHY_USER_US,
    ETWAS_WHY_KERNEL_US,
    ETWAS_WHY_VOLUNTARY,
    ETWAS_WHY_INVOLUNTARY,
    ETWAS_WHY_MINOR_FAULTS,
    ETWAS_WHY_MAJOR_FAULTS,
    ETWAS_WHY_COUNTERS
};

struct etwas_why_counters {
    uint32_t known; /* as the record has it: 1 RAN_NS, 2 all others but 4 WAITED_NS */
    uint32_t type;  /* beside which event: START, END */
    uint32_t processor;
    int64_t time_ns;
    uint64_t values[ETWAS_WHY_COUNTERS];
};

/* How it is known where the time went. */
enum etwas_why_by {
    ETWAS_WHY_BY_NOTHING,
    ETWAS_WHY_BY_SWITCHES,
    ETWAS_WHY_BY_COUNTERS, /* if no switch says it */
};

/* What an instance's own events say, without any of the kernel. */
struct etwas_why_own {
    enum etwas_why_by by;
    bool is_elsewhere; /* another thread has had it: counters say nothing */
    bool is_counted;   /* used is known */
    struct etwas_why_counters begin;
    struct etwas_why_counters used; /* between the two; its time is how long that was */
    bool has_processor;
    uint32_t processor;         /* of its newest event that says one */
    uint64_t processor_changes; /* at least */
};

/* A thread that had the processor that an instance waited for. */
struct etwas_why_holder {
    uint32_t number; /* of a thread in the schedule */
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

/* Waiting of one kind: in a system call, on files or a socket, until somebody ended it. */
struct etwas_why_block {
    int64_t call; /* or ETWAS_WHY_..._CALL */
    enum etwas_why_waker waker;
    uint32_t thread; /* that woke it, */
    uint32_t number; /* and its number in the schedule; ETWAS_KERNEL_NOBODY: it has none */
    bool is_fault;   /* a page fault, in no call or in this one */
    bool has_socket;
    const char *files[ETWAS_WHY_FILES]; /* NULL: there are no more */
    struct etwas_kernel_socket socket;
    uint64_t times;
    uint64_t ns;
    uint64_t longest_ns;
    uint32_t frame_count; /* of the stack where the longest began */
    uint64_t frames[ETWAS_WHY_FRAMES];
    struct etwas_why_stack stack; /* of what these are */
};

/* The same once, until it is known what it was on: that is told when the call is over. */
struct etwas_why_pending {
    struct etwas_why_block block;
    int64_t from_ns;
    uint64_t gap_ns; /* of the schedule then; UINT64_MAX: of several that differ in it */
};

/* Disk requests of one kind. */
struct etwas_why_requests {
    uint64_t count;
    uint64_t bytes;
    uint64_t longest_ns;
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
    uint64_t error_ns; /* of that, by the clock; UINT64_MAX: not known */
    struct etwas_moment start;
    struct etwas_why_name name;
    struct etwas_why_name parents[ETWAS_WHY_PARENTS]; /* its parent, that one's, … */
    uint32_t parent_count;
    uint32_t process;
    uint32_t thread;  /* that began it, */
    uint32_t number;  /* and its number in the schedule, or ETWAS_KERNEL_NOBODY */
    int64_t began_ns; /* by the schedule's times */
    uint32_t threads; /* that had it, one after the other */
    int64_t start_unix_ns;
    struct etwas_why_times times;
    struct etwas_why_own own;
    uint64_t preemptions;
    uint64_t faults[ETWAS_KERNEL_FAULT_TYPES];
    uint64_t lost_ns;   /* of unknown: switches are missing in it */
    uint64_t nobody_ns; /* of ready: nobody is known to have had the processor */
    struct etwas_why_requests requests[ETWAS_KERNEL_DISK_KINDS];
    uint32_t holder_count;
    uint32_t block_count;
    struct etwas_why_holder holders[ETWAS_WHY_HOLDERS];
    struct etwas_why_block blocks[ETWAS_WHY_BLOCKS];
    /* While it is open. */
    uint32_t pending_count;
    struct etwas_why_pending pending[ETWAS_WHY_PENDING]; /* the newest last */
    bool is_open;
    uint32_t on; /* the number of a thread, or ETWAS_KERNEL_NOBODY */
    int64_t from_ns;
    int64_t stack_ns; /* of the newest stack */
    uint32_t stack_count;
    uint64_t stack[ETWAS_WHY_FRAMES];
    struct etwas_why_stack stack_origin;
};

/* The system call or operation on files that a thread is in, and what that is said to be on. */
struct etwas_why_call_state {
    bool is_open;
    bool has_call;      /* `call` is known */
    bool has_operation; /* likewise */
    bool has_socket;
    bool has_more_sockets; /* than one */
    uint32_t input;        /* number of the file that told it */
    uint32_t file_count;
    uint64_t call;
    uint64_t operation;
    uint64_t files[ETWAS_WHY_FILES];
    struct etwas_kernel_socket socket;
    uint32_t socket_processor; /* where and when it was used last */
    int64_t socket_ns;
    int64_t since_ns;
    int64_t operation_since_ns;
    uint64_t gap_ns; /* of the schedule then */
};

/* What a thread counts, beside its times. */
struct etwas_why_thread {
    uint64_t interrupt_ns;
    uint64_t hard_fault_ns;
    uint64_t faults;
    struct etwas_why_call_state call_state;
    bool has_pending; /* some chosen one that it has */
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
    struct etwas_why_own own;
    etwas_guid activity;
    uint32_t instance;
    bool began_inside;               /* of the window */
    bool is_asked_for;               /* by its START */
    struct etwas_why_chosen *chosen; /* NULL: it is not */
};

struct etwas_why_run {
    uint32_t number; /* of a thread */
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
    struct etwas_all_descriptions descriptions;
    struct etwas_addresses *addresses; /* by the number of the file - 1 */
    struct etwas_field_paths paths;
    bool follows; /* the second time */

    /* What is asked for. */
    const char *class_name; /* NULL: all */
    bool has_instance;
    uint64_t instance;
    uint32_t slowest;
    struct etwas_where where;   /* of the START or the END */
    struct etwas_window window; /* resolved; START and END are inside of what is asked for */

    /* What was found. */
    struct etwas_current_event current;
    etwas_spans *spans;
    struct etwas_why_class *classes;
    uint32_t class_count;
    uint64_t other_classes;          /* spans of more classes than are told apart */
    struct etwas_why_slow *slow;     /* the slowest first */
    struct etwas_why_chosen *chosen; /* likewise, when the files are read again */
    uint32_t chosen_count;
    struct etwas_why_open *open;
    size_t open_capacity;
    struct etwas_schedule schedule;
    struct etwas_processes processes;
    struct etwas_file_names file_names;
    struct etwas_why_thread *threads; /* by the numbers of the schedule's */
    size_t thread_capacity;
    struct etwas_why_runs **runs; /* by processor */
    bool has_kernel_events;
    uint64_t counted; /* that ended, with times by counters */
    uint32_t rung;    /* ETWAS_KERNEL_RUNG_* of the first session that says one; 0: none does */
    uint32_t rung_process;
    uint32_t rung_error; /* errno with which the kernel refused */
    bool has_calls;
    bool has_files; /* operations on them, and their ends */
    bool has_sockets;
    bool has_stacks;
    uint32_t recorded_flags;              /* EVENT_TRACE_FLAG_..., as far as the files say which */
    const etwas_schema_field *call_field; /* that has their numbers, and names; NULL: none */
    int64_t kernel_end_ns;
    uint64_t events_lost;
    bool out_of_memory;
};

/* ---- read.c ---- */

/*
 * Reads all files, twice, and fills what was found. The run's inputs, and what is asked for, are
 * there. Returns what etwas_input_process does; `run` has those that could be opened.
 */
int etwas_why_read(struct etwas_why *why, char *const *paths, uint32_t count);

/* Frees what etwas_why_read has allocated. */
void etwas_why_free(struct etwas_why *why);

/* ---- classes.c ---- */

/* The class of what an event starts; UINT32_MAX: there are too many. */
uint32_t etwas_why_class(struct etwas_why *why, const struct etwas_input *input,
                         const EVENT_RECORD *record);

/* Whether a class of the struct etwas_why is called so. */
bool etwas_why_has_class(const void *context, const char *name);

/* Whether the table of classes has it: spans of it ended, and --class does not leave it out. */
bool etwas_why_shows(const struct etwas_why *why, const struct etwas_why_class *its);

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
void etwas_why_end(struct etwas_why *why, const struct etwas_input *input,
                   const EVENT_RECORD *record, const etwas_span *span, int64_t time_ns);

/* ---- events.c ---- */

void etwas_why_kernel(struct etwas_why *why, const struct etwas_input *input,
                      const EVENT_RECORD *record, struct etwas_kernel_event *event,
                      int64_t time_ns);

/*
 * The open chosen ones that a thread has: the next behind one; NULL: the first, or there are no
 * more.
 */
struct etwas_why_chosen *etwas_why_next_chosen(const struct etwas_why *why, uint32_t number,
                                               struct etwas_why_chosen *chosen);

/* What was counted of a thread; NULL without memory. */
struct etwas_why_thread *etwas_why_thread(struct etwas_why *why, uint32_t number);

/* ---- counters.c ---- */

/* An event of an open span: behind what begins with it, before what ends with it. */
void etwas_why_count(struct etwas_why *why, const struct etwas_input *input, const etwas_span *span,
                     const EVENT_RECORD *record, int64_t time_ns);

/* Call it when the instance has ended. Takes the times that are not known from the counters. */
void etwas_why_use_counters(struct etwas_why_own *own, struct etwas_why_times *times,
                            uint64_t duration_ns);

/* Stores by what means a session of kernel events recorded, if the record states it. */
void etwas_why_take_rung(struct etwas_why *why, const EVENT_RECORD *record);

/* ---- causes.c ---- */

/*
 * Called for each interval in which a thread with chosen instances was in one state. An
 * etwas_schedule_interval.
 */
void etwas_why_interval(void *context, const struct etwas_schedule_thread *thread,
                        enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                        const struct etwas_kernel_event *event);

/*
 * Attributes an interval of the thread to its chosen instance, as far as the instance was on the
 * thread then.
 */
void etwas_why_attribute(struct etwas_why *why, struct etwas_why_chosen *chosen,
                         const struct etwas_schedule_thread *thread,
                         enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                         const struct etwas_kernel_event *event);

/* ---- blocks.c ---- */

/* Returns the number of the thread that has the id now, ETWAS_KERNEL_NOBODY if it is not known. */
uint32_t etwas_why_number(const struct etwas_why *why, uint32_t thread);

/* Adds an interval in which the thread neither ran nor was ready. `event` ended it. */
void etwas_why_block(struct etwas_why *why, struct etwas_why_chosen *chosen,
                     const struct etwas_schedule_thread *thread, int64_t from_ns, int64_t to_ns,
                     const struct etwas_kernel_event *event);

/*
 * Attributes all waits since a thread's call or operation began to that call, which is over. NULL:
 * to none. Operations have numbers; that an end belongs to its call is certain only if nothing was
 * lost meanwhile.
 */
void etwas_why_settle(struct etwas_why *why, struct etwas_why_chosen *chosen,
                      const struct etwas_why_call_state *call_state, bool is_operation);

/*
 * Attributes all waits since a page fault began, which is over, to the file. 0: the file is not
 * known.
 */
void etwas_why_settle_fault(struct etwas_why *why, struct etwas_why_chosen *chosen, uint32_t input,
                            uint64_t file, int64_t since_ns);

bool etwas_why_is_same_socket(const struct etwas_kernel_socket *left,
                              const struct etwas_kernel_socket *right);

/* ---- call_state.c ---- */

/* Takes what an event says of the call or operation that a thread is in. */
void etwas_why_do(struct etwas_why *why, const struct etwas_input *input,
                  const struct etwas_kernel_event *event, int64_t time_ns, uint32_t number);

/* ---- calls.c ---- */

/* Takes the names of system calls from the schema of the first record of such a call. */
void etwas_why_learn_calls(struct etwas_why *why, const struct etwas_input *input,
                           const EVENT_RECORD *record);

/* Returns false if the name is not known. */
bool etwas_why_call_name(const struct etwas_why *why, int64_t call,
                         char name[ETWAS_WHY_CALL_BYTES]);

/* ---- stacks.c ---- */

/* A stack of a thread, if it has chosen ones: as it was recorded, or unwound. */
void etwas_why_take_stack(struct etwas_why *why, const struct etwas_input *input,
                          const EVENT_RECORD *record, const struct etwas_kernel_event *event,
                          uint32_t number);

/* ---- disks.c ---- */

/* One that a thread handed over then is done. */
void etwas_why_take_request(struct etwas_why *why, const struct etwas_kernel_event *event,
                            uint32_t number, int64_t since_ns, uint64_t took_ns);

/* ---- missing.c ---- */

/* Kernel events that say more of what an instance was blocked on. */
enum etwas_why_missing {
    ETWAS_WHY_MISSING_CALL,
    ETWAS_WHY_MISSING_WAKER,
    ETWAS_WHY_MISSING_FILE,
    ETWAS_WHY_MISSING_SOCKET,
    ETWAS_WHY_MISSING_FAULT,
    ETWAS_WHY_MISSING_STACK,
    ETWAS_WHY_MISSING,
};

/* Sets those that would have said more, and were not recorded. */
void etwas_why_find_missing(const struct etwas_why *why, const struct etwas_why_chosen *chosen,
                            bool missing[ETWAS_WHY_MISSING]);

#endif
