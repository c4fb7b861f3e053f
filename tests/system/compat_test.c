/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Calls that are made as 32-bit programs make them have other numbers: none is taken for the call
 * that its number means here.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/builtin.h"
#include "system/file_events.h"

enum {
    CALLS = 100,
    ENTER = 51,
    READ_OF_32_BITS = 3, /* here it is close */
    HIGHEST_BIT = (int)(1U << 31),
    NOBODYS = 77, /* descriptor */
    LOADED_AT = 0x08048000,
};

static etwas_trace_handle start(void)
{
    return start_kernel(EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT |
                        EVENT_TRACE_FLAG_SYSTEMCALL | EVENT_TRACE_FLAG_NO_SYSCONFIG);
}

static uint32_t count_of(const struct events *events, const etwas_guid *class_guid, uint8_t type,
                         uint32_t thread)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        count += is_kernel_event(event, class_guid, type) &&
                 event->record.EventHeader.ThreadId == thread;
    }
    return count;
}

/* Counts the calls with one number. */
static uint32_t count_calls(const struct events *events, uint64_t number, uint32_t thread)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        count += is_kernel_event(event, &perf_info_class, ENTER) &&
                 event->record.EventHeader.ThreadId == thread && u64_at(event, 0) == number;
    }
    return count;
}

/* As calls of 32 bits; whatever else the thread closes, too, it closes by calls of its own. */
static void expect_reads_alone(const struct events *events, uint32_t thread)
{
    assert_int_equal(count_calls(events, (uint32_t)HIGHEST_BIT | READ_OF_32_BITS, thread), CALLS);
    assert_int_equal(count_calls(events, READ_OF_32_BITS, thread),
                     count_of(events, &file_class, CLOSE, thread));
}

/* ---- by a program of 64 bits ----------------------------------------------------------------- */

static long call_by_interrupt(long number, long first, long second, long third)
{
    long result;

    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(first), "c"(second), "d"(third)
                     : "memory", "r8", "r9", "r10", "r11");
    return result;
}

static void an_interrupt_is_a_call_of_32_bits(void **state)
{
    const uint32_t here = (uint32_t)syscall(SYS_gettid);
    etwas_trace_handle session;
    struct events events;
    uint32_t ends = 0;

    (void)state;
    if (call_by_interrupt(READ_OF_32_BITS, NOBODYS, 0, 0) != -9) {
        (void)printf("skipped: calls of 32 bits are refused here\n");
        skip();
    }
    session = start();
    for (int index = 0; index < CALLS; index++) {
        (void)call_by_interrupt(READ_OF_32_BITS, NOBODYS, 0, 0);
    }
    (void)close(open_file("behind", O_WRONLY | O_CREAT));
    read_and_account(session, &events);
    expect_reads_alone(&events, here);
    for (size_t index = 0; index < events.count; index++) {
        ends += is_kernel_event(&events.items[index], &file_class, OPERATION_END) &&
                events.items[index].record.EventHeader.ThreadId == here &&
                (int32_t)u32_at(&events.items[index], 16) == -9; /* EBADF */
    }
    assert_int_equal(ends, 0);
    free_events(&events);
}

/* ---- by a program of 32 bits ----------------------------------------------------------------- */

/* Reads from a descriptor that is nobody's, CALLS times, and exits. */
static const uint8_t code[] = {
    0xBE, CALLS,
    0,    0,
    0, /* mov esi, CALLS */
    0xB8, READ_OF_32_BITS,
    0,    0,
    0, /* mov eax, read */
    0xBB, NOBODYS,
    0,    0,
    0,          /* mov ebx, NOBODYS */
    0xCD, 0x80, /* int 0x80 */
    0x4E,       /* dec esi */
    0x75, 0xF1, /* jnz to the first mov eax */
    0xB8, 1,
    0,    0,
    0,          /* mov eax, exit */
    0x31, 0xDB, /* xor ebx, ebx */
    0xCD, 0x80,
};

struct image {
    Elf32_Ehdr head;
    Elf32_Phdr segment;
    uint8_t code[sizeof code];
};

static void write_program(const char *path)
{
    struct image image = {
        .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
                             EV_CURRENT},
                 .e_type = ET_EXEC,
                 .e_machine = EM_386,
                 .e_version = EV_CURRENT,
                 .e_entry = LOADED_AT + offsetof(struct image, code),
                 .e_phoff = offsetof(struct image, segment),
                 .e_ehsize = sizeof(Elf32_Ehdr),
                 .e_phentsize = sizeof(Elf32_Phdr),
                 .e_phnum = 1},
        .segment = {.p_type = PT_LOAD,
                    .p_vaddr = LOADED_AT,
                    .p_paddr = LOADED_AT,
                    .p_filesz = sizeof image,
                    .p_memsz = sizeof image,
                    .p_flags = PF_R | PF_X,
                    .p_align = 0x1000},
    };
    int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);

    memcpy(image.code, code, sizeof code);
    assert_int_equal(write(file, &image, sizeof image), sizeof image);
    (void)close(file);
}

static pid_t run(const char *path, int *status)
{
    char *const arguments[] = {"small", NULL};
    pid_t child = fork();

    if (child == 0) {
        (void)execv(path, arguments);
        _exit(1);
    }
    assert_int_equal(waitpid(child, status, 0), child);
    return child;
}

static void a_programs_calls_are_not_taken_for_others(void **state)
{
    etwas_trace_handle session;
    struct events events;
    uint32_t child;
    int status;

    (void)state;
    write_program(folder_path("small"));
    (void)run(folder_path("small"), &status);
    if (status != 0) {
        (void)printf("skipped: programs of 32 bits do not run here\n");
        skip();
    }
    session = start();
    child = (uint32_t)run(folder_path("small"), &status);
    read_and_account(session, &events);
    expect_reads_alone(&events, child);
    free_events(&events);
}

static void the_decoder_knows_their_names(void **state)
{
    (void)state;
    assert_non_null(strstr(etwas_system_call_names, ", 2147483651 ia32_read, "));
    assert_non_null(strstr(etwas_system_call_names, "3 close, "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(an_interrupt_is_a_call_of_32_bits),
        FOLDER_TEST(a_programs_calls_are_not_taken_for_others),
        cmocka_unit_test(the_decoder_knows_their_names),
    };

    return RUN_KERNEL_TESTS("system compat", tests);
}
