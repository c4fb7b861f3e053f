/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Random numbers that follow from seed, controller and round. */
#include "soak.h"

/* splitmix64. */
uint64_t soak_next(struct soak_random *random)
{
    uint64_t value = random->state += UINT64_C(0x9E3779B97F4A7C15);

    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

struct soak_random soak_random_of(uint64_t seed, uint64_t controller, uint64_t round)
{
    struct soak_random random = {seed};

    random.state = soak_next(&random) ^ controller << 32;
    random.state = soak_next(&random) ^ round;
    return random;
}

uint32_t soak_upto(struct soak_random *random, uint32_t most)
{
    return (uint32_t)((soak_next(random) >> 32) * ((uint64_t)most + 1) >> 32);
}

bool soak_once_in(struct soak_random *random, uint32_t times)
{
    return soak_upto(random, times - 1) == 0;
}
