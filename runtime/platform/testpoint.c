/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/testpoint.h"

#ifdef ETWAS_TESTPOINTS

#include <ck_pr.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

bool etwas_invariants_are_broken;
__thread bool etwas_files_are_forbidden;

static void *current_hook;

void etwas_testpoint_set(etwas_testpoint_hook hook)
{
    ck_pr_store_ptr(&current_hook, (void *)(uintptr_t)hook);
}

void etwas_testpoint_reached(enum etwas_testpoint point)
{
    etwas_testpoint_hook hook = (etwas_testpoint_hook)(uintptr_t)ck_pr_load_ptr(&current_hook);

    if (hook != NULL) {
        hook(point);
    }
}

void etwas_invariant_broken(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: broken: %s\n", file, line, condition);
    abort();
}

#endif
