/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_processes: what it costs that sessions span processes.
 *
 *     processes/CALL/WHERE         ns a call by TSC, 16 bytes, into a flight recorder of this
 *                                  process alone (`private`), into a shared one of this process
 *                                  (`host`), and of another (`guest`). In turn, batch by batch
 *     processes/CALL/WHERE/ratio   of each turn, beside `private`
 *     processes/two/HOW            processor time an event of two writers on two processors:
 *                                  threads of the host, or one of the host and one of a guest;
 *                                  /ratio of the latter to the former
 *     processes/enable/HOW         us from the call of EnableTraceEx2 to the first event of a
 *                                  provider in another process, which has not been a guest of the
 *                                  session (`unattached`) or is one; /longest of them
 *     processes/told/N, looked/N   us that EnableTraceEx2 takes which tells N processes, and that
 *                                  waits until all have looked
 *     processes/register/HOW       us that the first RegisterTraceGuids of a process takes: that
 *                                  does not take part (`alone`), that does (`nothing`), and that is
 *                                  attached to a session meanwhile (`attaching`)
 *     processes/has/HOW/WHAT       what such a process then has more than one before that call
 */
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "role.h"

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

int main(int argc, char **argv)
{
    struct bench_part_options options = bench_part_parse(argc, argv);
    /* In memory, as the folder is that a user has for this. */
    char folder[] = "/dev/shm/etwas_bench_processes.XXXXXX";
    bool failed = false;

    if (mkdtemp(folder) == NULL || setenv("ETWAS_RUNTIME_DIR", folder, 1) != 0 ||
        setenv("ETWAS_SHARED", "1", 1) != 0) {
        bench_row_failed("processes", "there is no folder to meet in");
        return 1;
    }
    for (unsigned round = 0; round < options.rounds; round++) {
        failed |= bench_processes_calls(&options);
        failed |= bench_processes_enabling(&options);
        failed |= bench_processes_registering(&options);
    }
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return failed ? 1 : 0;
}
