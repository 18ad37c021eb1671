/* SPDX-License-Identifier: MIT */
#ifndef TEST_CONFORMANCE_H
#define TEST_CONFORMANCE_H

/*
 * What every space owes, as one suite that runs over any of them.
 *
 * A space under test is described by how it is opened and closed, by what can be seen of it from
 * outside, and by what it promises beyond the contract of all spaces. Each property opens a fresh
 * one.
 */

#include "support.h"

/* What the spaces under test are made of; one is enough for each. */
struct conformance_world {
    pol_arena arena, inner;
    pol_frame frame, above;
    struct test_space counting;
    struct test_marking marking;
    void *user; /* of a space that is not known here */
};

struct conformance_space {
    const char *name;
    pol_space *(*open)(struct conformance_world *w);
    void (*close)(struct conformance_world *w);
    /* Bytes or arrays that are out; NULL: cannot be seen. */
    size_t (*used)(struct conformance_world *w);
    /* What pol_similar() finds for its arrays; NULL: not checked. */
    pol_space *(*home)(struct conformance_world *w);
    size_t alignment; /* every array's address is divisible by it */
    size_t capacity;  /* bytes that a fresh one has, from its first array's address; 0: no bound */
    bool owns;        /* pol_release() gives its arrays back */
    bool keeps;       /* nothing takes anything back, not even a frame */
};

/* Makes the suite for the spaces, at most `room` tests, and returns how many there are. */
size_t conformance_tests(const struct conformance_space *const *spaces, size_t count,
                         struct CMUnitTest *tests, size_t room);

#endif /* TEST_CONFORMANCE_H */
