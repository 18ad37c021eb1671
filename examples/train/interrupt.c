/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* sigaction */
#endif
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_bool came; /* any thread may be the one that is interrupted */

static void remember(int signal)
{
    (void)signal;
    atomic_store(&came, true);
}

void interrupt_leave_writes(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

static void remember_one(int signal)
{
    struct sigaction action = {.sa_handler = remember}, before;
    action.sa_flags = (int)(SA_RESTART | SA_RESETHAND); /* no write fails by it; it comes once */
    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void)sigaction(signal, &action, NULL);
}

void interrupt_remember(void)
{
    remember_one(SIGINT);
    remember_one(SIGTERM);
}

bool interrupt_came(void)
{
    return atomic_load(&came);
}
