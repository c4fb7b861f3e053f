/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program that does nothing. It is built twice, once linked with the library; startup.c times
 * both.
 */
int main(void)
{
    return 0;
}
