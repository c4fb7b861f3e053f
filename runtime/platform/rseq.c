/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/rseq.h"

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "platform/machine.h"
#include "platform/processor.h"
#include "platform/rseq_trial.h"

#define TRIAL_NS (UINT64_C(5) * 1000000)

#ifdef ETWAS_TESTPOINTS
uint32_t etwas_rseq_trap;
bool etwas_rseq_fence_fails;
bool etwas_quick_is_off;
bool etwas_rseq_is_suspect;
enum etwas_rseq_result (*etwas_rseq_run_by)(const struct etwas_rseq_sequence *sequence);
#endif

static const struct etwas_rseq_trial_storage *keeper;
static uint32_t tried; /* the trial's result plus 1; 0: not known yet */

static int rseq_membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* Returns the state without the trial. */
static enum etwas_rseq_state rseq_find_support(void)
{
    int supported;

    if (!ETWAS_RSEQ) {
        return ETWAS_RSEQ_UNBUILT;
    }
    if (!etwas_processor_is_registered()) {
        return ETWAS_RSEQ_UNREGISTERED;
    }
    supported = rseq_membarrier(MEMBARRIER_CMD_QUERY);
    return supported > 0 && (supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) != 0 &&
                   rseq_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ) == 0
               ? ETWAS_RSEQ_USED
               : ETWAS_RSEQ_UNFENCED;
}

static bool rseq_kernel_is_suspect(void)
{
    struct utsname name;

#ifdef ETWAS_TESTPOINTS
    if (etwas_rseq_is_suspect) {
        return true;
    }
#endif
    return etwas_this_machine.architecture == ETWAS_ARCHITECTURE_AARCH64 &&
           etwas_rseq_may_not_abort(ETWAS_ARCHITECTURE_AARCH64,
                                    uname(&name) == 0 ? name.release : "");
}

static enum etwas_rseq_state rseq_try_here(void)
{
#if ETWAS_RSEQ
    enum etwas_rseq_result (*run)(const struct etwas_rseq_sequence *sequence) = etwas_rseq_run;
    struct etwas_rseq_trial trial;

#ifdef ETWAS_TESTPOINTS
    run = etwas_rseq_run_by != NULL ? etwas_rseq_run_by : run;
#endif
    trial = etwas_rseq_trial_run(run, TRIAL_NS);
    if (trial.committed != 0) {
        return ETWAS_RSEQ_NOT_ABORTED;
    }
    return trial.aborted != 0 ? ETWAS_RSEQ_USED : ETWAS_RSEQ_UNTRIED;
#else
    return ETWAS_RSEQ_UNBUILT;
#endif
}

/*
 * A result holds until the next boot. After a trial without a result the next process runs another.
 */
static enum etwas_rseq_state rseq_find_trial(void)
{
    const struct etwas_rseq_trial_storage *kept = ck_pr_load_ptr(&keeper);
    uint32_t known = ck_pr_load_32(&tried);
    enum etwas_rseq_state state;

    if (known != 0) {
        return (enum etwas_rseq_state)(known - 1);
    }
    if (kept == NULL || !kept->read(&state)) {
        state = rseq_try_here();
        if (kept != NULL && state != ETWAS_RSEQ_UNTRIED) {
            kept->write(state);
        }
    }
    ck_pr_store_32(&tried, (uint32_t)state + 1);
    return state;
}

enum etwas_rseq_state etwas_rseq_availability(void)
{
    enum etwas_rseq_state state = rseq_find_support();

    return state == ETWAS_RSEQ_USED && rseq_kernel_is_suspect() ? rseq_find_trial() : state;
}

void etwas_rseq_set_trial_storage(const struct etwas_rseq_trial_storage *new_keeper)
{
    ck_pr_store_ptr(&keeper, (void *)(uintptr_t)new_keeper);
}

enum etwas_rseq_state etwas_rseq_try_now(void)
{
    enum etwas_rseq_state state = rseq_find_support();

    return state == ETWAS_RSEQ_USED || state == ETWAS_RSEQ_UNFENCED ? rseq_try_here() : state;
}

#ifdef ETWAS_TESTPOINTS
void etwas_rseq_forget_trial(void)
{
    ck_pr_store_32(&tried, 0);
}
#endif

bool etwas_rseq_fence(void)
{
#ifdef ETWAS_TESTPOINTS
    if (etwas_rseq_fence_fails) {
        return false;
    }
#endif
    return rseq_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) == 0;
}

const char *etwas_sequences_text(uint32_t sequences)
{
    static const char *const texts[] = {
        [ETWAS_SEQUENCES_USED] = "the kernel aborts restartable sequences that are preempted",
        [ETWAS_SEQUENCES_UNBUILT] = "this build has no restartable sequences",
        [ETWAS_SEQUENCES_UNREGISTERED] =
            "glibc registers no sequences: it is too old, or GLIBC_TUNABLES or a library forbids",
        [ETWAS_SEQUENCES_UNFENCED] = "the kernel offers no membarrier for restartable sequences",
        [ETWAS_SEQUENCES_NOT_ABORTED] =
            "the kernel does not abort restartable sequences that are preempted",
        [ETWAS_SEQUENCES_UNTRIED] =
            "whether the kernel aborts restartable sequences could not be tried",
    };

    return sequences < sizeof texts / sizeof *texts ? texts[sequences] : "unknown reason";
}
