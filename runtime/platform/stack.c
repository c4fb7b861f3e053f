/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FRAME_BYTES = 2 * sizeof(uintptr_t), /* the caller's frame pointer, and the return address */
    OWN_FRAMES_BYTES = 65536,            /* the library's own frames take less */
    READ_BYTES = 512,
};

/*
 * The kernel keeps this much address space below the end of the first thread's stack free of other
 * mappings, for the stack to grow into.
 */
#define FIRST_STACK_BYTES (UINT64_C(128) << 20)

struct stack_range {
    uintptr_t low;
    uintptr_t high; /* the first address after it; 0: unknown */
};

/* ---- finding a thread's stack ---------------------------------------------------------------- */

/* Lines of /proc/self/maps, character by character: "low-high r..." */
struct maps_parser {
    struct stack_range range;
    enum {
        IN_LOW,
        IN_HIGH,
        IN_ACCESS,
        IN_REST,
    } state;
};

static void maps_add_digit(uintptr_t *number, char digit)
{
    *number = *number << 4 | (uintptr_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* Parses a character. Returns true at the end of the line of the mapping with the address. */
static bool maps_parse(struct maps_parser *parser, char character, uintptr_t address)
{
    bool found = false;

    if (character == '\n') {
        *parser = (struct maps_parser){0};
        return false;
    }
    switch (parser->state) {
    case IN_LOW:
        if (character == '-') {
            parser->state = IN_HIGH;
        } else {
            maps_add_digit(&parser->range.low, character);
        }
        break;
    case IN_HIGH:
        if (character == ' ') {
            parser->state = IN_ACCESS;
        } else {
            maps_add_digit(&parser->range.high, character);
        }
        break;
    case IN_ACCESS:
        found = character == 'r' && parser->range.low <= address && address < parser->range.high;
        parser->state = IN_REST;
        break;
    case IN_REST:
        break;
    }
    return found;
}

/*
 * Finds the mapping that contains the address; empty if the system does not report it. No
 * cancellation.
 */
static struct stack_range maps_find_mapping(uintptr_t address)
{
    struct maps_parser parser = {0};
    struct stack_range found = {0};
    char text[READ_BYTES];
    int error = errno;
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    long bytes = file >= 0 ? syscall(SYS_read, file, text, sizeof text) : 0;

    while (bytes > 0 && found.high == 0) {
        for (long at = 0; at < bytes && found.high == 0; at++) {
            if (maps_parse(&parser, text[at], address)) {
                found = parser.range;
            }
        }
        bytes = syscall(SYS_read, file, text, sizeof text);
    }
    if (file >= 0) {
        (void)syscall(SYS_close, file);
    }
    errno = error;
    return found;
}

/* The stack of the calling thread. A signal handler that interrupts the search finds the same. */
static _Thread_local struct {
    struct stack_range range; /* as far as it was mapped at the last search */
    uintptr_t lowest; /* addresses from here to the end are on this stack, if it is in use */
    bool searched;
    bool is_of_another; /* in a fork's child: it was not the first thread's */
} own_stack;

static bool stack_is_first_thread(void)
{
    return gettid() == getpid() && !own_stack.is_of_another;
}

void etwas_stack_before_fork(void)
{
    own_stack.is_of_another = !stack_is_first_thread();
}

/*
 * A thread's data are at the end of its stack, and both stay mapped as long as it runs. The first
 * thread's data are elsewhere; its stack contains the random bytes that every process gets.
 */
static void stack_find_own(void)
{
    bool is_first = stack_is_first_thread();
    uintptr_t end = (uintptr_t)&own_stack & ~(uintptr_t)(sizeof end - 1);
    struct stack_range range = maps_find_mapping(is_first ? (uintptr_t)getauxval(AT_RANDOM) : end);

    if (range.high != 0) {
        range.high = is_first ? range.high : end;
        own_stack.lowest = is_first ? range.high - FIRST_STACK_BYTES : range.low;
        own_stack.range = range;
    }
    own_stack.searched = true;
}

static struct stack_range stack_find_signal(void)
{
    struct stack_range range = {0};
    stack_t stack;

    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0) {
        range.low = (uintptr_t)stack.ss_sp;
        range.high = range.low + stack.ss_size;
    }
    return range;
}

/* ---- walking --------------------------------------------------------------------------------- */

/* Returns the address without the signature of pointer authentication. */
static inline uint64_t stack_plain_address(uintptr_t address)
{
#if defined(__aarch64__)
    register uintptr_t link __asm__("x30") = address;

    __asm__("hint #7" : "+r"(link)); /* xpaclri */
    return link;
#else
    return address;
#endif
}

static inline bool stack_has_frame(const struct stack_range *range, uintptr_t frame)
{
    return frame % sizeof frame == 0 && frame >= range->low && range->high >= FRAME_BYTES &&
           frame <= range->high - FRAME_BYTES;
}

/* Returns the stack that a frame of the running function is on. */
static struct stack_range stack_of(uintptr_t frame)
{
    struct stack_range stack;

    if (!own_stack.searched) {
        stack_find_own();
    }
    stack = (struct stack_range){own_stack.lowest, own_stack.range.high};
    if (!stack_has_frame(&stack, frame)) {
        return stack_find_signal();
    }
    if (frame < own_stack.range.low) {
        own_stack.range.low = frame; /* the stack has grown */
    }
    return stack;
}

/*
 * Whether a frame, with the `next` above it, is one of the library's own, which has frame pointers,
 * and lies below the one with the variable at `inside`. On x86-64 variables lie below the address
 * in the frame pointer; on aarch64 above it, where `next` may be anything in the last frame.
 */
static inline bool stack_is_own(uintptr_t frame, uintptr_t next, uintptr_t inside)
{
#if defined(__aarch64__)
    return next > frame && next <= inside;
#else
    (void)next;
    return frame <= inside;
#endif
}

/* Reads words of a stack, so the sanitizers do not check it. */
__attribute__((noinline, no_sanitize_address, no_sanitize_thread)) uint32_t etwas_stack_walk(
    const void *inside, uint64_t frames[ETWAS_STACK_FRAMES])
{
    const uintptr_t *frame = __builtin_frame_address(0);
    uintptr_t skipped = (uintptr_t)inside;
    struct stack_range stack;
    uint32_t count = 0;

    if (skipped - (uintptr_t)frame > OWN_FRAMES_BYTES) {
        skipped = (uintptr_t)frame; /* a sanitizer keeps the variables elsewhere */
    }
    while (stack_is_own((uintptr_t)frame, frame[0], skipped)) {
        frame = (const uintptr_t *)frame[0];
    }
    stack = stack_of((uintptr_t)frame);
    for (;;) {
        uintptr_t next = frame[0];

        frames[count++] = stack_plain_address(frame[1]);
        stack.low = (uintptr_t)frame + FRAME_BYTES;
        if (!stack_has_frame(&stack, next)) {
            /* Continues from a signal stack to the place where the thread was interrupted. */
            if (stack.high == own_stack.range.high || !stack_has_frame(&own_stack.range, next)) {
                return count;
            }
            stack = own_stack.range;
        }
        frame = (const uintptr_t *)next;
        if (count == ETWAS_STACK_FRAMES && frame[1] != 0) {
            frames[count - 1] = ETWAS_STACK_CUT;
        }
        if (count == ETWAS_STACK_FRAMES || frame[1] == 0) {
            return count;
        }
    }
}
