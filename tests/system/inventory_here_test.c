/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The inventory of this machine agrees with what the system says in other ways.
 */
#include <dirent.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cmocka.h>

#include "inventory_tree.h"
#include "system/inventory/inventory.h"

enum {
    CPU = 10,
    LOGICAL_DISK = 12,
    NIC = 13,
    IRQ = 21,
    PNP = 22,
    MB = 1 << 20,
};

static int emit_here(void **state)
{
    (void)state;
    emit_root(ETWAS_INVENTORY_HERE, ETWAS_RECORD_MOST_BYTES);
    return 0;
}

static void processors_memory_and_name_are_the_systems(void **state)
{
    const struct emitted *cpu = only(CPU);
    struct sysinfo information;
    char name[256] = "";

    (void)state;
    assert_int_equal(sysinfo(&information), 0);
    assert_int_equal(gethostname(name, sizeof name - 1), 0);
    assert_int_equal(emitted_u32(cpu, 4), sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(emitted_u32(cpu, 8),
                     (uint64_t)information.totalram * information.mem_unit / MB);
    assert_int_equal(emitted_u32(cpu, 12), sysconf(_SC_PAGESIZE));
    (void)expect_text(cpu, 20, name);
}

static size_t count_entries(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    size_t count = 0;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

static void adapters_are_the_interfaces_but_for_the_loop(void **state)
{
    struct if_nameindex *interfaces = if_nameindex();
    size_t count = 0;

    (void)state;
    assert_non_null(interfaces);
    for (size_t index = 0; interfaces[index].if_index != 0; index++) {
        count += strcmp(interfaces[index].if_name, "lo") != 0;
    }
    if_freenameindex(interfaces);
    assert_int_equal(count_emitted(NIC), count);
}

static void devices_are_those_of_the_buses(void **state)
{
    (void)state;
    assert_true(count_emitted(PNP) >= count_entries("/sys/bus/pci/devices"));
}

/*
 * Lines of /proc/interrupts that begin with a number, or are processors' requests, which have one
 * on aarch64.
 */
static void interrupts_are_those_that_are_counted(void **state)
{
    FILE *file = fopen("/proc/interrupts", "re");
    char line[8192];
    size_t count = 0;
    unsigned number;

    (void)state;
    if (file == NULL || access("/sys/kernel/irq", R_OK) != 0) {
        print_message("skipped: the kernel does not list its interrupts\n");
        skip();
    }
    while (fgets(line, sizeof line, file) != NULL) {
        count += sscanf(line, " %u:", &number) == 1 || sscanf(line, "IPI%u:", &number) == 1;
    }
    (void)fclose(file);
    assert_true(count_emitted(IRQ) <= count);
    assert_true(count == 0 || count_emitted(IRQ) > 0);
}

/* Where the root's device is a disk that sysfs shows, how large its file system is. */
static void the_root_is_as_large_as_the_system_says(void **state)
{
    struct statvfs space;
    size_t found = 0;

    (void)state;
    assert_int_equal(statvfs("/", &space), 0);
    for (size_t index = 0; index < emitted_count; index++) {
        if (emitted[index].type == LOGICAL_DISK && emitted_u16(&emitted[index], 28) == '/') {
            assert_int_equal(emitted_u64(&emitted[index], 64), space.f_blocks);
            found++;
        }
    }
    if (found == 0) {
        print_message("skipped: no file system of a disk is mounted\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_memory_and_name_are_the_systems),
        cmocka_unit_test(adapters_are_the_interfaces_but_for_the_loop),
        cmocka_unit_test(devices_are_those_of_the_buses),
        cmocka_unit_test(interrupts_are_those_that_are_counted),
        cmocka_unit_test(the_root_is_as_large_as_the_system_says),
    };

    return cmocka_run_group_tests(tests, emit_here, NULL);
}
