/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* isatty */
#endif
#include "report.h"

#include "console.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

pol_status report_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return POL_OK;
    return pol_fail(POL_EUSER, "cannot write (%s): standard output", strerror(errno ? errno : EIO));
}

pol_status report_start(const struct options *o, const struct texts *texts, size_t slab)
{
    char n[GROUPED_BYTES];
    printf("%s tokens to learn from", grouped(n, (uint64_t)texts->training.dims[0]));
    printf(", %s to validate, ", grouped(n, (uint64_t)texts->validation.dims[0]));
    printf("of %s bytes\n", grouped(n, texts->nbytes));
    printf("model: dim %" PRIu64 ", hidden %" PRIu64 ", %" PRIu64 " layers, %" PRIu64
           " heads, context %" PRIu64 ", vocabulary %" PRId64 "\n",
           o->dim, o->hidden, o->layers, o->heads, o->context, texts->tokenizer.vocab);
    printf("%" PRIu64 " steps of %" PRIu64 " sequences, seed %" PRIu64 ", %" PRIu64
           " thread%s, products by %s\n",
           o->steps, o->batch, o->seed, o->threads, o->threads == 1 ? "" : "s", gemm_kind());
    printf("dry run: a slab of %s bytes will do\n", grouped(n, slab));
    return report_flush();
}

/* The lines of progress */

static const double MOST_SILENCE = 30; /* seconds */
static double spoke;                   /* when the last line ended */
static bool stands;                    /* a line that is not at its end, on a terminal */

/* On a terminal it takes the place of the line that stands there. */
static void begin_line(void)
{
    if (isatty(STDOUT_FILENO))
        printf("\r\033[K");
    stands = false;
}

static void end_line(void)
{
    putchar('\n');
    (void)fflush(stdout);
    spoke = seconds_now();
}

static void print_left(double seconds)
{
    const long long left = (long long)(seconds + 0.5), minutes = left / 60;
    if (minutes < 60)
        printf("  %lld:%02lld left", minutes, left % 60);
    else
        printf("  %lld:%02lld:%02lld left", minutes / 60, minutes % 60, left % 60);
}

static void print_rest(const struct progress *p)
{
    printf("  %.0f tokens/s  rate %.2e", p->tokens_per_second, p->rate);
    print_left(p->seconds_left);
}

void report_first(double validation, int64_t steps)
{
    begin_line();
    printf("step 0/%" PRId64 "  validation %.4f", steps, validation);
    end_line();
}

void report_progress(const struct progress *p)
{
    const bool watched = isatty(STDOUT_FILENO);
    if (!watched && seconds_now() - spoke < MOST_SILENCE)
        return;
    begin_line();
    printf("step %" PRId64 "/%" PRId64 "  loss %.4f", p->step, p->steps, p->training);
    print_rest(p);
    stands = watched;
    if (watched)
        (void)fflush(stdout);
    else
        end_line();
}

void report_line(const struct progress *p)
{
    begin_line();
    printf("step %" PRId64 "/%" PRId64 "  loss %.4f  validation %.4f", p->step, p->steps,
           p->training, p->validation);
    print_rest(p);
    end_line();
}

void report_break(void)
{
    if (stands)
        end_line();
    stands = false;
}

/* The table */

static void print_row(const char *what, uint64_t number, const char *remark)
{
    char n[GROUPED_BYTES];
    printf("  %-40s %16s%s\n", what, grouped(n, number), remark);
}

static void print_unknown(const char *what, const char *why)
{
    printf("  %-40s %16s\n", what, why);
}

/* Against what this run took. All that lies in the slab beside the plan is the same. */
static void print_instead(const char *what, const struct summary *s, const struct plan *p)
{
    const size_t instead = p->total + (s->slab - s->plan.total);
    char remark[32];
    (void)snprintf(remark, sizeof remark, ", %+.1f %%",
                   100.0 * ((double)instead / (double)s->slab - 1));
    print_row(what, instead, remark);
}

static void print_claims(const struct summary *s)
{
    print_row("slab asked for by the dry run", s->slab, "");
    print_row("watermark reached", s->watermark,
              s->watermark == s->slab ? ", equal" : ", NOT EQUAL");
    if (s->resident > 0)
        print_row("most resident memory of the process", s->resident,
                  s->resident_is_ours ? "" : ", a tool's too");
    else
        print_unknown("most resident memory of the process", "not known");
    if (s->counted)
        print_row("heap allocations after set-up", s->allocations, "");
    else
        print_unknown("heap allocations after set-up", "not counted");
}

pol_status report_summary(const struct options *o, const struct summary *s)
{
    const struct figures *const f = &s->figures;
    const double seconds = f->seconds > 1e-9 ? f->seconds : 1e-9;
    char tokens[GROUPED_BYTES], rate[GROUPED_BYTES];
    printf("\n%s tokens in %.2f s: %s tokens per second; loss %.4f, validation %.4f\n",
           grouped(tokens, (uint64_t)f->tokens), seconds,
           grouped(rate, (uint64_t)((double)f->tokens / seconds)), f->training, f->validation);
    if (f->steps < (int64_t)o->steps)
        printf("stopped at step %" PRId64 " of %" PRIu64 "\n", f->steps, o->steps);
    printf("memory, in bytes\n");
    print_row("texts, borrowed from their files", s->texts, "");
    print_row("tokens", s->tokens, "");
    print_row("tables, and the losses of the curve", s->tables, "");
    print_row("parameters", s->plan.parameters, "");
    print_row("gradients", s->plan.gradients, "");
    print_row("optimizer's moments", s->plan.moments, "");
    print_row("checkpoints", s->plan.kept, "");
    print_row("scratch at its peak, batch, angles", s->plan.scratch, "");
    print_claims(s);
    print_instead(o->recompute ? "without --recompute" : "with --recompute", s, &s->other);
    print_instead("the same by hand: each array kept", s, &s->by_hand[0]);
    print_instead("by hand, attention's matrices kept too", s, &s->by_hand[1]);
    printf("\nmodel: %s\n", o->out);
    return report_flush();
}

pol_status report_curve(const char *path)
{
    printf("curve: %s\n", path);
    return report_flush();
}
