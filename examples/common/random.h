/* SPDX-License-Identifier: MIT */
#ifndef RANDOM_H
#define RANDOM_H

/* SplitMix64: 64 bits of state, of which any value, 0 too, is a good seed. */

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in [0, 1), in steps of 2^-24. */
static inline float random_unit(uint64_t *state)
{
    return (float)(random_next(state) >> 40) * 0x1p-24f;
}

/* Uniform from 0 to n - 1; the bias, at most n / 2^32, is no matter for shuffling. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((random_next(state) >> 32) * n >> 32);
}

#endif
