/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_processes: the cost of sessions that span processes.
 *
 *     processes/CALL/WHERE         ns per call by TSC, 16 bytes, into a flight recorder: a private
 *                                  one of this process (`private`), a shared one of this process
 *                                  (`host`), and one of another (`guest`). In turn, batch by batch
 *     processes/CALL/WHERE/ratio   the ratio to `private`, in each turn
 *     processes/two/HOW            processor time per event of two writers on two processors:
 *                                  threads of the host, or one of the host and one of a guest;
 *                                  /ratio of the latter to the former
 *     processes/enable/HOW         us from the call of EnableTraceEx2 to the first event of a
 *                                  provider in another process, which has not been a guest of the
 *                                  session (`unattached`) or is one (`attached`); /longest of them
 *     processes/told/N, looked/N   us of an EnableTraceEx2 that notifies N processes, and of one
 *                                  that waits until all of them have looked
 *     processes/register/HOW       us of the first RegisterTraceGuids of a process: one that does
 *                                  not share (`alone`), one that does (`nothing`), and one that is
 *                                  attached to a session meanwhile (`attaching`)
 *     processes/has/HOW/WHAT       what such a process has more than before that call
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
    /* In memory, like the folder that a user has for this. */
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
