/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/machine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "etl/utf16.h"

enum {
    SECONDS_A_MINUTE = 60,
    SPEED_WHEN_UNKNOWN_MHZ = 1000,
    CPUINFO_LINES = 40, /* the first processor's block */
};

void etwas_system_time_zone(struct etwas_etl_time_zone *zone)
{
    time_t now = time(NULL);
    struct tm local;
    etwas_wchar name[32];
    size_t units;

    memset(zone, 0, sizeof *zone);
    if (localtime_r(&now, &local) == NULL) {
        return;
    }
    zone->bias_minutes = (int32_t)(-local.tm_gmtoff / SECONDS_A_MINUTE);
    if (local.tm_zone != NULL && etwas_utf8_to_utf16(local.tm_zone, strlen(local.tm_zone), name, 32,
                                                     &units) == ETWAS_UTF_OK) {
        memcpy(zone->standard_name, name, units * sizeof name[0]);
    }
}

uint32_t etwas_system_cpu_speed_mhz(void)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    uint32_t speed_mhz = SPEED_WHEN_UNKNOWN_MHZ;
    char line[2048];

    if (file == NULL) {
        return speed_mhz;
    }
    for (int read = 0; read < CPUINFO_LINES && fgets(line, sizeof line, file) != NULL; read++) {
        double value;

        if (sscanf(line, "cpu MHz : %lf", &value) == 1 && value >= 1 && value < 1e6) {
            speed_mhz = (uint32_t)(value + 0.5);
            break;
        }
    }
    (void)fclose(file);
    return speed_mhz;
}
