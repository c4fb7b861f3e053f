/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The words of a va_list, one after the other, whatever they are: pointers and sizes. On x86-64 the
 * position of the next one is in registers, and not, as with va_arg, in memory, where each step
 * waits for the store of the step before it.
 */
#ifndef ETWAS_PLATFORM_VA_WORDS_H
#define ETWAS_PLATFORM_VA_WORDS_H

#include <stdarg.h>
#include <stdint.h>

#if defined(__x86_64__)
struct etwas_va_words {
    const uint64_t *next;
    const uint64_t *saved_end; /* end of those passed in registers; then `next` is past it */
    const uint64_t *others;
};

static inline struct etwas_va_words etwas_va_words_of(va_list given)
{
    enum {
        SAVED_BYTES = 48 /* of six general registers: the System V ABI */
    };
    const char *saved;

    /* The compiler saves the registers of a list that is seen outside. */
    __asm__("" : "+r"(given));
    saved = given->reg_save_area;
    return (struct etwas_va_words){(const uint64_t *)(const void *)(saved + given->gp_offset),
                                   (const uint64_t *)(const void *)(saved + SAVED_BYTES),
                                   given->overflow_arg_area};
}

static inline uint64_t etwas_va_next_word(struct etwas_va_words *words)
{
    return words->next < words->saved_end ? *words->next++ : *words->others++;
}
#else
struct etwas_va_words {
    va_list *given;
};

#define etwas_va_words_of(given) ((struct etwas_va_words){&(given)})

static inline uint64_t etwas_va_next_word(struct etwas_va_words *words)
{
    return va_arg(*words->given, uint64_t);
}
#endif

#endif
