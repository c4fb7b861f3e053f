/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What guests say of their events (DESCRIBE): it goes where this process's own descriptions go. */
#ifndef ETWAS_CONTROL_HOST_DESCRIPTIONS_H
#define ETWAS_CONTROL_HOST_DESCRIPTIONS_H

#include <stdint.h>

/*
 * A subject of description.h, and its records. Taken if it could be of this library: whole records of the class of event
 * metadata; what they say is read by who reads the file. Else, and without memory, it is left out.
 */
void etwas_host_take_description(const void *body, uint32_t bytes);

#endif
