/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How long a thread has waited for processors is only in /proc. It waits only while it is switched
 * off them, and the kernel counts each switch, so the file is read once a switch. A thread keeps it
 * open from its first START or END until it ends, because opening costs several times that. The
 * number of kept files is bounded. If there is no slot for another, or the thread is about to end,
 * the file is opened each time. A program may close descriptors that are not its own, and then have
 * another file with that number. So a descriptor is checked before it is closed.
 */
#include "provider/counted_class.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "platform/processor.h"
#include "platform/thread.h"

enum {
    KEPT_FILES = 256,
    KEEPS_NONE = -1,
    TEXT_BYTES = 80, /* three numbers of 64 bits */
    KEYS_WITHOUT_ALLOCATION = 32,
};

/* The states of a slot's descriptor; a slot that is being claimed has none yet. */
enum {
    SLOT_FREE,
    SLOT_CLAIMED,
    FIRST_DESCRIPTOR, /* descriptor 0; others follow */
};

/* Identifies the file that was kept. Read by its own thread and by a fork's child. */
static struct kept_file {
    uint32_t descriptor;
    uint64_t device;
    uint64_t inode;
} kept[KEPT_FILES];

static pthread_key_t ending; /* the destructor of this key is called when a thread ends */
static bool has_ending_key;

/* The thread's last reading of the file. */
static _Thread_local struct {
    uint64_t switches; /* a kept number; 0: there is no reading */
    uint64_t wait_ns;
} waited;

/* The thread's slot, from 1; 0: it has not tried to get one yet; KEEPS_NONE: it has none. */
static _Thread_local int own_slot;

/* ---- the file -------------------------------------------------------------------------------- */

/* A system call, because the functions of the C library are cancellation points. */
static void close_file(int file)
{
    (void)syscall(SYS_close, file);
}

static int descriptor_of(const struct kept_file *slot)
{
    return (int)(ck_pr_load_32(&slot->descriptor) - FIRST_DESCRIPTOR);
}

/* Closes the file, unless the program has closed it or has another file with that number. */
static void close_kept(const struct kept_file *slot)
{
    int file = descriptor_of(slot);
    struct stat status;

    if (fstat(file, &status) == 0 && status.st_dev == ck_pr_load_64(&slot->device) &&
        status.st_ino == ck_pr_load_64(&slot->inode)) {
        close_file(file);
    }
}

static void end_thread(void *slot)
{
    int own = own_slot;

    (void)slot;
    own_slot = KEEPS_NONE;
    /* From here on a signal handler opens a file of its own. */
    atomic_signal_fence(memory_order_seq_cst);
    if (own > 0) {
        close_kept(&kept[own - 1]);
        /* Pairs with keep_file of another thread, which may use the slot then. */
        ck_pr_fence_release();
        ck_pr_store_32(&kept[own - 1].descriptor, SLOT_FREE);
    }
}

/* Returns false if the slot belongs to another thread. */
static bool claim_file(struct kept_file *slot, int file, const struct stat *status)
{
    if (ck_pr_load_32(&slot->descriptor) != SLOT_FREE ||
        !ck_pr_cas_32(&slot->descriptor, SLOT_FREE, SLOT_CLAIMED)) {
        return false;
    }
    ck_pr_store_64(&slot->device, status->st_dev);
    ck_pr_store_64(&slot->inode, status->st_ino);
    /* A fork's child that finds the descriptor also finds which file it is. */
    ck_pr_fence_store();
    ck_pr_store_32(&slot->descriptor, (uint32_t)file + FIRST_DESCRIPTOR);
    return true;
}

/*
 * Returns false if the file is not kept. A signal handler that interrupts this finds that the
 * thread keeps none. The C library has room in each thread for a process's first keys. It would
 * allocate memory for others, so nothing is kept then.
 */
static bool keep_file(int file)
{
    struct stat status;

    if (own_slot != 0 || !has_ending_key || fstat(file, &status) != 0) {
        return false;
    }
    own_slot = KEEPS_NONE;
    for (int slot = 0; slot < KEPT_FILES; slot++) {
        if (claim_file(&kept[slot], file, &status)) {
            own_slot = slot + 1;
            (void)pthread_setspecific(ending, &own_slot);
            return true;
        }
    }
    return false;
}

/* Reads the file into `text`, and terminates it. Empty: it cannot be read. */
static void read_file(char text[TEXT_BYTES + 1])
{
    bool is_kept = own_slot > 0;
    int file = is_kept ? descriptor_of(&kept[own_slot - 1])
                       : (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat",
                                      O_RDONLY | O_CLOEXEC);
    long bytes = file >= 0 ? syscall(SYS_pread64, file, text, (size_t)TEXT_BYTES, (off_t)0) : 0;

    text[bytes > 0 ? bytes : 0] = '\0';
    if (file >= 0 && !is_kept && !keep_file(file)) {
        close_file(file);
    }
}

/* ---- the counters ---------------------------------------------------------------------------- */

/* Parses a number and the character after it. Returns false if one of them is missing. */
static bool parse_number(const char **text, uint64_t *number)
{
    const char *from = *text;

    *number = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        *number = *number * 10 + (uint64_t)(**text - '0');
    }
    return *text != from && *(*text)++ != '\0';
}

/* A thread that runs has had a processor, so a count of 0 means that the kernel does not count. */
static bool read_wait_anew(uint64_t *wait_ns)
{
    char text[TEXT_BYTES + 1];
    const char *at = text;
    uint64_t numbers[3];

    read_file(text);
    for (size_t index = 0; index < 3; index++) {
        if (!parse_number(&at, &numbers[index])) {
            return false;
        }
    }
    *wait_ns = numbers[1];
    return numbers[2] != 0;
}

/*
 * `before` is waited.switches before the switches were counted. A handler in between may have made
 * a reading, which is then kept, or a fork, whose child keeps none of its parent's.
 */
static bool read_wait(uint64_t before, uint64_t switches, uint64_t *wait_ns)
{
    const uint64_t before_ns = ck_pr_load_64(&waited.wait_ns);

    if (switches != 0 && etwas_kept_number(before) == switches) {
        *wait_ns = before_ns;
        return true;
    }
    if (!read_wait_anew(wait_ns)) {
        return false;
    }
    (void)ck_pr_cas_64(&waited.wait_ns, before_ns, *wait_ns);
    etwas_kept_replace(&waited.switches, before, switches);
    return true;
}

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

/* The clock comes first: reading it updates what the others return. */
static void read_counters(struct etwas_etl_counters *counters)
{
    const uint64_t before = ck_pr_load_64(&waited.switches);
    struct timespec ran;
    struct rusage usage;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) == 0) {
        counters->known |= ETWAS_ETL_COUNTERS_RAN;
        counters->run_ns = (uint64_t)ran.tv_sec * 1000000000 + (uint64_t)ran.tv_nsec;
    }
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        counters->known |= ETWAS_ETL_COUNTERS_USED;
        counters->user_us = microseconds(&usage.ru_utime);
        counters->kernel_us = microseconds(&usage.ru_stime);
        counters->voluntary_switches = (uint64_t)usage.ru_nvcsw;
        counters->involuntary_switches = (uint64_t)usage.ru_nivcsw;
        counters->minor_faults = (uint64_t)usage.ru_minflt;
        counters->major_faults = (uint64_t)usage.ru_majflt;
    }
    if (read_wait(before, counters->voluntary_switches + counters->involuntary_switches,
                  &counters->wait_ns)) {
        counters->known |= ETWAS_ETL_COUNTERS_WAITED;
    }
    counters->processor = etwas_processor_current();
}

/* ---- the record ------------------------------------------------------------------------------ */

/* Returns false if the event belongs to no instance or activity. */
static bool find_instance(struct etwas_etl_counters *counters,
                          const struct etwas_unstamped_record *record)
{
    static const etwas_guid none;

    if (etwas_record_is_event(record)) {
        counters->guid = record->event->provider_id;
        counters->activity = record->event->activity_id;
        counters->type = record->event->opcode;
        return memcmp(&counters->activity, &none, sizeof none) != 0;
    }
    counters->guid = record->header->full.guid;
    counters->instance = record->header->instance_id;
    counters->type = record->header->full.type;
    return true;
}

static void log_counters(uint32_t session, uint32_t generation, struct etwas_etl_counters *counters)
{
    const struct etwas_thread_ids ids = etwas_thread_ids();
    struct etwas_etl_instance_header header = {
        .full.header_type = ETWAS_ETL_FULL_HEADER64,
        .full.marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .full.size = sizeof header.full + sizeof *counters,
        .full.type = ETWAS_ETL_COUNTERS_TYPE,
        .full.version = ETWAS_ETL_COUNTERS_VERSION,
        .full.thread_id = ids.thread_id,
        .full.process_id = ids.process_id,
        .full.guid = etwas_etl_own_class,
    };
    const MOF_FIELD field = {.DataPtr = (uint64_t)(uintptr_t)counters, .Length = sizeof *counters};
    const struct etwas_unstamped_record record = {
        .header = &header,
        .header_bytes = sizeof header.full,
        .bytes = header.full.size,
        .fields = &field,
        .field_count = 1,
    };
    int error = errno;

    read_counters(counters);
    errno = error;
    /* if it is lost, the session counts it */
    (void)etwas_publish(session, generation, record.bytes, &record);
}

static void log_if(uint32_t session, uint32_t generation, uint8_t type,
                   const struct etwas_unstamped_record *record)
{
    struct etwas_etl_counters counters = {.version = ETWAS_ETL_COUNTERS_VERSION};

    if (find_instance(&counters, record) && counters.type == type) {
        log_counters(session, generation, &counters);
    }
}

/* Publishes a record with its counters: after a START, before an END. A refused event has none. */
static uint32_t publish(uint32_t session, uint32_t generation, uint32_t given_bytes,
                        const struct etwas_unstamped_record *record)
{
    uint32_t code;

    if (etwas_publish_check(session, generation, given_bytes, record) == ERROR_SUCCESS) {
        log_if(session, generation, EVENT_TRACE_TYPE_END, record);
    }
    code = etwas_publish(session, generation, given_bytes, record);
    if (code == ERROR_SUCCESS) {
        log_if(session, generation, EVENT_TRACE_TYPE_START, record);
    }
    return code;
}

/* ---- for the process ------------------------------------------------------------------------- */

static void prepare(void)
{
    static const struct etwas_counter_hooks counting = {
        publish, log_if, etwas_counted_classes_change, etwas_counted_classes_find};

    has_ending_key =
        pthread_key_create(&ending, end_thread) == 0 && ending < KEYS_WITHOUT_ALLOCATION;
    ck_pr_store_ptr(&etwas_counter_hooks, (void *)(uintptr_t)&counting);
}

void etwas_thread_counters_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, prepare);
}

/* A file that another thread has opened, but has not kept yet, stays open in the child. */
void etwas_thread_counters_forget(void)
{
    for (int slot = 0; slot < KEPT_FILES; slot++) {
        if (kept[slot].descriptor >= FIRST_DESCRIPTOR) {
            close_kept(&kept[slot]);
        }
        kept[slot].descriptor = SLOT_FREE;
    }
    own_slot = 0;
    etwas_kept_forget(&waited.switches);
}
