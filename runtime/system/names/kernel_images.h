/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel and its modules as images of process 0: the kernel's code from _text to _etext in
 * /proc/kallsyms, and the modules in /proc/modules. A process that may not see addresses reads
 * zeros there, and finds no images.
 */
#ifndef ETWAS_SYSTEM_NAMES_KERNEL_IMAGES_H
#define ETWAS_SYSTEM_NAMES_KERNEL_IMAGES_H

#include <stdbool.h>

#include "system/names/image_list.h"

typedef void etwas_mapping_callback(void *context, const struct etwas_mapping *mapping);

void etwas_kernel_images(etwas_mapping_callback *each, void *context);

/* Parses a line of kallsyms. False: it is another symbol. */
bool etwas_kernel_parse_symbol(const char *line, const char *name, uint64_t *address);

/* Parses a line of modules, whose memory the path then uses. False: it has no address. */
bool etwas_kernel_parse_module(char *line, struct etwas_mapping *mapping);

#endif
