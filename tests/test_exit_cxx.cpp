// SPDX-License-Identifier: MIT

// Trap 26: an arena and a frame used from the destructor of a C++ static, after a frame was left
// open in main. The exit status is 0.

#include <cstdlib>
#include <cstring>

#include <pol/pol.h>

namespace {

struct at_end {
    pol_arena arena;
    pol_array slab;

    at_end()
    {
        if (pol_alloc(pol_heap(), &slab, pol_undef(POL_U8, 4096)) != POL_OK ||
            pol_arena_over(&arena, &slab, 0) != POL_OK)
            std::_Exit(2);
    }
    at_end(const at_end &) = delete;
    at_end &operator=(const at_end &) = delete;
    ~at_end()
    {
        pol_array a;
        POL_SCRATCHSPACE(frame, &arena) {
            if (pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 10)) != POL_OK)
                std::_Exit(3);
            std::memset(a.data, 1, 10);
        }
        if (pol_alloc(&arena, &a, pol_undef(POL_U8, 1 << 20)) != POL_ECEILING || !*pol_last_error())
            std::_Exit(4);
        if (pol_arena_close(&arena) != POL_OK)
            std::_Exit(5);
        pol_release(&slab);
    }
};

at_end statics;
pol_arena other;
pol_frame left_open;
alignas(256) unsigned char bytes[4096];

} // namespace

int main()
{
    pol_array a;
    if (pol_arena_init(&other, bytes, sizeof bytes, 0) != POL_OK)
        return 1;
    pol_frame_begin(&left_open, &other);
    return pol_alloc(&left_open, &a, pol_undef(POL_U8, 10)) != POL_OK;
}
