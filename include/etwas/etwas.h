/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Functions and types that have no counterpart in ETW: starting a session from C strings, the
 * inline gate, reading a clock directly, exact 64-bit accounting, and the attributes of the flusher
 * thread. Everything else is in <etwas/evntrace.h> under ETW's own names.
 *
 * This header includes the following ones:
 * - describe.h describes events;
 * - batch.h writes several events in one call;
 * - memory.h says what a session may request of its memory;
 * - reading.h reports what a reader finds in a trace file, and what is wrong with the file;
 * - buffers.h reads a file buffer by buffer;
 * - relog.h makes a file from other files;
 * - recorder.h controls flight recorders;
 * - classes.h defines retention classes;
 * - crash_safe.h handles sessions that survive their process;
 * - shared.h handles sessions that span processes;
 * - autologger.h starts sessions that files describe.
 *
 * Unless a declaration says otherwise, a function may be called from any thread, but not from a
 * signal handler. It returns ERROR_SUCCESS or a code of <etwas/winerror.h>.
 */
#ifndef ETWAS_ETWAS_H
#define ETWAS_ETWAS_H

#include <etwas/autologger.h>
#include <etwas/batch.h>
#include <etwas/buffers.h>
#include <etwas/classes.h>
#include <etwas/crash_safe.h>
#include <etwas/describe.h>
#include <etwas/evntrace.h>
#include <etwas/memory.h>
#include <etwas/reading.h>
#include <etwas/recorder.h>
#include <etwas/relog.h>
#include <etwas/shared.h>
#include <etwas/types.h>
#include <etwas/winerror.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One copy of the library is active in a process. If a plugin brings libetwas-plain.so into a
 * program that has libetwas.so, the loader binds both to the same functions. A second copy can
 * still be called: by dlsym on its handle, or with RTLD_DEEPBIND. It registers no provider, and
 * starts and controls no session: it returns ERROR_ALREADY_INITIALIZED. A libetwas.a with hidden
 * names (-Wl,--exclude-libs) is a library of its own. It sees neither the providers nor the
 * sessions of the other copies.
 */

/*
 * A struct may grow at its end from version to version. Therefore a function that takes one is
 * inline. It passes the size of the struct, as the caller was compiled with it, to the exported
 * function, which has a name that ends in _sized. A program that finds functions with dlsym passes
 * the size itself. A newer library touches only the members that the caller knows. An older library
 * sets members it does not know to 0. It refuses options that use such a member with
 * ERROR_NOT_SUPPORTED. A struct inside another struct or in an array never changes.
 */

/* ---- version --------------------------------------------------------------------------------- */

#define ETWAS_VERSION_MAJOR 0
#define ETWAS_VERSION_MINOR 1
#define ETWAS_VERSION_PATCH 0

/*
 * Returns the version of the running library, for example "0.1.0", as static text.
 * Async-signal-safe.
 */
const char *etwas_version(void) ETWAS_API(etwas_version);

/* ---- errors ---------------------------------------------------------------------------------- */

/*
 * Returns the meaning of a code of <etwas/winerror.h> in a few words, or "unknown error" for any
 * other code. The text is static. Async-signal-safe.
 */
const char *etwas_error_text(uint32_t code) ETWAS_API(etwas_error_text);

/* ---- clocks ---------------------------------------------------------------------------------- */

/* The values of WNODE_HEADER.ClientContext. */
#define ETWAS_CLOCK_QPC 1u         /* CLOCK_MONOTONIC_RAW, nanoseconds */
#define ETWAS_CLOCK_SYSTEM_TIME 2u /* CLOCK_REALTIME as FILETIME, 100 ns since 1601-01-01 UTC */
#define ETWAS_CLOCK_TSC 3u         /* the processor's invariant cycle counter */

/*
 * Returns the clock that a session gets if it requests `clock` (0 to 3). 0 means QPC. TSC becomes
 * system time on a machine that has no trustworthy cycle counter. Returns 0 for any other value.
 * The first query about the TSC calibrates it, which takes some milliseconds once per process.
 */
uint32_t etwas_clock_effective(uint32_t clock) ETWAS_API(etwas_clock_effective);

/*
 * Reads a clock and returns the raw stamp that a record of a session with this clock gets. An
 * unknown clock reads 0. `clock` is taken literally: TSC reads the counter even if a session would
 * fall back to system time. Async-signal-safe.
 */
int64_t etwas_clock_read(uint32_t clock) ETWAS_API(etwas_clock_read);

/*
 * Returns the ticks per second of a clock: 1,000,000,000 for QPC, 10,000,000 for system time, and
 * the calibrated frequency in Hz for the TSC. Returns 0 for an unknown clock, and for the TSC of a
 * machine that has none.
 */
uint64_t etwas_clock_frequency(uint32_t clock) ETWAS_API(etwas_clock_frequency);

/* How far the cycle counter of this machine can be trusted. */
#define ETWAS_CLOCK_VERDICT_UNUSABLE 0u /* a session that requests it gets system time */
#define ETWAS_CLOCK_VERDICT_DOUBTFUL 1u /* it is used, although a reason speaks against it */
#define ETWAS_CLOCK_VERDICT_TRUSTED 2u

/* The reasons for a verdict: bits of etwas_clock_trust.reasons. These speak for the counter. */
#define ETWAS_CLOCK_REASON_INVARIANT 0x0001u        /* one rate in all power states (CPUID) */
#define ETWAS_CLOCK_REASON_NONSTOP 0x0002u          /* runs in deep sleep, says the kernel */
#define ETWAS_CLOCK_REASON_STATED_FREQUENCY 0x0004u /* CPUID, hypervisor or CNTFRQ states one */
#define ETWAS_CLOCK_REASON_KERNEL_USES_IT 0x0008u   /* the kernel's own clock source */
#define ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT                                                        \
    0x0010u                                   /* among the sources the kernel has not given up */
#define ETWAS_CLOCK_REASON_ADJUSTABLE 0x0020u /* the kernel can adjust it on each processor */
#define ETWAS_CLOCK_REASON_KERNEL_WAS_TOLD                                                         \
    0x0040u /* the kernel knows its frequency: tsc_known_freq */
/* These reasons speak against it. A guest may be moved to another machine while it runs. */
#define ETWAS_CLOCK_REASON_HYPERVISOR 0x0100u
#define ETWAS_CLOCK_REASON_NOT_INVARIANT 0x0200u
#define ETWAS_CLOCK_REASON_KERNEL_DROPPED_IT 0x0400u
#define ETWAS_CLOCK_REASON_EMULATED 0x0800u        /* a reading takes too long for an instruction */
#define ETWAS_CLOCK_REASON_WRONG_FREQUENCY 0x1000u /* stated and measured differ by > 100 ppm */
#define ETWAS_CLOCK_REASON_BACKWARDS 0x2000u       /* it was seen running backwards */
#define ETWAS_CLOCK_REASON_APART 0x4000u      /* processors differ by more than can be bounded */
#define ETWAS_CLOCK_REASON_NO_COUNTER 0x8000u /* it could not be calibrated */

/* Where a stated frequency comes from. */
#define ETWAS_CLOCK_STATED_NOWHERE 0u
#define ETWAS_CLOCK_STATED_CPUID_15H 1u  /* crystal and ratio */
#define ETWAS_CLOCK_STATED_CPUID_16H 2u  /* base frequency, whole MHz */
#define ETWAS_CLOCK_STATED_HYPERVISOR 3u /* leaf 4000_0010h, whole kHz */
#define ETWAS_CLOCK_STATED_CNTFRQ 4u     /* aarch64 */

typedef struct etwas_clock_trust {
    uint32_t verdict;                /* ETWAS_CLOCK_VERDICT_* */
    uint32_t reasons;                /* ETWAS_CLOCK_REASON_* */
    uint64_t frequency_hz;           /* as calibrated; 0: it cannot be calibrated */
    uint32_t frequency_error_ppb;    /* error bound of frequency_hz, parts in 10^9 */
    uint32_t stated_by;              /* ETWAS_CLOCK_STATED_* */
    uint64_t stated_hz;              /* 0: nothing states one */
    char clocksource[32];            /* the kernel's current one; "" if it does not say */
    char available_clocksources[96]; /* the usable ones, separated by blanks */
    char hypervisor[16];             /* signature, as "KVMKVMKVM"; "" if none was found */
} etwas_clock_trust;

/* etwas_clock_query_trust with the size of the caller's struct. */
uint32_t etwas_clock_query_trust_sized(etwas_clock_trust *trust, size_t trust_bytes)
    ETWAS_API(etwas_clock_query_trust_sized);

/*
 * Reports what is known of the cycle counter without a long measurement. The first call calibrates
 * it, which takes some tens of milliseconds once per process. Sessions use the same verdict: one
 * that requests ClientContext 3 gets system time if the verdict is ETWAS_CLOCK_VERDICT_UNUSABLE.
 *
 * A counter is unusable if it is not invariant, if the kernel gave it up, or if it cannot be
 * calibrated. It is doubtful if another reason speaks against it. A counter in a guest is doubtful
 * only if the guest's kernel does not say that it keeps time by it.
 *
 * ERROR_INVALID_PARAMETER: `trust` is NULL.
 */
static inline uint32_t etwas_clock_query_trust(etwas_clock_trust *trust)
{
    return etwas_clock_query_trust_sized(trust, sizeof *trust);
}

/*
 * Returns a sentence without its full stop for one bit of `reasons`, or "" for no bit or several
 * bits. The text is static.
 */
const char *etwas_clock_reason_text(uint32_t reason) ETWAS_API(etwas_clock_reason_text);

/* ---- sessions -------------------------------------------------------------------------------- */

/*
 * The protocol by which writers put events into the buffer of their processor.
 *
 * RSEQ publishes each event by one restartable sequence (Linux rseq), which commits it with a plain
 * store. It uses no locked instruction, and no event is ever visible in part. It needs membarrier,
 * and glibc 2.35 or newer with rseq registered.
 *
 * SHARED uses Concurrency Kit atomics on slots that any thread may write to at any time.
 */
#define ETWAS_PROTOCOL_BEST 0u /* RSEQ if the process can use it, else SHARED */
#define ETWAS_PROTOCOL_SHARED 1u
#define ETWAS_PROTOCOL_RSEQ 2u

/* The reason why the sessions of a process do not use restartable sequences. */
#define ETWAS_SEQUENCES_USED 0u    /* they do, unless they request another protocol */
#define ETWAS_SEQUENCES_UNBUILT 1u /* this build of the library has none */
/*
 * glibc has registered no thread. It is older than 2.35, or the kernel refused, or
 * GLIBC_TUNABLES=glibc.pthread.rseq=0 forbids it, as programs with tcmalloc set it.
 */
#define ETWAS_SEQUENCES_UNREGISTERED 2u
#define ETWAS_SEQUENCES_UNFENCED 3u /* the kernel offers no membarrier for them */
/*
 * The kernel was tested and does not abort a sequence that another thread of the same processor
 * preempts. Two threads could write to the same place.
 */
#define ETWAS_SEQUENCES_NOT_ABORTED 4u
/* The kernel is one of those that may not abort sequences, and it could not be tested. */
#define ETWAS_SEQUENCES_UNTRIED 5u

/*
 * Returns ETWAS_SEQUENCES_* for this process at this time. Kernels that are known not to abort
 * sequences (arm64 from Linux 6.19 on) are tested before sequences are used. The test takes at most
 * 5 ms and two threads. Processes that share sessions keep the result for the other processes of
 * their user until the next boot. Other kernels are not tested. Thread-safe; not async-signal-safe.
 */
uint32_t etwas_sequences(void) ETWAS_API(etwas_sequences);

/*
 * Tests whether this kernel aborts sequences, whichever kernel it is, and changes nothing. Takes at
 * most 5 ms on the processor of the caller, with two threads. Returns one of:
 * - ETWAS_SEQUENCES_USED: the kernel aborts them;
 * - ETWAS_SEQUENCES_NOT_ABORTED: it does not;
 * - ETWAS_SEQUENCES_UNTRIED: the processor was too busy for the test;
 * - another ETWAS_SEQUENCES_*: the reason why there is nothing to test.
 *
 * Thread-safe; not async-signal-safe.
 */
uint32_t etwas_sequences_try(void) ETWAS_API(etwas_sequences_try);

/* Returns a sentence without its full stop for one of ETWAS_SEQUENCES_*, as static text. */
const char *etwas_sequences_text(uint32_t sequences) ETWAS_API(etwas_sequences_text);

/* The attributes of the thread that writes a session's buffers. A zeroed struct is the default. */
typedef struct etwas_flusher_options {
    const char *name; /* at most 15 bytes are kept; NULL: "etwas-flush" */
    /*
     * The numbers of the processors that the thread may run on, below 2,047. NULL: those of the
     * thread that starts the session.
     */
    const uint32_t *cpus;
    uint32_t cpu_count;        /* entries in cpus */
    int32_t realtime_priority; /* 1..99: SCHED_FIFO with this priority; 0: the normal scheduler */
    int32_t nice_value;        /* -20..19, for the normal scheduler */
    bool no_thread;            /* no thread: the program calls etwas_flush often enough */
} etwas_flusher_options;

/*
 * The place of a crash-safe session's buffers. Events in them survive the death of the process by
 * SIGKILL, lack of memory or a fault. `etwas recover` makes a log file of what is left.
 *
 * POOL_FILE is a file `s.GUID.pool` in `crash_safe_folder`, or else in the user's runtime folder,
 * which is in memory. The runtime folder is $ETWAS_RUNTIME_DIR, else $XDG_RUNTIME_DIR/etwas, else
 * /run/user/UID/etwas, else /dev/shm/etwas-UID. The file stays when the process dies, and is
 * removed when the session ends.
 *
 * MEMFD is memory without a name, which leaves nothing behind. It is in core files, and it can be
 * recovered while the process exists. docs/howto/crash-safe.md says what each place costs, and what
 * can go wrong.
 *
 * The start takes all space for MaximumBuffers. It fails with ERROR_DISK_FULL if there is not
 * enough; etwas_crash_safe_refusal says how much is missing and where. UPDATE cannot raise
 * MaximumBuffers.
 */
#define ETWAS_CRASH_SAFE_POOL_FILE 1
#define ETWAS_CRASH_SAFE_MEMFD 2

/* Options of etwas_start. A zeroed struct, or NULL, requests every default. */
typedef struct etwas_session_options {
    uint32_t log_file_mode;     /* EVENT_TRACE_*_MODE bits */
    uint32_t clock;             /* ETWAS_CLOCK_*; 0: QPC */
    uint32_t buffer_size_kb;    /* 4..16384; 0: 64 */
    uint32_t minimum_buffers;   /* 0: two for each processor */
    uint32_t maximum_buffers;   /* 0: as many as make 64 MiB, at least minimum_buffers + 22 */
    uint32_t maximum_file_size; /* MB; KB with EVENT_TRACE_USE_KBYTES_FOR_SIZE; 0: no limit */
    /*
     * Seconds between timed flushes, or milliseconds with EVENT_TRACE_USE_MS_FLUSH_TIMER. 0: a
     * buffer is written when it is full; in real time, buffers are also flushed once a second.
     */
    uint32_t flush_timer;
    uint32_t protocol; /* ETWAS_PROTOCOL_*; RSEQ: ERROR_NOT_SUPPORTED if unavailable */
    /*
     * Each record carries the processor time of the thread that logs, as KernelTime and UserTime,
     * or as ProcessorTime in a private session. Without this option they are 0. They are what the
     * system said of the thread at most 0.1 ms, a tenth of their unit, before the call. So they are
     * never ahead, and a thread's times never go back. A difference of two is off by 0.1 ms at
     * most, besides rounding. The system itself counts a running thread up to one of its own ticks
     * late, 1 to 10 ms. An event of a signal handler may have newer times than the event that it
     * interrupts. An event costs one more reading of a clock, and a thread that logs makes one
     * system call in 0.1 ms.
     */
    bool process_times;
    /*
     * Use huge pages for the buffers if the system grants them; see
     * etwas_session_memory.region_huge_bytes.
     */
    bool large_pages;
    uint32_t consumer_queue_kb; /* real time: limit of what a consumer leaves unread; 0: 65,536 */
    /*
     * Real time: size limit of the file that keeps flushed buffers while there is no consumer. 0:
     * 65,536.
     */
    uint32_t backlog_kb;
    /* The folder of that file, which has no name: a UTF-8 path. NULL: $TMPDIR, else /var/tmp. */
    const char *backlog_folder;
    etwas_flusher_options flusher;
    /*
     * ETWAS_CRASH_SAFE_*. 0: the buffers are the process's own memory, unless the mode has
     * EVENT_TRACE_ADDTO_TRIAGE_DUMP, which means POOL_FILE.
     */
    uint32_t crash_safe;
    /*
     * The folder of the pool file: a UTF-8 path of a folder with mode 0700 that belongs to the
     * user. It is created if it is missing. NULL: the user's runtime folder.
     */
    const char *crash_safe_folder;
    uint32_t memory;          /* ETWAS_MEMORY_*: requests that may be refused */
    uint32_t memory_required; /* ETWAS_MEMORY_*: without these the start fails */
    /*
     * An array of class_count retention classes, which is copied. An event belongs to the first
     * class of which it meets all conditions; see <etwas/classes.h>.
     */
    const etwas_retention_class *classes;
    uint32_t class_count; /* 0: none; at most ETWAS_RETENTION_CLASSES */
    uint32_t sharing;     /* ETWAS_SHARING_*: the processes that log into it (shared.h) */
} etwas_session_options;

/* etwas_start with the size of the caller's struct. */
uint32_t etwas_start_sized(const char *session_name, const char *log_file,
                           const etwas_session_options *options, size_t options_bytes,
                           etwas_trace_handle *session) ETWAS_API(etwas_start_sized);

/*
 * Starts a session. `session_name` is UTF-8, has at most 1,024 characters, and is unique in the
 * process without regard to case. `log_file` is a UTF-8 path. It may be NULL only with
 * EVENT_TRACE_BUFFERING_MODE or EVENT_TRACE_REAL_TIME_MODE. `options` may be NULL. On success
 * *session receives the handle that TraceEvent, TraceEventInstance, EnableTrace and ControlTrace
 * take. On failure it receives 0. The file's name is changed as StartTrace changes it: a number
 * replaces `%d`, and `_` and the process id are appended in a private session.
 *
 * Errors are those of StartTrace, and:
 * ERROR_INVALID_PARAMETER: flusher options are out of range; ETWAS_PROTOCOL_RSEQ with
 *   EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING; more than ETWAS_RETENTION_CLASSES classes; `classes`
 *   NULL although `class_count` is not 0; shares of more than 100 percent together; or a reserved
 *   member of a class that is not 0.
 * ERROR_NOT_SUPPORTED: classes with EVENT_TRACE_FILE_MODE_APPEND, or more than 2,047 streams for
 *   the classes and processors together.
 * ERROR_BAD_PATHNAME: `backlog_folder` has more than 3,072 bytes.
 * ERROR_ACCESS_DENIED: the system refuses the affinity, the priority, or the locking of memory that
 *   `memory_required` has.
 * ERROR_NOT_ENOUGH_MEMORY: the system refuses another bit of `memory_required`
 *   (etwas_memory_refusal).
 */
static inline uint32_t etwas_start(const char *session_name, const char *log_file,
                                   const etwas_session_options *options,
                                   etwas_trace_handle *session)
{
    return etwas_start_sized(session_name, log_file, options, sizeof *options, session);
}

/*
 * The events and buffers of one session, counted by their result. attempted = recorded +
 * overwritten + lost.
 */
typedef struct etwas_session_counts {
    /*
     * In the file, delivered, or still in memory on the way to either. After STOP it includes what
     * a consumer had not yet taken.
     */
    uint64_t recorded;
    /* Buffering mode and circular files: recorded, then replaced by newer events. */
    uint64_t overwritten;
    uint64_t lost;             /* the sum of the lost_* below */
    uint64_t lost_no_buffer;   /* every buffer of the pool was full */
    uint64_t lost_write_error; /* the log file could not be written (disk full, I/O error) */
    uint64_t lost_file_full;   /* the log file had reached MaximumFileSize */
    uint64_t lost_abandoned;   /* a writer stopped inside a record longer than the flusher waits */
    /* Real time: refused with ERROR_LOG_FILE_FULL because there was no consumer. */
    uint64_t lost_backlog_full;
    uint64_t lost_undelivered; /* real time: in no file, and no consumer took them */
    /*
     * Buffers written to files, the header buffer of each file included. In a circular file it
     * includes replaced buffers, in an appended file those that were there before.
     */
    uint64_t buffers_written;
    uint64_t buffers_lost; /* could not be written to the file */
    /* Real time: how often a consumer, or the backlog, could not take a buffer. */
    uint64_t realtime_buffers_lost;
    /*
     * How often the system refused to make the log file durable, or to store the readings of the
     * clocks.
     */
    uint64_t sync_errors;
    uint64_t buffers_allocated;
    uint64_t buffers_free;
    /* Events that a restartable sequence put into a buffer, whatever happened to them later. */
    uint64_t committed_rseq;
    /*
     * Events that the shared protocol put into a buffer. Together with committed_rseq and the
     * events that were refused or for which there was no buffer, these are `attempted`.
     */
    uint64_t committed_shared;
    uint64_t restarts;       /* sequences that were interrupted and restarted */
    uint64_t lost_in_kernel; /* system logger: the kernel had no room for them */
    /*
     * Events of other processes, logged while the session's host had not yet attached them, or
     * while they cannot log into it. The host learns of them when it continues.
     */
    uint64_t lost_unattached;
    /*
     * Shared session: one of its processes has corrupted the session's memory. The slots of this
     * many processors or processes are quarantined. The events in them that were not yet written
     * are lost, and their number is unknown.
     */
    uint64_t quarantined_slots;
    /* Shared session: damaged buffers, with data that are not records. Such data are left out. */
    uint64_t damaged_buffers;
    /* Events too large for a buffer of the session, or for any record. */
    uint64_t lost_too_large;
    /*
     * Modern events that no session got, because another session of the provider had no buffer for
     * them (EventWrite).
     */
    uint64_t lost_withheld;
    /*
     * Processes that could not log into it when they last tried; a process that its host cannot
     * identify (another PID namespace) is left out. Their events are counted in lost_unattached. A
     * process that lacks even a page to count in, or for which the host has no descriptor, is not
     * enabled: its events are not counted, and it keeps trying.
     */
    uint32_t unattached_processes;
    /*
     * The Win32 code of the last attachment that failed; shared.h says what each code means. It
     * stays set. 0: no attachment has failed.
     */
    uint32_t unattached_code;
    /* ETWAS_UNSHARED_*: why other processes do not log into it (shared.h). */
    uint32_t unshared;
    /* ETWAS_PROTOCOL_SHARED or _RSEQ, as etwas_session_protocol reports it. */
    uint32_t protocol;
    /* ETWAS_SEQUENCES_*: why the protocol is SHARED although RSEQ was requested; else 0. */
    uint32_t sequences;
    /*
     * Processes that could not log into it at some time. A process counts again if it could log in
     * between. The session's files state this number too (etwas_trace_information).
     */
    uint32_t unattached_total;
    /*
     * 1: another process has joined it at some time, since it enables a provider there; otherwise 0
     */
    uint32_t was_joined;
    uint32_t reserved; /* 0 */
} etwas_session_counts;

/* etwas_counts with the size of the caller's struct. */
uint32_t etwas_counts_sized(etwas_trace_handle session, etwas_session_counts *counts,
                            size_t counts_bytes) ETWAS_API(etwas_counts_sized);

/*
 * Reports the counts of a running session, or the last counts of a stopped one. Last counts are
 * kept until another session takes the entry in the session table. The table has 64 entries, and 8
 * for private sessions; the entry that is unused longest is reused first. Writers may log during
 * the call. If another process hosts the session, the host is queried while it runs.
 *
 * ERROR_INVALID_PARAMETER: `counts` is NULL.
 * ERROR_INVALID_HANDLE: the handle is unknown, or its last counts are gone.
 * ERROR_TIMEOUT: the host does not answer within 5 seconds.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
static inline uint32_t etwas_counts(etwas_trace_handle session, etwas_session_counts *counts)
{
    return etwas_counts_sized(session, counts, sizeof *counts);
}

/*
 * A bit of EnableProperty (EnableTraceEx2), in addition to ETW's EVENT_ENABLE_PROPERTY_*
 * (evntcons.h). The session gets a record ThreadCounters (docs/reference/file-format.md) after the
 * START and before the END of each instance or activity of the provider. The record has the
 * kernel's counts for the thread so far: run time, waiting time for a processor, times in user and
 * kernel mode, switches and page faults. A reader sees what the thread did in between, without
 * kernel events and without privileges; `etwas why` shows it.
 *
 * For a modern provider or a group it applies to every activity: a START or STOP with an ActivityId
 * that is not 0. For a classic provider it applies to every instance (TraceEventInstance). If the
 * GUID of a class is given in place of the provider, it applies to the instances of this class
 * alone, whatever else the session enables. A class is counted for one session, the last that
 * enabled it. A modern provider is counted for each session that enables it.
 *
 * Each such event costs two system calls, about half a microsecond, and a record of 168 bytes,
 * which is an ordinary event of the session. It costs a third call if the thread has been switched
 * since its last such event. Other events cost the same as before. The third call reads a file. A
 * thread opens it at its first such event and keeps it open until the thread ends. At most 256
 * threads keep one. Further threads open it each time, which costs some microseconds more. All
 * threads do so if the process had 32 keys of pthread_key_create before the first session enabled
 * this property. A child of fork reads its own counts.
 *
 * If a program closes that file's descriptor, as it does when it closes all descriptors that it did
 * not open, the waiting time of that thread is unknown from its next switch on. If the program's
 * own file has the number then, that file stays open when the thread ends. These events may be
 * logged in signal handlers, as any other.
 */
#define ETWAS_ENABLE_PROPERTY_COUNTERS 0x80000000u

/* The scope of the kernel events that a system logger records. */
#define ETWAS_KERNEL_SCOPE_SYSTEM 1u  /* the whole system; needs privileges */
#define ETWAS_KERNEL_SCOPE_PROCESS 2u /* the process that logs; needs no privilege */

/*
 * Sets the scope of the system loggers that the calling thread starts from now on (StartTrace,
 * StartKernelTrace). The default is ETWAS_KERNEL_SCOPE_SYSTEM.
 *
 * A logger with ETWAS_KERNEL_SCOPE_PROCESS records PROCESS, THREAD, IMAGE_LOAD, CSWITCH, PROFILE,
 * MEMORY_PAGE_FAULTS and VIRTUAL_ALLOC. It records them in the process's own code, not while the
 * kernel works for the process. Its start fails with ERROR_ACCESS_DENIED for another flag, which
 * etwas_kernel_refusal names. docs/reference/kernel-events.md says what these events lack.
 *
 * ERROR_INVALID_PARAMETER: `scope` is neither of the two.
 */
uint32_t etwas_kernel_scope(uint32_t scope) ETWAS_API(etwas_kernel_scope);

/* The kernel interface that a system logger uses. */
/* Perf events and tracepoints of the whole system. */
#define ETWAS_KERNEL_RUNG_SYSTEM 1u
/* Perf events of the process's threads. */
#define ETWAS_KERNEL_RUNG_PROCESS 2u
/*
 * The kernel refuses those too. The logger records the state of the process at the beginning and at
 * the end, and nothing that happens in between.
 */
#define ETWAS_KERNEL_RUNG_FOUND 3u

/*
 * Stores the rung of a running system logger in *rung. A logger of the own process is on the lowest
 * rung if the kernel refuses perf events (perf_event_paranoid above 2, a container's seccomp
 * filter). Its start succeeds, and etwas_kernel_refusal says why it is there. What threads did in
 * between is then in their own counters, in any session: see ETWAS_ENABLE_PROPERTY_COUNTERS.
 *
 * ERROR_INVALID_PARAMETER: `rung` is NULL.
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_SUPPORTED: the session is not a system logger.
 */
uint32_t etwas_kernel_rung(etwas_trace_handle session, uint32_t *rung) ETWAS_API(etwas_kernel_rung);

/*
 * Says why the kernel refused the last request of the calling thread for a system logger:
 * StartTrace, StartKernelTrace, UPDATE, TraceSetInformation or EnableTraceEx2. The text is one
 * English sentence that names what is missing: a capability, a setting with its value, a mount or a
 * tracepoint. It is empty if the kernel refused nothing. `text` receives as much as fits into
 * `room` bytes, with a terminating 0. It may be NULL if `room` is 0. Returns the length of the
 * whole text without its 0, at most 511. The function reads system files. Thread-safe; not
 * async-signal-safe.
 */
size_t etwas_kernel_refusal(char *text, size_t room) ETWAS_API(etwas_kernel_refusal);

/*
 * Stores in *flags those EnableFlags of a running system logger that record nothing, because Linux
 * has no such events: EVENT_TRACE_FLAG_ALPC, _REGISTRY and _DRIVER. They are not an error when a
 * session starts, so that programs written for ETW run unchanged. `text` receives a sentence that
 * says why, as much as fits into `room` bytes with its 0, or an empty text if there are none.
 * `text` may be NULL if `room` is 0; 512 bytes are enough. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: `flags` is NULL.
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_SUPPORTED: the session is not a system logger.
 */
uint32_t etwas_kernel_silent(etwas_trace_handle session, uint32_t *flags, char *text, size_t room)
    ETWAS_API(etwas_kernel_silent);

/*
 * Adds user stack memory to the stacks of programs that a running system logger records (ids of
 * StartKernelTrace, TraceStackTracingInfo). From now on each such stack is followed by a copy of
 * the program's registers and of `bytes` bytes at the top of its stack. A reader uses them to
 * unwind functions without frame pointers. docs/reference/kernel-events.md says what it costs.
 * `bytes` is a multiple of 8, at most 32,768 and at most half of a buffer of the session. 0, the
 * state when a session starts, ends it. 8,192 are enough for most programs. Thread-safe; not
 * async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: `bytes` is another number.
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_SUPPORTED: the session is not a system logger.
 *
 * If the kernel refuses (etwas_kernel_refusal), errors are those of UPDATE.
 */
uint32_t etwas_kernel_user_stacks(etwas_trace_handle session, uint32_t bytes)
    ETWAS_API(etwas_kernel_user_stacks);

/*
 * Returns the keywords of a system provider (evntrace_keywords.h) that deliver events in this
 * release. The other keywords may be enabled and deliver nothing. Returns 0 for NULL, and for a
 * GUID of no system provider. Thread-safe; async-signal-safe.
 */
uint64_t etwas_kernel_keywords(const etwas_guid *provider) ETWAS_API(etwas_kernel_keywords);

/*
 * Stores the protocol of a running session in *protocol: ETWAS_PROTOCOL_SHARED or _RSEQ. In a
 * session with RSEQ, the events of a thread that cannot run sequences go to an extra stream by the
 * shared protocol. The processor index of that stream is the number of processors, and
 * NumberOfProcessors in the file is one more. If the protocol is SHARED although it was not
 * requested, etwas_sequences says why.
 *
 * ERROR_INVALID_PARAMETER: `protocol` is NULL.
 * ERROR_INVALID_HANDLE: the session does not run.
 */
uint32_t etwas_session_protocol(etwas_trace_handle session, uint32_t *protocol)
    ETWAS_API(etwas_session_protocol);

/* The memory that a running session uses. */
typedef struct etwas_session_memory {
    /* Address space of the buffer pool, with a reserve for a later rise of MaximumBuffers. */
    uint64_t region_bytes;
    uint64_t region_resident_bytes; /* the part in memory now */
    uint64_t region_huge_bytes;     /* the part in huge pages now */
    /*
     * The part of region_huge_bytes in explicit huge pages (vm.nr_hugepages), which the session
     * holds from start to stop. 0: not requested or not granted; then huge pages can only be
     * transparent ones.
     */
    uint64_t region_explicit_bytes;
    /* Address space of the pool's bookkeeping, which is kept for the next session. */
    uint64_t control_bytes;
    /* jemalloc's count for the session's arena; 0 without jemalloc. */
    uint64_t arena_mapped_bytes;
    /* jemalloc's count for the session's arena; 0 without jemalloc. */
    uint64_t arena_resident_bytes;
    uint32_t asked;   /* ETWAS_MEMORY_*: requested by the session */
    uint32_t granted; /* the part granted; see etwas_memory_refusal */
    /*
     * The number of memory nodes that hold the buffers by ETWAS_MEMORY_NODES. 1: the machine has
     * only one node, and nothing is to be done. 0: not requested or not granted.
     */
    uint32_t memory_nodes;
} etwas_session_memory;

/* etwas_memory with the size of the caller's struct. */
uint32_t etwas_memory_sized(etwas_trace_handle session, etwas_session_memory *memory,
                            size_t memory_bytes) ETWAS_API(etwas_memory_sized);

/*
 * Reports the memory of a running session. The call looks at every page of the pool, which takes
 * milliseconds for a large one.
 *
 * ERROR_INVALID_PARAMETER: `memory` is NULL.
 * ERROR_INVALID_HANDLE: the session does not run.
 */
static inline uint32_t etwas_memory(etwas_trace_handle session, etwas_session_memory *memory)
{
    return etwas_memory_sized(session, memory, sizeof *memory);
}

/*
 * Writes all events recorded so far to the log file and makes the file durable. A program calls it
 * often enough to keep buffers free if its session has no flusher thread; it may be called for any
 * session.
 *
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_SUPPORTED: the session is in buffering mode and has no file: see etwas_snapshot.
 * ERROR_DISK_FULL, ERROR_WRITE_FAULT: not everything could be written or made durable.
 * ERROR_LOG_FILE_FULL: the session is in real time without a consumer, and its backlog is full.
 *
 * For a new-file set, errors also are those of opening a file.
 */
uint32_t etwas_flush(etwas_trace_handle session) ETWAS_API(etwas_flush);

/*
 * Writes the contents of a buffering-mode session to `log_file`. The file is replaced if it exists
 * and is not in use. Logging continues, and nothing is consumed. The name is taken as it is, also
 * for a private session. If the session's filters exclude this process, it has no events and writes
 * no file.
 *
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_SUPPORTED: the session has a file.
 * ERROR_DISK_FULL, ERROR_WRITE_FAULT: not everything could be written.
 *
 * Other errors are those of StartTrace that concern the log file.
 */
uint32_t etwas_snapshot(etwas_trace_handle session, const char *log_file) ETWAS_API(etwas_snapshot);

/* A prepared snapshot, which a signal handler can write. */
typedef struct etwas_prepared_snapshot etwas_prepared_snapshot;

/*
 * Prepares a snapshot of `session` into `descriptor`. This is a file that the caller has opened for
 * writing without O_APPEND and keeps open. The file is not touched before the snapshot is written.
 * *prepared receives the snapshot for etwas_snapshot_signal_safe; the caller frees it with
 * etwas_snapshot_discard. The call allocates memory for two buffers, for all descriptions made so
 * far, and 16 bytes for each buffer that the session may have. Call it when the program's classes
 * and messages are described and its libraries are loaded. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: an argument is NULL, or `descriptor` is not such a file.
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_snapshot_prepare(etwas_trace_handle session, int descriptor,
                                etwas_prepared_snapshot **prepared)
    ETWAS_API(etwas_snapshot_prepare);

/*
 * Writes the contents of the session's buffers as a whole .etl file, from the beginning of the file
 * on. The previous contents of the file are gone. The function is for handlers of SIGSEGV, SIGABRT
 * and other signals. It takes no lock, allocates nothing, and waits only for the disk. Its only
 * system calls are lseek, write and ftruncate, and clock_gettime where that is one. It needs 4 KB
 * of stack, which may be an alternate one, and leaves errno unchanged.
 *
 * The thread may have been interrupted anywhere, inside this library, malloc or the loader, with
 * any lock held. The heap may be corrupt. Other threads may continue to log. The function checks
 * all that it reads of the session: what the program has overwritten is missing from the file. If
 * the process crashes again during the call, what is in the file by then can be read. If a thread
 * blocks the signal of its own fault, the kernel kills it without a handler. The library's own
 * threads block all signals.
 *
 * For a session in buffering mode the file has the events that etwas_snapshot would write. For any
 * other session it has the events that are neither in the log file nor delivered yet. The events
 * that the flusher was writing at that moment may be in both. The file also has the clock
 * snapshots, the descriptions, and, if the session takes stacks, the images that were loaded when
 * the snapshot was prepared. It has neither the file's name nor the functions of the kernel.
 * LogFileMode has EVENT_TRACE_BUFFERING_MODE.
 *
 * EventsLost counts the events that the session had lost, and the events in its buffers that are
 * not in the file. The latter are records in one buffer after a record that its writer has not
 * finished (the shared protocol), records that others overwrote during the call, and damaged ones.
 * BuffersLost counts the buffers of the last two kinds. The record that the interrupted thread was
 * writing is in the file only if it was whole.
 *
 * The session continues, and the snapshot may be written again. The file is not made durable: it
 * outlives its process anyway, and a handler may call fsync against a failure of the machine.
 * Thread-safe.
 *
 * ERROR_INVALID_PARAMETER: `prepared` is NULL.
 * ERROR_INVALID_HANDLE: the session has ended, or the process is a fork's child.
 * ERROR_BUSY: the snapshot is being written, possibly by the thread that has crashed again.
 * ERROR_DISK_FULL, ERROR_WRITE_FAULT: not all of it could be written. What was written is in the
 *   file, and the rest could not be counted lost.
 */
uint32_t etwas_snapshot_signal_safe(etwas_prepared_snapshot *prepared)
    ETWAS_API(etwas_snapshot_signal_safe);

/*
 * Frees a prepared snapshot, before or after the end of its session. NULL does nothing. The
 * descriptor stays open. No handler may use the snapshot any more. The function is not
 * async-signal-safe.
 */
void etwas_snapshot_discard(etwas_prepared_snapshot *prepared) ETWAS_API(etwas_snapshot_discard);

/* etwas_stop with the size of the caller's struct. */
uint32_t etwas_stop_sized(etwas_trace_handle session, etwas_session_counts *counts,
                          size_t counts_bytes) ETWAS_API(etwas_stop_sized);

/*
 * Stops a session, as StopTrace does. The call waits for the flusher. Therefore it must not be made
 * in a callback of dl_iterate_phdr if the session takes stacks (EVENT_ENABLE_PROPERTY_STACK_TRACE
 * in evntcons.h). `counts`, which may be NULL, receives the last counts. If the call fails, for
 * example because the session has ended by itself, `counts` receives what etwas_counts reports. It
 * is not changed if etwas_counts fails too. The host of another process's session stops it and
 * returns its last counts.
 *
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_ACTIVE_CONNECTIONS: another thread is stopping it.
 * ERROR_TIMEOUT: the host in another process has not answered within 30 seconds. It stops the
 *   session when it continues.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
static inline uint32_t etwas_stop(etwas_trace_handle session, etwas_session_counts *counts)
{
    return etwas_stop_sized(session, counts, sizeof *counts);
}

/*
 * Waits until a session of this process has ended, because it was stopped or because its file is
 * full. Its last counts are available then. The call waits at most `milliseconds`, or without limit
 * for UINT32_MAX. A control callback that the end of the session waits for must not call it.
 * Thread-safe; not async-signal-safe; no cancellation point.
 *
 * ERROR_TIMEOUT: the session still runs.
 * ERROR_INVALID_HANDLE: the handle is unknown or forgotten, as for etwas_counts.
 */
uint32_t etwas_session_wait(etwas_trace_handle session, uint32_t milliseconds)
    ETWAS_API(etwas_session_wait);

/*
 * Sets how long the process waits for its sessions when it ends by exit or by returning from main.
 * The library then stops the sessions that still run, after the program's handlers and destructors
 * have run. Their control callbacks are not called any more. The process waits at most
 * `milliseconds`, even if the disk is slower; the default is 1,000. The sessions are left as they
 * are if `milliseconds` is 0, or if the system has no thread left for it.
 *
 * Events that are not written by then are lost. The file is readable up to its last whole buffer,
 * as an unfinished file is. The same holds after _exit, quick_exit, abort, exec and a signal, for
 * which nothing waits. Thread-safe; async-signal-safe.
 */
void etwas_exit_wait(uint32_t milliseconds) ETWAS_API(etwas_exit_wait);

/* ---- filters --------------------------------------------------------------------------------- */

/*
 * Two filter types (EVENT_FILTER_DESCRIPTOR) for EnableTraceEx2, in addition to ETW's. In a pattern
 * `*` stands for any number of characters, and `?` for one.
 *
 * EVENT_PATTERN chooses the events of a modern provider by name. It has the data of
 * EVENT_FILTER_TYPE_EVENT_NAME, whose names are patterns, and excludes that filter. Events without
 * metadata have no name: EVENT_FILTER_TYPE_EVENT_ID decides about them if it is there too.
 *
 * PROVIDER_NAME enables, in addition to ProviderId, every provider that has this name (see
 * etwas_provider_name), registered now or later, from its first event on. Its data are a pattern of
 * UTF-8 with its NUL, at most ETWAS_FILTER_PROVIDER_NAME_BYTES. ASCII letters compare without
 * regard to case. ProviderId is the key by which the request is replaced and disabled; it may be
 * the GUID that etwas_name_guid makes of the pattern. What the session requests of a provider's own
 * GUID takes precedence. It has no effect on system providers, and a group cannot have it. If one
 * that is registered now cannot be enabled (ERROR_NO_SYSTEM_RESOURCES: 8 sessions enable it, or
 * 1,024 providers are enabled), the others are, and EnableTraceEx2 returns its code.
 */
#define ETWAS_FILTER_TYPE_EVENT_PATTERN 0x84000000u
#define ETWAS_FILTER_TYPE_PROVIDER_NAME 0x88000000u

#define ETWAS_FILTER_PROVIDER_NAME_BYTES 256

/*
 * Bits of Reserved2 of TRACE_ENABLE_INFO say by what filters a session chooses from a provider, if
 * other processes can find the session. A session of this process alone, and one that it logs to,
 * have ETWAS_ENABLE_FILTERED_EVENTS alone.
 */
#define ETWAS_ENABLE_FILTERED_PROCESSES 0x1u /* EVENT_FILTER_TYPE_PID */
#define ETWAS_ENABLE_FILTERED_PROGRAMS 0x2u  /* EVENT_FILTER_TYPE_EXECUTABLE_NAME */
#define ETWAS_ENABLE_FILTERED_EVENTS 0x4u    /* by id or name */

/* Returns whether a provider of this name is enabled by the pattern of such a filter. */
bool etwas_provider_name_matches(const char *pattern, const char *name)
    ETWAS_API(etwas_provider_name_matches);

/* ---- the inline gate ------------------------------------------------------------------------- */

/*
 * The state that a provider checks before it does any work. The library writes it when a controller
 * enables or disables the provider. The struct lives as long as the process, so a stale pointer is
 * harmless.
 *
 * Bits 0..31 of `gate` are the enabled flags. Bits 32..40 are one more than the greatest enabled
 * level, or 0 when the provider is disabled. A controller's level 0 means every level, and its
 * flags 0 mean every flag.
 */
typedef struct etwas_provider {
    uint64_t gate;
} etwas_provider;

/*
 * Returns the gate of a registration made by RegisterTraceGuids, or NULL for a handle that is not
 * registered.
 */
const etwas_provider *etwas_provider_of(etwas_trace_handle registration)
    ETWAS_API(etwas_provider_of);

/*
 * Returns whether the provider is enabled for `level` and at least one of `flags` (0: any). It
 * costs one load and one branch. `provider` must not be NULL. The load is relaxed: a controller's
 * change becomes visible soon, and publishes nothing else. Async-signal-safe.
 */
static inline bool etwas_enabled(const etwas_provider *provider, uint8_t level, uint32_t flags)
{
    uint64_t gate = __atomic_load_n(&provider->gate, __ATOMIC_RELAXED);
    uint32_t wanted = flags != 0 ? flags : UINT32_MAX;

    return ((gate >> 32) > level) & (((uint32_t)gate & wanted) != 0);
}

#ifdef __cplusplus
}
#endif

#endif
