/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The class GUID of each group of kernel records. */
#ifndef ETWAS_READER_GROUP_H
#define ETWAS_READER_GROUP_H

#include <stdint.h>

#include <etwas/etwas.h>

/* The class of a kernel record: that of its group, but for image loads. */
const etwas_guid *etwas_class_of_hook(uint8_t group, uint8_t type);

#endif
