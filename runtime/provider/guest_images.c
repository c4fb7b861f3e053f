/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/image_records.h"

#include <ck_pr.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The images; number N is at (N - 1) % ETWAS_GUEST_IMAGES. Guarded by `lock`. */
static struct etwas_description *images[ETWAS_GUEST_IMAGES];
static uint64_t newest;  /* also read without the lock */
static uint64_t dropped; /* images up to this number have been dropped */
static uint64_t bytes;   /* of all records in the ring */

static struct etwas_description **guest_image_of(uint64_t number)
{
    return &images[(number - 1) % ETWAS_GUEST_IMAGES];
}

static void guest_image_drop_oldest(void)
{
    struct etwas_description *oldest = *guest_image_of(++dropped);

    bytes -= oldest->bytes;
    etwas_description_free(oldest);
}

void etwas_guest_images_add(struct etwas_description *image)
{
    (void)pthread_mutex_lock(&lock);
    while (newest != dropped && (newest - dropped == ETWAS_GUEST_IMAGES ||
                                 bytes + image->bytes > ETWAS_GUEST_IMAGES_BYTES)) {
        guest_image_drop_oldest();
    }
    *guest_image_of(newest + 1) = image;
    bytes += image->bytes;
    ck_pr_store_64(&newest, newest + 1);
    (void)pthread_mutex_unlock(&lock);
}

bool etwas_guest_images_have_more(uint64_t seen)
{
    return ck_pr_load_64(&newest) > seen;
}

uint64_t etwas_guest_images_newest(void)
{
    return ck_pr_load_64(&newest);
}

static uint32_t guest_image_copy(uint8_t *to, const struct etwas_description *image, int64_t stamp)
{
    uint32_t at = 0;

    while (at < image->bytes) {
        at += etwas_description_copy_record(to + at, image->records + at, stamp);
    }
    return at;
}

uint32_t etwas_guest_images_read(uint64_t *seen, void *data, uint32_t used, uint32_t room,
                                 int64_t stamp)
{
    bool is_full = false;

    (void)pthread_mutex_lock(&lock);
    *seen = *seen < dropped ? dropped : *seen;
    while (*seen < newest && !is_full) {
        const struct etwas_description *image = *guest_image_of(*seen + 1);

        is_full = image->bytes <= room && image->bytes > room - used;
        if (image->bytes <= room - used) {
            used += guest_image_copy((uint8_t *)data + used, image, stamp);
        }
        *seen += !is_full;
    }
    (void)pthread_mutex_unlock(&lock);
    return used;
}

void etwas_guest_images_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

void etwas_guest_images_after_fork(bool is_child)
{
    while (is_child && newest != dropped) {
        guest_image_drop_oldest();
    }
    (void)pthread_mutex_unlock(&lock);
}
