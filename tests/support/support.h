/* SPDX-License-Identifier: MIT */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

/*
 * Spaces made for tests, and what tests compare.
 *
 * A test_space hands out its parent's memory (the heap's unless told otherwise), refuses the
 * request that it is told to, claims that its device records a graph when it is told to, and keeps
 * a log of what it gave and took back. A test_marking is a space of the user's own with marks, over
 * a static buffer. Neither is part of libpol, and neither looks into it: they are written against
 * the public headers, as a user's would be.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>
#include <pol/pol.h>

/* -- a space that counts, logs, and fails on demand ------------------------------------------- */

enum { TEST_EVENTS = 1024, TEST_HELD = 256 };

struct test_event {
    char what;  /* 'a': gave; 'r': took back; 'x': refused; '?': took back what was not out */
    void *data; /* NULL when refused */
    size_t nbytes;
};

struct test_space {
    pol_space space;
    /* set by the test */
    pol_space *parent; /* where the memory comes from */
    size_t fail_at;    /* the request that is refused, counted from 1; 0: none */
    bool for_ever;     /* and all requests after that */
    bool capturing;    /* the device claims to record a graph */
    /* read by the test */
    size_t requests;     /* calls of alloc, refused ones too */
    size_t live;         /* arrays that are out */
    size_t live_bytes;   /* and their bytes */
    size_t bad_releases; /* of arrays that were not out */
    size_t reentered;    /* releases that opened a frame of their own, see below */
    size_t nlog;         /* events; those past TEST_EVENTS are not kept */
    struct test_event log[TEST_EVENTS];
    pol_array held[TEST_HELD]; /* private: what is out, as the parent gave it */
};

/* Makes a space over the heap that never fails. */
void test_space_init(struct test_space *s);
/* Makes one whose table has no release: pol_release() is a no-op, frames cannot take back. */
void test_space_init_keeping(struct test_space *s);
/* Makes one whose table has no alloc. */
void test_space_init_empty(struct test_space *s);
/* Makes one that answers POL_OK and gives nothing. */
void test_space_init_lying(struct test_space *s);
/* Makes one whose release opens and ends a frame of its own and reads the ambient space: trap 20.
 */
void test_space_init_reentrant(struct test_space *s);
/* Makes one whose memory is that of the device {8, 3}, though the host may follow it. */
void test_space_init_device(struct test_space *s);

/* Refuses the k-th request from now, once or from then on. 0: none. */
void test_space_fail(struct test_space *s, size_t k, bool for_ever);
/* Forgets the log. */
void test_space_forget(struct test_space *s);
/* Gives to the parent what is still out: for spaces whose table has no release. */
void test_space_drop(struct test_space *s);
/* Fails the test unless everything was taken back exactly once. */
void test_space_assert_clean(const struct test_space *s);
/* Fails the test unless each take-back was of the newest array that was out. */
void test_space_assert_reverse(const struct test_space *s);

/* -- a space with marks that is no arena ------------------------------------------------------- */

enum { TEST_MARKING_BYTES = 4096 };

struct test_marking {
    pol_space space;
    size_t fail_at; /* as above */
    size_t requests;
    size_t used; /* bytes */
    size_t nmarks, nretracts;
    pol_status found;     /* set by the test: what a retract answers, once it has gone back */
    bool silent;          /* and without a text of its own */
    unsigned char *bytes; /* TEST_MARKING_BYTES at a multiple of 4096 */
};

/* There is one buffer, so one such space at a time. */
void test_marking_init(struct test_marking *s);

/* -- what a failing call must leave as it was -------------------------------------------------- */

struct test_state {
    size_t offset, watermark, budget, capacity; /* of the arena */
    struct pol_mark mark;                       /* and its epoch */
    size_t live, live_bytes, bad;               /* of the space */
    pol_space *ambient;
};

/* Either may be NULL. */
struct test_state test_state_of(pol_arena *a, const struct test_space *s);
/* Fails the test unless the state is still `before`. */
void test_assert_unchanged(const struct test_state *before, pol_arena *a,
                           const struct test_space *s);

/* -- small help -------------------------------------------------------------------------------- */

/* The status, by name in the report. */
#define assert_status(expr, code) assert_string_equal(pol_status_name(expr), pol_status_name(code))
#define assert_ok(expr) assert_status(expr, POL_OK)
/* Whether the text of this thread's last failure has the words. */
#define assert_error_says(words) assert_non_null(strstr(pol_last_error(), words))

/* Bytes at an address that is `shift` past a multiple of 4096. One buffer: 1 MiB less 8192. */
unsigned char *test_slab(size_t shift);
/* Whether [data, data + nbytes) of two arrays have a byte in common. */
bool test_overlap(const pol_array *a, const pol_array *b);
/* Bytes of the array; fails the test if they cannot be computed. */
size_t test_nbytes(const pol_array *a);
/* Fills an array with a byte, and tells whether it still holds it. */
void test_fill(const pol_array *a, unsigned char byte);
bool test_holds(const pol_array *a, unsigned char byte);
/* Resident memory of this process in bytes; 0 where the system does not tell. */
size_t test_resident(void);
/* Whether the program runs under valgrind. */
bool test_under_valgrind(void);
/* Group or test teardown: cmocka's assertions leave by longjmp. */
int test_clear_ambient(void **state);

#if defined(__has_feature)
#define TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define TEST_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    TEST_HAS_FEATURE(address_sanitizer) || TEST_HAS_FEATURE(thread_sanitizer) ||                   \
    TEST_HAS_FEATURE(memory_sanitizer)
#define TEST_SANITIZED 1
#else
#define TEST_SANITIZED 0
#endif

#endif /* TEST_SUPPORT_H */
