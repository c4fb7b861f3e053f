/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What ETW has no word for: starting a session from C strings, the inline gate, reading a clock
 * directly, exact 64-bit accounting, the flusher thread's attributes; and by the headers that this one
 * includes, describing events (describe.h), what a session asks of its memory (memory.h), what a reader
 * finds in a file and wrong with it (reading.h), a file buffer by buffer (buffers.h), making a file of
 * others (relog.h), flight recorders (recorder.h), retention classes (classes.h), and sessions that survive
 * their process (crash_safe.h).
 * Everything else is in <etwas/evntrace.h> under ETW's own names.
 *
 * Unless a declaration says otherwise, functions may be called from any thread, not from a signal
 * handler, and return ERROR_SUCCESS or a code of <etwas/winerror.h>.
 */
#ifndef ETWAS_ETWAS_H
#define ETWAS_ETWAS_H

#include <etwas/autologger.h>
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
 * A process has one etwas. Where a plugin brings libetwas-plain.so into a program that has
 * libetwas.so, the loader binds both to the same functions. What is called of a second copy all the
 * same (dlsym on its handle, RTLD_DEEPBIND) registers no provider and starts and names no session:
 * ERROR_ALREADY_INITIALIZED. libetwas.a with its names hidden (-Wl,--exclude-libs) is an etwas of
 * its own, which sees neither the others' providers nor their sessions.
 */

/*
 * Structs may grow at their end from version to version. So a function that takes one is inline: it
 * tells the exported function, whose name ends in _sized, how large the caller knows the struct.
 * Who finds functions with dlsym passes the size himself. A newer library touches only what the
 * caller knows. An older one sets members it does not know to 0, and refuses options that use one
 * with ERROR_NOT_SUPPORTED. What is inside another struct or in an array stays as it is.
 */

/* ---- version --------------------------------------------------------------------------------- */

#define ETWAS_VERSION_MAJOR 0
#define ETWAS_VERSION_MINOR 1
#define ETWAS_VERSION_PATCH 0

/* The version of the library that runs, as "0.1.0". Static text. Async-signal-safe. */
const char *etwas_version(void) ETWAS_API(etwas_version);

/* ---- errors ---------------------------------------------------------------------------------- */

/*
 * What a code of <etwas/winerror.h> means, in a few words; "unknown error" for any other. Static
 * text. Async-signal-safe.
 */
const char *etwas_error_text(uint32_t code) ETWAS_API(etwas_error_text);

/* ---- clocks ---------------------------------------------------------------------------------- */

/* The values of WNODE_HEADER.ClientContext. */
#define ETWAS_CLOCK_QPC 1u         /* CLOCK_MONOTONIC_RAW, nanoseconds */
#define ETWAS_CLOCK_SYSTEM_TIME 2u /* CLOCK_REALTIME as FILETIME, 100 ns since 1601-01-01 UTC */
#define ETWAS_CLOCK_TSC 3u         /* the processor's invariant cycle counter */

/*
 * The clock a session gets that asks for `clock` (0 to 3): 0 is QPC, and TSC becomes system time on
 * a machine whose cycle counter cannot be trusted. 0 for any other value. The first question about
 * the TSC calibrates it, which takes some milliseconds once per process.
 */
uint32_t etwas_clock_effective(uint32_t clock) ETWAS_API(etwas_clock_effective);

/*
 * Reads a clock: the raw stamp a record of such a session gets. An unknown clock reads 0. `clock`
 * is taken literally: TSC reads the counter even where a session would fall back.
 * Async-signal-safe.
 */
int64_t etwas_clock_read(uint32_t clock) ETWAS_API(etwas_clock_read);

/*
 * Ticks a second: 1,000,000,000 for QPC, 10,000,000 for system time, the calibrated frequency in Hz
 * for the TSC (0 where there is none). 0 for an unknown clock.
 */
uint64_t etwas_clock_frequency(uint32_t clock) ETWAS_API(etwas_clock_frequency);

/* What the cycle counter of this machine is worth. */
#define ETWAS_CLOCK_VERDICT_UNUSABLE 0u /* a session that asks for it gets system time */
#define ETWAS_CLOCK_VERDICT_DOUBTFUL 1u /* it is used, and something speaks against it */
#define ETWAS_CLOCK_VERDICT_TRUSTED 2u

/* Why: bits of etwas_clock_trust.reasons. The first group speaks for the counter. */
#define ETWAS_CLOCK_REASON_INVARIANT 0x0001u        /* one rate in all power states (CPUID) */
#define ETWAS_CLOCK_REASON_NONSTOP 0x0002u          /* runs in deep sleep, says the kernel */
#define ETWAS_CLOCK_REASON_STATED_FREQUENCY 0x0004u /* CPUID, hypervisor or CNTFRQ states one */
#define ETWAS_CLOCK_REASON_KERNEL_USES_IT 0x0008u   /* the kernel's own clock source */
#define ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT 0x0010u /* among the sources it has not given up */
#define ETWAS_CLOCK_REASON_ADJUSTABLE 0x0020u       /* the kernel can set processors right */
#define ETWAS_CLOCK_REASON_KERNEL_WAS_TOLD 0x0040u  /* its frequency: tsc_known_freq */
/* The others speak against it. A guest may be moved to another machine while it runs. */
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
    uint64_t frequency_hz;           /* as calibrated; 0: it could not be */
    uint32_t frequency_error_ppb;    /* bound of that, parts in 10^9 */
    uint32_t stated_by;              /* ETWAS_CLOCK_STATED_* */
    uint64_t stated_hz;              /* 0: nothing states one */
    char clocksource[32];            /* the kernel's current one; "" where it does not say */
    char available_clocksources[96]; /* those it has not given up, separated by blanks */
    char hypervisor[16];             /* its signature, as "KVMKVMKVM"; "": none, or none seen */
} etwas_clock_trust;

/* etwas_clock_query_trust, told how large the caller knows the struct. */
uint32_t etwas_clock_query_trust_sized(etwas_clock_trust *trust, size_t trust_bytes)
    ETWAS_API(etwas_clock_query_trust_sized);

/*
 * What can be said of the cycle counter without measuring long: the first call calibrates it, some
 * tens of milliseconds once per process. Sessions decide by the same verdict: one that asks for
 * ClientContext 3 gets system time where it is ETWAS_CLOCK_VERDICT_UNUSABLE. Unusable is a counter
 * that is not invariant, that the kernel gave up, or that cannot be calibrated; doubtful one with
 * another reason against it, a guest only where its kernel does not say that it keeps time by it.
 * ERROR_INVALID_PARAMETER for NULL.
 */
static inline uint32_t etwas_clock_query_trust(etwas_clock_trust *trust)
{
    return etwas_clock_query_trust_sized(trust, sizeof *trust);
}

/*
 * A sentence without its full stop for one bit of `reasons`; "" for none or several. Static text.
 */
const char *etwas_clock_reason_text(uint32_t reason) ETWAS_API(etwas_clock_reason_text);

/* ---- sessions -------------------------------------------------------------------------------- */

/*
 * How writers put events into the buffer of their processor. RSEQ: one restartable sequence an
 * event (Linux rseq), committed by a plain store; no locked instruction, and no event is ever half
 * there. It needs glibc 2.35 or newer with rseq registered, and membarrier. SHARED: Concurrency Kit
 * atomics on slots that any thread may write to at any time.
 */
#define ETWAS_PROTOCOL_BEST 0u /* RSEQ where the process can, else SHARED */
#define ETWAS_PROTOCOL_SHARED 1u
#define ETWAS_PROTOCOL_RSEQ 2u

/* Why a process's sessions do not use restartable sequences. */
#define ETWAS_SEQUENCES_USED 0u    /* they do, unless they ask for another protocol */
#define ETWAS_SEQUENCES_UNBUILT 1u /* this build of the library has none */
#define ETWAS_SEQUENCES_UNREGISTERED                                                               \
    2u /* glibc has registered no thread: it is older than 2.35, was told not to                   \
          (GLIBC_TUNABLES=glibc.pthread.rseq=0), as programs with tcmalloc are, or the kernel refused */
#define ETWAS_SEQUENCES_UNFENCED 3u /* the kernel offers no membarrier for them */
#define ETWAS_SEQUENCES_NOT_ABORTED                                                                \
    4u /* the kernel was tried, and does not abort a sequence that another thread of the same      \
          processor preempts, so two threads could write to the same place */
#define ETWAS_SEQUENCES_UNTRIED                                                                    \
    5u /* the kernel is one of those that may not, and there was no chance to try it */

/*
 * ETWAS_SEQUENCES_*, of this process now. Kernels that are known not to abort sequences, arm64's from Linux 6.19 on, are
 * tried before they are used, which takes 5 ms at most and two threads; processes that share sessions keep the result for
 * the others of their user until the next boot. Elsewhere nothing is tried. Thread-safe; not for signal handlers.
 */
uint32_t etwas_sequences(void) ETWAS_API(etwas_sequences);

/*
 * Tries this kernel, whichever it is, and changes nothing by it: ETWAS_SEQUENCES_USED, it aborts them;
 * ETWAS_SEQUENCES_NOT_ABORTED; ETWAS_SEQUENCES_UNTRIED, the processor had too much else to do; or why there is nothing to
 * try. Takes 5 ms at most, on the processor of the caller, with two threads. Thread-safe; not for signal handlers.
 */
uint32_t etwas_sequences_try(void) ETWAS_API(etwas_sequences_try);

/* A sentence for one of ETWAS_SEQUENCES_*, without its end: static text. */
const char *etwas_sequences_text(uint32_t sequences) ETWAS_API(etwas_sequences_text);

/* How the thread that writes a session's buffers runs. A zeroed struct is the default. */
typedef struct etwas_flusher_options {
    const char *name;          /* thread name, at most 15 bytes are kept; NULL: "etwas-flush" */
    const uint32_t *cpus;      /* numbers of the processors the thread may run on, below 2,047;
                             NULL: as the caller */
    uint32_t cpu_count;        /* entries in cpus */
    int32_t realtime_priority; /* 1..99: SCHED_FIFO with this priority; 0: the normal scheduler */
    int32_t nice_value;        /* -20..19, for the normal scheduler */
    bool no_thread;            /* no thread: the host calls etwas_flush often enough itself */
} etwas_flusher_options;

/*
 * Where the buffers of a crash-safe session lie, so that what was logged is not lost when the process dies: by
 * SIGKILL, for want of memory, by a fault. `etwas recover` makes a log file of what is left.
 *
 * POOL_FILE: a file, `s.GUID.pool`, in `crash_safe_folder`, or in the user's runtime folder, which is in
 * memory: $ETWAS_RUNTIME_DIR, else $XDG_RUNTIME_DIR/etwas, else /run/user/UID/etwas, else /dev/shm/etwas-UID.
 * It stays when the process dies, and is removed when the session ends. MEMFD: memory without a name: nothing
 * is left behind; it is in core files, and can be recovered while the process is there. docs/crash-safe.md
 * says what each of them costs, and what can go wrong.
 *
 * All space for MaximumBuffers is taken at the start, which is refused with ERROR_DISK_FULL where there is
 * not so much: etwas_crash_safe_refusal says how much and where. UPDATE cannot raise MaximumBuffers.
 */
#define ETWAS_CRASH_SAFE_POOL_FILE 1
#define ETWAS_CRASH_SAFE_MEMFD 2

/* What etwas_start needs beyond two names. A zeroed struct, or NULL, asks for every default. */
typedef struct etwas_session_options {
    uint32_t log_file_mode;     /* EVENT_TRACE_*_MODE bits */
    uint32_t clock;             /* ETWAS_CLOCK_*; 0: QPC */
    uint32_t buffer_size_kb;    /* 4..16384; 0: 64 */
    uint32_t minimum_buffers;   /* 0: two for each processor */
    uint32_t maximum_buffers;   /* 0: as many as make 64 MiB, at least minimum_buffers + 22 */
    uint32_t maximum_file_size; /* MB; KB with EVENT_TRACE_USE_KBYTES_FOR_SIZE; 0: no limit */
    uint32_t flush_timer;       /* seconds between timed flushes, milliseconds with
                             EVENT_TRACE_USE_MS_FLUSH_TIMER; 0: buffers are written when full, in
                             real time also each second */
    uint32_t protocol;          /* ETWAS_PROTOCOL_*; RSEQ: ERROR_NOT_SUPPORTED where it cannot be */
    bool process_times;         /* each record carries the processor time of the thread that logs:
                             KernelTime and UserTime, in a private session ProcessorTime. Without it
                             they are 0; with it an event costs a system call more */
    bool large_pages;           /* huge pages for the buffers, where the system grants them: see
                             etwas_session_memory.region_huge_bytes */
    uint32_t consumer_queue_kb; /* real time: what a consumer may leave unread; 0: 65,536 */
    uint32_t backlog_kb; /* real time: the file for what is flushed while there is no consumer;
                                   0: 65,536 */
    const char
        *backlog_folder; /* where that file is, which has no name; a UTF-8 path; NULL: $TMPDIR,
                                   else /var/tmp */
    etwas_flusher_options flusher;
    uint32_t crash_safe; /* ETWAS_CRASH_SAFE_*; 0: the buffers are the process's own memory, unless
                            the mode has EVENT_TRACE_ADDTO_TRIAGE_DUMP, which means POOL_FILE */
    const char *
        crash_safe_folder; /* where the pool file is; a UTF-8 path of a folder that is the user's alone
                                      (0700), made if it is missing; NULL: the user's runtime folder */
    uint32_t memory;       /* ETWAS_MEMORY_*: wishes */
    uint32_t memory_required; /* ETWAS_MEMORY_*: conditions */
    const etwas_retention_class
        *classes;         /* class_count of them, of which the first decides that an event is
                                             in; see <etwas/classes.h>. Copied */
    uint32_t class_count; /* 0: none; at most ETWAS_RETENTION_CLASSES */
    uint32_t sharing;     /* ETWAS_SHARING_*: which processes log into it; see <etwas/shared.h> */
} etwas_session_options;

/* etwas_start, told how large the caller knows the struct. */
uint32_t etwas_start_sized(const char *session_name, const char *log_file,
                           const etwas_session_options *options, size_t options_bytes,
                           etwas_trace_handle *session) ETWAS_API(etwas_start_sized);

/*
 * Starts a session in one call. `session_name` is UTF-8, at most 1,024 characters and unique in the
 * process without regard to case; `log_file` is a UTF-8 path, NULL only with
 * EVENT_TRACE_BUFFERING_MODE or EVENT_TRACE_REAL_TIME_MODE; `options` may be NULL. On success
 * *session receives the handle that TraceEvent, TraceEventInstance, EnableTrace and ControlTrace
 * take; on failure it receives 0. The file's name becomes what StartTrace makes of it: a number for
 * `%d`, `_` and the process id.
 *
 * Errors: those of StartTrace, and ERROR_INVALID_PARAMETER for flusher options out of range,
 * for ETWAS_PROTOCOL_RSEQ with EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, and for more than
 * ETWAS_RETENTION_CLASSES classes, none where `class_count` says so, shares above 100 percent together, or
 * members of them that are reserved and not 0; ERROR_NOT_SUPPORTED for classes with
 * EVENT_TRACE_FILE_MODE_APPEND, and where they and the processors make more than 2,047 streams; ERROR_BAD_PATHNAME for a
 * `backlog_folder` of more than 3,072 bytes; ERROR_ACCESS_DENIED where the system refuses the
 * affinity or the priority asked for, or memory to be locked that is required to be;
 * ERROR_NOT_ENOUGH_MEMORY where it refuses another wish that is required (etwas_memory_refusal).
 */
static inline uint32_t etwas_start(const char *session_name, const char *log_file,
                                   const etwas_session_options *options,
                                   etwas_trace_handle *session)
{
    return etwas_start_sized(session_name, log_file, options, sizeof *options, session);
}

/*
 * Events and buffers of one session, by what became of them. attempted = recorded + overwritten +
 * lost.
 */
typedef struct etwas_session_counts {
    uint64_t recorded;         /* in the file, delivered, or still in memory on the way to either;
                                  after STOP also what a consumer had still to take then */
    uint64_t overwritten;      /* buffering mode, circular file: recorded, then replaced by newer
                                  ones */
    uint64_t lost;             /* the sum of the lost_* below */
    uint64_t lost_no_buffer;   /* every buffer of the pool was full */
    uint64_t lost_write_error; /* the log file could not be written (disk full, I/O error) */
    uint64_t lost_file_full;   /* the log file had reached MaximumFileSize */
    uint64_t lost_abandoned;   /* writers stopped inside a record longer than the flusher waits */
    uint64_t
        lost_backlog_full; /* real time: refused with ERROR_LOG_FILE_FULL, for lack of a consumer */
    uint64_t lost_undelivered; /* real time: in no file, and no consumer took them */
    uint64_t buffers_written;  /* to files, the header buffer of each included; of a circular file
                                  also what was replaced, of one appended to what was there */
    uint64_t buffers_lost;     /* could not be written to the file */
    uint64_t
        realtime_buffers_lost; /* real time: a consumer, or the backlog, could not take a buffer,
                                       so many times */
    uint64_t sync_errors;      /* times the system refused to make the log file durable, or to take
                                  what it says of its clock */
    uint64_t buffers_allocated;
    uint64_t buffers_free;
    uint64_t committed_rseq; /* events put into a buffer by a restartable sequence, whatever became
                                  of them later */
    uint64_t committed_shared; /* likewise by the shared protocol; together with committed_rseq and
                                  what no buffer was had for, or is refused: attempted */
    uint64_t restarts;         /* sequences that were interrupted and begun again */
    uint64_t lost_in_kernel;   /* system logger: the kernel had no room for them */
    uint64_t
        lost_unattached; /* of other processes: logged while this session's host had not yet answered that they
                                  would log into it, or where they cannot. The host hears of them when it goes on */
    uint64_t condemned_slots; /* session of many processes, one of which has scribbled on its
                                  memory: so many processors', or processes', slots are used no
                                  more. What they had not yet written is lost, nobody knows how much */
    uint64_t damaged_buffers; /* likewise: with something else than records, which is left out */
    uint64_t lost_too_large; /* did not fit into one of the session's buffers, or into any record */
    uint64_t lost_withheld;  /* modern events: another session that listens to the provider had no
                                 buffer for them, so no session got them (EventWrite) */
    uint32_t
        unattached_processes; /* that cannot log into it now, though it enables their providers: what they
                                  log is in lost_unattached, unless they have not even a page to count in, or
                                  its host has no descriptor for them: these are not enabled, and try again */
    uint32_t unattached_code; /* why the last one that could not, could not: a Win32 code, of which
                                  shared.h says what each means; it stays. 0: each one could */
    uint32_t unshared;  /* ETWAS_UNSHARED_*: why other processes do not log into it (shared.h) */
    uint32_t protocol;  /* ETWAS_PROTOCOL_SHARED or _RSEQ, as etwas_session_protocol says */
    uint32_t sequences; /* ETWAS_SEQUENCES_*: why it is SHARED, where RSEQ was wished; else 0 */
    uint32_t reserved;
} etwas_session_counts;

/* etwas_counts, told how large the caller knows the struct. */
uint32_t etwas_counts_sized(etwas_trace_handle session, etwas_session_counts *counts,
                            size_t counts_bytes) ETWAS_API(etwas_counts_sized);

/*
 * The counts of a running session, or the last ones of a session that has stopped. Those are kept
 * until another session takes its entry in the session table, which has 64, and 8 for private
 * sessions; the entry longest unused is taken first. Writers may write meanwhile. Of a session of another
 * process its host is asked, while it runs. Errors: ERROR_INVALID_PARAMETER for NULL, ERROR_INVALID_HANDLE for
 * a handle unknown or forgotten; ERROR_TIMEOUT, its host does not answer in 5 seconds;
 * ERROR_NOT_ENOUGH_MEMORY.
 */
static inline uint32_t etwas_counts(etwas_trace_handle session, etwas_session_counts *counts)
{
    return etwas_counts_sized(session, counts, sizeof *counts);
}

/*
 * What a session asks for with EnableProperty (EnableTraceEx2) beside ETW's EVENT_ENABLE_PROPERTY_*
 * (evntcons.h): behind the START of each instance or activity of the provider, and before its END, a
 * record of what the kernel has counted of the thread until then: how long it ran, and waited for a
 * processor, times in user and kernel mode, switches, page faults (ThreadCounters,
 * docs/file-format.md). So a reader knows what a thread did meanwhile without any event of the kernel,
 * and without a privilege: `etwas why` says it.
 *
 * Of modern providers and groups it is every activity: a START or STOP with an ActivityId that is not 0.
 * Of classic ones it is every instance (TraceEventInstance); with the GUID of a class in the provider's
 * place the instances of this class alone, whatever else the session asks of the provider. A class is
 * counted for one session, the last that asked; a modern provider for each that does.
 *
 * Each such event costs three system calls, about a microsecond, and a record of 168 bytes, which is an
 * event of the session as any other; what is not asked for costs what it always does. The first such
 * event of a thread opens a file, which stays open until the thread ends, of 256 threads at most; others
 * open it each time, some microseconds more, and so do all where the process had 32 keys of
 * pthread_key_create before the first session asked. A child of fork reads its own. A program that
 * closes that file's descriptor, as one does that closes all it has not opened, no longer knows how long
 * that thread waited for a processor; a file of its own that has the number then stays open when the
 * thread ends. In signal handlers these events may be logged as any other.
 */
#define ETWAS_ENABLE_PROPERTY_COUNTERS 0x80000000u

/* Whose events of the kernel a system logger records. */
#define ETWAS_KERNEL_SCOPE_SYSTEM 1u  /* the whole system's, which needs privileges */
#define ETWAS_KERNEL_SCOPE_PROCESS 2u /* those of the process that logs, which needs none */

/*
 * The system loggers that the calling thread starts from now on (StartTrace, StartKernelTrace) have
 * this scope. A thread that does not say has ETWAS_KERNEL_SCOPE_SYSTEM. Of the own process they
 * record PROCESS, THREAD, IMAGE_LOAD, CSWITCH, PROFILE, MEMORY_PAGE_FAULTS and VIRTUAL_ALLOC, in its
 * own code and not while the kernel works for it; another flag is ERROR_ACCESS_DENIED, and
 * etwas_kernel_refusal names it. docs/kernel-events.md says what is missing in these. Errors:
 * ERROR_INVALID_PARAMETER.
 */
uint32_t etwas_kernel_scope(uint32_t scope) ETWAS_API(etwas_kernel_scope);

/* By what means a system logger records. */
#define ETWAS_KERNEL_RUNG_SYSTEM 1u  /* perf events and tracepoints of the whole system */
#define ETWAS_KERNEL_RUNG_PROCESS 2u /* perf events of the process's threads */
#define ETWAS_KERNEL_RUNG_FOUND                                                                    \
    3u /* the kernel refuses those too: what there is of the process at \
                                        the beginning and in the end, nothing that happens */

/*
 * *rung receives that of a running system logger. One of the own process begins on the lowest rung where
 * the kernel refuses perf events (perf_event_paranoid above 2, a container's seccomp filter), and
 * etwas_kernel_refusal says why, although the start succeeded. What threads did meanwhile their own
 * counters say there, in any session: ETWAS_ENABLE_PROPERTY_COUNTERS. Errors: ERROR_INVALID_PARAMETER for
 * NULL, ERROR_INVALID_HANDLE for a session that does not run, ERROR_NOT_SUPPORTED for one that is no
 * system logger.
 */
uint32_t etwas_kernel_rung(etwas_trace_handle session, uint32_t *rung) ETWAS_API(etwas_kernel_rung);

/*
 * Why the kernel refused what the calling thread's last StartTrace, StartKernelTrace, UPDATE,
 * TraceSetInformation or EnableTraceEx2 of a system logger asked for: one English sentence that names what is missing, be it a capability, a
 * setting with its value, a mount or a tracepoint; or nothing, if the kernel refused nothing. `text`
 * receives as much as fits into `room` bytes with its 0; it may be NULL with 0. Returns the length of
 * the whole without its 0: at most 511. Looks at files of the machine. Thread-safe; not for signal
 * handlers.
 */
size_t etwas_kernel_refusal(char *text, size_t room) ETWAS_API(etwas_kernel_refusal);

/*
 * *flags receives those EnableFlags of a running system logger that record nothing, since Linux has
 * nothing of the kind: of EVENT_TRACE_FLAG_ALPC, _REGISTRY and _DRIVER. They are no error where a
 * session starts, so that programs of ETW's run as they are. `text` receives a sentence that says
 * why, or nothing where there are none, as much as fits into `room` bytes with its 0; it may be NULL
 * with 0. 512 are enough. Errors: ERROR_INVALID_PARAMETER for NULL flags, ERROR_INVALID_HANDLE for
 * a session that does not run, ERROR_NOT_SUPPORTED for one that is no system logger. Thread-safe; not
 * for signal handlers.
 */
uint32_t etwas_kernel_silent(etwas_trace_handle session, uint32_t *flags, char *text, size_t room)
    ETWAS_API(etwas_kernel_silent);

/*
 * From now on each stack of a program that a running system logger records (StartKernelTrace's ids,
 * TraceStackTracingInfo) is followed by a copy of the program's registers and of the `bytes` at the top of its
 * stack, from which a reader unwinds functions that have no frame pointers: see docs/kernel-events.md
 * for what it costs. 0: no more, as when a session starts; a multiple of 8, at most 32,768 and half of
 * the session's buffers. 8,192 do for most programs. Errors: ERROR_INVALID_PARAMETER for another
 * number, ERROR_INVALID_HANDLE for a session that does not run, ERROR_NOT_SUPPORTED for one that is no
 * system logger; those of UPDATE where the kernel refuses (etwas_kernel_refusal). Thread-safe; not for
 * signal handlers.
 */
uint32_t etwas_kernel_user_stacks(etwas_trace_handle session, uint32_t bytes)
    ETWAS_API(etwas_kernel_user_stacks);

/*
 * The keywords of a system provider (evntrace_keywords.h) that deliver something in this release; the others
 * may be enabled, and deliver nothing. 0 for NULL and for the GUID of no system provider. Thread-safe;
 * async-signal-safe.
 */
uint64_t etwas_kernel_keywords(const etwas_guid *provider) ETWAS_API(etwas_kernel_keywords);

/*
 * The protocol of a running session: *protocol receives ETWAS_PROTOCOL_SHARED or _RSEQ. In a
 * session with RSEQ the events of a thread that cannot run sequences go to a stream of their own,
 * by the shared protocol: its processor index is the number of processors, and NumberOfProcessors
 * in the file is one more. Where it is SHARED and nobody asked for that, etwas_sequences says why. Errors:
 * ERROR_INVALID_PARAMETER for NULL, ERROR_INVALID_HANDLE for a session that does not run.
 */
uint32_t etwas_session_protocol(etwas_trace_handle session, uint32_t *protocol)
    ETWAS_API(etwas_session_protocol);

/* What a running session costs in memory. */
typedef struct etwas_session_memory {
    uint64_t region_bytes;          /* address space of the buffer pool, with some into which it may
                                       grow when MaximumBuffers is raised */
    uint64_t region_resident_bytes; /* the part of it that occupies memory now */
    uint64_t region_huge_bytes;     /* the part of it that lies in huge pages now */
    uint64_t region_explicit_bytes; /* of these, explicit ones (vm.nr_hugepages), which the session
                                       holds from start to stop; 0: not asked for, or not granted,
                                       and huge pages can only be transparent ones */
    uint64_t control_bytes; /* the pool's bookkeeping: address space kept for the next session */
    uint64_t arena_mapped_bytes; /* jemalloc's count for the session's arena; 0 without jemalloc */
    uint64_t arena_resident_bytes; /* likewise */
    uint32_t asked;                /* ETWAS_MEMORY_*: what the session asked for */
    uint32_t granted;              /* of that; see etwas_memory_refusal */
    uint32_t memory_nodes; /* on which the buffers lie by ETWAS_MEMORY_NODES; 1: the machine has no
                              more, and there was nothing to do; 0: not asked for, or not granted */
} etwas_session_memory;

/* etwas_memory, told how large the caller knows the struct. */
uint32_t etwas_memory_sized(etwas_trace_handle session, etwas_session_memory *memory,
                            size_t memory_bytes) ETWAS_API(etwas_memory_sized);

/*
 * Looks at every page of the pool: milliseconds for a large one. Errors: ERROR_INVALID_PARAMETER
 * for NULL, ERROR_INVALID_HANDLE for a session that does not run.
 */
static inline uint32_t etwas_memory(etwas_trace_handle session, etwas_session_memory *memory)
{
    return etwas_memory_sized(session, memory, sizeof *memory);
}

/*
 * Writes everything recorded so far to the log file, and makes it durable. What a session without a
 * flusher thread calls often enough to keep buffers free; any session may. Errors:
 * ERROR_INVALID_HANDLE; ERROR_NOT_SUPPORTED for a buffering-mode session (it has no file: see
 * etwas_snapshot); ERROR_DISK_FULL and ERROR_WRITE_FAULT when not everything could be written or
 * made durable; for a new-file set also the codes of opening a file; ERROR_LOG_FILE_FULL for a
 * real-time session without a consumer, whose backlog is full.
 */
uint32_t etwas_flush(etwas_trace_handle session) ETWAS_API(etwas_flush);

/*
 * Writes what a buffering-mode session holds to `log_file` (replaced if it exists and nobody uses
 * it); logging goes on, nothing is consumed. The name is taken as it is, also for a private
 * session. A session that is filtered out has nothing to show, and writes no file. Errors:
 * ERROR_INVALID_HANDLE; ERROR_NOT_SUPPORTED for a session with a file; those of StartTrace that
 * concern the log file; ERROR_DISK_FULL and ERROR_WRITE_FAULT when not everything could be written.
 */
uint32_t etwas_snapshot(etwas_trace_handle session, const char *log_file) ETWAS_API(etwas_snapshot);

/* A snapshot that was prepared, to be written from a signal handler. */
typedef struct etwas_prepared_snapshot etwas_prepared_snapshot;

/*
 * Prepares a snapshot of `session` into `descriptor`: a file that the caller has opened for writing,
 * without O_APPEND, and keeps open. It is not touched before the snapshot is written. *prepared
 * receives what etwas_snapshot_signal_safe takes, to be given back with etwas_snapshot_discard. It
 * takes memory for two buffers, for what is described by now, and 16 bytes for each buffer that the
 * session may have. To be called when the program's classes and messages are described and its
 * libraries are loaded. Thread-safe; not for signal handlers. Errors: ERROR_INVALID_PARAMETER for
 * NULL and for another descriptor, ERROR_INVALID_HANDLE for a session that does not run,
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_snapshot_prepare(etwas_trace_handle session, int descriptor,
                                etwas_prepared_snapshot **prepared)
    ETWAS_API(etwas_snapshot_prepare);

/*
 * Writes what is in the session's buffers as a whole .etl file, from the beginning of the file on;
 * what was in it is gone. For handlers of SIGSEGV, SIGABRT and other signals: it takes no lock,
 * allocates nothing, waits for the disk alone, makes no other system call than lseek, write and
 * ftruncate (and clock_gettime, where that is one), needs 4 KB of stack, also of an alternate one, and
 * leaves errno as it was. The thread may have been interrupted anywhere, inside this library, malloc
 * or the loader, with any lock held, and the heap may be broken. Other threads may go on logging.
 * What it reads of the session it does not believe: where the program has written over that, so much
 * less is in the file. If the process crashes again meanwhile, what is in the file by then can be read.
 * A thread that blocks a signal of its own fault is killed by the kernel without a handler; the
 * library's own threads block all signals.
 *
 * In the file is, of a session in buffering mode, what etwas_snapshot would write; of any other what is
 * neither in its log file yet nor delivered. What the flusher was writing just then may be in both.
 * Beside it there are the knots of the clocks, what was described, and of the images of a session that
 * takes stacks those that were loaded when it was prepared; not the file's name, nor the functions of
 * the kernel. LogFileMode has EVENT_TRACE_BUFFERING_MODE. EventsLost counts what the session had lost,
 * and what was in its buffers and is not in the file: records in one buffer behind one that its writer
 * has not finished (the shared protocol), what others overwrote meanwhile, and what is damaged.
 * BuffersLost counts the buffers of the latter two. The record that the interrupted thread was writing
 * is not in the file, unless it was whole.
 *
 * The session goes on, and it may be written again. It is not made durable: a file outlives its
 * process anyway, and fsync, for when the machine goes down too, is for handlers. Thread-safe. Errors:
 * ERROR_INVALID_PARAMETER for NULL; ERROR_INVALID_HANDLE when the session has ended, and in a fork's
 * child; ERROR_BUSY while it is being written, be it by the thread that has crashed again;
 * ERROR_DISK_FULL and ERROR_WRITE_FAULT when not all of it could be written: the rest is in the file,
 * and what could not be counted lost.
 */
uint32_t etwas_snapshot_signal_safe(etwas_prepared_snapshot *prepared)
    ETWAS_API(etwas_snapshot_signal_safe);

/*
 * Gives it back, before or after the end of its session; NULL does nothing. The descriptor stays
 * open. No handler may use it any more. Not for signal handlers.
 */
void etwas_snapshot_discard(etwas_prepared_snapshot *prepared) ETWAS_API(etwas_snapshot_discard);

/* etwas_stop, told how large the caller knows the struct. */
uint32_t etwas_stop_sized(etwas_trace_handle session, etwas_session_counts *counts,
                          size_t counts_bytes) ETWAS_API(etwas_stop_sized);

/*
 * Stops a session: what StopTrace does. It waits for the flusher, and so must not be called in a
 * callback of dl_iterate_phdr where the session takes stacks (EVENT_ENABLE_PROPERTY_STACK_TRACE in
 * evntcons.h). `counts` (may be NULL) receives the last counts; where the call fails, because the
 * session has ended by itself for one, what etwas_counts says of it; and where that fails too,
 * nothing. A session of another process is stopped by its host, which gives its last counts, too. Errors:
 * ERROR_INVALID_HANDLE, ERROR_ACTIVE_CONNECTIONS while another thread stops it; of another process's session ERROR_TIMEOUT,
 * its host has not answered in 30 seconds, and stops it when it goes on; ERROR_NOT_ENOUGH_MEMORY.
 */
static inline uint32_t etwas_stop(etwas_trace_handle session, etwas_session_counts *counts)
{
    return etwas_stop_sized(session, counts, sizeof *counts);
}

/*
 * Waits until a session of this process has ended: because it was stopped, by whomever, or because its
 * file is full. Its last counts can be had then. Waits `milliseconds` at most, UINT32_MAX: as long as it
 * takes. Thread-safe; not for signal handlers; not a point of cancellation. A control callback that the
 * end of the session waits for must not wait for that. Errors: ERROR_TIMEOUT while it runs;
 * ERROR_INVALID_HANDLE for a handle unknown or forgotten, as to etwas_counts.
 */
uint32_t etwas_session_wait(etwas_trace_handle session, uint32_t milliseconds)
    ETWAS_API(etwas_session_wait);

/*
 * When a process ends by exit, or by returning from main, the library stops the sessions that still run,
 * after the program's handlers and destructors have run; their control callbacks are not called any more.
 * The process waits for that `milliseconds` at most, whatever the disk does: 1,000 if nobody says
 * otherwise; 0 leaves them as they are, and so does a system that has no thread left for it. What is
 * not written by then is lost, and a file is readable up to its last whole buffer, as one that is not
 * finished; so it is after _exit, quick_exit, abort, exec and a signal, which nothing
 * waits for. Thread-safe; async-signal-safe.
 */
void etwas_exit_wait(uint32_t milliseconds) ETWAS_API(etwas_exit_wait);

/* ---- the inline gate ------------------------------------------------------------------------- */

/*
 * What a provider looks at before it does any work. The library writes it when a controller enables
 * or disables the provider; the struct lives as long as the process, so a stale pointer is
 * harmless.
 *
 * gate: bits 0..31 the enabled flags, bits 32..40 one more than the greatest level enabled, 0 when
 * disabled. A controller's level 0 means every level, its flags 0 every flag.
 */
typedef struct etwas_provider {
    uint64_t gate;
} etwas_provider;

/*
 * The gate of a registration made by RegisterTraceGuids; NULL for a handle that is not registered.
 */
const etwas_provider *etwas_provider_of(etwas_trace_handle registration)
    ETWAS_API(etwas_provider_of);

/*
 * Whether the provider is enabled for `level` and at least one of `flags` (0: any). One load and
 * one branch; `provider` must not be NULL. Async-signal-safe. A relaxed load: a change made by a
 * controller is seen soon, and publishes nothing else.
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
