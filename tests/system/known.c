/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/known.h"

/* The linker's names for the ends of the section that the functions are in. */
extern const char __start_etwas_known[];
extern const char __stop_etwas_known[];

#define KNOWN __attribute__((noinline, section("etwas_known")))

KNOWN void call_from_known(void (*action)(void *argument), void *argument)
{
    action(argument);
    __asm__ volatile("" ::: "memory"); /* it comes back here */
}

KNOWN void touch_in_known(volatile uint8_t *memory, size_t pages, size_t page_bytes)
{
    for (size_t page = 0; page < pages; page++) {
        (void)memory[page * page_bytes];
    }
}

bool is_in_known(uint64_t address)
{
    return address >= (uintptr_t)__start_etwas_known && address < (uintptr_t)__stop_etwas_known;
}
