/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Names without regard to case (R10). What is one letter does not depend on the program's locale. */
#ifndef ETWAS_PLATFORM_NAME_CASE_H
#define ETWAS_PLATFORM_NAME_CASE_H

#include <etwas/types.h>
#include <stdbool.h>

/* What a unit of a name has in common with that of the other case. */
etwas_wchar etwas_name_fold(etwas_wchar unit);

/* The unit in upper case; half of a surrogate pair stays. */
etwas_wchar etwas_name_upper(etwas_wchar unit);

/* Two names that are the same. */
bool etwas_names_equal(const etwas_wchar *left, const etwas_wchar *right);

#endif
