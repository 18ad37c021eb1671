/* SPDX-License-Identifier: MIT */
/*
 * Allocators that free all at once: GNU obstacks, APR's pools, talloc's pools.
 *
 * Each is given as much as it will need, up front where it can be, and keeps it.
 */
#include "peer.h"

#include <stdint.h>
#include <stdlib.h>

#include <apr_general.h>
#include <apr_pools.h>
#include <obstack.h>
#include <talloc.h>

/* ---- obstack ---- */

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

typedef struct stack {
    struct obstack obstack;
    void *bottom;
} stack;

static void no_memory(void)
{
    bench_die("obstack", "the system refused its memory");
}

static void *stack_open(const peer *p, size_t nbytes, size_t alignment)
{
    stack *const s = (stack *)malloc(sizeof *s);
    (void)p;
    obstack_alloc_failed_handler = no_memory;
    if (!s)
        return NULL;
    obstack_specify_allocation(&s->obstack, (int)(nbytes + (BENCH_ARRAYS + 2) * alignment), 0,
                               malloc, free);
    obstack_alignment_mask(&s->obstack) = (int)alignment - 1;
    s->bottom = obstack_alloc(&s->obstack, 1);
    return s;
}

static void stack_carve(void *with, void **out, const size_t *sizes, size_t count)
{
    stack *const s = (stack *)with;
    for (size_t i = 0; i < count; i++)
        bench_keep(out[i] = obstack_alloc(&s->obstack, (int)sizes[i]));
}

static void stack_clear(void *with, void **out, size_t count)
{
    stack *const s = (stack *)with;
    (void)count;
    obstack_free(&s->obstack, out[0]);
}

/* ---- APR ---- */

static void *apr_open(const peer *p, size_t nbytes, size_t alignment)
{
    apr_pool_t *pool = NULL;
    (void)p;
    (void)nbytes;
    (void)alignment;
    if (apr_initialize() != APR_SUCCESS || apr_pool_create(&pool, NULL) != APR_SUCCESS)
        return NULL;
    return pool;
}

static void apr_carve(void *with, void **out, const size_t *sizes, size_t count)
{
    apr_pool_t *const pool = (apr_pool_t *)with;
    for (size_t i = 0; i < count; i++)
        bench_keep(out[i] = apr_palloc(pool, sizes[i]));
}

static void apr_clear(void *with, void **out, size_t count)
{
    (void)out;
    (void)count;
    apr_pool_clear((apr_pool_t *)with);
}

/* ---- talloc ---- */

static void *talloc_open(const peer *p, size_t nbytes, size_t alignment)
{
    const size_t header = 128; /* no less than talloc's own, which is private */
    (void)p;
    return talloc_pool(NULL, nbytes + (BENCH_ARRAYS + 2) * (alignment + header));
}

static void talloc_carve(void *with, void **out, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench_keep(out[i] = talloc_size(with, sizes[i]));
}

static void talloc_clear(void *with, void **out, size_t count)
{
    (void)out;
    (void)count;
    talloc_free_children(with);
}

size_t bench_peers_region(peer *peers)
{
    const peer stacks = {"obstack", "obstack",  BENCH_REGION, 4096,
                         NULL,      stack_open, stack_carve,  stack_clear};
    const peer apr = {
        "apr",    "APR pool (aligns to 8 only)", BENCH_REGION, 16, NULL, apr_open, apr_carve,
        apr_clear};
    const peer talloc = {"talloc", "talloc pool", BENCH_REGION, 16,
                         NULL,     talloc_open,   talloc_carve, talloc_clear};
    peers[0] = stacks;
    peers[1] = apr;
    peers[2] = talloc;
    return 3;
}
