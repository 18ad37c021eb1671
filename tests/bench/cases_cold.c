/* SPDX-License-Identifier: MIT */
/*
 * The first use after a kernel has had the caches: 12 arrays in a frame, once, with the first and
 * second level full of something else. One operation a batch, so the clock's own time shows; it has
 * a row.
 */
#include "peer.h"

#include <pol/pol.h>

#include <stdlib.h>

#include "bump.h"

static const bench_group group = {"cold", "Cold caches, 12 arrays in a frame, once", "layer", NULL};

enum { COUNT = 12, OTHERS = 4 << 20 };

static size_t sizes[COUNT];
static void *out[COUNT];
static volatile char *others; /* what fills the caches */

typedef struct on {
    const peer *p;
    void *context;
    bump by_hand;
    pol_arena *arena;
    void (*once)(struct on *o);
} on;

static void nothing(on *o)
{
    bench_keep(o);
}

static void once_bump(on *o)
{
    const size_t mark = o->by_hand.offset;
    for (size_t i = 0; i < COUNT; i++)
        bench_keep(out[i] = bump_new(&o->by_hand, sizes[i]));
    o->by_hand.offset = mark;
}

static void once_frame(on *o)
{
    POL_SCRATCHSPACE(frame, o->arena)
        for (size_t i = 0; i < COUNT; i++)
            bench_keep(out[i] = pol_new(frame, char, sizes[i]));
}

static void once_library(on *o)
{
    pol_frame frame;
    (pol_frame_begin)(&frame, POL_SPACE(o->arena));
    for (size_t i = 0; i < COUNT; i++) {
        pol_array a;
        bench_try(pol_alloc(&frame.space, &a, pol_undef(POL_U8, (int64_t)sizes[i])));
        bench_keep(out[i] = a.data);
    }
    bench_try((pol_frame_end)(&frame));
}

static void once_peer(on *o)
{
    o->p->carve(o->context, out, sizes, COUNT);
    o->p->clear(o->context, out, COUNT);
}

static double timed(const bench_case *c, uint64_t n)
{
    on *const o = (on *)c->with;
    double took = 0;
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < OTHERS; i += 64)
            (void)others[i];
        const double start = bench_clock();
        o->once(o);
        took += bench_clock() - start;
    }
    return took;
}

static void add(bench *b, const char *name, const char *label, bench_kind kind, on *o)
{
    const bench_case c = {&group, name, label, kind, 1, .batch = 1, .with = o, .timed = timed};
    bench_add(b, &c);
}

void bench_add_cold(bench *b)
{
    static on ours[4], theirs[BENCH_PEERS];
    static pol_arena arena;
    static peer peers[BENCH_PEERS];
    const size_t count = bench_peers(peers);
    size_t total = 0;
    others = (volatile char *)bench_slab(OTHERS);
    bench_sizes(sizes, COUNT, 4096, 128 << 10, 4);
    for (size_t i = 0; i < COUNT; i++)
        total += sizes[i];
    const size_t nbytes = total + (COUNT + 1) * 16;
    bench_try(pol_arena_init(&arena, bench_slab(nbytes), nbytes, 16));
    ours[0] = (on){.once = nothing};
    ours[1] = (on){.once = once_bump, .by_hand = {bench_slab(nbytes), 0, nbytes, 16}};
    ours[2] = (on){.once = once_frame, .arena = &arena};
    ours[3] = (on){.once = once_library, .arena = &arena};
    add(b, "clock", "nothing, the clock alone", BENCH_FLOOR, &ours[0]);
    add(b, "bump", "checked bump, by hand", BENCH_FLOOR, &ours[1]);
    add(b, "inlined", "frame, pol_new", BENCH_LIBPOL, &ours[2]);
    add(b, "library", "frame, pol_alloc, library", BENCH_LIBPOL, &ours[3]);
    for (size_t i = 0; i < count; i++) {
        theirs[i] = (on){&peers[i], bench_peer_open(&peers[i], total, 16), .once = once_peer};
        add(b, peers[i].name, peers[i].label, peers[i].kind, &theirs[i]);
    }
}
