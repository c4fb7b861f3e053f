/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel and its modules as images, of process 0: the code of the kernel from _text to _etext, as
 * /proc/kallsyms has it, and each module's as /proc/modules has it. Who may not see addresses sees zeros
 * there, and has no images of the kernel.
 */
#ifndef ETWAS_SYSTEM_NAMES_KERNEL_IMAGES_H
#define ETWAS_SYSTEM_NAMES_KERNEL_IMAGES_H

#include <stdbool.h>

#include "system/names/image_list.h"

typedef void etwas_mapping_callback(void *context, const struct etwas_mapping *mapping);

void etwas_kernel_images(etwas_mapping_callback *each, void *context);

/* Of a line of kallsyms: false, it is another symbol. */
bool etwas_kernel_parse_symbol(const char *line, const char *name, uint64_t *address);

/* Of a line of modules; its name becomes the path's memory. False: there is no address. */
bool etwas_kernel_parse_module(char *line, struct etwas_mapping *mapping);

#endif
