/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Places that CTest hands to a test in its environment (tests/CMakeLists.txt). They are not compiled
 * in, so that a test's program is the same in every clone, and a compiler's cache and a stamp hold.
 */
#ifndef ETWAS_TESTS_SUPPORT_PLACES_H
#define ETWAS_TESTS_SUPPORT_PLACES_H

#include <stdlib.h>

/* A shell's words that run the independent reader of traces (tests/walker). */
#define WALKER "\"$ETWAS_TEST_PYTHON\" -ES \"$ETWAS_TEST_WALKER\""

/* The folder of the Windows traces; where there is none, a name that is not there. */
static inline const char *shared_folder(void)
{
    const char *folder = getenv("ETWAS_SHARED_DIR");

    return folder != NULL ? folder : "/nonexistent";
}

#endif
