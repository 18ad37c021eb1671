/* SPDX-License-Identifier: MIT */

/*
 * See support.h. A test_space keeps, of each array that is out, the parent's value in a table, so
 * a release of anything else is seen and counted instead of reaching the parent.
 */

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requests that no system grants must come back as NULL under the sanitizers too. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__msan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__msan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void record(struct test_space *s, char what, void *data, size_t nbytes)
{
    if (s->nlog < TEST_EVENTS)
        s->log[s->nlog] = (struct test_event){what, data, nbytes};
    s->nlog++;
}

static pol_status space_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    struct test_space *s = (struct test_space *)(void *)self;
    s->requests++;
    if (s->fail_at && (s->requests == s->fail_at || (s->for_ever && s->requests > s->fail_at))) {
        record(s, 'x', NULL, nbytes);
        return pol_fail(POL_ENOMEM, "test space: request %zu refused", s->requests);
    }
    size_t at = 0;
    while (at < TEST_HELD && s->held[at].data)
        at++;
    if (at == TEST_HELD)
        return pol_fail(POL_ENOTSUP, "test space: more than %d arrays", TEST_HELD);
    pol_array got;
    POL_TRY(pol_alloc(s->parent, &got, pol_undef_like(a)));
    a->data = got.data;
    s->held[at] = got;
    s->live++;
    s->live_bytes += nbytes;
    record(s, 'a', got.data, nbytes);
    return POL_OK;
}

static void space_release(pol_space *self, pol_array *a)
{
    struct test_space *s = (struct test_space *)(void *)self;
    size_t nbytes = 0;
    if (pol_nbytes(a, &nbytes) != POL_OK)
        nbytes = 0;
    for (size_t at = TEST_HELD; at-- > 0;) {
        if (s->held[at].data && s->held[at].data == a->data) {
            record(s, 'r', a->data, nbytes);
            pol_release(&s->held[at]);
            s->held[at].data = NULL;
            s->live--;
            s->live_bytes -= nbytes;
            return;
        }
    }
    record(s, '?', a->data, nbytes);
    s->bad_releases++;
}

static bool space_capturing(const pol_space *self)
{
    return ((const struct test_space *)(const void *)self)->capturing;
}

static pol_status lying_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    struct test_space *s = (struct test_space *)(void *)self;
    (void)a;
    (void)nbytes;
    s->requests++;
    return POL_OK;
}

static void reentrant_release(pol_space *self, pol_array *a)
{
    struct test_space *s = (struct test_space *)(void *)self;
    pol_space *before = pol_ambientspace_or((pol_space *)NULL);
    pol_frame f;
    pol_array tmp;
    pol_frame_begin(&f, s->parent);
    bool good = pol_alloc(&f, &tmp, pol_undef(POL_U8, 16)) == POL_OK;
    good = good && pol_ambientspace() == &f.space;
    good = pol_frame_end(&f) == POL_OK && good;
    good = good && pol_ambientspace_or((pol_space *)NULL) == before;
    if (good)
        s->reentered++;
    space_release(self, a);
}

static pol_device device_of(const pol_space *self)
{
    (void)self;
    return (pol_device){8, 3};
}

static const pol_space_ops space_ops = {.name = "test space",
                                        .alloc = space_alloc,
                                        .release = space_release,
                                        .capturing = space_capturing};
static const pol_space_ops keeping_ops = {.name = "keeping test space", .alloc = space_alloc};
static const pol_space_ops empty_ops = {.name = "empty test space", .release = space_release};
static const pol_space_ops lying_ops = {
    .name = "lying test space", .alloc = lying_alloc, .release = space_release};
static const pol_space_ops reentrant_ops = {
    .name = "reentrant test space", .alloc = space_alloc, .release = reentrant_release};
static const pol_space_ops device_ops = {.name = "device test space",
                                         .alloc = space_alloc,
                                         .release = space_release,
                                         .capturing = space_capturing,
                                         .device = device_of};

static void init_as(struct test_space *s, const pol_space_ops *ops)
{
    memset(s, 0, sizeof *s);
    s->space.ops = ops;
    s->parent = pol_heap();
}

void test_space_init(struct test_space *s)
{
    init_as(s, &space_ops);
}
void test_space_init_keeping(struct test_space *s)
{
    init_as(s, &keeping_ops);
}
void test_space_init_empty(struct test_space *s)
{
    init_as(s, &empty_ops);
}
void test_space_init_lying(struct test_space *s)
{
    init_as(s, &lying_ops);
}
void test_space_init_reentrant(struct test_space *s)
{
    init_as(s, &reentrant_ops);
}
void test_space_init_device(struct test_space *s)
{
    init_as(s, &device_ops);
}

void test_space_fail(struct test_space *s, size_t k, bool for_ever)
{
    s->fail_at = k ? s->requests + k : 0;
    s->for_ever = for_ever;
}

void test_space_forget(struct test_space *s)
{
    s->nlog = 0;
}

void test_space_drop(struct test_space *s)
{
    for (size_t at = 0; at < TEST_HELD; at++)
        pol_release(&s->held[at]);
    s->live = 0;
    s->live_bytes = 0;
}

void test_space_assert_clean(const struct test_space *s)
{
    assert_int_equal(s->live, 0);
    assert_int_equal(s->live_bytes, 0);
    assert_int_equal(s->bad_releases, 0);
}

void test_space_assert_reverse(const struct test_space *s)
{
    void *out[TEST_EVENTS];
    size_t n = 0;
    assert_true(s->nlog <= TEST_EVENTS);
    for (size_t i = 0; i < s->nlog; i++) {
        if (s->log[i].what == 'a') {
            out[n++] = s->log[i].data;
        } else if (s->log[i].what != 'x') {
            assert_true(n > 0);
            assert_ptr_equal(s->log[i].data, out[--n]);
        }
    }
}

static unsigned char marking_buffer[2 * TEST_MARKING_BYTES];

static pol_status marking_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    struct test_marking *s = (struct test_marking *)(void *)self;
    const size_t align = a->type.align;
    s->requests++;
    if (s->requests == s->fail_at)
        return pol_fail(POL_ENOMEM, "marking space: request %zu refused", s->requests);
    const size_t start = (s->used + align - 1) & ~(align - 1);
    if (start > TEST_MARKING_BYTES || nbytes > TEST_MARKING_BYTES - start)
        return pol_fail(POL_ECEILING, "marking space: need %zu bytes, have %zu; make it larger",
                        nbytes, TEST_MARKING_BYTES - s->used);
    a->data = s->bytes + start;
    if (nbytes)
        s->used = start + nbytes;
    return POL_OK;
}

static struct pol_mark marking_mark(pol_space *self)
{
    struct test_marking *s = (struct test_marking *)(void *)self;
    s->nmarks++;
    return (struct pol_mark){s->used, 77, 1};
}

static pol_status marking_retract(pol_space *self, struct pol_mark mark)
{
    struct test_marking *s = (struct test_marking *)(void *)self;
    if (mark.owner != 77 || mark.offset > s->used)
        return pol_fail(POL_ESTALE, "marking space: no mark of this space");
    s->nretracts++;
    s->used = mark.offset;
    if (s->found != POL_OK && !s->silent)
        pol_fail(s->found, "marking space: retract %zu found damage", s->nretracts);
    return s->found;
}

static const pol_space_ops marking_ops = {.name = "marking space",
                                          .alloc = marking_alloc,
                                          .mark = marking_mark,
                                          .retract = marking_retract};

void test_marking_init(struct test_marking *s)
{
    const size_t past = (uintptr_t)marking_buffer % TEST_MARKING_BYTES;
    memset(s, 0, sizeof *s);
    s->space.ops = &marking_ops;
    s->bytes = marking_buffer + (past ? TEST_MARKING_BYTES - past : 0);
}

struct test_state test_state_of(pol_arena *a, const struct test_space *s)
{
    struct test_state now;
    memset(&now, 0, sizeof now);
    if (a) {
        now.offset = pol_arena_offset(a);
        now.watermark = pol_watermark(a);
        now.budget = pol_arena_budget(a);
        now.capacity = pol_arena_capacity(a);
        now.mark = pol_mark(a);
    }
    if (s) {
        now.live = s->live;
        now.live_bytes = s->live_bytes;
        now.bad = s->bad_releases;
    }
    now.ambient = pol_ambientspace_or((pol_space *)NULL);
    return now;
}

void test_assert_unchanged(const struct test_state *before, pol_arena *a,
                           const struct test_space *s)
{
    const struct test_state now = test_state_of(a, s);
    assert_int_equal(now.offset, before->offset);
    assert_int_equal(now.watermark, before->watermark);
    assert_int_equal(now.budget, before->budget);
    assert_int_equal(now.capacity, before->capacity);
    assert_memory_equal(&now.mark, &before->mark, sizeof now.mark);
    assert_int_equal(now.live, before->live);
    assert_int_equal(now.live_bytes, before->live_bytes);
    assert_int_equal(now.bad, before->bad);
    assert_ptr_equal(now.ambient, before->ambient);
}

unsigned char *test_slab(size_t shift)
{
    static unsigned char bytes[1 << 20];
    const size_t past = (uintptr_t)bytes % 4096;
    assert_true(shift <= 4096);
    return bytes + (past ? 4096 - past : 0) + shift;
}

size_t test_nbytes(const pol_array *a)
{
    size_t nbytes = 0;
    assert_ok(pol_nbytes(a, &nbytes));
    return nbytes;
}

bool test_overlap(const pol_array *a, const pol_array *b)
{
    const uintptr_t at_a = (uintptr_t)a->data, at_b = (uintptr_t)b->data;
    const size_t len_a = test_nbytes(a), len_b = test_nbytes(b);
    return len_a && len_b && at_a < at_b + len_b && at_b < at_a + len_a;
}

void test_fill(const pol_array *a, unsigned char byte)
{
    memset(a->data, byte, test_nbytes(a));
}

bool test_holds(const pol_array *a, unsigned char byte)
{
    const unsigned char *bytes = (const unsigned char *)a->data;
    for (size_t i = 0, n = test_nbytes(a); i < n; i++)
        if (bytes[i] != byte)
            return false;
    return true;
}

size_t test_resident(void)
{
    unsigned long long total = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f)
        return 0;
    if (fscanf(f, "%llu %llu", &total, &resident) != 2)
        resident = 0;
    fclose(f);
    return (size_t)(resident * 4096);
}

bool test_under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "vgpreload");
}

int test_clear_ambient(void **state)
{
    (void)state;
    pol_withspace_clear();
    return 0;
}
