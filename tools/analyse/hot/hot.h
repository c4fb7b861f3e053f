/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_HOT_H
#define ETWAS_TOOLS_ANALYSE_HOT_H

/*
 * `etwas stat --hot`: in which functions the processors were, by the samples of a trace
 * (EVENT_TRACE_FLAG_PROFILE). It counts how often each function was where the processor was, and,
 * if the samples have stacks, how often it was on the stack. `etwas convert` makes flame graphs of
 * the same samples.
 *
 * The file is read twice: the first time for what is at its addresses and for the processes of its
 * threads. A sample is counted when all of its stack has come, which follows it in its processor's
 * stream.
 *
 * Memory is bounded by ETWAS_HOT_FUNCTIONS; samples of more functions are counted together.
 */

#include "address/addresses.h"
#include "math/hash_index.h"

enum {
    ETWAS_HOT_FUNCTIONS = 1 << 18,
    ETWAS_HOT_FRAMES = 512, /* of one sample */
};

/* What lies in an image without a function's name is one function without a name. */
struct etwas_hot_function {
    char *name;  /* NULL: not known */
    char *image; /* NULL: not known */
    bool is_kernel;
    bool has_changed;   /* the image's file is another one by now */
    bool hides_inlined; /* nothing says what is inlined in it */
    uint64_t self;      /* samples */
    uint64_t total;
    uint64_t newest; /* number of the sample that was counted in `total` last */
};

/* A sample that may still get its stack. */
struct etwas_hot_sample {
    bool is_open;
    int64_t stamp;
    uint64_t address;
    uint32_t thread;
    bool has_process;
    uint32_t process;
    uint32_t user_at; /* where the program's frames begin */
    uint32_t frame_count;
    uint64_t frames[ETWAS_HOT_FRAMES];
    bool is_return[ETWAS_HOT_FRAMES];
};

struct etwas_choice;

struct etwas_hot {
    struct etwas_addresses addresses;
    struct etwas_choice *choice; /* of samples; NULL: all */
    bool is_left_out;            /* the record that is taken now, by it */
    uint64_t left_out;
    struct etwas_hot_sample **open; /* by processor */
    bool counts;                    /* the second time */
    /* Called for each sample, with all of its stack. */
    void (*give)(struct etwas_hot *hot, const struct etwas_hot_sample *sample);
    void *context; /* the caller's own, for `give` */
    struct etwas_hot_function *functions;
    uint32_t function_count;
    size_t function_capacity;
    struct etwas_hash_index places; /* of the functions, until they are sorted */
    uint64_t samples;               /* of all functions */
    uint64_t idle;                  /* of processors that had nothing to do */
    uint64_t with_stack;
    uint64_t cut;            /* of these: the stack goes on */
    uint64_t other;          /* of more functions than are told apart */
    uint64_t interval_100ns; /* the last that was set; 0: not known */
    bool out_of_memory;
};

/* ---- hot.c ---- */

/*
 * Reads one file twice: for what its addresses are, and for its samples, of which `choice` has
 * those that count; NULL: all do. Sorts the functions. Returns what etwas_input_process does. Clear
 * it in any case.
 */
int etwas_hot_read(struct etwas_hot *hot, struct etwas_input *input, const char *path,
                   uint32_t number, struct etwas_choice *choice);

bool etwas_hot_is_out_of_memory(const struct etwas_hot *hot);

/* Memory for a file; false without. To be cleared either way. */
bool etwas_hot_open(struct etwas_hot *hot,
                    void (*give)(struct etwas_hot *hot, const struct etwas_hot_sample *sample));

/* Takes a record of the file, of whatever kind, when all addresses of the file are known. */
void etwas_hot_add_record(struct etwas_hot *hot, const EVENT_RECORD *record);

/* Passes on the samples that are still open. Call it after the last record. */
void etwas_hot_finish(struct etwas_hot *hot);

/* Returns what is at an address of a sample. It is valid until the next call. */
struct etwas_place etwas_hot_place(struct etwas_hot *hot, const struct etwas_hot_sample *sample,
                                   uint64_t value, bool is_return);

/* ---- functions.c ---- */

/* Returns the function of a place, or NULL if there are too many or there is no memory. */
struct etwas_hot_function *etwas_hot_function(struct etwas_hot *hot,
                                              const struct etwas_place *place, bool is_kernel);

/* Sorts the functions by how often they were where the processor was, the most first. */
void etwas_hot_sort(struct etwas_hot *hot);

void etwas_hot_clear(struct etwas_hot *hot);

#endif
