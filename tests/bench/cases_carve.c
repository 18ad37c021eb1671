/* SPDX-License-Identifier: MIT */
/*
 * Carving: 64 arrays of 16 B to 64 KiB, log-uniform, then all of them are taken back.
 *
 * Every allocator is asked for the same sizes in the same order. What it gives is stored and not
 * touched.
 */
#include "peer.h"

#include <pol/pol.h>

#include "bump.h"

static const bench_group carve16 = {"carve16", "Carve 64 arrays of 16 B to 64 KiB, aligned to 16",
                                    "array", NULL};
static const bench_group carve256 = {
    "carve256", "Carve 64 arrays of 16 B to 64 KiB, aligned to 256", "array", NULL};

static size_t sizes[BENCH_ARRAYS];
static void *out[BENCH_ARRAYS];
static size_t total;

static void run_bump(const bench_case *c, uint64_t n)
{
    bump *const b = (bump *)c->with;
    for (uint64_t k = 0; k < n; k++) {
        const size_t mark = b->offset;
        for (size_t i = 0; i < BENCH_ARRAYS; i++)
            bench_keep(out[i] = bump_new(b, sizes[i]));
        b->offset = mark;
    }
}

static void run_arena(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    const struct pol_mark mark = pol_mark(arena);
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < BENCH_ARRAYS; i++)
            bench_keep(out[i] = pol_new(arena, char, sizes[i]));
        bench_try(pol_retract(arena, mark));
    }
}

static void run_frame(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    for (uint64_t k = 0; k < n; k++)
        POL_SCRATCHSPACE(frame, arena)
            for (size_t i = 0; i < BENCH_ARRAYS; i++)
                bench_keep(out[i] = pol_new(frame, char, sizes[i]));
}

/* A pol_space * may be anything, so this one is a call. */
static void run_space(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    pol_space *const space = POL_SPACE(arena);
    const struct pol_mark mark = pol_mark(arena);
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < BENCH_ARRAYS; i++)
            bench_keep(out[i] = pol_new(space, char, sizes[i]));
        bench_try(pol_retract(arena, mark));
    }
}

static void run_peer(const bench_case *c, uint64_t n)
{
    const opened *const o = (const opened *)c->with;
    for (uint64_t k = 0; k < n; k++) {
        o->p->carve(o->context, out, sizes, BENCH_ARRAYS);
        o->p->clear(o->context, out, BENCH_ARRAYS);
    }
}

/* libpol and the bump, each over a slab of its own. */
static void add_ours(bench *b, const bench_group *group, size_t alignment, bump *bumped,
                     pol_arena *arena)
{
    const size_t nbytes = total + (BENCH_ARRAYS + 1) * alignment;
    *bumped = (bump){bench_slab(nbytes), 0, nbytes, alignment};
    bench_try(pol_arena_init(arena, bench_slab(nbytes), nbytes, alignment));
    const bench_case cases[] = {
        {group, "bump", "checked bump, by hand", BENCH_FLOOR, .with = bumped, .run = run_bump},
        {group, "pol_new", "pol_new, arena", BENCH_LIBPOL, .with = arena, .run = run_arena},
        {group, "pol_new_frame", "pol_new, frame", BENCH_LIBPOL, .with = arena, .run = run_frame},
        {group, "pol_new_space", "pol_new, library", BENCH_LIBPOL, .with = arena, .run = run_space},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_case c = cases[i];
        c.units = BENCH_ARRAYS;
        bench_add(b, &c);
    }
}

static void add_peers(bench *b, const bench_group *group, size_t alignment, opened *contexts)
{
    static peer peers[BENCH_PEERS];
    const size_t count = bench_peers(peers);
    for (size_t i = 0; i < count; i++) {
        if (peers[i].strictest < alignment)
            continue;
        contexts[i] = (opened){&peers[i], bench_peer_open(&peers[i], total, alignment)};
        const bench_case c = {group,          peers[i].name,         peers[i].label,
                              peers[i].kind,  .units = BENCH_ARRAYS, .with = &contexts[i],
                              .run = run_peer};
        bench_add(b, &c);
    }
}

void bench_add_carve(bench *b)
{
    static bump bumps[2];
    static pol_arena arenas[2];
    static opened contexts[2][BENCH_PEERS];
    bench_sizes(sizes, BENCH_ARRAYS, 16, 64 << 10, 1);
    for (size_t i = 0; i < BENCH_ARRAYS; i++)
        total += sizes[i];
    add_ours(b, &carve256, 256, &bumps[0], &arenas[0]);
    add_peers(b, &carve256, 256, contexts[0]);
    add_ours(b, &carve16, 16, &bumps[1], &arenas[1]);
    add_peers(b, &carve16, 16, contexts[1]);
}
