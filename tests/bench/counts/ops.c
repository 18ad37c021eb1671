/* SPDX-License-Identifier: MIT */
/*
 * Each loop does one operation a round, on values that the compiler cannot see through, and lets
 * the result escape. Nothing is taken back, so that nothing else is counted: the slab is large, and
 * since nobody touches it, it costs no memory.
 */
#include "ops.h"

#include <pol/pol.h>

#include <stdio.h>
#include <stdlib.h>

static char slab[64 << 20];
static pol_arena arena;

static inline void keep(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static inline int64_t hide(int64_t n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

static inline void must(pol_status status)
{
    if (__builtin_expect(status != POL_OK, 0))
        abort();
}

static void run_nothing(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        keep(NULL);
}

static void run_new(uint64_t n)
{
    const size_t count = (size_t)hide(4);
    for (uint64_t i = 0; i < n; i++)
        keep(pol_new(&arena, float, count));
}

/* A description, materialized through a pol_space *, which may be anything. */
#define RUN_ALLOC(name, ...)                                                                       \
    static void run_##name(uint64_t n)                                                             \
    {                                                                                              \
        pol_space *const space = POL_SPACE(&arena);                                                \
        const int64_t d = hide(2);                                                                 \
        for (uint64_t i = 0; i < n; i++) {                                                         \
            pol_array a;                                                                           \
            must(pol_alloc(space, &a, pol_undef(POL_F32, __VA_ARGS__)));                           \
            keep(&a);                                                                              \
        }                                                                                          \
    }

RUN_ALLOC(alloc_1d, d)
RUN_ALLOC(alloc_2d, d, d)
RUN_ALLOC(alloc_4d, d, d, d, d)

static void run_scratchspace(uint64_t n)
{
    pol_arena *const on = &arena;
    for (uint64_t i = 0; i < n; i++)
        POL_SCRATCHSPACE(frame, on)
            keep(frame);
}

/* The functions themselves, as other languages call them. */
static void run_frame(uint64_t n)
{
    pol_space *const space = POL_SPACE(&arena);
    pol_frame frame;
    for (uint64_t i = 0; i < n; i++) {
        (pol_frame_begin)(&frame, space);
        keep(&frame);
        must((pol_frame_end)(&frame));
    }
}

static void run_ambient(uint64_t n)
{
    POL_WITHSPACE(&arena)
        for (uint64_t i = 0; i < n; i++)
            keep(pol_ambientspace());
}

struct empty_args {
    pol_array x;
};
struct empty_outputs {
    pol_array y;
};
struct empty_scratch {
    pol_array tmp;
};

static struct empty_outputs empty_outputs(const struct empty_args *a)
{
    return (struct empty_outputs){.y = pol_undef_like(&a->x)};
}

static struct empty_scratch empty_scratch(const struct empty_args *a)
{
    return (struct empty_scratch){.tmp = pol_undef_like(&a->x)};
}

static pol_status empty(const struct empty_outputs *out, const struct empty_args *a,
                        const struct empty_scratch *s)
{
    keep(out);
    keep(a);
    keep(s);
    return POL_OK;
}

POL_ALLOCATING(empty, outputs, scratch);

static void run_call(uint64_t n)
{
    static float x[4];
    pol_space *const space = POL_SPACE(&arena);
    const struct empty_args args = {pol_wrap(x, POL_F32, hide(4))};
    for (uint64_t i = 0; i < n; i++) {
        struct empty_outputs out;
        must(pol_call(empty, space, &args, &out));
        keep(&out);
    }
}

const op ops[] = {
    {"nothing", run_nothing},           {"pol_new", run_new},
    {"pol_alloc_1d", run_alloc_1d},     {"pol_alloc_2d", run_alloc_2d},
    {"pol_alloc_4d", run_alloc_4d},     {"POL_SCRATCHSPACE", run_scratchspace},
    {"pol_frame_begin_end", run_frame}, {"pol_call", run_call},
    {"pol_ambientspace", run_ambient},  {NULL, NULL},
};

int ops_begin(void)
{
    if (pol_arena_init(&arena, slab, sizeof slab, 16) == POL_OK)
        return 0;
    (void)fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}
