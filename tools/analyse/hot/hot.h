/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_HOT_H
#define ETWAS_TOOLS_ANALYSE_HOT_H

/*
 * `etwas stat --hot`: the functions that the processors ran, by the samples of a trace
 * (EVENT_TRACE_FLAG_PROFILE). It counts how often each function was running, and, if the samples
 * have stacks, how often it was on the stack. `etwas convert` makes flame graphs of the same
 * samples.
 *
 * The file is read twice: first for its symbols and the processes of its threads, then for the
 * samples. The stack of a sample follows it in the stream of its processor, so a sample is counted
 * when its stack is complete.
 *
 * Memory is bounded by ETWAS_HOT_FUNCTIONS. Samples of further functions are counted together.
 */

#include "address/addresses.h"
#include "math/hash_index.h"

enum {
    ETWAS_HOT_FUNCTIONS = 1 << 18,
    ETWAS_HOT_FRAMES = 512, /* of one sample */
};

/* A function. All addresses of an image without a function name are one function. */
struct etwas_hot_function {
    char *name;  /* NULL: not known */
    char *image; /* NULL: not known */
    bool is_kernel;
    bool has_changed;   /* the image's file has changed since */
    bool hides_inlined; /* it is not known what is inlined in it */
    uint64_t self;      /* samples in it */
    uint64_t total;     /* samples with it on the stack */
    uint64_t newest;    /* number of the last sample that was counted in `total` */
};

/* A sample that may still get its stack. */
struct etwas_hot_sample {
    bool is_open;
    int64_t stamp;
    uint64_t address;
    uint32_t thread;
    bool has_process;
    uint32_t process;
    uint32_t user_at; /* index of the first frame of the program */
    uint32_t frame_count;
    uint64_t frames[ETWAS_HOT_FRAMES];
    bool is_return[ETWAS_HOT_FRAMES];
};

struct etwas_choice;

struct etwas_hot {
    struct etwas_addresses addresses;
    struct etwas_choice *choice; /* which samples count; NULL: all */
    bool is_left_out;            /* `choice` leaves out the current record */
    uint64_t left_out;
    struct etwas_hot_sample **open; /* by processor */
    bool counts;                    /* the file is read for the second time */
    /* Called for each sample with its complete stack. */
    void (*give)(struct etwas_hot *hot, const struct etwas_hot_sample *sample);
    void *context; /* for `give` */
    struct etwas_hot_function *functions;
    uint32_t function_count;
    size_t function_capacity;
    struct etwas_hash_index places; /* of the functions; valid until they are sorted */
    uint64_t samples;               /* of all functions */
    uint64_t idle;                  /* samples of idle processors, not in `samples` */
    uint64_t with_stack;
    uint64_t cut;            /* of these, samples whose stack was cut */
    uint64_t other;          /* samples of functions beyond ETWAS_HOT_FUNCTIONS */
    uint64_t interval_100ns; /* the last sampling interval; 0: not known */
    bool out_of_memory;
};

/* ---- hot.c ---- */

/*
 * Reads one file twice: for its symbols, and for the samples that `choice` chooses; NULL: all.
 * Sorts the functions. Returns what etwas_input_process does. Clear `hot` in any case.
 */
int etwas_hot_read(struct etwas_hot *hot, struct etwas_input *input, const char *path,
                   uint32_t number, struct etwas_choice *choice);

bool etwas_hot_is_out_of_memory(const struct etwas_hot *hot);

/* Initializes `hot`. Returns false if there is no memory. Clear `hot` in either case. */
bool etwas_hot_open(struct etwas_hot *hot,
                    void (*give)(struct etwas_hot *hot, const struct etwas_hot_sample *sample));

/* Call it for each record in the second reading, when the file's symbols are known. */
void etwas_hot_add_record(struct etwas_hot *hot, const EVENT_RECORD *record);

/* Passes on the samples that are still open. Call it after the last record. */
void etwas_hot_finish(struct etwas_hot *hot);

/* Returns the symbol of an address of a sample, valid until the next call. */
struct etwas_place etwas_hot_place(struct etwas_hot *hot, const struct etwas_hot_sample *sample,
                                   uint64_t value, bool is_return);

/* ---- functions.c ---- */

/* Finds the function of a place, or adds it. Returns NULL if there are too many, or no memory. */
struct etwas_hot_function *etwas_hot_function(struct etwas_hot *hot,
                                              const struct etwas_place *place, bool is_kernel);

/* Sorts the functions by the samples in them, the most first. */
void etwas_hot_sort(struct etwas_hot *hot);

void etwas_hot_clear(struct etwas_hot *hot);

#endif
