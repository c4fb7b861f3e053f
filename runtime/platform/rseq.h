/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Restartable sequences: a few instructions that the kernel makes appear to run on one processor
 * without interruption. A thread that is preempted, moved or signalled inside a sequence continues
 * at the abort point. So the data of its processor that a sequence reads stay true until it
 * commits, by its last instruction, or the sequence has not happened.
 *
 * One general sequence serves every protocol step that is not the hottest path. Specification:
 *
 *     RUN(s)   1  rseq_cs ← descriptor                                  arms the sequence
 *     start:   2  cpu_id ≠ s.processor                → exit MOVED
 *              3  any *check.word ≠ check.expected    → exit CHANGED
 *              4  every copy.to ← copy.from, in order
 *              5  s.exchange: *target ≠ s.expected    → exit CHANGED, else *target ← s.value
 *                 otherwise:                            *target ← s.value     (release)
 *     end:     6  → COMMITTED
 *     abort:   7  → ABORTED: nothing was committed; copies may have been made
 *
 * Step 5 ends with one instruction, the commit, and the range that the kernel aborts ends with it.
 * An instruction between them, such as a jump, would be aborted after the commit. So each kind of
 * commit has its own range. On x86-64 it is a store (or `lock cmpxchg`); on aarch64 a store-release
 * (or the store-exclusive of a pair whose load is inside the sequence; if that fails, though no
 * other value was found, the result is ABORTED).
 *
 * Checks are 8-byte loads, acquire. The copies are visible to a thread that acquires the committed
 * word. Targets of copies must be memory that no thread reads before the commit, or whose readers
 * accept a value that was never committed.
 *
 * glibc registers each thread with the kernel; nothing is registered here. To stop, the sequences
 * also need membarrier's PRIVATE_EXPEDITED_RSEQ (etwas_rseq_fence).
 *
 * All functions except etwas_rseq_prepare are async-signal-safe.
 */
#ifndef ETWAS_PLATFORM_RSEQ_H
#define ETWAS_PLATFORM_RSEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this build has sequences at all. ThreadSanitizer cannot see into them. */
#if defined(ETWAS_WITH_RSEQ) && (defined(__x86_64__) || defined(__aarch64__))
#define ETWAS_RSEQ 1
#else
#define ETWAS_RSEQ 0
#endif

struct etwas_rseq_check {
    const uint64_t *word;
    uint64_t expected;
};

struct etwas_rseq_copy {
    void *to;
    const void *from;
    uint64_t bytes; /* any number, including 0 */
};

struct etwas_rseq_sequence {
    const struct etwas_rseq_check *checks;
    uint64_t check_count;
    const struct etwas_rseq_copy *copies;
    uint64_t copy_count;
    uint64_t *target;
    uint64_t expected; /* with exchange */
    uint64_t value;
    uint32_t processor;
    uint32_t exchange; /* 1: commit by compare-exchange; 0: by a store */
};
_Static_assert(sizeof(struct etwas_rseq_check) == 16, "read by rseq_*.S");
_Static_assert(sizeof(struct etwas_rseq_copy) == 24, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, checks) == 0, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, check_count) == 8, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, copies) == 16, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, copy_count) == 24, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, target) == 32, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, expected) == 40, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, value) == 48, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, processor) == 56, "read by rseq_*.S");
_Static_assert(offsetof(struct etwas_rseq_sequence, exchange) == 60, "read by rseq_*.S");

/* The numbers are used in rseq_*.S. */
enum etwas_rseq_result {
    ETWAS_RSEQ_COMMITTED = 0,
    ETWAS_RSEQ_ABORTED = 1, /* interrupted: try again */
    ETWAS_RSEQ_MOVED = 2,   /* another processor runs the caller */
    ETWAS_RSEQ_CHANGED = 3, /* a check failed, or the exchange found another value */
};

/*
 * Runs one sequence: rseq_x86_64.S, rseq_aarch64.S. Only for a registered thread, in a process
 * where etwas_rseq_prepare has returned true.
 */
enum etwas_rseq_result etwas_rseq_run(const struct etwas_rseq_sequence *sequence);

/*
 * Why sequences cannot be used in this process: ETWAS_SEQUENCES_* of <etwas/etwas.h>, which
 * describes them.
 */
enum etwas_rseq_state {
    ETWAS_RSEQ_USED,
    ETWAS_RSEQ_UNBUILT,
    ETWAS_RSEQ_UNREGISTERED,
    ETWAS_RSEQ_UNFENCED,
    ETWAS_RSEQ_NOT_ABORTED,
    ETWAS_RSEQ_UNTRIED,
};

/*
 * Whether sequences can be used in this process: the threads are registered, membarrier can fence
 * sequences, and the kernel aborts those that are preempted. Kernels known to have the defect are
 * tried once (rseq_trial.h). Makes system calls; the result may differ in a fork's child.
 */
enum etwas_rseq_state etwas_rseq_availability(void);

static inline bool etwas_rseq_prepare(void)
{
    return etwas_rseq_availability() == ETWAS_RSEQ_USED;
}

/* Storage that processes share for the trial's result: ETWAS_RSEQ_USED or _NOT_ABORTED. */
struct etwas_rseq_trial_storage {
    bool (*read)(enum etwas_rseq_state *state); /* false: nothing is stored */
    void (*write)(enum etwas_rseq_state state);
};

/* Sets the storage. Called before the first etwas_rseq_availability that shall read it. */
void etwas_rseq_set_trial_storage(const struct etwas_rseq_trial_storage *keeper);

/*
 * Runs the trial, whether it is needed or not. Returns USED, NOT_ABORTED or UNTRIED, or why there
 * can be no trial. Takes at most 5 ms.
 */
enum etwas_rseq_state etwas_rseq_try_now(void);

/*
 * Ends every sequence that runs anywhere in the process. When it returns true, each sequence that
 * had begun has committed or will abort, and each that begins sees what was stored before the call.
 */
bool etwas_rseq_fence(void);

/*
 * ---- injection points, compiled into the library the tests link -----------------------------
 *
 * A sequence that reaches the point whose number etwas_rseq_trap holds executes a trap (int3, brk):
 * SIGTRAP is delivered, and that aborts the sequence as any signal does. The test's handler sets
 * the number back to 0. Points of the general sequence are numbered as the steps above; those of
 * the inlined ones (buffer/quick_rseq.h) begin at 16.
 */
enum {
    ETWAS_RSEQ_TRAP_NONE = 0,
    ETWAS_RSEQ_TRAP_ARMED = 1,   /* after step 1 */
    ETWAS_RSEQ_TRAP_ON = 2,      /* after step 2: on the right processor */
    ETWAS_RSEQ_TRAP_CHECKED = 3, /* after step 3 */
    ETWAS_RSEQ_TRAP_COPIED = 4,  /* after step 4: all but the commit */
    ETWAS_RSEQ_TRAP_MIDDLE =
        5, /* inside step 4, between two pieces of a copy of 256 bytes or more */
};

extern uint32_t etwas_rseq_trap;
/* Makes etwas_rseq_fence fail, as it does if membarrier is forbidden after the start. */
extern bool etwas_rseq_fence_fails;
/*
 * The first pretends that the kernel must be tried and that no result is known. The second is the
 * function that runs the trial's sequences.
 */
extern bool etwas_rseq_is_suspect;
extern enum etwas_rseq_result (*etwas_rseq_run_by)(const struct etwas_rseq_sequence *sequence);
void etwas_rseq_forget_trial(void);
/* Disables provider/quick.h, so that records take the general path. */
extern bool etwas_quick_is_off;

#endif
