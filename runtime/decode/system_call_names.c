/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system calls of this machine, by number: runtime/CMakeLists.txt takes their names from the
 * kernel's header, and here they become a map's text, before those of the calls of 32-bit programs.
 */
#include <asm/unistd.h>

#include "decode/builtin.h"

#define NUMBER_TEXT(number) #number
#define NUMBER(name) NUMBER_TEXT(name)
#define SYSTEM_CALL(name) NUMBER(__NR_##name) " " #name ", "

/* C guarantees 4,095 characters; actual compilers accept more. */
#pragma GCC diagnostic ignored "-Woverlength-strings"
const char etwas_system_call_names[] =
#include "system_call_names.h"
    ;
