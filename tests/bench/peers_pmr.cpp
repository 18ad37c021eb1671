/* SPDX-License-Identifier: MIT */
/* C++'s std::pmr::monotonic_buffer_resource over a buffer that suffices, as a peer. */
#include "peer.h"

#include <cstdlib>
#include <memory_resource>
#include <new>

namespace {

struct context {
    std::size_t alignment;
    std::pmr::monotonic_buffer_resource resource;

    context(void *buffer, std::size_t nbytes, std::size_t strictest)
        : alignment(strictest), resource(buffer, nbytes, std::pmr::null_memory_resource())
    {
    }
};

void *open(const peer *, std::size_t nbytes, std::size_t alignment)
{
    const std::size_t room = nbytes + (BENCH_ARRAYS + 2) * alignment;
    return new (std::nothrow) context(bench_slab(room), room, alignment);
}

void carve(void *with, void **out, const std::size_t *sizes, std::size_t count)
{
    auto *const c = static_cast<context *>(with);
    for (std::size_t i = 0; i < count; i++)
        bench_keep(out[i] = c->resource.allocate(sizes[i], c->alignment));
}

void clear(void *with, void **, std::size_t)
{
    static_cast<context *>(with)->resource.release();
}

} // namespace

std::size_t bench_peers_pmr(peer *peers)
{
    peers[0] = {"pmr", "pmr monotonic_buffer", BENCH_REGION, 4096, nullptr, open, carve, clear};
    return 1;
}
