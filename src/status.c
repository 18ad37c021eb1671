/* SPDX-License-Identifier: MIT */

/*
 * Codes, texts and the handler of misuse.
 *
 * A text is formatted into the thread's own block by way of a buffer on the stack, so that it may
 * quote the text before it. The handler and its context are two words that must be read together:
 * they lie in one of two slots, and a writer fills the idle one before it makes that current.
 * Readers never wait, so a misuse in a signal handler or after fork cannot hang.
 */

#include "internal.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

const char *pol_status_name(pol_status status)
{
    switch (status) {
#define CASE(name, value, text)                                                                    \
    case value:                                                                                    \
        return #name;
        POL_STATUS_TABLE_(CASE)
#undef CASE
    default:
        return "POL_E?";
    }
}

const char *pol_status_text(pol_status status)
{
    switch (status) {
#define CASE(name, value, text)                                                                    \
    case value:                                                                                    \
        return text;
        POL_STATUS_TABLE_(CASE)
#undef CASE
    default:
        return "not a status of libpol";
    }
}

const char *pol_last_error(void)
{
    return pol_thread_self_()->text;
}

pol_status pol_fail(pol_status status, const char *format, ...)
{
    pol_thread *const t = pol_thread_self_();
    char text[POL_TEXT_MAX_];
    va_list args;
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    va_end(args);
    memcpy(t->text, text, sizeof text);
    t->failures++;
    return status;
}

typedef struct handler {
    _Atomic(pol_misuse_fn) fn;
    _Atomic(void *) ctx;
} handler;

static handler handlers[2];
static atomic_uint current; /* the slot in use is its lowest bit */
static atomic_flag writing = ATOMIC_FLAG_INIT;

pol_misuse_fn pol_on_misuse(pol_misuse_fn fn, void *ctx)
{
    while (atomic_flag_test_and_set(&writing)) {
    }
    const unsigned now = atomic_load(&current);
    const pol_misuse_fn before = atomic_load(&handlers[now & 1].fn);
    atomic_store(&handlers[(now + 1) & 1].fn, fn);
    atomic_store(&handlers[(now + 1) & 1].ctx, ctx);
    atomic_store(&current, now + 1);
    atomic_flag_clear(&writing);
    return before;
}

void pol_text_keep_(pol_kept_text *kept)
{
    const pol_thread *const t = pol_thread_self_();
    memcpy(kept->text, t->text, sizeof kept->text);
    kept->failures = t->failures;
}

void pol_text_restore_(const pol_kept_text *kept, pol_status met)
{
    pol_thread *const t = pol_thread_self_();
    if (met != POL_OK)
        pol_misuse_(met);
    memcpy(t->text, kept->text, sizeof t->text);
    t->failures = kept->failures;
}

void pol_failures_add_(pol_failures *met, pol_status status)
{
    if (status == POL_OK)
        return;
    if (met->first != POL_OK) {
        pol_misuse_(status);
        return;
    }
    met->first = status;
    pol_text_keep_(&met->kept);
}

pol_status pol_failures_first_(const pol_failures *met)
{
    if (met->first != POL_OK)
        pol_text_restore_(&met->kept, POL_OK);
    return met->first;
}

void pol_misuse_(pol_status status)
{
    pol_misuse_fn fn;
    void *ctx;
    unsigned now;
    do {
        now = atomic_load(&current);
        fn = atomic_load(&handlers[now & 1].fn);
        ctx = atomic_load(&handlers[now & 1].ctx);
    } while (atomic_load(&current) != now);
    if (fn)
        fn(status, pol_last_error(), ctx);
}
