/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Walking the caller's stack: on every kind of stack, with whatever in the frame pointer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "platform/stack.h"
#include "platform/thread.h"

enum {
    DEPTH = 20,
    MOST_DEPTH = 400,
    STACK_BYTES = 2 * 1024 * 1024, /* a sanitizer asks for one */
};

/* What a walk found, and what it should have found: where each level returns to. */
static struct {
    uint64_t frames[ETWAS_STACK_FRAMES];
    uint32_t count;
    uintptr_t returns[MOST_DEPTH];
    uint32_t depth;
} walked;

/* A caller's name for its own frame is any variable in it. */
static __attribute__((noinline)) uint32_t walk(void)
{
    char here[1];

    here[0] = 0;
    __asm__ volatile("" : : "r"(here) : "memory");
    walked.count = etwas_stack_walk(here, walked.frames);
    return walked.count;
}

typedef uint32_t (*function)(void);

static __attribute__((noinline)) uint32_t descend(uint32_t depth, function bottom)
{
    uint32_t result;

    walked.returns[depth] = (uintptr_t)__builtin_return_address(0);
    result = depth + 1 == walked.depth ? bottom() : descend(depth + 1, bottom);
    /* This keeps the call above from being a tail call. */
    __asm__ volatile("" : "+r"(result));
    return result;
}

/* Whether the levels are among the frames, the deepest first, from this frame on. */
static bool has_levels(uint32_t from)
{
    for (uint32_t level = 0; level < walked.depth && from + level < ETWAS_STACK_FRAMES - 1;
         level++) {
        if (from + level >= walked.count ||
            walked.frames[from + level] != walked.returns[walked.depth - 1 - level]) {
            return false;
        }
    }
    return true;
}

/* Where the levels begin; UINT32_MAX: nowhere. */
static uint32_t find_levels(void)
{
    for (uint32_t from = 0; from < walked.count; from++) {
        if (has_levels(from)) {
            return from;
        }
    }
    return UINT32_MAX;
}

static void descend_and_walk(uint32_t depth)
{
    walked.depth = depth;
    walked.count = 0;
    (void)descend(0, walk);
}

/* frames[0] is in the deepest level, of which a sanitizer's build has one frame more. */
static bool is_whole(void)
{
    return find_levels() <= 2;
}

static void a_stack_has_every_caller_the_innermost_first_and_192_at_most(void **state)
{
    (void)state;
    errno = 12345;
    descend_and_walk(DEPTH);
    assert_int_equal(errno, 12345);
    assert_true(is_whole());
    assert_true(walked.count > DEPTH);
    assert_true(walked.frames[walked.count - 1] != ETWAS_STACK_CUT);
    descend_and_walk(MOST_DEPTH);
    assert_true(is_whole());
    assert_int_equal(walked.count, ETWAS_STACK_FRAMES);
    assert_true(walked.frames[walked.count - 1] == ETWAS_STACK_CUT); /* it goes on */
}

/* ---- other stacks ---------------------------------------------------------------------------- */

static void *walk_in_thread(void *argument)
{
    bool *whole = argument;

    descend_and_walk(DEPTH);
    *whole = is_whole();
    return NULL;
}

static void a_thread_is_followed_to_the_end_of_its_own_stack(void **state)
{
    void *memory =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    bool whole = false;

    (void)state;
    assert_true(memory != MAP_FAILED);
    assert_int_equal(pthread_create(&thread, NULL, walk_in_thread, &whole), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(whole);
    assert_true(walked.count < 2 * DEPTH);

    whole = false;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, memory, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, walk_in_thread, &whole), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(whole);
    assert_true(walked.count < 2 * DEPTH);
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
    assert_int_equal(munmap(memory, STACK_BYTES), 0);
}

static __attribute__((noinline)) uint32_t deep_below(void)
{
    char room[2 * 1024 * 1024];
    uint32_t result;

    room[0] = 0;
    __asm__ volatile("" : : "r"(room) : "memory");
    result = descend(0, walk);
    __asm__ volatile("" : "+r"(result) : "r"(room) : "memory");
    return result;
}

static void the_first_stack_may_have_grown_since_the_first_walk(void **state)
{
    (void)state;
    descend_and_walk(1);
    walked.depth = DEPTH;
    (void)deep_below();
    assert_true(is_whole());
}

static ucontext_t outside;

static void walk_in_coroutine(void)
{
    descend_and_walk(DEPTH);
}

static void run_coroutine(void *memory)
{
    ucontext_t inside;

    assert_int_equal(getcontext(&inside), 0);
    inside.uc_stack.ss_sp = memory;
    inside.uc_stack.ss_size = STACK_BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, walk_in_coroutine, 0);
    assert_int_equal(swapcontext(&outside, &inside), 0);
}

/* A thread whose first walk is there has its own stack all the same. */
static void *walk_in_coroutine_first(void *argument)
{
    bool whole;

    run_coroutine(argument);
    if (walked.count == 0 || walked.count > 3) {
        return NULL;
    }
    (void)walk_in_thread(&whole);
    return whole ? argument : NULL;
}

static void of_a_coroutines_stack_only_the_caller_is_known(void **state)
{
    void *memory =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    void *result;

    (void)state;
    assert_true(memory != MAP_FAILED);
    run_coroutine(memory);
    assert_true(walked.count >= 1);
    assert_true(walked.count <= 3);
    assert_int_equal(pthread_create(&thread, NULL, walk_in_coroutine_first, memory), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, memory);
    assert_int_equal(munmap(memory, STACK_BYTES), 0);
}

/* A child's first walk, in the thread that forked. */
static void *walk_in_child(void *argument)
{
    int *status = argument;
    pid_t child;

    etwas_stack_before_fork();
    child = fork();
    if (child == 0) {
        etwas_thread_ids_forget();
        descend_and_walk(DEPTH);
        _exit(is_whole() && walked.count < 2 * DEPTH ? 0 : 1);
    }
    assert_int_equal(waitpid(child, status, 0), child);
    return NULL;
}

static void a_forks_child_goes_on_with_the_stack_of_the_thread_that_forked(void **state)
{
    pthread_t thread;
    int status = -1;

    (void)state;
    (void)walk_in_child(&status);
    assert_int_equal(status, 0);
    assert_int_equal(pthread_create(&thread, NULL, walk_in_child, &status), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(status, 0);
}

/* ---- signals --------------------------------------------------------------------------------- */

static void walk_in_handler(int signal)
{
    (void)signal;
    (void)walk();
}

static __attribute__((noinline)) uint32_t raise_signal(void)
{
    return (uint32_t)raise(SIGUSR1);
}

static void handle_with(int flags)
{
    struct sigaction action = {.sa_handler = walk_in_handler, .sa_flags = flags};

    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    walked.depth = DEPTH;
    walked.count = 0;
    (void)descend(0, raise_signal);
}

static void a_handler_is_followed_to_what_it_interrupted_also_from_its_own_stack(void **state)
{
    stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
    stack_t before;

    (void)state;
#ifdef __SANITIZE_THREAD__
    free(stack.ss_sp);
    print_message("skipped: a sanitizer calls handlers from code without frame pointers\n");
    skip();
#endif
    assert_non_null(stack.ss_sp);
    handle_with(0);
    assert_true(find_levels() != UINT32_MAX);
    assert_int_equal(sigaltstack(&stack, &before), 0);
    handle_with(SA_ONSTACK);
    assert_true(find_levels() != UINT32_MAX);
    assert_int_equal(sigaltstack(&before, NULL), 0);
    free(stack.ss_sp);
}

/* ---- whatever is in the frame pointer -------------------------------------------------------- */

/* Calls a function with this in the register, as code does that has no frame pointers. */
uint32_t call_with_frame_pointer(function call, uintptr_t frame_pointer);

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl call_with_frame_pointer\n"
        ".type call_with_frame_pointer, @function\n"
        "call_with_frame_pointer:\n"
        "    endbr64\n"
        "    push %rbp\n"
        "    mov %rsi, %rbp\n"
        "    call *%rdi\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size call_with_frame_pointer, . - call_with_frame_pointer\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl call_with_frame_pointer\n"
        ".type call_with_frame_pointer, %function\n"
        "call_with_frame_pointer:\n"
        "    hint #34\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    mov x29, x1\n"
        "    blr x0\n"
        "    ldp x29, x30, [sp], #16\n"
        "    ret\n"
        ".size call_with_frame_pointer, . - call_with_frame_pointer\n");
#endif

static void *try_frame_pointers(void *argument)
{
    uintptr_t here = (uintptr_t)&argument & ~(uintptr_t)15;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t tried[] = {0,
                         1,
                         8,
                         here + 4,
                         here,
                         here - 64,
                         here - 16 * page,
                         here & ~(page - 1),
                         UINTPTR_MAX,
                         ~(uintptr_t)7,
                         UINTPTR_MAX / 2 - 7,
                         UINT64_C(1) << 63,
                         UINT64_C(1) << 47};

    for (size_t index = 0; index < sizeof tried / sizeof tried[0]; index++) {
        assert_true(call_with_frame_pointer(walk, tried[index]) >= 1);
    }
    /* Up to where the stack ends, and across it. */
    for (uintptr_t frame = here; frame < here + 64 * page; frame += 64) {
        assert_true(call_with_frame_pointer(walk, frame) >= 1);
    }
    for (uintptr_t above = 64 * page; above < UINT64_C(1) << 46; above *= 2) {
        assert_true(call_with_frame_pointer(walk, here + above) >= 1);
    }
    return argument;
}

static void whatever_is_in_the_frame_pointer_nothing_faults(void **state)
{
    pthread_t thread;

    (void)state;
    (void)try_frame_pointers(NULL);
    assert_int_equal(pthread_create(&thread, NULL, try_frame_pointers, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_has_every_caller_the_innermost_first_and_192_at_most),
        cmocka_unit_test(a_thread_is_followed_to_the_end_of_its_own_stack),
        cmocka_unit_test(the_first_stack_may_have_grown_since_the_first_walk),
        cmocka_unit_test(of_a_coroutines_stack_only_the_caller_is_known),
        cmocka_unit_test(a_forks_child_goes_on_with_the_stack_of_the_thread_that_forked),
        cmocka_unit_test(a_handler_is_followed_to_what_it_interrupted_also_from_its_own_stack),
        cmocka_unit_test(whatever_is_in_the_frame_pointer_nothing_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
