/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The losses that buffer 0 of a file records (etl/own_record.h). */
#ifndef ETWAS_READER_LOSS_LIST_H
#define ETWAS_READER_LOSS_LIST_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include "etl/record.h"

/* Zeroed: empty. */
struct etwas_loss_list {
    etwas_loss *losses; /* the owner frees them */
    uint32_t count;
};

/* Adds the loss of a record, unless its contents are not valid. Returns false without memory. */
bool etwas_loss_list_add(struct etwas_loss_list *list, const struct etwas_record *record);

#endif
