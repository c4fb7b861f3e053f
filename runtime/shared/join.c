/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shared/join.h"

#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer/pool_join.h"
#include "clock/clock.h"
#include "platform/file.h"
#include "platform/fork.h"
#include "platform/nodes.h"
#include "platform/own_descriptor.h"
#include "platform/rseq.h"
#include "shared/layout.h"
#include "shared/mapping.h"

enum {
    MOST_STRIPE_SHIFT = 6,
    MOST_CAPACITY =
        4 * (ETWAS_POOL_MAXIMUM_BUFFERS + 2), /* an entry may keep twice what it needs */
    BLOCK_BYTES = 512,                        /* unit of st_blocks */
};

/* For a fork's child: the open descriptor of each entry, plus 1; 0: none. */
static int opened[ETWAS_GUEST_SESSIONS];

/* ---- the file -------------------------------------------------------------------------------- */

/*
 * Whether the file is sealed so that it cannot be truncated while it is mapped. Missing space is
 * allocated like other memory.
 */
static bool join_is_sealed(int descriptor)
{
    const int wanted = F_SEAL_SHRINK | F_SEAL_GROW;
    int seals = fcntl(descriptor, F_GET_SEALS);

    return seals >= 0 && (seals & wanted) == wanted;
}

/* Whether the file is in a folder that is private to the user. */
static bool join_is_in_folder(int descriptor, const struct stat *facts)
{
    struct etwas_shared_backing place;

    etwas_shared_backing_read(&place, descriptor);
    return facts->st_nlink != 0 && place.in_memory;
}

static uint32_t join_check_file(int descriptor, uint64_t *bytes)
{
    struct stat facts;

    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return ERROR_INVALID_DATA;
    }
    if (facts.st_uid != geteuid() || (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDWR) {
        return ERROR_ACCESS_DENIED;
    }
    *bytes = (uint64_t)facts.st_size;
    if (join_is_sealed(descriptor)) {
        return ERROR_SUCCESS;
    }
    /* A full file system kills the process that first touches a page without space. */
    *bytes = (uint64_t)facts.st_blocks * BLOCK_BYTES < *bytes
                 ? (uint64_t)facts.st_blocks * BLOCK_BYTES
                 : *bytes;
    return join_is_in_folder(descriptor, &facts) ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

/* ---- the head -------------------------------------------------------------------------------- */

/* Fields that a head of an earlier minor version lacks are 0. */
static uint32_t join_read_head(int descriptor, struct etwas_shared_head *head)
{
    if (etwas_file_read(descriptor, head, sizeof *head, 0) != sizeof *head) {
        return ERROR_INVALID_DATA;
    }
    if (head->head_bytes >= ETWAS_SHARED_HEAD_OF_GATES && head->head_bytes < sizeof *head) {
        memset((uint8_t *)head + head->head_bytes, 0, sizeof *head - head->head_bytes);
    }
    return ERROR_SUCCESS;
}

/* Whether it is the head of a session that this build could join. */
static uint32_t join_check_kind(const struct etwas_shared_head *head)
{
    uint8_t boot_id[sizeof head->boot_id];

    if (memcmp(head->magic, ETWAS_SHARED_MAGIC, sizeof head->magic) != 0) {
        return ERROR_INVALID_DATA;
    }
    if (head->major != ETWAS_SHARED_MAJOR || head->minor < ETWAS_SHARED_MINOR_OF_GATES ||
        head->head_bytes < ETWAS_SHARED_HEAD_OF_GATES) {
        return ERROR_NOT_SUPPORTED;
    }
    if (head->state != ETWAS_SHARED_OPEN) {
        return head->state <= ETWAS_SHARED_CLOSED ? ERROR_WMI_INSTANCE_NOT_FOUND
                                                  : ERROR_INVALID_DATA;
    }
    etwas_shared_boot_id(boot_id);
    if (memcmp(head->boot_id, boot_id, sizeof boot_id) != 0) {
        return ERROR_INVALID_DATA;
    }
    return head->gate != 0 ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED;
}

static bool join_is_clock(uint32_t clock)
{
    return clock == ETWAS_CLOCK_KIND_QPC || clock == ETWAS_CLOCK_KIND_SYSTEM ||
           clock == ETWAS_CLOCK_KIND_TSC;
}

/* Checks the numbers outside the tables. */
static bool join_is_possible(const struct etwas_shared_head *head)
{
    return head->buffer_bytes != 0 && head->buffer_bytes <= ETWAS_ETL_LARGEST_BUFFER_BYTES &&
           head->buffer_bytes % etwas_memory_page_bytes() == 0 && head->minimum_buffers != 0 &&
           head->minimum_buffers <= head->buffers &&
           head->buffers <= head->tables[ETWAS_SHARED_OWNERS].count &&
           head->tables[ETWAS_SHARED_OWNERS].count > etwas_slot_mask(head->buffers) &&
           head->tables[ETWAS_SHARED_OWNERS].count <= MOST_CAPACITY &&
           head->tables[ETWAS_SHARED_CANDIDATES].count != 0 &&
           head->tables[ETWAS_SHARED_CANDIDATES].count <= ETWAS_CLASS_ROWS &&
           head->nodes <= ETWAS_MOST_NODES && head->stripe_shift <= MOST_STRIPE_SHIFT &&
           join_is_clock(head->clock);
}

/* ---- layout of the pool ---------------------------------------------------------------------- */

/* Whether its entries are at this build's place, with this build's layout. */
static bool join_is_at(const struct etwas_shared_head *head, enum etwas_shared_table_name name,
                       uint64_t offset, uint32_t count, uint64_t stride)
{
    const struct etwas_shared_table *table = &head->tables[name];

    return table->offset == offset && table->count == count && table->stride == stride &&
           table->used == stride;
}

static bool join_is_laid_out(const struct etwas_shared_head *head,
                             const struct etwas_pool_outline *outline)
{
    const struct etwas_pool_layout *layout = &outline->layout;
    uint64_t at = outline->block_at;

    return join_is_at(head, ETWAS_SHARED_WORDS, at + layout->words, 1,
                      sizeof(struct etwas_pool_words)) &&
           join_is_at(head, ETWAS_SHARED_SLOTS, at + layout->slots, layout->slot_count,
                      sizeof(struct etwas_slot)) &&
           join_is_at(head, ETWAS_SHARED_OWNERS, at + layout->owners, layout->capacity,
                      sizeof(uint64_t)) &&
           join_is_at(head, ETWAS_SHARED_FREE_SET, at + layout->free_set, 1,
                      layout->buffers - layout->free_set) &&
           join_is_at(head, ETWAS_SHARED_CONTROLS, at + layout->buffers, layout->capacity,
                      sizeof(struct etwas_buffer_control)) &&
           join_is_at(head, ETWAS_SHARED_AGES, at + layout->ages, layout->capacity,
                      sizeof(uint64_t)) &&
           join_is_at(head, ETWAS_SHARED_CANDIDATES, at + layout->candidates, layout->rows,
                      etwas_pool_candidate_bytes(layout) / layout->rows) &&
           join_is_at(head, ETWAS_SHARED_REGION, at + outline->region_at, head->buffers,
                      head->buffer_bytes);
}

/*
 * Checks that the block and the region follow each other inside the file. The tables' offsets are
 * then compared with this build's own, so that nothing depends on their other values.
 */
static uint32_t join_outline_of(const struct etwas_shared_head *head, uint64_t file_bytes,
                                struct etwas_pool_outline *outline)
{
    const struct etwas_shared_table *tables = head->tables;
    uint64_t block_at = tables[ETWAS_SHARED_WORDS].offset;
    uint64_t region_at = tables[ETWAS_SHARED_REGION].offset;
    uint64_t region_bytes = (uint64_t)head->buffers * head->buffer_bytes;
    uint64_t page = etwas_memory_page_bytes();
    uint32_t times;

    if (!join_is_possible(head) || block_at % page != 0 || region_at % page != 0 ||
        region_at > file_bytes || region_bytes > file_bytes - region_at || block_at > region_at) {
        return ERROR_INVALID_DATA;
    }
    times = (head->flags & ETWAS_SHARED_PROCESS_TIMES) != 0 ? ETWAS_KIND_TIMES : 0;
    *outline = (struct etwas_pool_outline){
        .kind = etwas_slot_kind(head->clock, ETWAS_PROTOCOL_RSEQ) | times,
        .extra_kind = etwas_slot_kind(head->clock, ETWAS_PROTOCOL_SHARED) | times,
        .block_at = block_at,
        .bytes = region_at - block_at + region_bytes,
        .region_at = region_at - block_at,
        .layout = etwas_pool_lay_out(tables[ETWAS_SHARED_OWNERS].count,
                                     tables[ETWAS_SHARED_CANDIDATES].count,
                                     tables[ETWAS_SHARED_SLOTS].count),
        .slot_count = head->slot_count,
        .rseq_slots = head->rseq_slots,
        .buffer_bytes = head->buffer_bytes,
        .minimum_buffers = head->minimum_buffers,
        .region_buffers = head->buffers,
        .extra_buffers = head->extra_buffers,
        .nodes = head->nodes,
        .stripe_shift = head->stripe_shift,
        .buffering = (head->flags & ETWAS_SHARED_BUFFERING) != 0,
    };
    if (head->first_slot != 0 || head->rseq_slots != etwas_slot_count ||
        head->slot_count != etwas_slot_count + 1 + ETWAS_GUEST_SLOTS ||
        head->slot_count > outline->layout.slot_count || !join_is_laid_out(head, outline)) {
        return ERROR_NOT_SUPPORTED;
    }
    return outline->layout.bytes <= outline->region_at ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

/* They are checked once. A process that changes them later harms only itself. */
static uint32_t join_check_words(int descriptor, const struct etwas_pool_outline *outline)
{
    struct etwas_pool_words words;

    if (etwas_file_read(descriptor, &words, sizeof words, outline->block_at) != sizeof words ||
        words.maximum_buffers > outline->region_buffers ||
        words.maximum_buffers < outline->minimum_buffers ||
        words.allocated > outline->region_buffers) {
        return ERROR_INVALID_DATA;
    }
    return ERROR_SUCCESS;
}

/* ---- joining and leaving --------------------------------------------------------------------- */

static uint32_t join_attach(int descriptor, uint32_t entry, struct etwas_pool_outline *outline,
                            struct etwas_shared_guest *guest)
{
    bool is_joined;

    /* A fork finds both the pool and its descriptor where its child releases them, or neither. */
    etwas_fork_forbid();
    guest->descriptor = etwas_descriptor_protect(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    outline->descriptor = guest->descriptor;
    is_joined = guest->descriptor >= 0 && etwas_pool_join(entry, outline);
    if (is_joined) {
        opened[entry - ETWAS_SESSION_ENTRIES] = guest->descriptor + 1;
    }
    etwas_fork_allow();
    if (guest->descriptor < 0) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    if (!is_joined) {
        etwas_descriptor_close(guest->descriptor);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    return ERROR_SUCCESS;
}

/*
 * Prepares what writers and leaving will need of the system. If the system refuses sequences, the
 * host's STOP knows that.
 */
static void join_prepare(const struct etwas_pool_outline *outline)
{
    (void)etwas_rseq_prepare();
    if (outline->nodes > 1) {
        (void)etwas_nodes_of_this_machine();
    }
}

uint32_t etwas_shared_join(int descriptor, uint32_t entry, uint32_t guest_slot,
                           struct etwas_shared_guest *guest)
{
    struct etwas_shared_head head;
    struct etwas_pool_outline outline;
    uint64_t file_bytes;
    uint32_t code = guest_slot < ETWAS_GUEST_SLOTS ? join_check_file(descriptor, &file_bytes)
                                                   : ERROR_INVALID_PARAMETER;

    code = code == ERROR_SUCCESS ? join_read_head(descriptor, &head) : code;
    code = code == ERROR_SUCCESS ? join_check_kind(&head) : code;
    code = code == ERROR_SUCCESS ? join_outline_of(&head, file_bytes, &outline) : code;
    code = code == ERROR_SUCCESS ? join_check_words(descriptor, &outline) : code;
    if (code == ERROR_SUCCESS && guest->gate != 0 &&
        (guest->gate != head.gate ||
         memcmp(&guest->session, &head.session, sizeof head.session) != 0)) {
        code = ERROR_INVALID_DATA;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    *guest = (struct etwas_shared_guest){
        .entry = entry,
        .gate = head.gate,
        .clock = head.clock,
        .log_file_mode = head.log_file_mode,
        .session = head.session,
    };
    outline.guest_slot = etwas_slot_count + 1 + guest_slot;
    join_prepare(&outline);
    return join_attach(descriptor, entry, &outline, guest);
}

bool etwas_shared_leave(const struct etwas_shared_guest *guest)
{
    bool has_left;

    etwas_fork_forbid();
    has_left = etwas_pool_leave(guest->entry);
    if (has_left) {
        opened[guest->entry - ETWAS_SESSION_ENTRIES] = 0;
        etwas_descriptor_close(guest->descriptor);
    }
    etwas_fork_allow();
    return has_left;
}

bool etwas_shared_has_ended(const struct etwas_shared_guest *guest)
{
    uint32_t state = ETWAS_SHARED_OPEN;

    if (etwas_descriptor_is_own(guest->descriptor)) {
        (void)etwas_file_read(guest->descriptor, &state, sizeof state,
                              offsetof(struct etwas_shared_head, state));
    }
    return state == ETWAS_SHARED_CLOSED;
}

/* The descriptor was opened anew for this process, so the lock is never its own. */
bool etwas_shared_host_lives(const struct etwas_shared_guest *guest)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(guest->descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void etwas_shared_close_gates(const struct etwas_shared_guest *guest)
{
    etwas_pool_close_gates(guest->entry);
}

void etwas_shared_guests_forget(void)
{
    etwas_guest_pools_forget();
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        if (opened[index] != 0) {
            etwas_descriptor_close(opened[index] - 1);
            opened[index] = 0;
        }
    }
}
