/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Names compared without regard to case (R10), independently of the program's locale. */
#ifndef ETWAS_PLATFORM_NAME_CASE_H
#define ETWAS_PLATFORM_NAME_CASE_H

#include <etwas/types.h>
#include <stdbool.h>

/* The case-folded form of a unit of a name. */
etwas_wchar etwas_name_fold(etwas_wchar unit);

/* The unit in upper case; half of a surrogate pair stays. */
etwas_wchar etwas_name_upper(etwas_wchar unit);

/* Whether two names are equal without regard to case. */
bool etwas_names_equal(const etwas_wchar *left, const etwas_wchar *right);

#endif
