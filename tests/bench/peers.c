/* SPDX-License-Identifier: MIT */
/* The peers, all of them. */
#include "peer.h"

size_t bench_peers(peer peers[BENCH_PEERS])
{
    static peer all[BENCH_PEERS];
    static size_t count;
    if (count == 0) {
        count = bench_peers_region(all);
        count += bench_peers_pmr(all + count);
        count += bench_peers_general(all + count);
    }
    for (size_t i = 0; i < count; i++)
        peers[i] = all[i];
    return count;
}

void *bench_peer_open(const peer *p, size_t nbytes, size_t alignment)
{
    void *const context = p->open(p, nbytes, alignment);
    if (!context)
        bench_die(p->label, "the system refused its memory");
    return context;
}
