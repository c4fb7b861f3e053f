/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The classes of kernel records, whose headers have a group and a type instead of a GUID. */
#ifndef ETWAS_ETL_KERNEL_CLASS_H
#define ETWAS_ETL_KERNEL_CLASS_H

#include <etwas/types.h>
#include <stdint.h>

/*
 * Returns the class of a kernel record: that of its group, except for image loads. All 0: an
 * unknown group.
 */
const etwas_guid *etwas_class_of_hook(uint8_t group, uint8_t type);

#endif
