/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What chosen instances were blocked on: the system call, the file or socket, and the thread that
 * ended the wait.
 *
 * Events during a call, or at its end, show what the call works on. So the waits of a thread are
 * pending until its call or operation ends. Only waits that began in it are attributed to its file
 * or socket.
 */

#include "analyse/why/why.h"

#include <string.h>

/* Returns what woke the thread, according to the event. */
static enum etwas_why_waker waker_of(const struct etwas_why *why,
                                     const struct etwas_kernel_event *event, uint32_t *thread)
{
    const struct etwas_schedule_processor *processor;

    *thread = 0;
    if (event == NULL || event->kind != ETWAS_KERNEL_READY) {
        return ETWAS_WHY_WAKER_UNKNOWN;
    }
    if (event->is_in_interrupt) {
        return ETWAS_WHY_WAKER_INTERRUPT;
    }
    processor = &why->schedule.processors[event->processor];
    *thread = event->logger != ETWAS_KERNEL_NOBODY ? event->logger : processor->running;
    if (event->logger == ETWAS_KERNEL_NOBODY && !processor->seen) {
        return ETWAS_WHY_WAKER_UNKNOWN;
    }
    /* An idle processor wakes threads only in interrupts. */
    return *thread != 0 ? ETWAS_WHY_WAKER_THREAD : ETWAS_WHY_WAKER_INTERRUPT;
}

uint32_t etwas_why_number(const struct etwas_why *why, uint32_t thread)
{
    const struct etwas_schedule_thread *found =
        thread != 0 ? etwas_schedule_find(&why->schedule, thread) : NULL;

    return found != NULL ? (uint32_t)(found - why->schedule.threads) : ETWAS_KERNEL_NOBODY;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static bool is_same_text(const char *left, const char *right)
{
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

bool etwas_why_is_same_socket(const struct etwas_kernel_socket *left,
                              const struct etwas_kernel_socket *right)
{
    return left->is_udp == right->is_udp && left->is_ipv6 == right->is_ipv6 &&
           left->local_port == right->local_port && left->remote_port == right->remote_port &&
           memcmp(left->local, right->local, sizeof left->local) == 0 &&
           memcmp(left->remote, right->remote, sizeof left->remote) == 0;
}

static bool is_same_kind(const struct etwas_why_block *left, const struct etwas_why_block *right)
{
    return left->call == right->call && left->waker == right->waker &&
           left->thread == right->thread && left->number == right->number &&
           left->is_fault == right->is_fault && left->has_socket == right->has_socket &&
           etwas_why_is_same_socket(&left->socket, &right->socket) &&
           is_same_text(left->files[0], right->files[0]) &&
           is_same_text(left->files[1], right->files[1]);
}

/* Finds the entry of a kind, or adds it. The last entry collects all further kinds. */
static struct etwas_why_block *block_of(struct etwas_why_chosen *chosen,
                                        const struct etwas_why_block *kind)
{
    struct etwas_why_block *block;

    for (uint32_t i = 0; i < chosen->block_count; i++) {
        block = &chosen->blocks[i];
        if (block->call == ETWAS_WHY_ANY_CALL || is_same_kind(block, kind)) {
            return block;
        }
    }
    block = &chosen->blocks[chosen->block_count++];
    *block = *kind;
    if (chosen->block_count == ETWAS_WHY_BLOCKS) {
        *block = (struct etwas_why_block){.call = ETWAS_WHY_ANY_CALL};
    }
    block->times = 0;
    block->ns = 0;
    block->longest_ns = 0;
    return block;
}

/* ---- pending --------------------------------------------------------------------------------- */

/* Adds a block to another one of its kind. */
static void add_block(struct etwas_why_block *block, const struct etwas_why_block *more)
{
    block->times += more->times;
    block->ns += more->ns;
    if (more->longest_ns >= block->longest_ns) {
        block->longest_ns = more->longest_ns;
        block->frame_count = more->frame_count;
        memcpy(block->frames, more->frames, sizeof block->frames);
        block->stack = more->stack;
    }
}

/* Counts the first `count` pending waits with what is known of them now. */
static void count_pending(struct etwas_why_chosen *chosen, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        add_block(block_of(chosen, &chosen->pending[i].block), &chosen->pending[i].block);
    }
    chosen->pending_count -= count;
    memmove(chosen->pending, chosen->pending + count,
            chosen->pending_count * sizeof *chosen->pending);
}

/*
 * Adds a wait. Waits of one kind in one call are merged. If there is no room, the oldest one is
 * settled.
 */
static void put_pending(struct etwas_why_chosen *chosen, const struct etwas_why_pending *pending,
                        int64_t since_ns)
{
    for (uint32_t i = 0; i < chosen->pending_count; i++) {
        struct etwas_why_pending *other = &chosen->pending[i];

        if (other->from_ns >= since_ns && is_same_kind(&other->block, &pending->block)) {
            add_block(&other->block, &pending->block);
            other->gap_ns = other->gap_ns == pending->gap_ns ? pending->gap_ns : UINT64_MAX;
            return;
        }
    }
    if (chosen->pending_count == ETWAS_WHY_PENDING) {
        count_pending(chosen, 1);
    }
    chosen->pending[chosen->pending_count++] = *pending;
}

void etwas_why_block(struct etwas_why *why, struct etwas_why_chosen *chosen,
                     const struct etwas_schedule_thread *thread, int64_t from_ns, int64_t to_ns,
                     const struct etwas_kernel_event *event)
{
    struct etwas_why_thread *counts =
        etwas_why_thread(why, (uint32_t)(thread - why->schedule.threads));
    uint64_t ns = etwas_kernel_ns(from_ns, to_ns);
    struct etwas_why_pending pending = {
        .block = {.call = ETWAS_WHY_NO_CALL, .times = 1, .ns = ns, .longest_ns = ns},
        .from_ns = from_ns,
        .gap_ns = thread->gap_ns};
    struct etwas_why_block *block = &pending.block;

    block->waker = waker_of(why, event, &block->thread);
    block->number = etwas_why_number(why, block->thread);
    if (chosen->stack_ns == from_ns) {
        block->frame_count = chosen->stack_count;
        memcpy(block->frames, chosen->stack, sizeof block->frames);
        block->stack = chosen->stack_origin;
    }
    if (counts == NULL) {
        return;
    }
    counts->has_pending = true;
    if (counts->call_state.has_call) {
        block->call = (int64_t)(counts->call_state.call & INT64_MAX);
    }
    put_pending(chosen, &pending,
                counts->call_state.is_open ? counts->call_state.since_ns : INT64_MAX);
}

/* ---- files and sockets ----------------------------------------------------------------------- */

static bool is_socket(const char *file)
{
    return strncmp(file, "socket:", sizeof "socket:" - 1) == 0;
}

/* Returns whether the call waits for one of many operations, so that its file is not certain. */
static bool is_on_many(const struct etwas_why *why, const struct etwas_why_call_state *call_state)
{
    char call[ETWAS_WHY_CALL_BYTES];

    return call_state->has_call && etwas_why_call_name(why, (int64_t)call_state->call, call) &&
           strcmp(call, "io_uring_enter") == 0;
}

/*
 * Returns whether the socket was certainly used by the thread. The thread must have run on the
 * processor that used the socket, and no switch may be missing there since.
 */
static bool is_its_socket(const struct etwas_why *why, const struct etwas_why_chosen *chosen,
                          const struct etwas_why_call_state *call_state)
{
    const struct etwas_schedule_thread *thread = &why->schedule.threads[chosen->on];
    const struct etwas_schedule_processor *processor =
        &why->schedule.processors[call_state->socket_processor];
    bool is_elsewhere = thread->processor != call_state->socket_processor;

    return call_state->has_socket && !call_state->has_more_sockets &&
           processor->gap_end_ns <= call_state->socket_ns &&
           !(is_elsewhere && processor->running == thread->thread);
}

/*
 * Stores the names of the files, and the socket. A socket with known ends needs no file name. A
 * name that occurs twice is stored once.
 */
static void name_it(const struct etwas_why *why, const struct etwas_why_chosen *chosen,
                    const struct etwas_why_call_state *call_state, struct etwas_why_block *block)
{
    bool has_socket = is_its_socket(why, chosen, call_state);
    uint32_t count = 0;

    for (uint32_t i = 0; i < call_state->file_count; i++) {
        const char *name =
            etwas_file_names_find(&why->file_names, call_state->input, call_state->files[i]);

        bool is_new = count == 0 || !is_same_text(name, block->files[count - 1]);

        if (name != NULL && is_new && !(has_socket && is_socket(name))) {
            block->files[count++] = name;
        }
    }
    if (has_socket) {
        block->has_socket = true;
        block->socket = call_state->socket;
    }
}

void etwas_why_settle(struct etwas_why *why, struct etwas_why_chosen *chosen,
                      const struct etwas_why_call_state *call_state, bool is_operation)
{
    bool is_known = call_state != NULL && !is_on_many(why, call_state);
    int64_t since_ns = is_known && is_operation ? call_state->operation_since_ns
                       : is_known               ? call_state->since_ns
                                                : 0;

    for (uint32_t i = 0; i < chosen->pending_count && is_known; i++) {
        struct etwas_why_pending *pending = &chosen->pending[i];

        if (!pending->block.is_fault && pending->from_ns >= since_ns &&
            (is_operation || pending->gap_ns == call_state->gap_ns)) {
            name_it(why, chosen, call_state, &pending->block);
        }
    }
    count_pending(chosen, chosen->pending_count);
}

void etwas_why_settle_fault(struct etwas_why *why, struct etwas_why_chosen *chosen, uint32_t input,
                            uint64_t file, int64_t since_ns)
{
    for (uint32_t i = 0; i < chosen->pending_count; i++) {
        struct etwas_why_pending *pending = &chosen->pending[i];

        if (pending->from_ns >= since_ns) {
            pending->block.is_fault = true;
            pending->block.files[0] = etwas_file_names_find(&why->file_names, input, file);
        }
    }
}
