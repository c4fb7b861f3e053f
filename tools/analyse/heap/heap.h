/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_HEAP_H
#define ETWAS_TOOLS_ANALYSE_HEAP_H

/*
 * `etwas stat --heap`: what the traces of heaptrace (examples/heaptrace) say of a heap, by the call
 * stacks that allocated. A realloc frees a block and allocates another.
 *
 * Memory grows with what the file holds: one entry for each block that is not freed, one for each
 * stack that is new. Where calls do not fit together, because events were lost or a file was made
 * up, they are counted.
 */

#include "address/symbols.h"
#include "math/hash_index.h"
#include "trace/input.h"

enum {
    ETWAS_HEAP_IMAGES = 1 << 16,         /* kept of a file */
    ETWAS_HEAP_PROCESS_IMAGES = 1 << 12, /* and of a process; looking through them takes time */
    ETWAS_HEAP_BUILD_ID_BYTES = 255,
};

/* A block that is allocated. */
struct etwas_heap_block {
    uint64_t address;
    uint64_t bytes; /* of an entry of the free list: the number of the next one */
    uint32_t stack;
    uint32_t process;
    uint32_t thread;  /* that allocated it */
    bool is_early;    /* allocated where another one still lived; see etwas_heap_add_block */
    bool is_left_out; /* nothing counts it; it is known to tell its free from that of another one */
};

/* The allocations with the same stack. */
struct etwas_heap_stack {
    uint64_t allocated_bytes;
    uint64_t allocations;
    uint64_t live_bytes;
    uint64_t live_blocks;
    uint64_t first_frame; /* in etwas_heap.frames */
    uint64_t hash;
    uint32_t process;
    uint32_t epoch; /* of the process */
    uint32_t frame_count;
};

/* A process with calls in the file. There are several if heaptrace logged into a shared session. */
struct etwas_heap_process {
    bool is_taken; /* else the entry is empty */
    uint32_t process;
    uint32_t epoch;        /* a new one begins where an image comes in the place of others */
    uint32_t newest_image; /* number; 0: none */
    uint32_t image_count;
    uint32_t mark; /* the caller's own; 0 at first */
    uint64_t live_bytes;
};

/* Mapped while stacks of the epochs `first` to `last` were taken. */
struct etwas_heap_image {
    uint32_t process;
    uint32_t before; /* number of the process's image before it; 0: none */
    uint64_t base;
    uint64_t bytes;
    uint32_t first_epoch;
    uint32_t last_epoch;
    char *path;
    uint8_t build_id[ETWAS_HEAP_BUILD_ID_BYTES];
    uint8_t build_id_bytes;
    bool is_asked; /* for symbols */
    struct etwas_symbols *symbols;
};

struct etwas_choice;

struct etwas_heap {
    struct etwas_choice *choice; /* of allocations; NULL: all */
    bool is_left_out;            /* the record that is taken now, by it */
    uint64_t left_out;
    struct etwas_heap_block *blocks; /* those that live, and those of the free list */
    uint32_t block_count;
    uint32_t free_block; /* number of the first of the free list; 0: it is empty */
    size_t block_capacity;
    struct etwas_hash_index block_places; /* of those that live */
    uint64_t live_bytes;                  /* of all blocks */
    struct etwas_heap_stack *stacks;
    uint32_t stack_count;
    size_t stack_capacity;
    struct etwas_hash_index stack_places;
    uint64_t *frames; /* of all stacks */
    uint64_t frame_count;
    size_t frame_capacity;
    struct etwas_heap_image *images;
    uint32_t image_count;
    size_t image_capacity;
    struct etwas_heap_process *processes; /* a hash table */
    uint32_t process_count;
    uint32_t process_capacity;
    bool out_of_memory;

    /* The blocks and bytes that were allocated, and those never freed, are in the stacks. */
    uint64_t frees;
    uint64_t frames_in_all;  /* of all allocations */
    uint64_t without_stack;  /* allocations */
    uint64_t with_cut_stack; /* likewise: the last frame is ETWAS_EVENT_CUT, which counts as none */
    uint64_t failed;         /* allocations that gave no memory */
    uint64_t unknown_frees;  /* of what was not allocated, as far as the file says */
    uint64_t unknown_moves;  /* likewise by realloc */
    uint64_t replaced_blocks; /* allocated where one lived: its free is not in the file */
    uint64_t malformed;       /* events that are not as heaptrace writes them */
    uint64_t images_left_out;
};

/* ---- heap.c ---- */

/*
 * Reads one file into a heap that is all zeroes but for its choice. Returns what
 * etwas_input_process does.
 */
int etwas_heap_read(struct etwas_heap *heap, struct etwas_input *input, const char *path,
                    uint32_t number);

/* Is it one of heaptrace's? */
bool etwas_heap_is_taken(const EVENT_RECORD *record);

/* Does it say where a program or library lies? */
bool etwas_heap_is_image(const EVENT_RECORD *record);

/* A record of the file, whatever it is, in the order of time. */
void etwas_heap_add_record(struct etwas_heap *heap, const EVENT_RECORD *record);

/* ---- blocks.c ---- */

/*
 * The number of a process's stack, made if it is new. False, and out_of_memory, where memory is
 * short.
 */
bool etwas_heap_find_stack(struct etwas_heap *heap, uint32_t process, const uint64_t *frames,
                           uint32_t count, uint32_t *stack);

/*
 * A block lives from now on. Where one lives already, that is freed: a realloc of another thread,
 * which is logged when it is done, may be about to say so. The block remembers that in is_early.
 */
void etwas_heap_add_block(struct etwas_heap *heap, const struct etwas_heap_block *block);

/*
 * A block is freed, and counted as such. Returns false where none lives there. `mover` is the
 * thread of a realloc, or 0 for a free. A realloc of another thread that says no more than is_early
 * does takes that back, and frees nothing.
 */
bool etwas_heap_drop_block(struct etwas_heap *heap, uint32_t process, uint64_t address,
                           uint32_t mover);

void etwas_heap_clear(struct etwas_heap *heap);

/* ---- processes.c ---- */

/*
 * What is known of a process, made if it is new, until the next one is made. NULL, and
 * out_of_memory, where memory is short; not for one that has a stack.
 */
struct etwas_heap_process *etwas_heap_process(struct etwas_heap *heap, uint32_t process);

/*
 * The image is there from now on, and nothing else of its process where it is. Its path stays the
 * caller's.
 */
void etwas_heap_add_image(struct etwas_heap *heap, const struct etwas_heap_image *image);

/* Which image a stack's address was in; NULL: none that is known. */
struct etwas_heap_image *etwas_heap_find_image(struct etwas_heap *heap,
                                               const struct etwas_heap_stack *stack,
                                               uint64_t address);

/* ---- stacks.c ---- */

/* Where a frame of a stack lies. */
struct etwas_heap_location {
    const struct etwas_heap_image *image; /* NULL: in none */
    uint64_t offset;                      /* in the image */
    bool has_symbol;
    struct etwas_symbol symbol;
};

struct etwas_heap_location etwas_heap_locate(struct etwas_heap *heap,
                                             const struct etwas_heap_stack *stack,
                                             uint64_t address);

/*
 * Returns the stacks, sorted by the bytes that they hold, the most first. The caller frees the
 * array. Returns NULL if there is no memory.
 */
const struct etwas_heap_stack **etwas_heap_sorted_stacks(const struct etwas_heap *heap);

#endif
