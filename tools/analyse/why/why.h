/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_WHY_H
#define ETWAS_TOOLS_ANALYSE_WHY_H

/*
 * `etwas why`: where the time of instances and activities went, from the kernel's events on the
 * same time line.
 *
 * The files are read twice: first to find the slowest instances, then to find where all instances
 * spent their time, with details for the slowest. An instance is on the thread that logged its
 * START until another thread logs an event of it. What the kernel's events do not show is unknown.
 *
 * Memory is bounded by the instances that are open at once (etwas_spans), the threads of the
 * schedule (etwas_schedule), ETWAS_WHY_CLASSES classes, and the number of slowest instances.
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
    ETWAS_WHY_HOLDERS = 32, /* for each instance */
    ETWAS_WHY_BLOCKS = 32,  /* likewise */
    ETWAS_WHY_FRAMES = 32,
    ETWAS_WHY_RUNS = 256, /* a power of 2; the last runs of a processor that are kept */
    ETWAS_WHY_PARENTS = 8,
    ETWAS_WHY_CALL_BYTES = 64, /* of a system call's name */
    ETWAS_WHY_FILES = 2,       /* for each call: what it reads, and what it writes */
    ETWAS_WHY_PENDING = 8,
};

/* The first four add up to the duration. */
struct etwas_why_times {
    uint64_t running_ns;
    uint64_t ready_ns;
    uint64_t blocked_ns;
    uint64_t unknown_ns;
    uint64_t interrupt_ns;  /* included in running_ns */
    uint64_t hard_fault_ns; /* included in the others */
    uint64_t faults;        /* page faults, including hard ones if they were recorded */
};

struct etwas_why_class {
    char name[ETWAS_SPAN_NAME_BYTES];
    etwas_guid guid;
    uint64_t count; /* instances that ended */
    uint64_t duration_ns;
    uint64_t longest_ns;
    struct etwas_why_times times;
    uint64_t counted; /* of these, instances whose times are from counters */
};

/* Counters of a thread, or their differences between two events. */
enum {
    ETWAS_WHY_RAN_NS,
    ETWAS_WHY_WAITED_NS, /* waiting for a processor */
    ETWAS_WHY_USER_US,
    ETWAS_WHY_KERNEL_US,
    ETWAS_WHY_VOLUNTARY,
    ETWAS_WHY_INVOLUNTARY,
    ETWAS_WHY_MINOR_FAULTS,
    ETWAS_WHY_MAJOR_FAULTS,
    ETWAS_WHY_COUNTERS
};

struct etwas_why_counters {
    uint32_t known; /* bits, as in the record: 1 RAN_NS, 4 WAITED_NS, 2 all others */
    uint32_t type;  /* type of the event that they belong to: START or END */
    uint32_t processor;
    int64_t time_ns;
    uint64_t values[ETWAS_WHY_COUNTERS];
};

/* The source of the times. */
enum etwas_why_by {
    ETWAS_WHY_BY_NOTHING,
    ETWAS_WHY_BY_SWITCHES,
    ETWAS_WHY_BY_COUNTERS, /* used if there are no switches */
};

/* What an instance's own events show, without those of the kernel. */
struct etwas_why_own {
    enum etwas_why_by by;
    bool is_elsewhere; /* it was on another thread too: counters are of no use */
    bool is_counted;   /* `used` is valid */
    struct etwas_why_counters begin;
    struct etwas_why_counters used; /* END minus START; time_ns is the time between them */
    bool has_processor;
    uint32_t processor;         /* of the newest event that has one */
    uint64_t processor_changes; /* at least */
};

/* A thread that ran on the processor that an instance waited for. */
struct etwas_why_holder {
    uint32_t number; /* index in etwas_schedule.threads */
    uint64_t ns;
};

enum {
    ETWAS_WHY_NO_CALL = -1,
    ETWAS_WHY_ANY_CALL = -2, /* all kinds of waits beyond ETWAS_WHY_BLOCKS - 1 */
};

enum etwas_why_waker {
    ETWAS_WHY_WAKER_UNKNOWN,
    ETWAS_WHY_WAKER_THREAD,
    ETWAS_WHY_WAKER_INTERRUPT,
};

/* The origin of a stack, which is needed to find its symbols. */
struct etwas_why_stack {
    uint32_t input; /* number of the file - 1 */
    uint32_t process;
    int64_t stamp; /* raw time of the file */
    uint32_t user; /* index of the first frame of the program */
};

/* Waits of one kind: with the same system call, files or socket, and waker. */
struct etwas_why_block {
    int64_t call; /* number of the system call, or ETWAS_WHY_..._CALL */
    enum etwas_why_waker waker;
    uint32_t thread; /* id of the thread that woke it */
    uint32_t number; /* its index in the schedule; ETWAS_KERNEL_NOBODY: none */
    bool is_fault;   /* a hard page fault, in the call or in none */
    bool has_socket;
    const char *files[ETWAS_WHY_FILES]; /* names; NULL: no more */
    struct etwas_kernel_socket socket;
    uint64_t times;
    uint64_t ns;
    uint64_t longest_ns;
    uint32_t frame_count; /* of the stack at the beginning of the longest wait */
    uint64_t frames[ETWAS_WHY_FRAMES];
    struct etwas_why_stack stack; /* the origin of the frames */
};

/* A wait whose file or socket is not known before the call ends. */
struct etwas_why_pending {
    struct etwas_why_block block;
    int64_t from_ns;
    uint64_t gap_ns; /* of the schedule then; UINT64_MAX: merged waits differ in it */
};

/* Disk requests of one kind. */
struct etwas_why_requests {
    uint64_t count;
    uint64_t bytes;
    uint64_t longest_ns;
};

/* The name of an instance or activity. */
struct etwas_why_name {
    uint32_t class_index;
    etwas_guid activity; /* 0 for an instance */
    uint32_t instance;
};

/* One of the slowest spans, found by the first reading. */
struct etwas_why_slow {
    uint64_t number; /* etwas_span.number */
    uint64_t duration_ns;
};

/* The details of a slow span, from the second reading. */
struct etwas_why_chosen {
    uint64_t duration_ns;
    uint64_t error_ns; /* clock error of the duration; UINT64_MAX: not known */
    struct etwas_moment start;
    struct etwas_why_name name;
    struct etwas_why_name parents[ETWAS_WHY_PARENTS]; /* its parent, the parent's parent, … */
    uint32_t parent_count;
    uint32_t process;
    uint32_t thread;  /* id of the thread that logged START */
    uint32_t number;  /* its index in the schedule, or ETWAS_KERNEL_NOBODY */
    int64_t began_ns; /* on the schedule's time line */
    uint32_t threads; /* how many threads it was on, one after the other */
    int64_t start_unix_ns;
    struct etwas_why_times times;
    struct etwas_why_own own;
    uint64_t preemptions;
    uint64_t faults[ETWAS_KERNEL_FAULT_TYPES];
    uint64_t lost_ns;   /* part of unknown_ns in which switches are missing */
    uint64_t nobody_ns; /* part of ready_ns in which no thread is known to have had the processor */
    struct etwas_why_requests requests[ETWAS_KERNEL_DISK_KINDS];
    uint32_t holder_count;
    uint32_t block_count;
    struct etwas_why_holder holders[ETWAS_WHY_HOLDERS];
    struct etwas_why_block blocks[ETWAS_WHY_BLOCKS];
    /* The following is used while it is open. */
    uint32_t pending_count;
    struct etwas_why_pending pending[ETWAS_WHY_PENDING]; /* the newest last */
    bool is_open;
    uint32_t on;      /* index of its thread, or ETWAS_KERNEL_NOBODY */
    int64_t from_ns;  /* when it came to that thread */
    int64_t stack_ns; /* time of the newest stack */
    uint32_t stack_count;
    uint64_t stack[ETWAS_WHY_FRAMES];
    struct etwas_why_stack stack_origin;
};

/* The system call or file operation that a thread is in, with its files and socket. */
struct etwas_why_call_state {
    bool is_open;
    bool has_call;      /* `call` is known */
    bool has_operation; /* likewise */
    bool has_socket;
    bool has_more_sockets; /* more than one socket was used */
    uint32_t input;        /* number of the trace file that has the operation */
    uint32_t file_count;
    uint64_t call;
    uint64_t operation;
    uint64_t files[ETWAS_WHY_FILES];
    struct etwas_kernel_socket socket;
    uint32_t socket_processor; /* processor and time of the last use of the socket */
    int64_t socket_ns;
    int64_t since_ns;
    int64_t operation_since_ns;
    uint64_t gap_ns; /* of the schedule at the beginning */
};

/* Sums of a thread, in addition to the schedule's times. */
struct etwas_why_thread {
    uint64_t interrupt_ns;
    uint64_t hard_fault_ns;
    uint64_t faults;
    struct etwas_why_call_state call_state;
    bool has_pending; /* a chosen instance on it may have pending waits */
};

/* An open span, stored at etwas_span.place. */
struct etwas_why_open {
    uint64_t number;
    uint32_t class_index;
    uint64_t parent_number;
    uint32_t parent_place;
    uint32_t on; /* index of its thread, or ETWAS_KERNEL_NOBODY */
    uint32_t thread;
    uint64_t ns[ETWAS_SCHEDULE_STATES]; /* the thread's times when the span came there */
    struct etwas_why_thread counts;     /* the thread's sums, likewise */
    struct etwas_why_times times;       /* from earlier threads */
    struct etwas_why_own own;
    etwas_guid activity;
    uint32_t instance;
    bool began_inside;               /* its START is in the window */
    bool is_asked_for;               /* its START is chosen by --where */
    struct etwas_why_chosen *chosen; /* NULL: it is not one of the slowest */
};

struct etwas_why_run {
    uint32_t number; /* index of a thread */
    int64_t from_ns;
    int64_t to_ns;
};

/* The last runs of a processor, the newest at (count - 1) % ETWAS_WHY_RUNS. */
struct etwas_why_runs {
    uint64_t count;
    struct etwas_why_run runs[ETWAS_WHY_RUNS];
};

struct etwas_why {
    struct etwas_input_run run;
    struct etwas_all_descriptions descriptions;
    struct etwas_addresses *addresses; /* by number of the file - 1 */
    struct etwas_field_paths paths;
    bool follows; /* the files are read for the second time */

    /* The request. */
    const char *class_name; /* NULL: all */
    bool has_instance;
    uint64_t instance;
    uint32_t slowest;
    struct etwas_where where;   /* for the START or the END */
    struct etwas_window window; /* resolved; START and END must be in it */

    /* The results. */
    struct etwas_current_event current;
    etwas_spans *spans;
    struct etwas_why_class *classes;
    uint32_t class_count;
    uint64_t other_classes;          /* spans of classes beyond ETWAS_WHY_CLASSES */
    struct etwas_why_slow *slow;     /* the slowest first */
    struct etwas_why_chosen *chosen; /* likewise; filled by the second reading */
    uint32_t chosen_count;
    struct etwas_why_open *open;
    size_t open_capacity;
    struct etwas_schedule schedule;
    struct etwas_processes processes;
    struct etwas_file_names file_names;
    struct etwas_why_thread *threads; /* indexed as etwas_schedule.threads */
    size_t thread_capacity;
    struct etwas_why_runs **runs; /* by processor */
    bool has_kernel_events;
    uint64_t counted; /* spans that ended, with times from counters */
    uint32_t rung;    /* ETWAS_KERNEL_RUNG_* of the first session that states one; 0: none */
    uint32_t rung_process;
    uint32_t rung_error; /* errno with which the kernel refused */
    bool has_calls;
    bool has_files; /* operations on files were recorded, with their ends or with calls */
    bool has_sockets;
    bool has_stacks;
    uint32_t recorded_flags;              /* EVENT_TRACE_FLAG_..., as far as the files state them */
    const etwas_schema_field *call_field; /* field with the number and names of calls; NULL: none */
    int64_t kernel_end_ns;
    uint64_t events_lost;
    bool out_of_memory;
};

/* ---- read.c ---- */

/*
 * Reads all files twice, and fills the results. The caller has set the run's inputs and the
 * request. Returns what etwas_input_process does; `run` has the files that could be opened.
 */
int etwas_why_read(struct etwas_why *why, char *const *paths, uint32_t count);

/* Frees what etwas_why_read has allocated. */
void etwas_why_free(struct etwas_why *why);

/* ---- classes.c ---- */

/* Returns the index of the class of a START; UINT32_MAX if there are too many classes. */
uint32_t etwas_why_class(struct etwas_why *why, const struct etwas_input *input,
                         const EVENT_RECORD *record);

/* Returns whether a class has the name. `context` is a struct etwas_why. */
bool etwas_why_has_class(const void *context, const char *name);

/* Returns whether the class is shown: spans of it ended, and --class does not leave it out. */
bool etwas_why_shows(const struct etwas_why *why, const struct etwas_why_class *its);

/* Returns whether --class and --instance let the span through. */
bool etwas_why_is_asked_for(const struct etwas_why *why, uint32_t class_index,
                            const etwas_span *span);

/* Keeps the span if it is requested, and one of the slowest. */
void etwas_why_choose(struct etwas_why *why, const etwas_span *span, uint32_t class_index,
                      uint64_t duration_ns);

/* Returns the chosen instance whose span has the number; NULL if there is none. */
struct etwas_why_chosen *etwas_why_chosen(const struct etwas_why *why, uint64_t number);

/* ---- follow.c ---- */

/* Take a START, an event inside, and an END. class_index may be UINT32_MAX. */
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
 * Returns the open chosen instance on a thread that follows `chosen`, or the first one if `chosen`
 * is NULL. Returns NULL if there are no more.
 */
struct etwas_why_chosen *etwas_why_next_chosen(const struct etwas_why *why, uint32_t number,
                                               struct etwas_why_chosen *chosen);

/* Returns the sums of a thread, valid until the next call; NULL if there is no memory. */
struct etwas_why_thread *etwas_why_thread(struct etwas_why *why, uint32_t number);

/* ---- counters.c ---- */

/* Takes an event of an open span. Call it after etwas_why_start, and before etwas_why_end. */
void etwas_why_count(struct etwas_why *why, const struct etwas_input *input, const etwas_span *span,
                     const EVENT_RECORD *record, int64_t time_ns);

/* Takes the times from the counters if there are no switches. Call it when the instance ended. */
void etwas_why_use_counters(struct etwas_why_own *own, struct etwas_why_times *times,
                            uint64_t duration_ns);

/* Stores how a session records kernel events, if the record states it. */
void etwas_why_take_rung(struct etwas_why *why, const EVENT_RECORD *record);

/* ---- causes.c ---- */

/*
 * Is called for each interval in which a thread was in one state, as the callback `interval` of
 * etwas_schedule.
 */
void etwas_why_interval(void *context, const struct etwas_schedule_thread *thread,
                        enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                        const struct etwas_kernel_event *event);

/*
 * Attributes the part of a thread's interval in which the chosen instance was on it.
 */
void etwas_why_attribute(struct etwas_why *why, struct etwas_why_chosen *chosen,
                         const struct etwas_schedule_thread *thread,
                         enum etwas_schedule_state state, int64_t from_ns, int64_t to_ns,
                         const struct etwas_kernel_event *event);

/* ---- blocks.c ---- */

/* Returns the index of the thread that has the id now; ETWAS_KERNEL_NOBODY if it is not known. */
uint32_t etwas_why_number(const struct etwas_why *why, uint32_t thread);

/* Adds an interval in which the thread neither ran nor was ready. `event` ended it. */
void etwas_why_block(struct etwas_why *why, struct etwas_why_chosen *chosen,
                     const struct etwas_schedule_thread *thread, int64_t from_ns, int64_t to_ns,
                     const struct etwas_kernel_event *event);

/*
 * Attributes all waits since the beginning of a thread's call or operation, which has ended, to its
 * file or socket. If call_state is NULL they are attributed to none. The end of an operation is
 * matched by number, that of a call only if no events were lost meanwhile.
 */
void etwas_why_settle(struct etwas_why *why, struct etwas_why_chosen *chosen,
                      const struct etwas_why_call_state *call_state, bool is_operation);

/*
 * Attributes all waits since the beginning of a page fault, which has ended, to the file. 0: the
 * file is not known.
 */
void etwas_why_settle_fault(struct etwas_why *why, struct etwas_why_chosen *chosen, uint32_t input,
                            uint64_t file, int64_t since_ns);

bool etwas_why_is_same_socket(const struct etwas_kernel_socket *left,
                              const struct etwas_kernel_socket *right);

/* ---- call_state.c ---- */

/* Takes an event of the call or operation that a thread is in. */
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

/* Takes a stack of a thread, recorded or unwound, for the chosen instances on it. */
void etwas_why_take_stack(struct etwas_why *why, const struct etwas_input *input,
                          const EVENT_RECORD *record, const struct etwas_kernel_event *event,
                          uint32_t number);

/* ---- disks.c ---- */

/* Takes a completed disk request, which a thread issued at since_ns. */
void etwas_why_take_request(struct etwas_why *why, const struct etwas_kernel_event *event,
                            uint32_t number, int64_t since_ns, uint64_t took_ns);

/* ---- missing.c ---- */

/* Kernel events that show what an instance was blocked on. */
enum etwas_why_missing {
    ETWAS_WHY_MISSING_CALL,
    ETWAS_WHY_MISSING_WAKER,
    ETWAS_WHY_MISSING_FILE,
    ETWAS_WHY_MISSING_SOCKET,
    ETWAS_WHY_MISSING_FAULT,
    ETWAS_WHY_MISSING_STACK,
    ETWAS_WHY_MISSING,
};

/* Sets the kinds of events that were not recorded, but would have shown more. */
void etwas_why_find_missing(const struct etwas_why *why, const struct etwas_why_chosen *chosen,
                            bool missing[ETWAS_WHY_MISSING]);

#endif
