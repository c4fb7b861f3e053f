/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Places that CTest hands to a test in its environment (tests/CMakeLists.txt). They are not
 * compiled in, so that a test's program is the same in every clone, and a compiler's cache and a
 * stamp hold.
 */
#ifndef ETWAS_TESTS_SUPPORT_PLACES_H
#define ETWAS_TESTS_SUPPORT_PLACES_H

#include <stdlib.h>

/* A shell's words that run the independent reader of traces (tests/walker). */
#define WALKER "\"$ETWAS_TEST_PYTHON\" -ES \"$ETWAS_TEST_WALKER\""

/* What the environment says, or a name that is not there. */
static inline const char *place_of(const char *variable)
{
    const char *folder = getenv(variable);

    return folder != NULL ? folder : "/nonexistent";
}

/* The folder beside the repository, where real traces of Windows may be. */
static inline const char *shared_folder(void)
{
    return place_of("ETWAS_SHARED_DIR");
}

/* The folder of our own files with the layouts of Windows (tests/data). */
static inline const char *data_folder(void)
{
    return place_of("ETWAS_TEST_DATA");
}

#endif
