/* SPDX-License-Identifier: MIT */
/*
 * General allocators: each array is asked for and freed by itself.
 *
 * They are opened with dlopen, each in its own scope, so that none replaces this program's malloc or
 * another's. glibc's stands in twice: as shipped, and a second copy of the C library, in a namespace
 * of its own, that is told to keep its memory. (mallopt cannot be taken back, so one copy could not
 * be both in one process.)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dlmopen, RTLD_NEXT */
#endif
#include "peer.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct general {
    const char *library; /* NULL: the C library, around the counting malloc */
    const char *package;
    const char *malloc_name, *aligned_name, *free_name;
    bool keeps;
    void *(*malloc)(size_t nbytes);
    void *(*aligned)(size_t alignment, size_t nbytes);
    void (*free)(void *p);
} general;

static general generals[] = {
    {NULL, "libc6", "malloc", "aligned_alloc", "free", false, NULL, NULL, NULL},
    {"libc.so.6", "libc6", "malloc", "aligned_alloc", "free", true, NULL, NULL, NULL},
    {"libmimalloc.so.2", "libmimalloc2.0", "mi_malloc", "mi_aligned_alloc", "mi_free", false, NULL,
     NULL, NULL},
    {"libjemalloc.so.2", "libjemalloc2", "malloc", "aligned_alloc", "free", false, NULL, NULL,
     NULL},
    {"libtcmalloc_minimal.so.4", "libtcmalloc-minimal4", "tc_malloc", "tc_memalign", "tc_free",
     false, NULL, NULL, NULL},
};

static const char *const names[] = {"glibc", "glibc-keep", "mimalloc", "jemalloc", "tcmalloc"};
static const char *const labels[] = {"glibc malloc, as shipped", "glibc malloc, keeping memory",
                                     "mimalloc", "jemalloc", "tcmalloc"};

static void missing(const general *g)
{
    char what[256];
    (void)snprintf(what, sizeof what, "a peer is missing (Debian: apt-get install %s)", g->package);
    bench_die(what, dlerror());
}

/* ISO C has no conversion from an object's address to a function's; POSIX has this one. */
static void look_up(const general *g, void *library, const char *name, void *function)
{
    void *const symbol = dlsym(library, name);
    if (!symbol)
        missing(g);
    memcpy(function, &symbol, sizeof symbol);
}

static void keep_memory(const general *g, void *library)
{
    int (*tell)(int, int);
    look_up(g, library, "mallopt", &tell);
    if (!tell(M_MMAP_THRESHOLD, 32 << 20) || !tell(M_TRIM_THRESHOLD, 1 << 30) ||
        !tell(M_TOP_PAD, 16 << 20))
        bench_die(g->library, "mallopt refused");
}

static void load(general *g)
{
    void *library = RTLD_NEXT;
    if (g->keeps)
        library = dlmopen(LM_ID_NEWLM, g->library, RTLD_NOW);
    else if (g->library)
        library = dlopen(g->library, RTLD_NOW | RTLD_LOCAL);
    if (g->library && !library)
        missing(g);
    look_up(g, library, g->malloc_name, &g->malloc);
    look_up(g, library, g->aligned_name, &g->aligned);
    look_up(g, library, g->free_name, &g->free);
    if (g->keeps)
        keep_memory(g, library);
}

typedef struct context {
    const general *g;
    size_t alignment;
} context;

static void *open(const peer *p, size_t nbytes, size_t alignment)
{
    context *const c = (context *)malloc(sizeof *c);
    (void)nbytes;
    if (c)
        *c = (context){(const general *)p->with, alignment};
    return c;
}

static void carve(void *with, void **out, const size_t *sizes, size_t count)
{
    const context *const c = (const context *)with;
    const general *const g = c->g;
    if (c->alignment <= _Alignof(max_align_t))
        for (size_t i = 0; i < count; i++)
            bench_keep(out[i] = g->malloc(sizes[i]));
    else
        for (size_t i = 0; i < count; i++)
            bench_keep(out[i] = g->aligned(c->alignment, sizes[i]));
}

static void clear(void *with, void **out, size_t count)
{
    const general *const g = ((const context *)with)->g;
    for (size_t i = 0; i < count; i++)
        g->free(out[i]);
}

size_t bench_peers_general(peer *peers)
{
    const size_t count = sizeof generals / sizeof *generals;
    for (size_t i = 0; i < count; i++) {
        load(&generals[i]);
        peers[i] =
            (peer){names[i], labels[i], BENCH_GENERAL, 4096, &generals[i], open, carve, clear};
    }
    return count;
}
