/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/library_copy.h"

#include <ck_pr.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The loader gives a unique symbol one address in the process, even across hidden scopes; C has no
 * keyword for it.
 */
extern void *etwas_serving_copy __attribute__((visibility("default")));
__asm__(".pushsection .bss\n"
        ".globl etwas_serving_copy\n"
        ".type etwas_serving_copy, %gnu_unique_object\n"
        ".size etwas_serving_copy, 8\n"
        ".balign 8\n"
        "etwas_serving_copy: .zero 8\n"
        ".popsection");

static const char this_copy;

bool etwas_library_copy_is_second(void)
{
    const void *copy = ck_pr_load_ptr(&etwas_serving_copy);

    return copy != NULL && copy != &this_copy;
}

bool etwas_library_copy_serves(void)
{
    (void)ck_pr_cas_ptr(&etwas_serving_copy, NULL, (void *)(uintptr_t)&this_copy);
    return !etwas_library_copy_is_second();
}
