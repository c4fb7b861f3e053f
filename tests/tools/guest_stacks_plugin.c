/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What guest_stacks_work.c loads. */

void work_in_plugin(void (*log_one)(void));

__attribute__((visibility("default"))) void work_in_plugin(void (*log_one)(void))
{
    log_one();
    __asm__ volatile("" ::: "memory");
}
