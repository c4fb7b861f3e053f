/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The inventory of a made-up machine: each event's fields, where etw-api.md, section 5, has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "inventory_tree.h"

enum {
    CPU = 10,
    PHYSICAL_DISK = 11,
    LOGICAL_DISK = 12,
    NIC = 13,
    VIDEO = 14,
    SERVICE = 15,
    POWER = 16,
    NETWORK = 17,
    OPTICAL = 18,
    IRQ = 21,
    PNP = 22,
    IDE_CHANNEL = 23,
    PLATFORM = 25,
    SDA = 8 << 20,
};

static void an_empty_machine_has_only_processors(void **state)
{
    const struct emitted *cpu;

    (void)state;
    emit_inventory();
    assert_int_equal(emitted_count, 1);
    cpu = only(CPU);
    assert_int_equal(cpu->bytes, 808);
    assert_int_equal(emitted_u32(cpu, 0), 0);
    assert_int_equal(emitted_u32(cpu, 4), 0);
}

static void processors_have_what_the_kernel_says(void **state)
{
    const struct emitted *cpu;

    (void)state;
    tree_file("sys/devices/system/cpu/online", "0-2,8,10-11\n");
    tree_file("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,8\n");
    tree_file("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2\n");
    tree_file("sys/devices/system/cpu/cpu8/topology/thread_siblings_list", "1,8\n");
    tree_file("proc/cpuinfo", "processor\t: 0\nmodel name\t: X\ncpu MHz\t\t: 2699.998\n");
    tree_file("proc/meminfo", "MemTotal:       24684096 kB\nMemFree: 1 kB\n");
    tree_file("proc/sys/kernel/hostname", "anvil\n");
    tree_file("proc/sys/kernel/domainname", "(none)\n");
    tree_file("etc/resolv.conf", "nameserver 10.0.0.1\nsearch forge.example other.example\n");
    emit_inventory();
    cpu = only(CPU);
    assert_int_equal(emitted_u32(cpu, 0), 2700);
    assert_int_equal(emitted_u32(cpu, 4), 6);
    assert_int_equal(emitted_u32(cpu, 8), 24105);
    assert_int_equal(emitted_u32(cpu, 12), sysconf(_SC_PAGESIZE));
    assert_int_equal(emitted_u32(cpu, 16), sysconf(_SC_PAGESIZE));
    (void)expect_text(cpu, 20, "anvil");
    (void)expect_text(cpu, 532, "forge.example");
    assert_int_equal(emitted_u64(cpu, 800), 1 << 1 | 1 << 8);
}

static void the_most_that_a_processor_can_counts(void **state)
{
    (void)state;
    tree_file("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3400000\n");
    tree_file("proc/cpuinfo", "cpu MHz\t\t: 800.123\n");
    tree_file("proc/sys/kernel/domainname", "smithy\n");
    tree_file("etc/resolv.conf", "domain forge.example\n");
    emit_inventory();
    assert_int_equal(emitted_u32(only(CPU), 0), 3400);
    (void)expect_text(only(CPU), 532, "smithy");
}

static void add_sda(void)
{
    tree_file("sys/block/sda/dev", "8:0\n");
    tree_file("sys/block/sda/size", "2000000\n");
    tree_file("sys/block/sda/queue/logical_block_size", "4096\n");
    tree_file("sys/block/sda/queue/write_cache", "write back\n");
    tree_file("sys/devices/x/2:0:1:3/vendor", "ATA     \n");
    tree_file("sys/devices/x/2:0:1:3/model", "SMITH 9\n");
    tree_link("sys/block/sda/device", "../../devices/x/2:0:1:3");
    tree_file("sys/block/sda/sda1/dev", "8:1\n");
    tree_file("sys/block/sda/sda1/partition", "1\n");
    tree_file("sys/block/sda/sda1/start", "2048\n");
    tree_file("sys/block/sda/sda1/size", "1000\n");
    tree_file("sys/block/sda/sda2/dev", "8:2\n");
    tree_file("sys/block/sda/sda2/partition", "2\n");
    tree_file("sys/block/sda/sda2/start", "4096\n");
    tree_file("sys/block/sda/sda2/size", "16777216\n");
}

static void a_disk_has_its_size_address_and_partitions(void **state)
{
    const struct emitted *disk;

    (void)state;
    add_sda();
    tree_file("proc/self/mountinfo", "27 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n");
    emit_inventory();
    disk = only(PHYSICAL_DISK);
    assert_int_equal(disk->bytes, 568);
    assert_int_equal(emitted_u32(disk, 0), SDA);
    assert_int_equal(emitted_u32(disk, 4), 4096);
    assert_int_equal((uint64_t)emitted_u32(disk, 4) * emitted_u32(disk, 8) * emitted_u32(disk, 12) *
                         emitted_u64(disk, 16),
                     UINT64_C(2000000) * 512);
    assert_int_equal(emitted_u32(disk, 24), 2);
    assert_int_equal(emitted_u32(disk, 28), 0);
    assert_int_equal(emitted_u32(disk, 32), 1);
    assert_int_equal(emitted_u32(disk, 36), 3);
    (void)expect_text(disk, 40, "ATA SMITH 9");
    assert_int_equal(emitted_u32(disk, 552), 2);
    assert_int_equal(disk->payload[556], 1);
    (void)expect_text(disk, 558, "/");
}

/* The partition of two; which of them is told first is the folder's order. */
static const struct emitted *partition(uint32_t number)
{
    for (size_t index = 0; index < emitted_count; index++) {
        if (emitted[index].type == LOGICAL_DISK && emitted_u32(&emitted[index], 40) == number) {
            return &emitted[index];
        }
    }
    fail();
    return NULL;
}

static void a_partition_has_its_file_system(void **state)
{
    struct statvfs space;

    (void)state;
    add_sda();
    tree_file(
        "proc/self/mountinfo",
        "27 1 8:1 / /s\\040q rw shared:1 - ext4 /dev/sda1 rw\n28 1 0:5 / /p - proc proc rw\n");
    tree_folder("s q");
    emit_inventory();
    assert_int_equal(statvfs(tree_root(), &space), 0);
    assert_int_equal(count_emitted(LOGICAL_DISK), 2);
    assert_int_equal(partition(1)->bytes, 112);
    assert_int_equal(emitted_u64(partition(1), 0), 2048 * 512);
    assert_int_equal(emitted_u64(partition(1), 8), 1000 * 512);
    assert_int_equal(emitted_u32(partition(1), 16), SDA);
    assert_int_equal(emitted_u32(partition(1), 20), 1000 * 512);
    assert_int_equal(emitted_u32(partition(1), 24), 1);
    (void)expect_text(partition(1), 28, ""); /* longer than the field */
    assert_int_equal(emitted_u32(partition(1), 44), space.f_frsize / 4096);
    assert_int_equal(emitted_u32(partition(1), 48), 4096);
    assert_true(emitted_u64(partition(1), 56) > 0);
    assert_int_equal(emitted_u64(partition(1), 64), space.f_blocks);
    (void)expect_text(partition(1), 72, "ext4");
    assert_int_equal(emitted_u32(partition(2), 20), UINT32_MAX); /* more than it can say */
    assert_int_equal(emitted_u64(partition(2), 64), 0);
    (void)expect_text(partition(2), 72, "");
}

/* NFS on the way, a program behind the file system itself: asking either may wait for ever. */
static void file_systems_that_may_wait_are_not_asked(void **state)
{
    (void)state;
    add_sda();
    tree_folder("far");
    tree_folder("far/disk");
    tree_folder("user");
    tree_file("proc/self/mountinfo", "27 1 0:9 / /far rw - nfs4 server:/x rw\n"
                                     "28 27 8:1 / /far/disk rw - ext4 /dev/sda1 rw\n"
                                     "29 1 8:2 / /user rw - fuseblk /dev/sda2 rw\n");
    emit_inventory();
    (void)expect_text(partition(1), 72, "ext4");
    assert_int_equal(emitted_u64(partition(1), 64), 0);
    (void)expect_text(partition(2), 72, "fuseblk");
    assert_int_equal(emitted_u64(partition(2), 64), 0);
}

static void a_volume_has_its_mount_point(void **state)
{
    const struct emitted *volume;

    (void)state;
    tree_file("sys/block/dm-0/dev", "253:0\n");
    tree_file("sys/block/dm-0/size", "800\n");
    tree_file("sys/block/dm-1/dev", "253:1\n");
    tree_file("sys/block/loop0/dev", "7:0\n");
    tree_file("proc/self/mountinfo", "27 1 253:0 / / rw - xfs /dev/mapper/root rw\n");
    emit_inventory();
    assert_int_equal(count_emitted(PHYSICAL_DISK), 0);
    volume = only(LOGICAL_DISK);
    assert_int_equal(emitted_u64(volume, 8), 800 * 512);
    assert_int_equal(emitted_u32(volume, 16), 253 << 20);
    assert_int_equal(emitted_u32(volume, 24), 2);
    (void)expect_text(volume, 28, "/");
    (void)expect_text(volume, 72, "xfs");
}

static void an_optical_drive_is_no_disk(void **state)
{
    const struct emitted *drive;
    size_t at;

    (void)state;
    tree_file("sys/block/sr1/dev", "11:1\n");
    tree_file("sys/block/sr1/size", "1440\n");
    tree_file("sys/block/sr1/queue/logical_block_size", "2048\n");
    tree_file("sys/devices/x/1:0:0:0/vendor", "ACME\n");
    tree_file("sys/devices/x/1:0:0:0/model", "DVD\n");
    tree_link("sys/block/sr1/device", "../../devices/x/1:0:0:0");
    tree_file("proc/self/mountinfo", "27 1 11:1 / /cd ro - iso9660 /dev/sr1 ro\n");
    emit_inventory();
    assert_int_equal(count_emitted(PHYSICAL_DISK) + count_emitted(LOGICAL_DISK), 0);
    drive = only(OPTICAL);
    assert_int_equal(emitted_u16(drive, 0), 1);
    assert_int_equal(emitted_u64(drive, 16), 1440 * 512);
    assert_int_equal(emitted_u64(drive, 32), 360);
    assert_int_equal(emitted_u32(drive, 56), 2048);
    at = expect_text(drive, 64, "/cd");
    at = expect_text(drive, at, "iso9660");
    assert_int_equal(drive->bytes - at, sizeof "sr1\0ACME DVD");
    assert_memory_equal(drive->payload + at, "sr1\0ACME DVD", sizeof "sr1\0ACME DVD");
}

/* The addresses are the machine's own: that of `lo`, which this machine says is Ethernet. */
static void an_adapter_has_its_addresses(void **state)
{
    const struct emitted *adapter;
    size_t at;

    (void)state;
    tree_file("sys/class/net/lo/type", "1\n");
    tree_file("sys/class/net/lo/ifindex", "4\n");
    tree_file("sys/class/net/lo/address", "02:00:c0:a8:01:fe\n");
    tree_file("sys/class/net/loop/type", "772\n");
    tree_file("sys/class/net/loop/ifindex", "1\n");
    tree_file("sys/class/net/bonding_masters", "\n");
    tree_file("etc/resolv.conf",
              "# nameserver 9.9.9.9\nnameserver 10.0.0.1\noptions x\nnameserver  fe80::1 \n");
    emit_inventory();
    adapter = only(NIC);
    assert_int_equal(emitted_u64(adapter, 0), 0xFE01A8C00002);
    assert_int_equal(emitted_u32(adapter, 8), 6);
    assert_int_equal(emitted_u32(adapter, 12), 4);
    assert_int_equal(emitted_u32(adapter, 16), 4);
    at = expect_text(adapter, 20, "lo");
    assert_int_equal(emitted_u16(adapter, at), '1'); /* 127.0.0.1, perhaps followed by ::1 */
    while (emitted_u16(adapter, at) != 0) {
        at += 2;
    }
    assert_int_equal(expect_text(adapter, at + 2, "10.0.0.1,fe80::1"), adapter->bytes);
}

static void the_network_has_ports_and_a_table(void **state)
{
    const struct emitted *network;

    (void)state;
    tree_file("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
    tree_file("proc/sys/net/ipv4/tcp_ehash_entries", "65536\n");
    emit_inventory();
    network = only(NETWORK);
    assert_int_equal(network->bytes, 16);
    assert_int_equal(emitted_u32(network, 0), 1);
    assert_int_equal(emitted_u32(network, 4), 65536);
    assert_int_equal(emitted_u32(network, 8), 60999);
    assert_int_equal(emitted_u32(network, 12), 60);
}

static void a_card_has_what_its_screen_shows(void **state)
{
    const struct emitted *card;

    (void)state;
    tree_file("sys/devices/0000:00:02.0/vendor", "0x8086\n");
    tree_file("sys/devices/0000:00:02.0/device", "0x46a6\n");
    tree_file("sys/devices/0000:00:02.0/boot_vga", "1\n");
    tree_file("sys/devices/0000:00:02.0/mem_info_vram_total", "268435456\n");
    tree_folder("sys/class");
    tree_link("sys/devices/0000:00:02.0/driver", "../bus/pci/drivers/i915");
    tree_folder("sys/class/drm");
    tree_folder("sys/class/drm/card0");
    tree_link("sys/class/drm/card0/device", "../../../devices/0000:00:02.0");
    tree_file("sys/class/drm/card0-DP-1/status", "disconnected\n");
    tree_file("sys/class/drm/card0-eDP-1/status", "connected\n");
    tree_file("sys/class/drm/card0-eDP-1/modes", "1920x1080\n1024x768\n");
    tree_file("sys/class/drm/version", "drm 1.1.0\n");
    tree_file("sys/class/graphics/fb0/virtual_size", "640,480\n");
    emit_inventory();
    card = only(VIDEO);
    assert_int_equal(card->bytes, 2584);
    assert_int_equal(emitted_u32(card, 0), 268435456);
    assert_int_equal(emitted_u32(card, 4), 1920);
    assert_int_equal(emitted_u32(card, 8), 1080);
    (void)expect_text(card, 20, "0x8086:0x46a6");
    (void)expect_text(card, 1044, "i915");
    (void)expect_text(card, 2068, "0000:00:02.0");
    assert_int_equal(emitted_u32(card, 2580), 1 | 4);
}

static void a_frame_buffer_stands_in_for_a_card(void **state)
{
    const struct emitted *buffer;

    (void)state;
    tree_file("sys/class/graphics/fb0/virtual_size", "1024,768\n");
    tree_file("sys/class/graphics/fb0/bits_per_pixel", "32\n");
    tree_file("sys/class/graphics/fb0/name", "EFI VGA\n");
    tree_file("sys/class/graphics/fbcon/cursor_blink", "1\n");
    emit_inventory();
    buffer = only(VIDEO);
    assert_int_equal(emitted_u32(buffer, 4), 1024);
    assert_int_equal(emitted_u32(buffer, 8), 768);
    assert_int_equal(emitted_u32(buffer, 12), 32);
    (void)expect_text(buffer, 1044, "EFI VGA");
    (void)expect_text(buffer, 2068, "fb0");
}

static const struct emitted *service(uint32_t process_id)
{
    for (size_t index = 0; index < emitted_count; index++) {
        if (emitted[index].type == SERVICE && emitted_u32(&emitted[index], 0) == process_id) {
            return &emitted[index];
        }
    }
    fail();
    return NULL;
}

static void expect_service(uint32_t process_id, const char *unit, const char *description,
                           const char *process)
{
    const struct emitted *found = service(process_id);
    size_t at = expect_text(found, 12, unit);

    assert_int_equal(emitted_u32(found, 4), 4);
    at = expect_text(found, at, description);
    assert_int_equal(expect_text(found, at, process), found->bytes);
}

static void services_are_those_with_processes(void **state)
{
    (void)state;
    tree_file("sys/fs/cgroup/system.slice/ssh.service/cgroup.procs", "912\n100\n977\n");
    tree_file("sys/fs/cgroup/system.slice/over.service/cgroup.procs", "");
    tree_file("sys/fs/cgroup/system.slice/udev.service/cgroup.procs", "");
    tree_file("sys/fs/cgroup/system.slice/udev.service/udev/cgroup.procs", "300\n");
    tree_file("sys/fs/cgroup/system.slice/x.mount/cgroup.procs", "5\n");
    tree_file("sys/fs/cgroup/system.slice/system-getty.slice/getty@tty1.service/cgroup.procs",
              "400\n");
    tree_file("lib/systemd/system/ssh.service", "[Unit]\nDescription=Secure Shell\nX=y\n");
    tree_file("usr/lib/systemd/system/getty@.service", "Description=Getty on %I\n");
    tree_file("etc/systemd/system/ssh.service", "[Unit]\nDescription=Our Shell\n");
    tree_file("proc/100/comm", "sshd\n");
    emit_inventory();
    assert_int_equal(count_emitted(SERVICE), 3);
    expect_service(100, "ssh.service", "Our Shell", "sshd");
    expect_service(300, "udev.service", "", "");
    expect_service(400, "getty@tty1.service", "Getty on %I", "");
}

static void services_are_found_among_older_groups(void **state)
{
    (void)state;
    tree_file("sys/fs/cgroup/systemd/system.slice/a.service/cgroup.procs", "7\n");
    emit_inventory();
    expect_service(7, "a.service", "", "");
}

static void states_of_sleep_are_those_of_the_kernel(void **state)
{
    static const uint8_t all[] = {1, 0, 1, 1, 1, 0, 0, 0};
    static const uint8_t idle_only[] = {0, 0, 0, 0, 0, 0, 0, 0};

    (void)state;
    tree_file("sys/power/state", "freeze standby mem disk\n");
    tree_file("sys/power/mem_sleep", "s2idle [deep]\n");
    tree_file("sys/firmware/acpi/pm_profile", "1\n");
    emit_inventory();
    assert_int_equal(only(POWER)->bytes, sizeof all);
    assert_memory_equal(only(POWER)->payload, all, sizeof all);
    tree_file("sys/power/state", "freeze mem\n");
    tree_file("sys/power/mem_sleep", "[s2idle]\n");
    tree_file("sys/firmware/acpi/pm_profile", "");
    emit_inventory();
    assert_memory_equal(only(POWER)->payload, idle_only, sizeof idle_only);
}

static void an_interrupt_is_its_devices(void **state)
{
    const struct emitted *interrupt;

    (void)state;
    tree_file("sys/kernel/irq/16/actions", "ahci,ehci_hcd\n");
    tree_file("sys/kernel/irq/17/actions", "\n");
    tree_file("sys/kernel/irq/18/actions", "(null)\n");
    tree_file("proc/irq/16/smp_affinity", "00000000,00000002,80000001\n");
    emit_inventory();
    interrupt = only(IRQ);
    assert_int_equal(emitted_u64(interrupt, 0), 0x280000001);
    assert_int_equal(emitted_u32(interrupt, 8), 16);
    assert_int_equal(emitted_u32(interrupt, 12), strlen("ahci,ehci_hcd"));
    assert_int_equal(expect_text(interrupt, 16, "ahci,ehci_hcd"), interrupt->bytes);
}

static void expect_device(const struct emitted *device, const char *id, const char *description,
                          const char *name)
{
    size_t at = expect_text(device, 12, id);

    assert_int_equal(emitted_u32(device, 0), strlen(id));
    assert_int_equal(emitted_u32(device, 4), strlen(description));
    assert_int_equal(emitted_u32(device, 8), strlen(name));
    at = expect_text(device, at, description);
    assert_int_equal(expect_text(device, at, name), device->bytes);
}

static void devices_have_ids_as_windows_writes_them(void **state)
{
    (void)state;
    tree_file("sys/bus/pci/devices/0000:00:01.0/vendor", "0x1af4\n");
    tree_file("sys/bus/pci/devices/0000:00:01.0/device", "0x1045\n");
    tree_file("sys/bus/pci/devices/0000:00:01.0/subsystem_vendor", "0x1af4\n");
    tree_file("sys/bus/pci/devices/0000:00:01.0/subsystem_device", "0x1100\n");
    tree_file("sys/bus/pci/devices/0000:00:01.0/revision", "0x01\n");
    tree_link("sys/bus/pci/devices/0000:00:01.0/driver", "../../drivers/virtio-pci");
    tree_file("sys/bus/usb/devices/1-2/idVendor", "046d\n");
    tree_file("sys/bus/usb/devices/1-2/idProduct", "c52b\n");
    tree_file("sys/bus/usb/devices/1-2/product", "Receiver\n");
    tree_file("sys/bus/usb/devices/1-2/manufacturer", "Logi\n");
    tree_file("sys/bus/usb/devices/1-2:1.0/bInterfaceClass", "03\n");
    emit_inventory();
    assert_int_equal(count_emitted(PNP), 2);
    expect_device(&emitted[1], "PCI\\VEN_1AF4&DEV_1045&SUBSYS_11001AF4&REV_01\\0000:00:01.0",
                  "virtio-pci", "0000:00:01.0");
    expect_device(&emitted[2], "USB\\VID_046d&PID_c52b\\1-2", "Receiver", "Logi Receiver");
}

static void a_channel_has_its_device_and_mode(void **state)
{
    const struct emitted *channel;

    (void)state;
    tree_file("sys/class/ata_device/dev2.1/class", "atapi\n");
    tree_file("sys/class/ata_device/dev2.1/xfer_mode", "XFER_UDMA_5\n");
    tree_file("sys/class/ata_device/dev3.0/class", "none\n");
    emit_inventory();
    channel = only(IDE_CHANNEL);
    assert_int_equal(emitted_u32(channel, 0), 1);
    assert_int_equal(emitted_u32(channel, 4), 2);
    assert_int_equal(emitted_u32(channel, 8), 0x10000);
    assert_int_equal(emitted_u32(channel, 12), 4);
    assert_int_equal(expect_text(channel, 16, "ata2"), channel->bytes);
}

static void the_platform_is_its_makers(void **state)
{
    size_t at;

    (void)state;
    tree_file("sys/class/dmi/id/sys_vendor", "ACME\n");
    tree_file("sys/class/dmi/id/product_name", "Anvil 3\n");
    tree_file("sys/class/dmi/id/bios_date", "04/01/2024\n");
    emit_inventory();
    at = expect_text(only(PLATFORM), 0, "ACME");
    at = expect_text(only(PLATFORM), at, "Anvil 3");
    at = expect_text(only(PLATFORM), at, "04/01/2024");
    assert_int_equal(expect_text(only(PLATFORM), at, ""), only(PLATFORM)->bytes);
}

static void a_platform_without_bios_has_its_model(void **state)
{
    size_t at;

    (void)state;
    tree_file("sys/firmware/devicetree/base/model", "Raspberry Pi 4\n");
    emit_inventory();
    at = expect_text(only(PLATFORM), 0, "");
    (void)expect_text(only(PLATFORM), at, "Raspberry Pi 4");
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_begin, tree_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TREE(an_empty_machine_has_only_processors),
        WITH_TREE(processors_have_what_the_kernel_says),
        WITH_TREE(the_most_that_a_processor_can_counts),
        WITH_TREE(a_disk_has_its_size_address_and_partitions),
        WITH_TREE(a_partition_has_its_file_system),
        WITH_TREE(file_systems_that_may_wait_are_not_asked),
        WITH_TREE(a_volume_has_its_mount_point),
        WITH_TREE(an_optical_drive_is_no_disk),
        WITH_TREE(an_adapter_has_its_addresses),
        WITH_TREE(the_network_has_ports_and_a_table),
        WITH_TREE(a_card_has_what_its_screen_shows),
        WITH_TREE(a_frame_buffer_stands_in_for_a_card),
        WITH_TREE(services_are_those_with_processes),
        WITH_TREE(services_are_found_among_older_groups),
        WITH_TREE(states_of_sleep_are_those_of_the_kernel),
        WITH_TREE(an_interrupt_is_its_devices),
        WITH_TREE(devices_have_ids_as_windows_writes_them),
        WITH_TREE(a_channel_has_its_device_and_mode),
        WITH_TREE(the_platform_is_its_makers),
        WITH_TREE(a_platform_without_bios_has_its_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
