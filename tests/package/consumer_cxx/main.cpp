// Prints the version of the libpol that it runs with, once exceptions have left a frame, the second
// one through libpol's own code, and the arena has everything back each time.
#include <pol/pol.h>

#include <cstdio>
#include <stdexcept>

static pol_status fill(pol_frame *frame, void *)
{
    if (pol_new(frame, float, 32) == nullptr) {
        return POL_EUSER;
    }
    throw std::runtime_error("out of the frame");
}

static void fill_in_a_block(pol_arena *arena)
{
    POL_SCRATCHSPACE(frame, arena) {
        (void)fill(frame, nullptr);
    }
}

static void fill_in_a_callback(pol_arena *arena)
{
    (void)pol_scratchspace(arena, fill, nullptr);
}

static bool gives_back(void (*throws)(pol_arena *))
{
    alignas(256) static unsigned char slab[4096];
    pol_arena arena;

    if (pol_arena_init(&arena, slab, sizeof slab, 0) != POL_OK) {
        return false;
    }
    try {
        throws(&arena);
        return false;
    } catch (const std::runtime_error &) {
        return pol_watermark(&arena) == 32 * sizeof(float) && pol_arena_offset(&arena) == 0 &&
               pol_reset(&arena) == POL_OK;
    }
}

int main()
{
    if (!gives_back(fill_in_a_block) || !gives_back(fill_in_a_callback)) {
        return 1;
    }
    std::puts(pol_version());
    return 0;
}
