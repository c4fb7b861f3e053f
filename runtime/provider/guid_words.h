/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A GUID in one register, loaded and stored by one instruction each: between a thread and its signal
 * handlers that is whole or not at all. Between threads it is not; there a generation or a version
 * read before and after tells.
 */
#ifndef ETWAS_PROVIDER_GUID_WORDS_H
#define ETWAS_PROVIDER_GUID_WORDS_H

#include <stdint.h>

typedef uint64_t etwas_guid_words __attribute__((vector_size(16)));

static inline etwas_guid_words etwas_guid_load(const uint64_t words[2])
{
    etwas_guid_words guid;

#if defined(__x86_64__)
    __asm__ volatile("movdqu %1, %0" : "=x"(guid) : "m"(*(const uint64_t(*)[2])words));
#elif defined(__aarch64__)
    __asm__ volatile("ldr %q0, %1" : "=w"(guid) : "Q"(*(const uint64_t(*)[2])words));
#else
#error "etwas needs to know this architecture's loads of 16 bytes"
#endif
    return guid;
}

static inline void etwas_guid_store(uint64_t words[2], etwas_guid_words guid)
{
#if defined(__x86_64__)
    __asm__ volatile("movdqu %1, %0" : "=m"(*(uint64_t(*)[2])words) : "x"(guid));
#else
    __asm__ volatile("str %q1, %0" : "=Q"(*(uint64_t(*)[2])words) : "w"(guid));
#endif
}

#endif
