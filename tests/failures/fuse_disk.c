/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * usage: fuse_disk FOLDER CONTROL
 *
 * The file system of fuse_disk.h, in the foreground, until FOLDER is unmounted. It ends with its
 * parent.
 */
#define FUSE_USE_VERSION 31

#include <ck_pr.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "failures/fuse_disk.h"

enum {
    FILES = 32,
    NAME_BYTES = 128,
    FILE_BYTES = 8 << 20,
};

struct content {
    uint8_t *bytes; /* FILE_BYTES of them, zeroes behind the length */
    size_t length;
};

struct file {
    char name[NAME_BYTES]; /* empty: no file */
    mode_t mode;
    struct content now;
    struct content kept; /* as of the last good sync */
};

static struct file files[FILES];
static struct fuse_disk_control *control;

static struct file *find(const char *path)
{
    for (int index = 0; index < FILES; index++) {
        if (files[index].name[0] != '\0' && strcmp(files[index].name, path + 1) == 0) {
            return &files[index];
        }
    }
    return NULL;
}

static void set(struct content *to, const struct content *from)
{
    size_t longest = to->length > from->length ? to->length : from->length;

    memcpy(to->bytes, from->bytes, longest);
    to->length = from->length;
}

static void cut(struct content *content, size_t length)
{
    if (length < content->length) {
        memset(content->bytes + length, 0, content->length - length);
    }
    content->length = length;
}

/* What a remote disk does when it has to store at last what it took before. */
static int store(struct file *file, uint32_t error)
{
    uint32_t room = ck_pr_load_32(&control->room_bytes);

    if (error != 0) {
        set(&file->now, &file->kept);
        ck_pr_inc_32(&control->dropped);
        return -(int)error;
    }
    if (room != 0 && file->now.length > room) {
        cut(&file->now, room > file->kept.length ? room : file->kept.length);
        ck_pr_inc_32(&control->dropped);
        error = ENOSPC;
    }
    set(&file->kept, &file->now);
    return -(int)error;
}

static int disk_getattr(const char *path, struct stat *status, struct fuse_file_info *info)
{
    const struct file *file = find(path);

    (void)info;
    memset(status, 0, sizeof *status);
    status->st_uid = getuid();
    status->st_gid = getgid();
    if (strcmp(path, "/") == 0) {
        status->st_mode = S_IFDIR | 0700;
        status->st_nlink = 2;
        return 0;
    }
    if (file == NULL) {
        return -ENOENT;
    }
    status->st_mode = file->mode;
    status->st_nlink = 1;
    status->st_size = (off_t)file->now.length;
    return 0;
}

static int disk_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
    (void)path;
    (void)offset;
    (void)info;
    (void)flags;
    for (int index = 0; index < FILES; index++) {
        if (files[index].name[0] != '\0') {
            (void)fill(buffer, files[index].name, NULL, 0, 0);
        }
    }
    return 0;
}

static int disk_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
    info->fh = (uint64_t)info->flags;
    for (int index = 0; index < FILES; index++) {
        struct file *file = &files[index];

        if (file->name[0] == '\0' && strlen(path) < NAME_BYTES) {
            *file = (struct file){.mode = mode};
            file->now.bytes = calloc(1, FILE_BYTES);
            file->kept.bytes = calloc(1, FILE_BYTES);
            if (file->now.bytes == NULL || file->kept.bytes == NULL) {
                return -ENOMEM;
            }
            (void)snprintf(file->name, NAME_BYTES, "%s", path + 1);
            return 0;
        }
    }
    return -ENFILE;
}

static int disk_open(const char *path, struct fuse_file_info *info)
{
    info->fh = (uint64_t)info->flags;
    return find(path) != NULL ? 0 : -ENOENT;
}

static int disk_unlink(const char *path)
{
    struct file *file = find(path);

    if (file == NULL) {
        return -ENOENT;
    }
    free(file->now.bytes);
    free(file->kept.bytes);
    *file = (struct file){0};
    return 0;
}

static int disk_read(const char *path, char *bytes, size_t length, off_t offset,
                     struct fuse_file_info *info)
{
    const struct file *file = find(path);
    size_t left;

    (void)info;
    if (file == NULL) {
        return -EIO;
    }
    left = (size_t)offset < file->now.length ? file->now.length - (size_t)offset : 0;
    length = length < left ? length : left;
    if (length > 0) {
        memcpy(bytes, file->now.bytes + offset, length);
    }
    return (int)length;
}

static int disk_write(const char *path, const char *bytes, size_t length, off_t offset,
                      struct fuse_file_info *info)
{
    struct file *file = find(path);
    uint32_t error = ck_pr_load_32(&control->write_error);

    (void)info;
    if (file == NULL || error != 0) {
        return error != 0 ? -(int)error : -EIO;
    }
    if (offset < 0 || (size_t)offset > FILE_BYTES || length > FILE_BYTES - (size_t)offset) {
        return -EFBIG;
    }
    memcpy(file->now.bytes + offset, bytes, length);
    if ((size_t)offset + length > file->now.length) {
        file->now.length = (size_t)offset + length;
    }
    return (int)length;
}

static int disk_truncate(const char *path, off_t length, struct fuse_file_info *info)
{
    struct file *file = find(path);

    (void)info;
    if (file == NULL || length < 0 || length > FILE_BYTES) {
        return file == NULL ? -ENOENT : -EFBIG;
    }
    cut(&file->now, (size_t)length);
    return 0;
}

static int disk_fsync(const char *path, int data_only, struct fuse_file_info *info)
{
    struct file *file = find(path);
    uint32_t error = ck_pr_fas_32(&control->sync_error_once, 0);

    (void)data_only;
    (void)info;
    error = error != 0 ? error : ck_pr_load_32(&control->sync_error);
    return file != NULL ? store(file, error) : -EIO;
}

/* Called at each close of a descriptor, also of one that only read. */
static int disk_flush(const char *path, struct fuse_file_info *info)
{
    struct file *file = find(path);
    bool reads = (info->fh & O_ACCMODE) == O_RDONLY;

    return file != NULL && !reads ? store(file, ck_pr_load_32(&control->close_error)) : 0;
}

/* Nothing is cached: what the disk dropped nobody sees any more. */
static void *disk_init(struct fuse_conn_info *connection, struct fuse_config *configuration)
{
    (void)connection;
    configuration->direct_io = 1;
    configuration->attr_timeout = 0;
    configuration->entry_timeout = 0;
    configuration->negative_timeout = 0;
    configuration->hard_remove = 1;
    ck_pr_store_32(&control->ready, 1);
    return NULL;
}

static const struct fuse_operations operations = {
    .init = disk_init,
    .getattr = disk_getattr,
    .readdir = disk_readdir,
    .create = disk_create,
    .open = disk_open,
    .unlink = disk_unlink,
    .read = disk_read,
    .write = disk_write,
    .truncate = disk_truncate,
    .fsync = disk_fsync,
    .flush = disk_flush,
};

int main(int count, char **arguments)
{
    char *fuse_arguments[] = {arguments[0], (char[]){"-f"}, (char[]){"-s"}, NULL, NULL};
    int file;

    if (count != 3) {
        (void)fprintf(stderr, "usage: fuse_disk FOLDER CONTROL\n");
        return 2;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    file = open(arguments[2], O_RDWR | O_CLOEXEC);
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || control == MAP_FAILED) {
        perror(arguments[2]);
        return 2;
    }
    fuse_arguments[3] = arguments[1];
    return fuse_main(4, fuse_arguments, &operations, NULL);
}
