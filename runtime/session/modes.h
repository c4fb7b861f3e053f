/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which logging modes exist, which exclude each other, and which are built.
 */
#ifndef ETWAS_SESSION_MODES_H
#define ETWAS_SESSION_MODES_H

#include <stdint.h>

/*
 * ERROR_INVALID_PARAMETER: a bit nobody defined, or a combination the page "Logging Mode Constants"
 * forbids. ERROR_NOT_SUPPORTED: a legal mode that is refused here.
 */
uint32_t etwas_modes_check(uint32_t log_file_mode);

#endif
