/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "session/configuration.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "clock/clock.h"
#include "clock/clock_reading.h"
#include "clock/trust.h"
#include "etl/own_record.h"
#include "etl/utf16.h"
#include "platform/memory.h"
#include "platform/processor.h"
#include "platform/rseq.h"
#include "session/file_name.h"

enum {
    DEFAULT_BUFFER_KB = 64,
    LARGEST_BUFFER_KB = 16384,
    DEFAULT_POOL_KB = 64 * 1024,
    BUFFERS_A_SLOT = 2,
    BUFFERS_A_ROWS_SLOT = 3, /* the current one, an earlier one not closed yet, the next */
    MOST_PERCENT = 100,
    BUFFERS_ABOVE_MINIMUM = 22,
    BYTES_A_KB = 1024,
    LEAST_CIRCULAR_BUFFERS = 3,      /* the header, and two that replace each other */
    LEAST_FILE_BUFFERS = 2,          /* the header, and one of events */
    LONGEST_SUFFIXES_UNITS = 2 * 11, /* a serial number and `_` with a process id */
    DEFAULT_REALTIME_KB = 64 * 1024,
    NS_A_MILLISECOND = 1000000,
    NS_A_SECOND = 1000000000,
};

static bool guid_is_zero(const etwas_guid *guid)
{
    static const etwas_guid zero;

    return memcmp(guid, &zero, sizeof zero) == 0;
}

/* R40: a session without a GUID gets a new one: random, version 4. */
static void make_guid(etwas_guid *guid)
{
    if (getrandom(guid, sizeof *guid, GRND_NONBLOCK) != (ssize_t)sizeof *guid) {
        struct etwas_clock_reading now = etwas_clock_read_together();

        /* Early in boot there is no randomness yet. Two clocks are unique enough. */
        memcpy(guid, &now.tsc, sizeof now.tsc);
        memcpy(guid->Data4, &now.filetime, sizeof guid->Data4);
    }
    guid->Data3 = (uint16_t)((guid->Data3 & 0x0FFF) | 0x4000);
    guid->Data4[0] = (uint8_t)((guid->Data4[0] & 0x3F) | 0x80);
}

/* Returns the bytes that buffer 0 needs for the session's name and a file name of this length. */
static uint32_t file_header_bytes(const struct etwas_configuration *configuration,
                                  size_t file_units)
{
    return etwas_etl_header_buffer_bytes(etwas_utf16_length(configuration->name, ETWAS_NAME_UNITS),
                                         file_units);
}

bool etwas_configuration_has_room_for(const struct etwas_configuration *configuration,
                                      const etwas_wchar *file_name)
{
    return file_header_bytes(configuration, etwas_utf16_length(file_name, ETWAS_NAME_UNITS)) <=
           configuration->buffer_size_kb * BYTES_A_KB;
}

/* Returns the same in KB, with room for every suffix that the file name may get. */
static uint32_t file_header_kb(const struct etwas_configuration *configuration)
{
    size_t units = etwas_utf16_length(configuration->file_name, ETWAS_NAME_UNITS);
    uint32_t bytes;

    if (units != 0) {
        units += LONGEST_SUFFIXES_UNITS;
    }
    bytes = file_header_bytes(configuration, units < ETWAS_NAME_UNITS ? units : ETWAS_NAME_UNITS);
    return (bytes + BYTES_A_KB - 1) / BYTES_A_KB;
}

/* R60, R61: into the range, large enough for the log file header, up to whole pages. */
static void adjust_buffer_size(struct etwas_configuration *configuration)
{
    uint32_t page_kb = (uint32_t)sysconf(_SC_PAGESIZE) / BYTES_A_KB;
    uint32_t size_kb = configuration->buffer_size_kb;

    if (size_kb == 0) {
        size_kb = DEFAULT_BUFFER_KB;
    } else if (size_kb < ETWAS_SMALLEST_BUFFER_KB) {
        size_kb = ETWAS_SMALLEST_BUFFER_KB;
    } else if (size_kb > LARGEST_BUFFER_KB) {
        size_kb = LARGEST_BUFFER_KB;
    }
    if (size_kb < file_header_kb(configuration)) {
        size_kb = file_header_kb(configuration);
    }
    configuration->buffer_size_kb = (size_kb + page_kb - 1) / page_kb * page_kb;
}

/* Chooses the protocol of the processors' slots: rseq if it works here and was not ruled out. */
static uint32_t choose_protocol(struct etwas_configuration *configuration)
{
    /*
     * Writers on all processors share the one slot, and rseq could not order them. A system
     * logger's only writer runs on any processor.
     */
    if (etwas_configuration_has_one_slot(configuration) || configuration->system_logger) {
        if (configuration->protocol > ETWAS_PROTOCOL_SHARED) {
            return ERROR_INVALID_PARAMETER;
        }
        configuration->protocol = ETWAS_PROTOCOL_SHARED;
    }
    switch (configuration->protocol) {
    case ETWAS_PROTOCOL_SHARED:
        return ERROR_SUCCESS;
    case ETWAS_PROTOCOL_BEST:
        configuration->sequences = etwas_rseq_availability();
        configuration->protocol = configuration->sequences == ETWAS_RSEQ_USED
                                      ? ETWAS_PROTOCOL_RSEQ
                                      : ETWAS_PROTOCOL_SHARED;
        return ERROR_SUCCESS;
    case ETWAS_PROTOCOL_RSEQ:
        return etwas_rseq_prepare() ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED;
    default:
        return ERROR_INVALID_PARAMETER;
    }
}

/*
 * In a flight recorder the extra slot keeps the buffers it took, so it counts as a processor. In a
 * session with a file all buffers are recycled.
 */
static bool keeps_extra_slot(const struct etwas_configuration *configuration)
{
    return configuration->protocol == ETWAS_PROTOCOL_RSEQ &&
           etwas_configuration_is_buffering(configuration);
}

static uint32_t slots_that_keep_buffers(const struct etwas_configuration *configuration)
{
    if (etwas_configuration_has_one_slot(configuration)) {
        return 1;
    }
    return etwas_processor_present() + (keeps_extra_slot(configuration) ? 1 : 0);
}

uint32_t etwas_configuration_row_buffers(const struct etwas_configuration *configuration)
{
    uint32_t slots = slots_that_keep_buffers(configuration);

    if (configuration->protocol == ETWAS_PROTOCOL_RSEQ && !keeps_extra_slot(configuration)) {
        slots++; /* the extra slot needs buffers, even if all are recycled */
    }
    return BUFFERS_A_ROWS_SLOT * slots;
}

/* R65–R68, R72. */
static void adjust_buffer_counts(struct etwas_configuration *configuration)
{
    uint64_t buffer_bytes = (uint64_t)configuration->buffer_size_kb * BYTES_A_KB;
    uint64_t limit = etwas_memory_limit_bytes() / buffer_bytes;
    uint32_t least = BUFFERS_A_SLOT * slots_that_keep_buffers(configuration);
    uint32_t least_of_rows = configuration->class_count == 0
                                 ? 0
                                 : etwas_configuration_class_rows(configuration) *
                                       etwas_configuration_row_buffers(configuration);
    uint32_t minimum = configuration->minimum_buffers;
    uint32_t maximum = configuration->maximum_buffers;

    if (limit > ETWAS_POOL_MAXIMUM_BUFFERS) {
        limit = ETWAS_POOL_MAXIMUM_BUFFERS;
    }
    if (least < least_of_rows && etwas_configuration_is_buffering(configuration)) {
        least = least_of_rows;
    }
    if (limit < least) {
        limit = least;
    }
    minimum = minimum < least ? least : minimum;
    minimum = minimum > limit ? (uint32_t)limit : minimum;
    if (maximum == 0) {
        maximum = DEFAULT_POOL_KB / configuration->buffer_size_kb;
        if (maximum < minimum + BUFFERS_ABOVE_MINIMUM) {
            maximum = minimum + BUFFERS_ABOVE_MINIMUM;
        }
    }
    maximum = maximum > limit ? (uint32_t)limit : maximum;
    maximum = maximum < minimum ? minimum : maximum;
    maximum = maximum < least_of_rows ? least_of_rows : maximum;
    configuration->minimum_buffers = minimum;
    configuration->maximum_buffers =
        etwas_configuration_is_buffering(configuration) ? minimum : maximum;
}

/* Modes that determine how a file is written. */
static const uint32_t file_modes = EVENT_TRACE_FILE_MODE_SEQUENTIAL |
                                   EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_APPEND |
                                   EVENT_TRACE_FILE_MODE_NEWFILE |
                                   EVENT_TRACE_FILE_MODE_PREALLOCATE | EVENT_TRACE_COMPRESSED_MODE;

/* R91: modes whose file has no meaning without a size. */
static bool mode_needs_file_size(uint32_t log_file_mode)
{
    return (log_file_mode & (EVENT_TRACE_FILE_MODE_PREALLOCATE | EVENT_TRACE_FILE_MODE_CIRCULAR |
                             EVENT_TRACE_FILE_MODE_NEWFILE)) != 0;
}

/* R90, R91: a file, and each part of a set, holds its header and what its mode needs. */
static uint32_t check_file_size(const struct etwas_configuration *configuration)
{
    uint64_t buffers = etwas_configuration_file_bytes(configuration) /
                       ((uint64_t)configuration->buffer_size_kb * BYTES_A_KB);
    uint32_t least = (configuration->log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0
                         ? LEAST_CIRCULAR_BUFFERS
                         : LEAST_FILE_BUFFERS;

    return configuration->maximum_file_size != 0 && buffers < least ? ERROR_INVALID_PARAMETER
                                                                    : ERROR_SUCCESS;
}

/* R17, R90, R96, R98: if a file is needed, it has a name, from which names can be made. */
static uint32_t check_file(const struct etwas_configuration *configuration)
{
    etwas_wchar made[ETWAS_NAME_UNITS + 1];
    uint32_t code;

    if (configuration->file_name[0] == 0) {
        bool realtime_alone = etwas_configuration_is_realtime(configuration) &&
                              (configuration->log_file_mode & file_modes) == 0;

        return etwas_configuration_is_buffering(configuration) || realtime_alone
                   ? ERROR_SUCCESS
                   : ERROR_BAD_PATHNAME;
    }
    code = etwas_configuration_is_buffering(configuration) ? ERROR_SUCCESS
                                                           : check_file_size(configuration);
    return code == ERROR_SUCCESS
               ? etwas_file_name_make(configuration->file_name, configuration->log_file_mode,
                                      UINT32_MAX, (uint32_t)getpid(), made)
               : code;
}

/* Checks the request as it was given, before defaults replace zeroes. */
static uint32_t check_request(const struct etwas_configuration *configuration)
{
    uint32_t code = etwas_modes_check(configuration->log_file_mode);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* R45: only system loggers get system events. */
    if (!configuration->system_logger && configuration->enable_flags != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!configuration->system_logger &&
        (configuration->log_file_mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) != 0) {
        return ERROR_NOT_SUPPORTED; /* only StartTrace starts a system logger */
    }
    if (mode_needs_file_size(configuration->log_file_mode) &&
        configuration->maximum_file_size == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    /* R95: both must be stated, and other clocks restart with the machine. */
    if ((configuration->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0 &&
        (configuration->buffer_size_kb == 0 || configuration->clock != ETWAS_CLOCK_KIND_SYSTEM)) {
        return ERROR_INVALID_PARAMETER;
    }
    return configuration->crash_safe <= ETWAS_CRASH_SAFE_MEMFD ? ERROR_SUCCESS
                                                               : ERROR_INVALID_PARAMETER;
}

/* Requests what is required, and checks both. */
static uint32_t join_memory_options(struct etwas_configuration *configuration)
{
    const uint32_t known =
        ETWAS_MEMORY_PREFAULT | ETWAS_MEMORY_HUGE | ETWAS_MEMORY_LOCK | ETWAS_MEMORY_NODES;

    configuration->memory |= configuration->memory_required;
    return (configuration->memory & ~known) == 0 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}

/* Called once the protocol is known. */
static uint32_t check_classes(const struct etwas_configuration *configuration)
{
    uint32_t slots =
        1 + (etwas_configuration_has_one_slot(configuration) ? 0 : etwas_processor_count());
    uint32_t percent = 0;

    if (configuration->class_count == 0) {
        return ERROR_SUCCESS;
    }
    for (uint32_t index = 0; index < configuration->class_count; index++) {
        const etwas_retention_class *class = &configuration->classes[index];

        if (class->share_percent > MOST_PERCENT || class->reserved_byte != 0 ||
            class->reserved != 0) {
            return ERROR_INVALID_PARAMETER;
        }
        percent += class->share_percent;
    }
    if (percent > MOST_PERCENT) {
        return ERROR_INVALID_PARAMETER;
    }
    /*
     * The number of streams in a file is constant, and their indexes are in the range of
     * processors'.
     */
    return (configuration->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0 ||
                   etwas_configuration_class_rows(configuration) * slots > ETWAS_MOST_PROCESSORS
               ? ERROR_NOT_SUPPORTED
               : ERROR_SUCCESS;
}

/*
 * Called once the protocol is known. Other processes support neither classes nor numbers of
 * messages. Only rseq keeps a slot usable if a process is killed while it writes.
 */
static uint32_t check_sharing(const struct etwas_configuration *configuration)
{
    const uint32_t own_modes = EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_USE_LOCAL_SEQUENCE |
                               EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC |
                               EVENT_TRACE_FILE_MODE_APPEND;

    if (configuration->reach == ETWAS_REACH_SNAPSHOTS &&
        !etwas_configuration_is_buffering(configuration)) {
        return ERROR_NOT_SUPPORTED;
    }
    return etwas_configuration_is_shared(configuration) &&
                   (configuration->protocol != ETWAS_PROTOCOL_RSEQ ||
                    configuration->class_count != 0 ||
                    etwas_processor_count() + 1 + ETWAS_GUEST_SLOTS > ETWAS_MOST_PROCESSORS ||
                    (configuration->log_file_mode & own_modes) != 0)
               ? ERROR_NOT_SUPPORTED
               : ERROR_SUCCESS;
}

uint32_t etwas_configuration_complete(struct etwas_configuration *configuration)
{
    uint32_t code = check_request(configuration);

    code = code == ERROR_SUCCESS ? join_memory_options(configuration) : code;
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if ((configuration->log_file_mode & EVENT_TRACE_ADDTO_TRIAGE_DUMP) != 0 &&
        configuration->crash_safe == 0) {
        configuration->crash_safe = ETWAS_CRASH_SAFE_POOL_FILE;
    }
    if (etwas_configuration_is_shared(configuration) && configuration->crash_safe == 0) {
        configuration->crash_safe = ETWAS_CRASH_SAFE_MEMFD;
    }
    configuration->requested_clock =
        configuration->clock != 0 ? configuration->clock : ETWAS_CLOCK_KIND_QPC;
    configuration->clock = etwas_clock_select(configuration->clock);
    if (configuration->clock == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    code = choose_protocol(configuration);
    code = code == ERROR_SUCCESS ? check_classes(configuration) : code;
    code = code == ERROR_SUCCESS ? check_sharing(configuration) : code;
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (configuration->consumer_queue_kb == 0) {
        configuration->consumer_queue_kb = DEFAULT_REALTIME_KB;
    }
    if (configuration->backlog_kb == 0) {
        configuration->backlog_kb = DEFAULT_REALTIME_KB;
    }
    adjust_buffer_size(configuration);
    adjust_buffer_counts(configuration);
    code = check_file(configuration);
    if (code == ERROR_SUCCESS && guid_is_zero(&configuration->guid)) {
        make_guid(&configuration->guid);
    }
    return code;
}

uint64_t etwas_configuration_file_bytes(const struct etwas_configuration *configuration)
{
    uint64_t unit =
        (configuration->log_file_mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE) != 0 ? 1 << 10 : 1 << 20;

    return configuration->maximum_file_size * unit;
}

uint64_t etwas_configuration_flush_ns(const struct etwas_configuration *configuration)
{
    uint32_t mode = ck_pr_load_32(&configuration->log_file_mode);
    uint32_t flush_timer = ck_pr_load_32(&configuration->flush_timer);
    uint64_t unit_ns =
        (mode & EVENT_TRACE_USE_MS_FLUSH_TIMER) != 0 ? NS_A_MILLISECOND : NS_A_SECOND;

    if ((mode & EVENT_TRACE_BUFFERING_MODE) != 0 || configuration->filtered_out) {
        return 0;
    }
    return flush_timer == 0 && (mode & EVENT_TRACE_REAL_TIME_MODE) != 0 ? NS_A_SECOND
                                                                        : flush_timer * unit_ns;
}

uint32_t etwas_configuration_path(const etwas_wchar *file_name, char path[ETWAS_PATH_BYTES])
{
    size_t units = etwas_utf16_length(file_name, ETWAS_NAME_UNITS);
    size_t bytes;

    if (units == 0 ||
        etwas_utf16_to_utf8(file_name, units, path, ETWAS_PATH_BYTES, &bytes) != ETWAS_UTF_OK) {
        return ERROR_BAD_PATHNAME;
    }
    return ERROR_SUCCESS;
}

static bool nice_and_priority_are_valid(const etwas_flusher_options *options)
{
    return options->nice_value >= -20 && options->nice_value <= 19 &&
           options->realtime_priority >= 0 && options->realtime_priority <= 99;
}

uint32_t etwas_flusher_configuration_set(struct etwas_flusher_configuration *configuration,
                                         const etwas_flusher_options *options)
{
    const char *name = options->name != NULL ? options->name : "etwas-flush";

    *configuration = (struct etwas_flusher_configuration){
        .realtime_priority = options->realtime_priority,
        .nice_value = options->nice_value,
        .no_thread = options->no_thread,
    };
    if (!nice_and_priority_are_valid(options)) {
        return ERROR_INVALID_PARAMETER;
    }
    (void)strncpy(configuration->name, name, sizeof configuration->name - 1);
    if (options->cpus == NULL || options->cpu_count == 0) {
        return ERROR_SUCCESS;
    }
    configuration->cpus_bytes = CPU_ALLOC_SIZE(etwas_processor_count());
    configuration->cpus = CPU_ALLOC(etwas_processor_count());
    if (configuration->cpus == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    CPU_ZERO_S(configuration->cpus_bytes, configuration->cpus);
    for (uint32_t index = 0; index < options->cpu_count; index++) {
        if (options->cpus[index] >= etwas_processor_count()) {
            etwas_flusher_configuration_free(configuration);
            return ERROR_INVALID_PARAMETER;
        }
        CPU_SET_S(options->cpus[index], configuration->cpus_bytes, configuration->cpus);
    }
    return ERROR_SUCCESS;
}

void etwas_flusher_configuration_free(struct etwas_flusher_configuration *configuration)
{
    if (configuration->cpus != NULL) {
        CPU_FREE(configuration->cpus);
        configuration->cpus = NULL;
    }
}
