/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program whose call stacks and leaks are known: heap_test.py has the table of them. Built in
 * several ways: with frame pointers, without, stripped, without call frame information.
 *
 * usage: stacks LIBRARY OTHER_LIBRARY
 */

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE_BYTES = 4096
};

#define APART __attribute__((noinline))

/* Keeps what is allocated, and keeps the call from being the last thing of its function. */
static void *volatile kept;

APART void *allocate(size_t bytes)
{
    void *address = malloc(bytes);

    kept = address;
    return address;
}

/* Ten blocks of 100 bytes, of which three stay. */
APART void leak(void)
{
    for (int i = 0; i < 10; i++) {
        void *address = allocate(100);

        if (i >= 3) {
            free(address);
        }
    }
    kept = NULL;
}

/* 10, 20, 30 and 40 bytes, each in the place of the one before. */
APART void grow(void)
{
    void *address = NULL;

    for (size_t bytes = 10; bytes <= 40; bytes += 10) {
        address = realloc(address, bytes);
    }
    kept = address;
}

APART void deep(int depth)
{
    if (depth > 1) {
        deep(depth - 1);
    } else {
        (void)allocate(201);
    }
    kept = NULL;
}

/* Its frame is found by an expression: the stack is aligned for it. */
APART void aligned_frame(void)
{
    alignas(256) volatile char local[256];

    local[0] = 1;
    (void)allocate(302 + (size_t)local[0] - 1);
    kept = NULL;
}

/* Its frame has no fixed size. */
APART void dynamic_frame(size_t bytes)
{
    volatile char local[bytes];

    local[0] = 1;
    (void)allocate(403 + (size_t)local[0] - 1);
    kept = NULL;
}

/* Larger than what is asked for at a time. */
APART void large_frame(void)
{
    volatile char local[1 << 20];

    local[0] = 1;
    (void)allocate(504 + (size_t)local[0] - 1);
    kept = NULL;
}

APART void on_signal(int number)
{
    (void)allocate(600 + (size_t)number);
    kept = NULL;
}

APART void interrupted(int number)
{
    (void)raise(number);
    kept = NULL;
}

/* SIGUSR1 on the stack that is interrupted, SIGUSR2 on another one. */
APART void take_signals(void)
{
    static char other_stack[65536];
    const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    struct sigaction action = {.sa_handler = on_signal};

    (void)sigaltstack(&stack, NULL);
    (void)sigaction(SIGUSR1, &action, NULL);
    action.sa_flags = SA_ONSTACK;
    (void)sigaction(SIGUSR2, &action, NULL);
    interrupted(SIGUSR1);
    interrupted(SIGUSR2);
    kept = NULL;
}

APART void *in_thread(void *argument)
{
    (void)allocate(705);
    kept = NULL;
    return argument;
}

APART void take_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, in_thread, NULL) != 0) {
        abort();
    }
    (void)pthread_join(thread, NULL);
}

#if defined(__x86_64__)

/* Calls malloc(bytes) with a frame pointer that is none, and without call frame information. */
void *wild_pointer(size_t bytes, uintptr_t pointer);
__asm__(".pushsection .text\n"
        ".type wild_pointer, @function\n"
        "wild_pointer: push %rbp\n"
        "mov %rsi, %rbp\n"
        "call malloc@PLT\n"
        "pop %rbp\n"
        "ret\n"
        ".popsection\n");

/*
 * A thread's stack lies below what was mapped before it: `argument`, a page, and one that cannot be
 * read.
 */
APART void *in_wild_thread(void *argument)
{
    uintptr_t page = (uintptr_t)argument;
    const uintptr_t pointers[] = {0,
                                  8,
                                  page + 1,
                                  page + PAGE_BYTES,
                                  page + PAGE_BYTES - 8,
                                  UINTPTR_MAX - 7,
                                  UINTPTR_MAX / 2 + 1,
                                  (uintptr_t)1 << 46};

    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        kept = wild_pointer(900, pointers[i]);
    }
    return NULL;
}

APART void take_wild_pointers(void)
{
    void *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;

    if (pages == MAP_FAILED || mprotect((char *)pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE) != 0 ||
        pthread_create(&thread, NULL, in_wild_thread, pages) != 0) {
        abort();
    }
    (void)pthread_join(thread, NULL);
}

#else

APART void take_wild_pointers(void)
{
}

#endif

/* Opened, called, closed; the next one may come to the same place. */
APART void call_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library != NULL ? dlsym(library, "library_allocate") : NULL;
    void *(*function)(size_t bytes);

    if (symbol == NULL) {
        abort();
    }
    memcpy(&function, &symbol, sizeof symbol);
    (void)function(806);
    (void)dlclose(library);
}

int main(int count, char *words[])
{
    if (count != 3) {
        return 2;
    }
    leak();
    grow();
    deep(20);
    aligned_frame();
    dynamic_frame((size_t)count * 1000);
    large_frame();
    take_signals();
    take_thread();
    take_wild_pointers();
    call_library(words[1]);
    call_library(words[2]);
    return 0;
}
