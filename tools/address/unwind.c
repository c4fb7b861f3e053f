/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Keeps a libdw session for each recently used process, with the images that the process had. The
 * session is made anew when the images change.
 */

#include "address/unwind.h"

#include "address/symbols.h"
#include "cli/built.h"
#include "cli/quiet.h"
#include "event/event.h"
#include "print/output.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,
    MACHINE_X86_64 = 62,
    MACHINE_AARCH64 = 183,
};

/* What precedes the registers in a record. */
struct payload {
    uint32_t version;
    uint32_t machine;
    uint32_t process;
    uint32_t thread;
    int64_t event_stamp;
    uint64_t mask;
};

bool etwas_user_stack_read(const EVENT_RECORD *record, struct etwas_user_stack *stack)
{
    struct payload payload;
    size_t registers;

    if (!etwas_event_is_user_stack(record) || record->UserDataLength < sizeof payload) {
        return false;
    }
    memcpy(&payload, record->UserData, sizeof payload);
    registers = sizeof(uint64_t) * (size_t)__builtin_popcountll(payload.mask);
    if (payload.version != VERSION || record->UserDataLength - sizeof payload < registers) {
        return false;
    }
    *stack = (struct etwas_user_stack){
        .machine = payload.machine,
        .process = payload.process,
        .thread = payload.thread,
        .mask = payload.mask,
        .registers = (const uint8_t *)record->UserData + sizeof payload,
        .bytes = (const uint8_t *)record->UserData + sizeof payload + registers,
        .count = (uint32_t)(record->UserDataLength - sizeof payload - registers)};
    return true;
}

#ifdef ETWAS_LIBDW

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    PROCESSES = 64,     /* limit of kept sessions */
    MOST_IMAGES = 1024, /* limit per session */
    MOST_REGISTERS = 32,
};

struct process {
    uint32_t process;
    uint64_t images; /* hash of the set of images; 0: no session */
    Dwfl *session;
};

struct etwas_unwinder {
    struct etwas_images *images;
    struct process processes[PROCESSES];
    uint32_t next; /* the entry to replace next */
    /* Valid while a stack is unwound. */
    const struct etwas_user_stack *stack;
    uint64_t stack_pointer;
    uint64_t *frames;
    uint32_t count;
};

/* ---- registers and memory -------------------------------------------------------------------- */

/* Reads a register by perf's number. Returns false if it was not recorded. */
static bool get_register(const struct etwas_user_stack *stack, uint32_t number, uint64_t *value)
{
    uint64_t before = stack->mask & ((UINT64_C(1) << number) - 1);

    if ((stack->mask >> number & 1) == 0) {
        return false;
    }
    memcpy(value, stack->registers + sizeof *value * (size_t)__builtin_popcountll(before),
           sizeof *value);
    return true;
}

/*
 * Fills in perf's register numbers in the order of DWARF's: x86-64 to r15 and ip, aarch64 to x30
 * and sp.
 */
static uint32_t numbers_of(const struct etwas_user_stack *stack, uint8_t numbers[MOST_REGISTERS])
{
    static const uint8_t of_x86_64[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

    if (stack->machine == MACHINE_X86_64) {
        memcpy(numbers, of_x86_64, sizeof of_x86_64);
        return sizeof of_x86_64;
    }
    for (uint8_t i = 0; i < MOST_REGISTERS; i++) {
        numbers[i] = i;
    }
    return stack->machine == MACHINE_AARCH64 ? MOST_REGISTERS : 0;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
    const struct etwas_unwinder *unwinder = context;
    uint8_t numbers[MOST_REGISTERS];
    Dwarf_Word values[MOST_REGISTERS];
    uint32_t count = numbers_of(unwinder->stack, numbers);
    uint64_t counter;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t value;

        if (!get_register(unwinder->stack, numbers[i], &value)) {
            return false;
        }
        values[i] = value;
    }
    if (count == 0 || !dwfl_thread_state_registers(thread, 0, count, values)) {
        return false;
    }
    if (unwinder->stack->machine == MACHINE_AARCH64) {
        if (!get_register(unwinder->stack, MOST_REGISTERS, &counter)) {
            return false;
        }
        dwfl_thread_state_register_pc(thread, counter);
    }
    return true;
}

static bool read_memory(Dwfl *session, Dwarf_Addr address, Dwarf_Word *result, void *context)
{
    const struct etwas_unwinder *unwinder = context;
    uint64_t offset = address - unwinder->stack_pointer;

    (void)session;
    if (unwinder->stack->count < sizeof *result ||
        offset > unwinder->stack->count - sizeof *result) {
        return false;
    }
    memcpy(result, unwinder->stack->bytes + offset, sizeof *result);
    return true;
}

/* There is one thread. */
static pid_t next_thread(Dwfl *session, void *context, void **thread)
{
    (void)session;
    if (*thread != NULL) {
        return 0;
    }
    *thread = context;
    return 1;
}

/* ---- images ---------------------------------------------------------------------------------- */

static bool is_there(const struct etwas_image *image, uint32_t process, int64_t time)
{
    return image->process == process && image->kind == ETWAS_IMAGE_OF_FILE && image->to > time &&
           (image->from <= time || image->may_be_old);
}

static void report(Dwfl *session, struct etwas_images *images, const struct etwas_image *image)
{
    struct etwas_image_build *file = &images->files[image->file];
    struct etwas_symbols *symbols = etwas_images_symbols(file);
    uint64_t bias;
    int descriptor;

    if (symbols == NULL || !etwas_symbols_bias(symbols, image->base - image->first, &bias)) {
        return;
    }
    descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor >= 0 &&
        dwfl_report_elf(session, file->path, file->path, descriptor, bias, true) == NULL) {
        (void)close(descriptor); /* else libdw owns it */
    }
}

static Dwfl *make_session(struct etwas_unwinder *unwinder, uint32_t process, int64_t time)
{
    static const Dwfl_Callbacks files = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    static const Dwfl_Thread_Callbacks threads = {
        .next_thread = next_thread,
        .memory_read = read_memory,
        .set_initial_registers = set_registers,
    };
    struct etwas_images *images = unwinder->images;
    Dwfl *session = dwfl_begin(&files);

    if (session == NULL) {
        return NULL;
    }
    dwfl_report_begin(session);
    for (uint32_t i = etwas_images_first(images, process), count = 0;
         i < images->count && images->entries[i].process == process && count < MOST_IMAGES; i++) {
        if (is_there(&images->entries[i], process, time)) {
            report(session, images, &images->entries[i]);
            count++;
        }
    }
    if (dwfl_report_end(session, NULL, NULL) != 0 ||
        !dwfl_attach_state(session, NULL, 1, &threads, unwinder)) {
        dwfl_end(session);
        return NULL;
    }
    return session;
}

/* Returns a hash of the images that are mapped at that time; never 0. */
static uint64_t hash_of_images(struct etwas_unwinder *unwinder, uint32_t process, int64_t time)
{
    const struct etwas_images *images = unwinder->images;
    uint64_t hash = 1;

    for (uint32_t i = etwas_images_first(unwinder->images, process);
         i < images->count && images->entries[i].process == process; i++) {
        if (is_there(&images->entries[i], process, time)) {
            hash = (hash ^ i) * UINT64_C(0x9E3779B97F4A7C15);
        }
    }
    return hash | 1;
}

static Dwfl *session_of(struct etwas_unwinder *unwinder, uint32_t process, int64_t time)
{
    uint64_t images = hash_of_images(unwinder, process, time);
    struct process *kept = NULL;

    for (uint32_t i = 0; i < PROCESSES && kept == NULL; i++) {
        if (unwinder->processes[i].images != 0 && unwinder->processes[i].process == process) {
            kept = &unwinder->processes[i];
        }
    }
    if (kept != NULL && kept->images == images) {
        return kept->session;
    }
    kept = kept != NULL ? kept : &unwinder->processes[unwinder->next++ % PROCESSES];
    dwfl_end(kept->session);
    *kept = (struct process){process, images, make_session(unwinder, process, time)};
    return kept->session;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int on_frame(Dwfl_Frame *frame, void *context)
{
    struct etwas_unwinder *unwinder = context;
    Dwarf_Addr address;
    bool is_activation;

    if (unwinder->count == ETWAS_UNWIND_FRAMES || !dwfl_frame_pc(frame, &address, &is_activation)) {
        return DWARF_CB_ABORT;
    }
    unwinder->frames[unwinder->count++] = address;
    return DWARF_CB_OK;
}

struct etwas_unwinder *etwas_unwinder_open(struct etwas_images *images)
{
    struct etwas_unwinder *unwinder = calloc(1, sizeof *unwinder);

    if (unwinder != NULL) {
        unwinder->images = images;
    }
    return unwinder;
}

void etwas_unwinder_close(struct etwas_unwinder *unwinder)
{
    for (uint32_t i = 0; unwinder != NULL && i < PROCESSES; i++) {
        dwfl_end(unwinder->processes[i].session);
    }
    free(unwinder);
}

uint32_t etwas_unwind(struct etwas_unwinder *unwinder, const struct etwas_user_stack *stack,
                      int64_t time, uint64_t frames[ETWAS_UNWIND_FRAMES])
{
    const uint32_t pointer = stack->machine == MACHINE_X86_64 ? 7 : 31;
    Dwfl *session = unwinder != NULL ? session_of(unwinder, stack->process, time) : NULL;

    if (session == NULL || !get_register(stack, pointer, &unwinder->stack_pointer)) {
        return 0;
    }
    unwinder->stack = stack;
    unwinder->frames = frames;
    unwinder->count = 0;
    /*
     * The unwinding did not reach the outermost function: the copy of the stack ends, there are too
     * many frames, or an image is missing.
     */
    if (dwfl_getthread_frames(session, 1, on_frame, unwinder) != 0 && unwinder->count > 0) {
        unwinder->count += unwinder->count < ETWAS_UNWIND_FRAMES;
        frames[unwinder->count - 1] = ETWAS_EVENT_CUT;
    }
    return unwinder->count;
}

#else

struct etwas_unwinder *etwas_unwinder_open(struct etwas_images *images)
{
    (void)images;
    return NULL;
}

void etwas_unwinder_close(struct etwas_unwinder *unwinder)
{
    (void)unwinder;
}

static void say_without_libdw(void)
{
    if (!etwas_is_quiet) {
        fprintf(stderr,
                "%s: note: the stacks of programs (--dwarf) are not unwound: this etwas was built "
                "without libdw. " ETWAS_BUILT_CURE("libdw-dev") "\n",
                etwas_output_program);
    }
}

uint32_t etwas_unwind(struct etwas_unwinder *unwinder, const struct etwas_user_stack *stack,
                      int64_t time, uint64_t frames[ETWAS_UNWIND_FRAMES])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)unwinder;
    (void)stack;
    (void)time;
    (void)frames;
    (void)pthread_once(&once, say_without_libdw);
    return 0;
}

#endif
