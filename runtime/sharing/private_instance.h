/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Private-session instances: sessions that this process starts by the templates of private
 * sessions, which another process has published for it. An instance is a session like any other,
 * with its own buffers and file. It follows its template until the template has gone: the
 * template's session was stopped, or its host has died.
 *
 * An instance that has ended by itself, or was stopped in this process, is not started again. A
 * start that failed is tried again when the template changes, or when another instance has ended.
 *
 * The table is static. Its lock is held for moments, and no other lock is taken under it. Callers
 * hold no lock of the library except that of a reconcile pass (sharing/reconcile.c), since sessions
 * are started and stopped.
 */
#ifndef ETWAS_SHARING_PRIVATE_INSTANCE_H
#define ETWAS_SHARING_PRIVATE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"
#include "session/configuration.h"

enum {
    ETWAS_PRIVATE_INSTANCES = 64, /* instances of a process at one time */
};

/* Whether there is an instance of the template, or an attempt to start one. */
bool etwas_private_instance_exists(const struct etwas_registry_entry *entry);

/*
 * Starts an instance if there is none, and applies what the entry enables (`registers` as in
 * apply.h). The caller calls the callbacks that become due. Waits for the host until the deadline
 * (CLOCK_MONOTONIC, ns).
 */
void etwas_private_instance_apply(const struct etwas_registry_entry *entry, bool registers,
                                  uint64_t deadline_ns);

/*
 * Flushes, switches files and takes snapshots as often as the template requests, which takes as
 * long as the disk does. One thread at a time calls it.
 */
void etwas_private_instance_write(const struct etwas_registry_entry *entry);

/*
 * Finds the instances whose templates have gone, and marks them as stopping: the caller must call
 * etwas_private_instance_stop for each. Returns their number.
 */
uint32_t etwas_private_instances_expired(uint8_t expired[ETWAS_PRIVATE_INSTANCES]);

/*
 * Stops an instance, and waits for the callbacks of its providers. Any thread may call it;
 * reconciling goes on meanwhile.
 */
void etwas_private_instance_stop(uint32_t index);

/*
 * The first returns whether any thread is stopping an instance. The second waits until none is, or
 * until the deadline.
 */
bool etwas_private_instances_are_stopping(void);
void etwas_private_instances_await_stop(uint64_t deadline_ns);

/* Called around a fork. The child has no instances. */
void etwas_private_instances_before_fork(void);
void etwas_private_instances_after_fork(bool is_child);

/*
 * The template of a private session (registry/session_entry.h): how its host makes it, and how
 * another process makes a configuration from it.
 */

/*
 * Makes the template of a complete configuration, whose file name is absolute. The caller frees it.
 * Returns NULL if there is no memory.
 */
struct etwas_registry_template *etwas_private_template_make(
    const struct etwas_configuration *configuration);

/*
 * Records a ControlTrace other than STOP in the entry's template: the values that new instances
 * begin with, and how often FLUSH and similar operations were requested.
 */
void etwas_private_template_change(struct etwas_registry_entry *entry, uint32_t control_code,
                                   uint32_t flush_timer, const etwas_wchar *file_name);

/* Whether the template's filters include this process. */
bool etwas_private_template_matches(const struct etwas_registry_template *private);

/*
 * Fills a complete configuration for an instance in this process. Errors of
 * etwas_configuration_complete; ERROR_INVALID_PARAMETER: the template, which another process has
 * written, is inconsistent.
 */
uint32_t etwas_private_template_configure(const struct etwas_registry_entry *entry,
                                          struct etwas_configuration *configuration);

#endif
