/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The smallest program that uses an installed etwas. */

#include <etwas/etwas.h>
#include <stdio.h>

int main(void)
{
    return puts(etwas_version()) < 0;
}
