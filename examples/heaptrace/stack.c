/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Walks the stack; the interface is in the header. */

#include "stack.h"

#include "frame_rule.h"
#include "heaptrace.h"
#include "image.h"

#include <ck_pr.h>
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The bounds of the library's own mapping, from the linker. Its frames are not the program's. */
extern const char own_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char own_end[] __asm__("_end") __attribute__((visibility("hidden")));

enum {
    PAGE_BYTES = 4096, /* at least: larger pages are probed several times */
    PAGES_APART = 64,  /* most pages by which an access may extend the range */
    FIRST_ADDRESS = 65536,
};

/* The registers of a frame. */
struct frame {
    uint64_t ip;
    uint64_t sp;
    uint64_t bp;
    bool is_interrupted; /* by a signal: ip does not follow a call */
};

/* ---- memory ---- */

/* Readable memory, from `low` up to but excluding `high`. */
struct range {
    uint64_t low;
    uint64_t high;
};

/* The kernel reads the mask before it rejects the operation, so an unreadable page gives EFAULT. */
static bool page_is_readable(uint64_t page)
{
    enum {
        NO_WAY = -1,
        MASK_BYTES = 8
    };

    (void)syscall(SYS_rt_sigprocmask, NO_WAY, page, NULL, MASK_BYTES);
    return errno == EINVAL;
}

static bool pages_are_readable(uint64_t page, uint64_t end)
{
    while (page < end && page_is_readable(page)) {
        page += PAGE_BYTES;
    }
    return page >= end;
}

/* Extends the range to an address outside it, or begins another range there. */
static bool reach(struct range *range, uint64_t address)
{
    uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);
    uint64_t apart = (uint64_t)PAGES_APART * PAGE_BYTES;

    if (page >= range->high && page - range->high < apart &&
        pages_are_readable(range->high, page + PAGE_BYTES)) {
        range->high = page + PAGE_BYTES;
        return true;
    }
    if (page < range->low && range->low - page < apart && pages_are_readable(page, range->low)) {
        range->low = page;
        return true;
    }
    if (!page_is_readable(page)) {
        return false;
    }
    *range = (struct range){page, page + PAGE_BYTES};
    return true;
}

static bool read_stack(void *context, uint64_t address, uint64_t *value)
{
    struct range *range = context;

    if (address % 8 != 0 ||
        ((address < range->low || address >= range->high) && !reach(range, address))) {
        return false;
    }
    *value = *(const uint64_t *)(uintptr_t)address;
    return true;
}

/* ---- by frame pointers ---- */

static bool step_by_pointers(struct frame *frame, struct range *range)
{
    uint64_t bp;
    uint64_t ip;

    if (frame->bp < frame->sp || !read_stack(range, frame->bp, &bp) ||
        !read_stack(range, frame->bp + 8, &ip)) {
        return false;
    }
    *frame = (struct frame){.ip = ip, .sp = frame->bp + 16, .bp = bp};
    return true;
}

/* ---- by call frame information ---- */

#if defined(__x86_64__)

/*
 * What is cached for an address is one word, so that it is read whole or not at all. An address has
 * 47 bits, and its product with an odd number, modulo 2^47, keeps all of them. The upper bits of
 * the product are the place in the table; the lower ones are compared.
 *
 *   bits 0..31   of the product        bit 32       the CFA is from rbp, else from rsp
 *   bits 33..52  the CFA's offset / 8  bits 53..63  (the CFA - where rbp is saved) / 8; 0: not
 *
 * A CFA has an offset, so a word is never 0, which is an empty place. All ones above the product:
 * no caller.
 */
enum {
    ADDRESS_BITS = 47,
    PLACE_BITS = 15,
    COMPARED_BITS = ADDRESS_BITS - PLACE_BITS,
    PLACES = 1 << PLACE_BITS,
    OFFSET_BITS = 20,
    SAVED_BITS = 11
};
_Static_assert(COMPARED_BITS + 1 + OFFSET_BITS + SAVED_BITS == 64, "one word");

#define ODD_NUMBER UINT64_C(0x1E3779B97F4A7C15)
#define NO_CALLER (UINT64_MAX << COMPARED_BITS)

static uint64_t remembered[PLACES];

static uint64_t mixed(uint64_t address)
{
    return address * ODD_NUMBER & ((UINT64_C(1) << ADDRESS_BITS) - 1);
}

/* Packs the rule into the upper bits, without its address. Returns 0 if it does not fit. */
static uint64_t packed(const struct heaptrace_frame_rule *rule)
{
    uint64_t offset = (uint64_t)rule->cfa_offset;
    uint64_t saved = rule->bp.kind == HEAPTRACE_RULE_SAVED ? -(uint64_t)rule->bp.offset : 0;

    if (rule->ip.kind == HEAPTRACE_RULE_UNDEFINED) {
        return NO_CALLER;
    }
    if (rule->cfa_by_expression || rule->is_signal || rule->ip.kind != HEAPTRACE_RULE_SAVED ||
        rule->ip.offset != -8 || offset % 8 != 0 || offset == 0 ||
        offset / 8 >= (1u << OFFSET_BITS) - 1 || saved % 8 != 0 || saved / 8 >= 1u << SAVED_BITS ||
        (rule->bp.kind != HEAPTRACE_RULE_SAVED && rule->bp.kind != HEAPTRACE_RULE_SAME) ||
        (rule->bp.kind == HEAPTRACE_RULE_SAVED && saved == 0)) {
        return 0;
    }
    return (saved / 8) << (COMPARED_BITS + 1 + OFFSET_BITS) | (offset / 8) << (COMPARED_BITS + 1) |
           (uint64_t)rule->cfa_from_bp << COMPARED_BITS;
}

static bool step_by_packed(struct frame *frame, struct range *range, uint64_t word)
{
    bool from_bp = (word >> COMPARED_BITS & 1) != 0;
    uint64_t offset = word >> (COMPARED_BITS + 1) & ((1u << OFFSET_BITS) - 1);
    uint64_t saved = word >> (COMPARED_BITS + 1 + OFFSET_BITS);
    uint64_t cfa = (from_bp ? frame->bp : frame->sp) + 8 * offset;
    uint64_t bp = frame->bp;
    uint64_t ip;

    if (cfa <= frame->sp || !read_stack(range, cfa - 8, &ip) ||
        (saved != 0 && !read_stack(range, cfa - 8 * saved, &bp))) {
        return false;
    }
    *frame = (struct frame){.ip = ip, .sp = cfa, .bp = bp};
    return true;
}

/* Finds the caller's value of a register by its rule. */
static bool apply(const struct heaptrace_register_rule *rule, const struct frame *frame,
                  uint64_t cfa, struct range *range, uint64_t *value)
{
    uint64_t address = cfa + (uint64_t)rule->offset;

    switch (rule->kind) {
    case HEAPTRACE_RULE_SAME:
        return true;
    case HEAPTRACE_RULE_UNDEFINED:
        *value = 0;
        return true;
    case HEAPTRACE_RULE_SAVED:
        return read_stack(range, address, value);
    case HEAPTRACE_RULE_SAVED_BY:
        return heaptrace_expression_value(&rule->expression, cfa, frame->bp, frame->sp, read_stack,
                                          range, &address) &&
               read_stack(range, address, value);
    case HEAPTRACE_RULE_VALUE_BY:
        return heaptrace_expression_value(&rule->expression, cfa, frame->bp, frame->sp, read_stack,
                                          range, value);
    }
    return false;
}

/* A signal handler may run on another stack, so only the frame of a signal may lead downwards. */
static bool step_by_rule(struct frame *frame, struct range *range,
                         const struct heaptrace_frame_rule *rule)
{
    struct frame caller = {.bp = frame->bp, .is_interrupted = rule->is_signal};
    uint64_t cfa = (rule->cfa_from_bp ? frame->bp : frame->sp) + (uint64_t)rule->cfa_offset;

    if (rule->cfa_by_expression &&
        !heaptrace_expression_value(&rule->cfa_expression, 0, frame->bp, frame->sp, read_stack,
                                    range, &cfa)) {
        return false;
    }
    caller.sp = cfa;
    if (rule->ip.kind == HEAPTRACE_RULE_SAME || (cfa <= frame->sp && !rule->is_signal) ||
        !apply(&rule->ip, frame, cfa, range, &caller.ip) ||
        !apply(&rule->bp, frame, cfa, range, &caller.bp)) {
        return false;
    }
    *frame = caller;
    return true;
}

static bool step(struct frame *frame, struct range *range)
{
    /*
     * A call may be the last instruction of its function; the next address then belongs to another
     * one.
     */
    uint64_t address = frame->ip - (frame->is_interrupted ? 0 : 1);
    uint64_t key = mixed(address);
    uint64_t *place = &remembered[key >> COMPARED_BITS];
    uint64_t compared = key & ((UINT64_C(1) << COMPARED_BITS) - 1);
    uint64_t word = ck_pr_load_64(place);
    struct heaptrace_mapping mapping;
    struct heaptrace_frame_rule rule;

    if (word != 0 && (word & ((UINT64_C(1) << COMPARED_BITS) - 1)) == compared) {
        return (word & NO_CALLER) != NO_CALLER && step_by_packed(frame, range, word);
    }
    if (!heaptrace_image_find(address, &mapping) ||
        !heaptrace_frame_rule(&mapping, address, &rule)) {
        return step_by_pointers(frame, range);
    }
    word = packed(&rule);
    if (word != 0) {
        ck_pr_store_64(place, word | compared);
    }
    return rule.ip.kind != HEAPTRACE_RULE_UNDEFINED && step_by_rule(frame, range, &rule);
}

void heaptrace_stack_forget(void)
{
    for (int i = 0; i < PLACES; i++) {
        if (ck_pr_load_64(&remembered[i]) != 0) {
            ck_pr_store_64(&remembered[i], 0);
        }
    }
    heaptrace_images_forget();
}

static inline __attribute__((always_inline)) struct frame own_frame(void)
{
    struct frame frame = {.is_interrupted = true};

    __asm__ volatile("leaq (%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                     : "=&r"(frame.ip), "=&r"(frame.sp), "=&r"(frame.bp));
    return frame;
}

#else

static bool step(struct frame *frame, struct range *range)
{
    struct heaptrace_mapping mapping;

    (void)heaptrace_image_find(frame->ip - 1, &mapping);
    return step_by_pointers(frame, range);
}

void heaptrace_stack_forget(void)
{
    heaptrace_images_forget();
}

static inline __attribute__((always_inline)) struct frame own_frame(void)
{
    uint64_t bp = (uint64_t)(uintptr_t)__builtin_frame_address(0);

    return (struct frame){.ip = (uint64_t)(uintptr_t)own_start, .sp = bp, .bp = bp};
}

#endif

/* ---- the stack ---- */

static bool is_own(uint64_t ip)
{
    return ip - (uint64_t)(uintptr_t)own_start < (uint64_t)(own_end - own_start);
}

__attribute__((noinline)) uint16_t heaptrace_stack(uint64_t *frames, uint16_t most)
{
    struct frame frame = own_frame();
    struct heaptrace_thread *thread = &heaptrace_thread;
    /* A handler that interrupts this uses a range of its own and leaves the thread's alone. */
    bool is_nested = thread->in_stack;
    struct range range = {0, 0};
    uint16_t count = 0;

    if (!is_nested) {
        thread->in_stack = true;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        range = (struct range){thread->stack_low, thread->stack_high};
    }
    while (count <= most && frame.ip >= FIRST_ADDRESS) {
        if (!is_own(frame.ip)) {
            frames[count] = count < most ? frame.ip : HEAPTRACE_STACK_CUT;
            count++;
        }
        if (count > most || !step(&frame, &range)) {
            break;
        }
    }
    if (!is_nested) {
        thread->stack_low = range.low;
        thread->stack_high = range.high;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread->in_stack = false;
    }
    return count;
}
