/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Patterns of names: `*` stands for any number of characters, `?` for one, even if it has several
 * bytes in UTF-8.
 */
#ifndef ETWAS_PROVIDER_NAME_PATTERN_H
#define ETWAS_PROVIDER_NAME_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the pattern, which has `bytes` bytes, matches the name, which is terminated. If the
 * pattern changes meanwhile, the result means nothing. `folds`: ASCII letters compare without
 * regard to case. Async-signal-safe.
 */
bool etwas_name_pattern_matches(const char *pattern, uint32_t bytes, const char *name, bool folds);

#endif
