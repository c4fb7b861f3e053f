/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/lifecycle.h"

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "etl/utf16.h"
#include "file/log_header.h"
#include "file/session_file.h"
#include "platform/fork.h"
#include "platform/identity.h"
#include "platform/sized_struct.h"
#include "provider/metadata.h"
#include "shared/folder.h"
#include "shared/mapping.h"

enum {
    MEGABYTE = 1 << 20,
};

/*
 * One for the process, guarded by the control lock: a library loaded by dlopen has little room for
 * thread-local data.
 */
static struct etwas_shared_refusal last_refusal;

static void crash_safe_store_refusal(const struct etwas_shared_refusal *refusal)
{
    etwas_control_lock();
    last_refusal = *refusal;
    etwas_control_unlock();
}

static int crash_safe_explain(const struct etwas_shared_refusal *refusal, char *text, size_t room)
{
    unsigned long long bytes = refusal->bytes;

    switch (refusal->code) {
    case ERROR_SUCCESS:
        return snprintf(text, room, "%s", "");
    case ERROR_DISK_FULL:
        return snprintf(text, room,
                        "%s has no room for the %llu MB (%llu bytes) of this session's buffers",
                        refusal->path[0] != 0 ? refusal->path : "memory",
                        (bytes + MEGABYTE - 1) / MEGABYTE, bytes);
    case ERROR_ACCESS_DENIED:
        return snprintf(text, room,
                        "%s is not a folder that is this user's alone (0700, no symbolic link) and "
                        "can be written to",
                        refusal->path);
    case ERROR_PATH_NOT_FOUND:
        return snprintf(text, room, "there is no folder %s", refusal->path);
    case ERROR_ALREADY_EXISTS:
        return snprintf(text, room,
                        "%s holds what a session of the same GUID has left: recover or remove it",
                        refusal->path);
    case ERROR_NO_SYSTEM_RESOURCES:
        return snprintf(text, room, "%s", "no more files can be open, or there is no memory");
    case ERROR_NOT_SUPPORTED:
        if (refusal->path[0] != 0) {
            return snprintf(text, room,
                            "%s is not in memory: other processes do not log into a session whose "
                            "buffers lie there",
                            refusal->path);
        }
        /* fall through */
    default:
        return snprintf(text, room, "the system refuses %llu bytes for it", bytes);
    }
}

size_t etwas_crash_safe_refusal(char *text, size_t room)
{
    int length;

    etwas_control_lock();
    length = crash_safe_explain(&last_refusal, text, room);
    etwas_control_unlock();
    return length > 0 ? (size_t)length : 0;
}

static void set_mapping(struct etwas_session *session, struct etwas_shared_mapping *mapping,
                        struct etwas_shared_mapping *unfinished_mapping)
{
    etwas_control_lock();
    session->mapping = mapping;
    session->unfinished_mapping = unfinished_mapping;
    etwas_control_unlock();
}

/*
 * A fork's child finds the file where it releases it. Forks are permitted while space is allocated,
 * which may take long.
 */
static struct etwas_shared_mapping *make_mapping(struct etwas_session *session,
                                                 const struct etwas_shared_request *request,
                                                 struct etwas_shared_refusal *refusal)
{
    struct etwas_shared_mapping *mapping;

    etwas_fork_forbid();
    mapping = etwas_shared_create(request, refusal);
    if (mapping != NULL && etwas_configuration_is_shared(&session->configuration) &&
        !mapping->place.in_memory) {
        refusal->code = ERROR_NOT_SUPPORTED; /* guests refuse it (shared/join.c) */
        (void)strcpy(refusal->path, mapping->path);
        etwas_shared_close(mapping);
        mapping = NULL;
    }
    set_mapping(session, NULL, mapping);
    etwas_fork_allow();
    if (mapping == NULL) {
        return NULL;
    }
    (void)etwas_shared_give_space(mapping, refusal);
    etwas_fork_forbid();
    if (refusal->code == ERROR_SUCCESS) {
        refusal->code = etwas_shared_map(mapping, request);
    }
    set_mapping(session, refusal->code == ERROR_SUCCESS ? mapping : NULL, NULL);
    if (refusal->code != ERROR_SUCCESS) {
        etwas_shared_close(mapping);
        mapping = NULL;
    }
    etwas_fork_allow();
    return mapping;
}

/*
 * If vm.overcommit_memory is 2 a page may be refused when it is touched, and that kills the
 * process.
 */
static bool is_memory_counted_out(void)
{
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "re");
    int way = file != NULL ? fgetc(file) : EOF;

    if (file != NULL) {
        (void)fclose(file);
    }
    return way == '2';
}

/*
 * A session that is shared by default takes no more memory at the start than an unshared one: the
 * minimum of buffers. It has the same room to raise the maximum into.
 */
static bool crash_safe_allocates_what_it_uses(const struct etwas_configuration *configuration)
{
    return etwas_configuration_is_shared(configuration) && !configuration->sharing_required &&
           configuration->crash_safe == ETWAS_CRASH_SAFE_MEMFD && !is_memory_counted_out();
}

uint32_t etwas_crash_safe_begin(struct etwas_session *session, struct etwas_pool_options *options)
{
    const struct etwas_configuration *configuration = &session->configuration;
    struct etwas_pool_layout block;
    size_t region_bytes;
    struct etwas_shared_request request = {
        .is_linked = configuration->crash_safe == ETWAS_CRASH_SAFE_POOL_FILE,
        .folder = configuration->crash_safe_folder,
        .session = &configuration->guid,
        .block = &block,
        .buffer_bytes = options->buffer_bytes,
    };
    struct etwas_shared_refusal refusal;
    struct etwas_shared_mapping *mapping;
    bool is_sparse;

    if (configuration->crash_safe == 0) {
        return ERROR_SUCCESS;
    }
    is_sparse = crash_safe_allocates_what_it_uses(configuration);
    if (is_sparse || options->buffering) {
        options->capacity = etwas_pool_capacity_of(options);
    }
    if (!etwas_pool_measure(options, &block, &region_bytes)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    request.slots = block.slot_count;
    request.buffers = (uint32_t)(region_bytes / options->buffer_bytes);
    /* A recorder has its minimum (R72), and allocates space when it gets more buffers. */
    request.taken = is_sparse || options->buffering ? options->minimum_buffers : request.buffers;
    if ((options->memory & ETWAS_MEMORY_NODES) != 0) {
        request.stripe_bytes = (uint64_t)options->buffer_bytes << etwas_pool_stripe_shift(options);
    }
    mapping = make_mapping(session, &request, &refusal);
    if (mapping == NULL || configuration->unshared == 0) {
        crash_safe_store_refusal(
            &refusal); /* otherwise the refusal is the reason why the session is not shared */
    }
    if (mapping == NULL) {
        return refusal.code;
    }
    options->file = &mapping->file;
    return ERROR_SUCCESS;
}

void etwas_crash_safe_end(struct etwas_session *session)
{
    struct etwas_shared_mapping *mapping = session->mapping;

    if (mapping != NULL) {
        set_mapping(session, NULL, NULL);
        etwas_shared_close(mapping);
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Writes buffer 0 as a log file begun now would have it. */
static void crash_safe_write_first(const struct etwas_session *session)
{
    static const etwas_wchar no_name[1];
    struct etwas_shared_head *head = session->mapping->head;
    struct etwas_log_file_options options = etwas_session_log_options(session);
    struct etwas_log_header header;

    options.file_name = session->entry.file_name[0] != 0 ? session->entry.file_name : no_name;
    /* The names are at most as long as the configuration permits, so they fit. */
    if (etwas_log_header_build(&header, &options) == ERROR_SUCCESS) {
        if (header.bytes <= session->mapping->tables[ETWAS_SHARED_FIRST].stride) {
            memcpy(etwas_shared_table(session->mapping, ETWAS_SHARED_FIRST), header.content,
                   header.bytes);
            head->first_bytes = header.bytes;
        }
        etwas_log_header_free(&header);
    }
}

/*
 * Together these identify one process: after another boot the same number means another process.
 */
static void crash_safe_write_identity(struct etwas_shared_head *head)
{
    struct etwas_identity identity;

    etwas_identity_read(&identity);
    head->process_id = (uint32_t)getpid();
    head->process_start = identity.start_key;
    etwas_shared_boot_id(head->boot_id);
}

static void crash_safe_write_name(struct etwas_shared_head *head, const etwas_wchar *name)
{
    size_t bytes;

    (void)etwas_utf16_to_utf8(name, etwas_utf16_length(name, ETWAS_NAME_UNITS), head->name,
                              sizeof head->name, &bytes);
}

void etwas_crash_safe_open(struct etwas_session *session)
{
    const struct etwas_configuration *configuration = &session->configuration;
    const struct etwas_pool *pool = session->buffers.pool;
    struct etwas_shared_head *head;

    if (session->mapping == NULL) {
        return;
    }
    head = session->mapping->head;
    head->session = configuration->guid;
    head->logger_id = session->index + 1;
    head->log_file_mode = configuration->log_file_mode;
    head->clock = configuration->clock;
    head->flags = (pool->buffering ? ETWAS_SHARED_BUFFERING : 0) |
                  (configuration->process_times ? ETWAS_SHARED_PROCESS_TIMES : 0);
    head->processors = etwas_session_log_options(session).processors;
    head->buffer_bytes = pool->buffer_bytes;
    head->buffers = pool->region_buffers;
    head->first_slot = pool->first_slot;
    head->slot_count = pool->slot_count;
    head->rseq_slots = pool->rseq_slots;
    head->started = session->started;
    if (etwas_configuration_is_shared(configuration)) {
        head->minimum_buffers = pool->minimum_buffers;
        head->extra_buffers = pool->extra_buffers;
        head->nodes = pool->nodes;
        head->stripe_shift = pool->stripe_shift;
        head->gate = etwas_session_gate(session);
    }
    etwas_shared_set_address(head, ETWAS_SHARED_WORDS, pool->words);
    etwas_shared_set_address(head, ETWAS_SHARED_SLOTS, pool->slots);
    etwas_shared_set_address(head, ETWAS_SHARED_OWNERS, pool->owners);
    etwas_shared_set_address(head, ETWAS_SHARED_FREE_SET, pool->free_set);
    etwas_shared_set_address(head, ETWAS_SHARED_CONTROLS, pool->buffers);
    etwas_shared_set_address(head, ETWAS_SHARED_REGION, pool->memory.region);
    crash_safe_write_identity(head);
    crash_safe_write_name(head, configuration->name);
    crash_safe_write_first(session);
    etwas_control_lock();
    etwas_crash_safe_write_descriptions(session);
    etwas_shared_open(session->mapping);
    etwas_control_unlock();
}

uint32_t etwas_crash_safe_path(etwas_trace_handle handle, char *text, size_t room)
{
    uint32_t code = ERROR_INVALID_HANDLE;
    const struct etwas_session *session;

    if (text == NULL || room == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_control_lock();
    session = etwas_session_find_handle(handle);
    if (session != NULL && session->mapping == NULL) {
        code = ERROR_NOT_FOUND;
    } else if (session != NULL) {
        const struct etwas_shared_mapping *mapping = session->mapping;

        if (mapping->is_linked) {
            (void)snprintf(text, room, "%s", mapping->path);
        } else {
            (void)snprintf(text, room, "/proc/%d/fd/%d", (int)getpid(), mapping->file.descriptor);
        }
        code = ERROR_SUCCESS;
    }
    etwas_control_unlock();
    return code;
}

static void crash_safe_store_backing(const struct etwas_shared_mapping *mapping,
                                     etwas_crash_safe_place *known)
{
    const struct etwas_shared_backing *place = &mapping->place;

    *known = (etwas_crash_safe_place){
        .in_memory = place->in_memory,
        .bytes = mapping->total_bytes,
        .touches = ck_pr_load_64(&place->touches),
        .touch_ns = ck_pr_load_64(&place->touch_ns),
        .longest_touch_ns = ck_pr_load_64(&place->longest_touch_ns),
        .slow_touches = ck_pr_load_64(&place->slow_touches),
    };
    etwas_shared_backing_name(place->magic, known->file_system);
    if (!place->in_memory &&
        !etwas_shared_backing_clean(mapping->file.descriptor, &known->clean_bytes,
                                    &known->writing_bytes)) {
        known->clean_bytes = UINT64_MAX;
        known->writing_bytes = UINT64_MAX;
    }
}

uint32_t etwas_crash_safe_query_place_sized(etwas_trace_handle handle,
                                            etwas_crash_safe_place *place, size_t place_bytes)
{
    etwas_crash_safe_place known;
    struct etwas_held_session held;
    uint32_t code =
        place != NULL ? etwas_session_hold(handle, &held) : (uint32_t)ERROR_INVALID_PARAMETER;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (held.session->buffers.pool == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else if (held.session->mapping == NULL) {
        code = ERROR_NOT_FOUND;
    } else {
        /*
         * The mapping stays while the session is held, also while the kernel examines a file of
         * many pages.
         */
        crash_safe_store_backing(held.session->mapping, &known);
    }
    etwas_session_release(&held);
    if (code == ERROR_SUCCESS) {
        etwas_sized_write(place, place_bytes, &known, sizeof known);
    }
    return code;
}

uint32_t etwas_crash_safe_folder(uint32_t index, char *text, size_t room)
{
    char path[ETWAS_FOLDER_BYTES];

    if (text == NULL || room == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_listed_folders_name(index, path)) {
        return ERROR_NOT_FOUND;
    }
    (void)snprintf(text, room, "%s", path);
    return ERROR_SUCCESS;
}
