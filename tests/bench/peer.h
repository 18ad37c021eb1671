/* SPDX-License-Identifier: MIT */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

/*
 * Allocators as the cases see them: each carves a list of sizes and takes them all back.
 *
 * The loops are each peer's own, so that one whose allocation is inlined stays inlined. All of them
 * do the same around it: the pointer is stored, and kept from the optimizer.
 */

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer {
    const char *name;
    const char *label;
    bench_kind kind;
    size_t strictest; /* alignment that it can be asked for */
    const void *with; /* the peer's own */
    /* Returns a context whose arrays, up to BENCH_ARRAYS of at most `nbytes` in all at a time, start
       at multiples of `alignment`. */
    void *(*open)(const struct peer *p, size_t nbytes, size_t alignment);
    /* Carves `count` arrays into `out`. */
    void (*carve)(void *context, void **out, const size_t *sizes, size_t count);
    /* Takes back what one carve gave. */
    void (*clear)(void *context, void **out, size_t count);
} peer;

/* A peer at work. */
typedef struct opened {
    const peer *p;
    void *context;
} opened;

/* Fills in the peers and returns their number: peers_general.c, peers_region.c, peers_pmr.cpp. Ends
   the program if one is not installed. */
size_t bench_peers(peer peers[BENCH_PEERS]);
size_t bench_peers_general(peer *peers);
size_t bench_peers_region(peer *peers);
size_t bench_peers_pmr(peer *peers);

/* Opens a peer's context or ends the program. */
void *bench_peer_open(const peer *p, size_t nbytes, size_t alignment);

#ifdef __cplusplus
}
#endif

#endif
