/* SPDX-License-Identifier: MIT */

/*
 * Threads: rule T1, the threads' part of S6, E2 and F, traps 23 and 24. To be run under
 * ThreadSanitizer too. Assertions are made on the main thread alone, since cmocka's leave by
 * longjmp: workers count what went wrong.
 */

#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WORKERS = 4, ROUNDS = 300 };

static atomic_int wrong; /* checks that failed in workers */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            atomic_fetch_add(&wrong, 1);                                                           \
        }                                                                                          \
    } while (0)

static int fresh(void **state)
{
    (void)state;
    atomic_store(&wrong, 0);
    return 0;
}

static void run_one(void *(*body)(void *), void *arg)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&wrong), 0);
}

/* -- T1 --------------------------------------------------------------------------------------- */

struct worker {
    pol_arena arena;
    unsigned char byte;
    uintptr_t first, last; /* of the bytes that it was given */
    pthread_t thread;
};

static void note(struct worker *w, const pol_array *a)
{
    const uintptr_t first = (uintptr_t)a->data, last = first + test_nbytes(a) - 1;
    if (!w->first || first < w->first)
        w->first = first;
    if (last > w->last)
        w->last = last;
}

static void *work(void *arg)
{
    struct worker *w = (struct worker *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        POL_SCRATCHSPACE(frame, &w->arena) {
            pol_array a, b;
            CHECK(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 1 + i % 50)) == POL_OK);
            test_fill(&a, w->byte);
            POL_SCRATCHSPACE(inner, frame) {
                CHECK(pol_alloc(inner, &b, pol_undef(POL_F64, 1 + i % 7)) == POL_OK);
                test_fill(&b, (unsigned char)~w->byte);
                CHECK(pol_ambientspace() == &inner->space);
            }
            CHECK(test_holds(&a, w->byte));
            note(w, &a);
            note(w, &b);
        }
    }
    /* to the last byte */
    pol_array rest;
    const int64_t all = (int64_t)pol_arena_capacity(&w->arena);
    CHECK(pol_alloc(&w->arena, &rest, pol_undef(POL_U8, all)) == POL_OK);
    test_fill(&rest, w->byte);
    note(w, &rest);
    CHECK(pol_alloc(&w->arena, &rest, pol_undef(POL_U8, 1)) == POL_ECEILING);
    return NULL;
}

/* T1: one slab, an arena for each worker, at a base and of sizes that fit no line; no lock, no
   race, and no line shared. */
static void workers_of_one_slab_share_no_cache_line(void **state)
{
    (void)state;
    static struct worker workers[WORKERS];
    for (size_t shift = 0; shift < 130; shift += 43) {
        pol_arena parent;
        assert_ok(pol_arena_init(&parent, test_slab(shift), 1 << 16, 1));
        for (size_t i = 0; i < WORKERS; i++) {
            workers[i] = (struct worker){.byte = (unsigned char)(i + 1)};
            assert_ok(pol_arena_open(&workers[i].arena, &parent, 501 + i, 8));
        }
        for (size_t i = 0; i < WORKERS; i++)
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        for (size_t i = 0; i < WORKERS; i++)
            assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(atomic_load(&wrong), 0);
        for (size_t i = 0; i < WORKERS; i++) {
            for (size_t j = 0; j < i; j++)
                assert_true(workers[i].first / 64 > workers[j].last / 64 ||
                            workers[j].first / 64 > workers[i].last / 64);
            assert_ok(pol_arena_close(&workers[i].arena)); /* given back by who opened it */
        }
    }
}

static void *use_the_owning_spaces(void *arg)
{
    pol_space *const spaces[] = {pol_heap(), pol_pages()};
    const unsigned char byte = *(const unsigned char *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pol_array a;
        CHECK(pol_alloc(spaces[i % 2], &a, pol_undef(POL_U8, 100 + i)) == POL_OK);
        test_fill(&a, byte);
        POL_SCRATCHSPACE(frame, spaces[i % 2]) {
            pol_array b;
            CHECK(pol_alloc(frame, &b, pol_undef(POL_U8, 64)) == POL_OK);
            test_fill(&b, (unsigned char)~byte);
        }
        CHECK(test_holds(&a, byte));
        pol_release(&a);
    }
    return NULL;
}

/* S3, T1: the heap and the pages serve any thread at the same time. */
static void heap_and_pages_serve_threads_at_the_same_time(void **state)
{
    (void)state;
    static unsigned char bytes[WORKERS] = {1, 2, 3, 4};
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_the_owning_spaces, &bytes[i]), 0);
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void *release_it(void *arg)
{
    pol_release((pol_array *)arg);
    return NULL;
}

/* S4: an owned array is a value: another thread may give it back. */
static void an_owned_array_may_be_released_by_another_thread(void **state)
{
    (void)state;
    pol_array a;
    assert_ok(pol_alloc(pol_heap(), &a, pol_undef(POL_U8, 10)));
    run_one(release_it, &a);
    assert_true(pol_is_undef(&a));
}

static void *use_the_arena(void *arg)
{
    pol_arena *arena = (pol_arena *)arg;
    POL_SCRATCHSPACE(frame, arena) {
        pol_array a;
        CHECK(pol_alloc(frame, &a, pol_undef(POL_U8, 10)) == POL_OK);
        test_fill(&a, 1);
    }
    pol_array kept;
    CHECK(pol_alloc(arena, &kept, pol_undef(POL_U8, 10)) == POL_OK);
    return NULL;
}

/* A8: an arena belongs to one thread at a time, so it can be handed over. */
static void an_arena_can_be_handed_to_another_thread(void **state)
{
    (void)state;
    pol_arena arena;
    pol_array a;
    assert_ok(pol_arena_init(&arena, test_slab(0), 4096, 64));
    POL_SCRATCHSPACE(frame, &arena) {
        assert_ok(pol_alloc(frame, &a, pol_undef(POL_U8, 10)));
    }
    run_one(use_the_arena, &arena);
    assert_int_equal(pol_arena_offset(&arena), 10);
    POL_SCRATCHSPACE(frame, &arena) {
        assert_ok(pol_alloc(frame, &a, pol_undef(POL_U8, 10)));
        assert_ptr_equal(a.data, test_slab(64));
    }
}

static void *end_it(void *arg)
{
    CHECK(pol_frame_end((pol_frame *)arg) == POL_ETHREAD);
    CHECK(pol_last_error()[0] != '\0');
    return NULL;
}

/* F: a frame belongs to the thread that began it, and nothing is done by another's end. */
static void another_threads_end_of_a_frame_is_refused(void **state)
{
    (void)state;
    static struct test_space counting;
    test_space_init(&counting);
    pol_arena arena;
    pol_array a;
    assert_ok(pol_arena_init(&arena, test_slab(0), 4096, 64));
    pol_space *const spaces[] = {&arena.space, &counting.space};
    for (size_t i = 0; i < 2; i++) {
        pol_frame f;
        pol_frame_begin(&f, spaces[i]);
        assert_ok(pol_alloc(&f, &a, pol_undef(POL_U8, 10)));
        const struct test_state before = test_state_of(&arena, &counting);
        run_one(end_it, &f);
        test_assert_unchanged(&before, &arena, &counting);
        assert_ok(pol_frame_end(&f));
    }
    test_space_assert_clean(&counting);
}

/* -- S6, trap 24 ------------------------------------------------------------------------------ */

struct early {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int stage; /* 1: the thread runs; 2: the main thread has bound */
};

static void reach(struct early *e, int stage)
{
    pthread_mutex_lock(&e->mutex);
    e->stage = stage;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mutex);
}

static void await(struct early *e, int stage)
{
    pthread_mutex_lock(&e->mutex);
    while (e->stage < stage)
        pthread_cond_wait(&e->changed, &e->mutex);
    pthread_mutex_unlock(&e->mutex);
}

static void *see_no_binding(void *arg)
{
    struct early *e = (struct early *)arg;
    if (e) {
        reach(e, 1);
        await(e, 2);
    }
    CHECK(pol_ambientspace() == NULL);
    CHECK(pol_ambientspace_or(pol_pages()) == pol_pages());
    pol_array a;
    CHECK(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 1)) == POL_ENOAMBIENT);
    POL_WITHSPACE(pol_pages()) {
        CHECK(pol_ambientspace() == pol_pages());
    }
    return NULL;
}

/* S6, trap 24: a thread that was there before, and one that starts with the binding in force. */
static void bindings_are_seen_by_their_own_thread_alone(void **state)
{
    (void)state;
    struct early e = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    pthread_t before;
    assert_int_equal(pthread_create(&before, NULL, see_no_binding, &e), 0);
    await(&e, 1);
    POL_WITHSPACE(pol_heap()) {
        reach(&e, 2);
        assert_int_equal(pthread_join(before, NULL), 0);
        run_one(see_no_binding, NULL);
        assert_ptr_equal(pol_ambientspace(), pol_heap());
    }
    assert_int_equal(atomic_load(&wrong), 0);
}

static void *bind_in_turn(void *arg)
{
    static struct test_space spaces[WORKERS][2];
    struct test_space *const mine = spaces[*(const unsigned char *)arg - 1];
    test_space_init(&mine[0]);
    test_space_init(&mine[1]);
    for (int i = 0; i < ROUNDS; i++) {
        pol_array a, b;
        POL_WITHSPACE(&mine[0].space) {
            POL_WITHSPACE(&mine[1].space) {
                CHECK(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 3)) == POL_OK);
                CHECK(mine[1].live == 1 && mine[0].live == 0);
            }
            CHECK(pol_alloc(pol_ambientspace(), &b, pol_undef(POL_U8, 3)) == POL_OK);
            CHECK(mine[0].live == 1);
        }
        pol_release(&a);
        pol_release(&b);
        CHECK(mine[0].live == 0 && mine[1].live == 0);
    }
    return NULL;
}

/* S6, trap 24: bytes land in the inner, then in the outer, in every thread's own. */
static void nested_bindings_of_threads_do_not_mix(void **state)
{
    (void)state;
    static unsigned char bytes[WORKERS] = {1, 2, 3, 4};
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bind_in_turn, &bytes[i]), 0);
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&wrong), 0);
}

/* -- E2 --------------------------------------------------------------------------------------- */

static void *fail_otherwise(void *arg)
{
    (void)arg;
    pol_array a;
    CHECK(strcmp(pol_last_error(), "") == 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pol_alloc(pol_heap(), &a, pol_undef(POL_U8, -1)) == POL_EINVAL);
        CHECK(strstr(pol_last_error(), "-1") != NULL);
    }
    return NULL;
}

/* E2: each thread has its own text, and begins with none. */
static void the_last_error_is_the_threads_own(void **state)
{
    (void)state;
    char before[512];
    assert_status(pol_fail(POL_EUSER, "main: %d", 4711), POL_EUSER);
    strncpy(before, pol_last_error(), sizeof before - 1);
    before[sizeof before - 1] = '\0';
    run_one(fail_otherwise, NULL);
    assert_string_equal(pol_last_error(), before);
    assert_error_says("4711");
}

/* -- trap 23 ---------------------------------------------------------------------------------- */

struct left {
    pol_arena arena;
    struct test_space counting;
    pol_frame *frames; /* on the heap, and freed before the thread ends: its stack is gone, too */
};

static void *leave_an_arena_frame_and_a_binding(void *arg)
{
    struct left *l = (struct left *)arg;
    pol_scope scope;
    pol_array a;
    pol_withspace_begin(&scope, pol_heap());
    pol_frame *f = (pol_frame *)malloc(sizeof *f);
    if (!f)
        return NULL;
    pol_frame_begin(f, &l->arena);
    CHECK(pol_alloc(f, &a, pol_undef(POL_U8, 100)) == POL_OK);
    free(f);
    return NULL;
}

/* Trap 23: others are unaffected. */
static void a_thread_that_ends_with_a_frame_open_leaves_others_alone(void **state)
{
    (void)state;
    static struct left left;
    pol_array a;
    static unsigned char slab[4096];
    assert_ok(pol_arena_init(&left.arena, slab, sizeof slab, 64));
    POL_WITHSPACE(pol_pages()) {
        run_one(leave_an_arena_frame_and_a_binding, &left);
        assert_ptr_equal(pol_ambientspace(), pol_pages());
        pol_arena mine;
        assert_ok(pol_arena_init(&mine, test_slab(0), 4096, 64));
        POL_SCRATCHSPACE(frame, &mine) {
            assert_ok(pol_alloc(frame, &a, pol_undef(POL_U8, 100)));
        }
        assert_int_equal(pol_arena_offset(&mine), 0);
    }
    run_one(see_no_binding, NULL);
}

static void *leave_a_recording_frame(void *arg)
{
    struct left *l = (struct left *)arg;
    static pol_frame f; /* outlives the thread */
    pol_array a;
    pol_frame_begin(&f, &l->counting.space);
    CHECK(pol_alloc(&f, &a, pol_undef(POL_U8, 100)) == POL_OK);
    CHECK(pol_alloc(&f, &a, pol_undef(POL_U8, 200)) == POL_OK);
    return NULL;
}

static void *leave_and_clear(void *arg)
{
    leave_a_recording_frame(arg);
    pol_withspace_clear();
    CHECK(pol_ambientspace_or(NULL) == NULL);
    return NULL;
}

/* S6, trap 23: a thread pool clears before it lets the thread go. */
static void a_thread_that_clears_before_it_ends_leaks_nothing(void **state)
{
    (void)state;
    static struct left left;
    test_space_init(&left.counting);
    run_one(leave_and_clear, &left);
    assert_int_equal(left.counting.live, 2); /* forgotten, not released */
    test_space_drop(&left.counting);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, test_clear_ambient)
    const struct CMUnitTest tests[] = {
        TEST(workers_of_one_slab_share_no_cache_line),
        TEST(heap_and_pages_serve_threads_at_the_same_time),
        TEST(an_owned_array_may_be_released_by_another_thread),
        TEST(an_arena_can_be_handed_to_another_thread),
        TEST(another_threads_end_of_a_frame_is_refused),
        TEST(bindings_are_seen_by_their_own_thread_alone),
        TEST(nested_bindings_of_threads_do_not_mix),
        TEST(the_last_error_is_the_threads_own),
        TEST(a_thread_that_ends_with_a_frame_open_leaves_others_alone),
        TEST(a_thread_that_clears_before_it_ends_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, test_clear_ambient);
}
