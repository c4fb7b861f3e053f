/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An image that fuzz_image begins with: functions that call each other, of which one has the name
 * of a function of C++.
 */
int add(int left, int right);
int of_class(int number) __asm__("_ZN4shop5order4makeEi");

static volatile int sum;

__attribute__((noinline)) static void keep(int number)
{
    sum = sum + number;
}

__attribute__((noinline)) int add(int left, int right)
{
    keep(left);
    return left + right;
}

__attribute__((noinline)) int of_class(int number)
{
    volatile char room[64] = {0};

    room[number & 63] = 1;
    return add(number, room[0]) + 1;
}
