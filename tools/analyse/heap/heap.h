/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_HEAP_H
#define ETWAS_TOOLS_ANALYSE_HEAP_H

/*
 * `etwas stat --heap`: the use of a heap in traces of heaptrace (examples/heaptrace), by the call
 * stacks that allocated. A realloc frees a block and allocates another.
 *
 * Memory grows with the file: one entry for each live block, and one for each distinct stack. Calls
 * that contradict each other, because events were lost or the file was forged, are counted.
 */

#include "address/symbols.h"
#include "math/hash_index.h"
#include "trace/input.h"

enum {
    ETWAS_HEAP_IMAGES = 1 << 16,         /* images kept for a file */
    ETWAS_HEAP_PROCESS_IMAGES = 1 << 12, /* for a process; they are searched one by one */
    ETWAS_HEAP_BUILD_ID_BYTES = 255,
};

/* An allocated block. */
struct etwas_heap_block {
    uint64_t address;
    uint64_t bytes; /* in the free list: the number of the next entry */
    uint32_t stack;
    uint32_t process;
    uint32_t thread;  /* the thread that allocated it */
    bool is_early;    /* allocated over a block that was not freed; see etwas_heap_add_block */
    bool is_left_out; /* not counted; kept so that its free is not one of an unknown block */
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
    bool is_taken; /* false: the entry is empty */
    uint32_t process;
    uint32_t epoch;        /* incremented when an image replaces others */
    uint32_t newest_image; /* number of its newest image; 0: none */
    uint32_t image_count;
    uint32_t mark; /* for the caller; 0 at first */
    uint64_t live_bytes;
};

/* An image, mapped while stacks of first_epoch to last_epoch were taken. */
struct etwas_heap_image {
    uint32_t process;
    uint32_t before; /* number of the previous image of the process; 0: none */
    uint64_t base;
    uint64_t bytes;
    uint32_t first_epoch;
    uint32_t last_epoch;
    char *path;
    uint8_t build_id[ETWAS_HEAP_BUILD_ID_BYTES];
    uint8_t build_id_bytes;
    bool is_asked; /* whether its symbols were searched */
    struct etwas_symbols *symbols;
};

struct etwas_choice;

struct etwas_heap {
    struct etwas_choice *choice; /* which allocations count; NULL: all */
    bool is_left_out;            /* `choice` leaves out the current record */
    uint64_t left_out;
    struct etwas_heap_block *blocks; /* live blocks, and the entries of the free list */
    uint32_t block_count;
    uint32_t free_block; /* number of the first entry of the free list; 0: empty */
    size_t block_capacity;
    struct etwas_hash_index block_places; /* of live blocks */
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

    /* The stacks have the blocks and bytes that were allocated, and those never freed. */
    uint64_t frees;
    uint64_t frames_in_all;   /* sum over all allocations */
    uint64_t without_stack;   /* allocations */
    uint64_t with_cut_stack;  /* likewise; ETWAS_EVENT_CUT is not counted as a frame */
    uint64_t failed;          /* allocations that returned no memory */
    uint64_t unknown_frees;   /* frees of blocks whose allocation is not in the file */
    uint64_t unknown_moves;   /* likewise, by realloc */
    uint64_t replaced_blocks; /* blocks replaced by another at their address, without a free */
    uint64_t malformed;       /* events without the layout that heaptrace writes */
    uint64_t images_left_out;
};

/* ---- heap.c ---- */

/*
 * Reads one file into a heap that is all zeroes except for its choice. Returns what
 * etwas_input_process does.
 */
int etwas_heap_read(struct etwas_heap *heap, struct etwas_input *input, const char *path,
                    uint32_t number);

/* Returns whether the record is an event of heaptrace. */
bool etwas_heap_is_taken(const EVENT_RECORD *record);

/* Returns whether the record states where a program or library is mapped. */
bool etwas_heap_is_image(const EVENT_RECORD *record);

/* Call it for each record of the file, in the order of time. Other records are ignored. */
void etwas_heap_add_record(struct etwas_heap *heap, const EVENT_RECORD *record);

/* ---- blocks.c ---- */

/*
 * Sets *stack to the index of a process's stack, which is added if it is new. Returns false, and
 * sets out_of_memory, if there is no memory.
 */
bool etwas_heap_find_stack(struct etwas_heap *heap, uint32_t process, const uint64_t *frames,
                           uint32_t count, uint32_t *stack);

/*
 * Adds a block. If there is one at its address, that one is freed, and the new block is_early. The
 * reason may be a realloc of another thread: it is logged only after the address was reused.
 */
void etwas_heap_add_block(struct etwas_heap *heap, const struct etwas_heap_block *block);

/*
 * Frees a block, and counts the free. Returns false if there is no block. `mover` is the thread of
 * a realloc, or 0 for a free. If the block is_early and the realloc is another thread's, the
 * realloc freed the earlier block: is_early is cleared, and the block stays.
 */
bool etwas_heap_drop_block(struct etwas_heap *heap, uint32_t process, uint64_t address,
                           uint32_t mover);

void etwas_heap_clear(struct etwas_heap *heap);

/* ---- processes.c ---- */

/*
 * Finds the entry of a process, or adds it. It is valid until the next one is added. Returns NULL,
 * and sets out_of_memory, if there is no memory; never for a process that has a stack.
 */
struct etwas_heap_process *etwas_heap_process(struct etwas_heap *heap, uint32_t process);

/*
 * Adds an image, which replaces the overlapping ones of its process from now on. Its path stays the
 * caller's.
 */
void etwas_heap_add_image(struct etwas_heap *heap, const struct etwas_heap_image *image);

/* Returns the image that had an address of a stack; NULL if none is known. */
struct etwas_heap_image *etwas_heap_find_image(struct etwas_heap *heap,
                                               const struct etwas_heap_stack *stack,
                                               uint64_t address);

/* ---- stacks.c ---- */

/* The place of a frame of a stack. */
struct etwas_heap_location {
    const struct etwas_heap_image *image; /* NULL: no known image */
    uint64_t offset;                      /* in the image */
    bool has_symbol;
    struct etwas_symbol symbol;
};

struct etwas_heap_location etwas_heap_locate(struct etwas_heap *heap,
                                             const struct etwas_heap_stack *stack,
                                             uint64_t address);

/*
 * Returns the stacks, sorted by their live bytes, the most first. The caller frees the array.
 * Returns NULL if there is no memory.
 */
const struct etwas_heap_stack **etwas_heap_sorted_stacks(const struct etwas_heap *heap);

#endif
