/* SPDX-License-Identifier: MIT */

/*
 * The arena against a model.
 *
 * The model knows no arithmetic that could be wrong in the same way: it looks for a place by going
 * through the slab byte by byte. Random sequences of requests, marks, retracts, resets and frames
 * run on both, and after each step offset, watermark, address and status must agree. Then what
 * succeeded runs again, on slabs of the size that the first run says is enough.
 *
 * The seed is printed; POL_TEST_SEED=<seed> repeats a run.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support.h"

enum {
    GUARD = 64,   /* bytes before and after a slab that must stay as they are */
    MOST = 24576, /* bytes of a slab */
    STEPS = 150,  /* of a sequence */
    DEPTH = 16,   /* of frames */
    MARKS = 8,    /* kept at a time */
    SECONDS = 1   /* for all sequences together */
};

/* -- random numbers --------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t next(void) /* splitmix64 */
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static size_t below(size_t n)
{
    return (size_t)(next() % n);
}

static bool one_in(size_t n)
{
    return below(n) == 0;
}

/* -- the model -------------------------------------------------------------------------------- */

struct model {
    uintptr_t origin, end; /* addresses; end is one past the slab */
    size_t alignment, offset, watermark;
    size_t starts[DEPTH]; /* of the open frames */
    size_t depth;
};

/* Finds the first aligned byte; false if the slab has none. */
static bool model_init(struct model *m, uintptr_t base, size_t nbytes, size_t alignment)
{
    memset(m, 0, sizeof *m);
    m->alignment = alignment;
    m->end = base + nbytes;
    for (m->origin = base; m->origin < m->end; m->origin++)
        if (m->origin % alignment == 0)
            return true;
    return false;
}

/* Finds the first place for n bytes, at least one, by trying every byte. */
static bool model_find(const struct model *m, size_t offset, size_t n, size_t align, size_t *at)
{
    uintptr_t p = m->origin + offset;
    while (p < m->end && (p % align != 0 || p % m->alignment != 0))
        p++;
    for (size_t i = 0; i < n; i++)
        if (p + i >= m->end)
            return false;
    *at = (size_t)(p - m->origin);
    return true;
}

static void model_moved(struct model *m, size_t offset)
{
    m->offset = offset;
    if (offset > m->watermark)
        m->watermark = offset;
}

/* -- what succeeded, to run it again ---------------------------------------------------------- */

enum what { CARVE, MARK, RETRACT, RESET, BEGIN, END };

struct event {
    enum what what;
    size_t n, align; /* of a carve */
    size_t mark;     /* which one */
    size_t depth;    /* frames that are open after an END */
};

static struct event events[4 * STEPS + DEPTH];
static size_t nevents, strictest;

static void log_event(struct event e)
{
    assert_true(nevents < sizeof events / sizeof events[0]);
    events[nevents++] = e;
    if (e.what == CARVE && e.align > strictest)
        strictest = e.align;
}

/* -- the pair of them ------------------------------------------------------------------------- */

static struct model model;
static pol_arena arena, stranger;
static pol_frame frames[DEPTH];

struct held_mark {
    struct pol_mark mark;
    size_t offset, id;
    bool stale;
};
static struct held_mark marks[MARKS];
static size_t nmarks, mark_ids;

static pol_space *asker(void)
{
    return model.depth ? &frames[model.depth - 1].space : POL_SPACE(&arena);
}

static void assert_agree(void)
{
    assert_int_equal(pol_arena_offset(&arena), model.offset);
    assert_int_equal(pol_watermark(&arena), model.watermark);
    assert_int_equal(pol_arena_capacity(&arena), model.end - model.origin);
    assert_int_equal(pol_arena_alignment(&arena), model.alignment);
    assert_ptr_equal(pol_ambientspace_or((pol_space *)NULL),
                     model.depth ? &frames[model.depth - 1].space : NULL);
}

/* After a failure: what the model does not know must be as it was too. */
static void assert_unchanged(struct pol_mark before, size_t budget)
{
    const struct pol_mark now = pol_mark(&arena);
    assert_memory_equal(&now, &before, sizeof now);
    assert_int_equal(pol_arena_budget(&arena), budget);
    assert_agree();
}

static size_t random_size(void)
{
    switch (below(8)) {
    case 0:
        return 0;
    case 1:
        return below(MOST + 100);
    case 2: { /* exactly what is left, and around it */
        const size_t left = (size_t)(model.end - model.origin) - model.offset;
        const size_t n = left + below(3);
        return n ? n - 1 : 0;
    }
    case 3:
        return 1 + below(600);
    default:
        return 1 + below(40);
    }
}

static size_t random_align(void)
{
    return (size_t)1 << (one_in(3) ? below(13) : below(5));
}

static pol_array bytes_at(size_t n, size_t align)
{
    pol_type type = POL_U8;
    type.align = (uint32_t)align;
    return pol_undef(type, (int64_t)n);
}

/* A place that the model found, or the address of nothing. */
static void assert_address(const void *data, size_t n, size_t align, size_t at)
{
    assert_non_null(data);
    assert_int_equal((uintptr_t)data % align, 0);
    assert_int_equal((uintptr_t)data % model.alignment, 0);
    if (n)
        assert_int_equal((uintptr_t)data, model.origin + at);
}

enum { MOST_ENTRIES = 4 };

static void step_bundle(size_t count) /* A2, A3, E3, S2 */
{
    pol_array x[MOST_ENTRIES] = {{0}}, before[MOST_ENTRIES];
    size_t n[MOST_ENTRIES], align[MOST_ENTRIES], at[MOST_ENTRIES], offset = model.offset;
    bool fits = true;
    static char borrowed[1];
    for (size_t i = 0; i < count; i++) {
        n[i] = random_size();
        align[i] = random_align();
        x[i] = bytes_at(n[i], align[i]);
        if (count > 1 && one_in(8)) /* an absent entry, or one that has memory */
            x[i] = one_in(2) ? pol_wrap(borrowed, POL_U8, 1) : (pol_array){0};
        else if (n[i] && fits) {
            fits = model_find(&model, offset, n[i], align[i], &at[i]);
            offset = fits ? at[i] + n[i] : offset;
        }
    }
    memcpy(before, x, sizeof x);
    const struct pol_mark mark = pol_mark(&arena);
    const size_t budget = pol_arena_budget(&arena);
    const pol_status status = pol_alloc_arrays(asker(), x, count);
    assert_status(status, fits ? POL_OK : POL_ECEILING);
    if (!fits) {
        assert_memory_equal(x, before, count * sizeof *x);
        assert_unchanged(mark, budget);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!pol_is_undef(&before[i])) {
            assert_ptr_equal(x[i].data, before[i].data);
            continue;
        }
        assert_address(x[i].data, n[i], align[i], n[i] ? at[i] : 0);
        log_event((struct event){CARVE, n[i], align[i], 0, 0});
    }
    model_moved(&model, offset);
}

struct line {
    _Alignas(64) char bytes[64];
};
struct page {
    _Alignas(1024) char bytes[1024];
};

static void *new_of(int kind, size_t n, size_t how)
{
    pol_frame *const f = model.depth ? &frames[model.depth - 1] : NULL;
    switch (kind) {
    case 0:
        return how ? pol_new(asker(), char, n) : f ? pol_new(f, char, n) : pol_new(&arena, char, n);
    case 1:
        return how ? pol_new(asker(), double, n)
               : f ? pol_new(f, double, n)
                   : pol_new(&arena, double, n);
    case 2:
        return how ? pol_new(asker(), struct line, n)
               : f ? pol_new(f, struct line, n)
                   : pol_new(&arena, struct line, n);
    default:
        return how ? pol_new(asker(), struct page, n)
               : f ? pol_new(f, struct page, n)
                   : pol_new(&arena, struct page, n);
    }
}

static void step_new(void) /* A9: where pol_alloc would carve, fast path or not */
{
    static const size_t size[] = {1, sizeof(double), 64, 1024},
                        align[] = {1, _Alignof(double), 64, 1024};
    const size_t kind = below(4), n = random_size() / (one_in(2) ? size[kind] : 1);
    size_t at = 0;
    const bool fits = n == 0 || model_find(&model, model.offset, n * size[kind], align[kind], &at);
    const struct pol_mark mark = pol_mark(&arena);
    const size_t budget = pol_arena_budget(&arena);
    void *const p = new_of((int)kind, n, below(2));
    if (!fits) {
        assert_null(p);
        assert_unchanged(mark, budget);
        return;
    }
    assert_address(p, n, align[kind], at);
    log_event((struct event){CARVE, n * size[kind], align[kind], 0, 0});
    if (n)
        model_moved(&model, at + n * size[kind]);
}

static void step_impossible(void) /* A3, U4: nothing wraps */
{
    const struct pol_mark mark = pol_mark(&arena);
    const size_t budget = pol_arena_budget(&arena);
    const size_t huge = SIZE_MAX - below(1 << 13), half = (size_t)PTRDIFF_MAX - below(1 << 13);
    pol_array x;
    switch (below(5)) {
    case 0:
        assert_status(pol_alloc(asker(), &x, pol_undef(POL_U16, (int64_t)half)), POL_EOVERFLOW);
        break;
    case 1:
        assert_status(pol_alloc(asker(), &x, bytes_at(half, random_align())), POL_ECEILING);
        break;
    case 2:
        assert_null(new_of((int)below(4), huge, below(2)));
        break;
    case 3:
        assert_null(new_of((int)below(4), half / 8 + below(16), below(2)));
        break;
    default:
        assert_status(pol_alloc(asker(), &x, pol_undef(POL_U8, -1)), POL_EINVAL);
        break;
    }
    assert_unchanged(mark, budget);
}

static void step_beneath(void) /* A7 */
{
    if (model.depth == 0)
        return;
    const struct pol_mark mark = pol_mark(&arena);
    const size_t budget = pol_arena_budget(&arena), who = below(model.depth);
    pol_space *const outer = who ? &frames[who - 1].space : POL_SPACE(&arena);
    pol_array x;
    assert_status(pol_alloc(outer, &x, bytes_at(1 + below(20), random_align())), POL_EORDER);
    assert_null(x.data);
    assert_null(who ? pol_new(&frames[who - 1], char, 1) : pol_new(&arena, char, 1));
    assert_unchanged(mark, budget);
}

static void step_mark(void) /* A4 */
{
    const struct held_mark mark = {pol_mark(&arena), model.offset, mark_ids++, false};
    marks[nmarks < MARKS ? nmarks++ : below(MARKS)] = mark;
    log_event((struct event){MARK, 0, 0, mark.id, 0});
}

/* Marks above the offset say that they are, and are not tried again. */
static void drop_marks_above(void)
{
    for (size_t i = nmarks; i-- > 0;)
        if (!marks[i].stale && marks[i].offset > model.offset) {
            assert_status(pol_retract(&arena, marks[i].mark), POL_ESTALE);
            marks[i] = marks[--nmarks];
        }
}

static void step_retract(void) /* A4 */
{
    const struct pol_mark before = pol_mark(&arena), none = {0, 0, 0};
    const size_t budget = pol_arena_budget(&arena);
    if (nmarks == 0 || one_in(6)) {
        assert_status(pol_retract(&arena, one_in(2) ? none : pol_mark(&stranger)), POL_ESTALE);
        assert_unchanged(before, budget);
        return;
    }
    const struct held_mark m = marks[below(nmarks)];
    const pol_status status = pol_retract(&arena, m.mark);
    if (m.stale || m.offset > model.offset) {
        assert_status(status, POL_ESTALE);
        assert_unchanged(before, budget);
    } else if (model.depth && m.offset < model.starts[model.depth - 1]) {
        assert_status(status, POL_EORDER);
        assert_unchanged(before, budget);
    } else {
        assert_ok(status);
        model.offset = m.offset;
        assert_int_equal(pol_arena_budget(&arena), budget);
        log_event((struct event){RETRACT, 0, 0, m.id, 0});
        drop_marks_above();
    }
}

static void step_reset(void) /* A5 */
{
    const struct pol_mark before = pol_mark(&arena);
    const size_t budget = pol_arena_budget(&arena);
    if (model.depth) {
        assert_status(pol_reset(&arena), POL_EORDER);
        assert_status(pol_arena_close(&arena), POL_EORDER); /* A1 */
        assert_unchanged(before, budget);
        return;
    }
    assert_ok(pol_reset(&arena));
    model.offset = 0;
    for (size_t i = 0; i < nmarks; i++)
        marks[i].stale = true;
    assert_int_equal(pol_arena_budget(&arena), budget);
    log_event((struct event){RESET, 0, 0, 0, 0});
}

static void step_begin(void) /* F1, F3 */
{
    if (model.depth == DEPTH)
        return;
    if (one_in(2))
        pol_frame_begin(&frames[model.depth], asker());
    else
        pol_frame_begin(&frames[model.depth], &arena);
    model.starts[model.depth++] = model.offset;
    log_event((struct event){BEGIN, 0, 0, 0, 0});
}

static void step_end(void) /* F4 */
{
    if (model.depth == 0)
        return;
    const size_t which = one_in(4) ? below(model.depth) : model.depth - 1;
    assert_status(pol_frame_end(&frames[which]), which + 1 == model.depth ? POL_OK : POL_EORDER);
    model.depth = which;
    model.offset = model.starts[which];
    log_event((struct event){END, 0, 0, 0, which});
    assert_agree();
    drop_marks_above();
    assert_status(pol_frame_end(&frames[which]), POL_EORDER);
}

static void step_recover(void) /* F4 */
{
    if (model.depth < 2)
        return;
    const size_t which = below(model.depth - 1);
    memset((void *)&frames[which + 1], 0xff, sizeof frames[0] * (model.depth - which - 1));
    pol_frame_recover(&frames[which]);
    model.depth = which + 1;
    model.offset = model.starts[which + 1];
    log_event((struct event){END, 0, 0, 0, which + 1});
    assert_agree();
    drop_marks_above();
}

/* Frames begin with 3 in 29 + ends and end with `ends`: the fewer, the deeper they nest. */
static void random_step(size_t ends)
{
    const size_t kind = below(29 + ends);
    if (kind < 8)
        step_bundle(1);
    else if (kind < 11)
        step_bundle(1 + below(MOST_ENTRIES));
    else if (kind < 17)
        step_new();
    else if (kind < 18)
        step_impossible();
    else if (kind < 20)
        step_beneath();
    else if (kind < 22)
        step_mark();
    else if (kind < 24)
        step_retract();
    else if (kind < 25)
        step_reset();
    else if (kind < 28)
        step_begin();
    else if (kind == 28)
        step_recover();
    else
        step_end();
    assert_agree();
}

/* -- running it again ------------------------------------------------------------------------- */

/* Runs what succeeded; false at the first refusal. The watermark must be that of `compared`. */
static bool replay(pol_arena *a, pol_arena *compared)
{
    static struct pol_mark kept[4 * STEPS];
    size_t depth = 0;
    bool good = true;
    for (size_t i = 0; i < nevents && good; i++) {
        const struct event *const e = &events[i];
        pol_array x;
        switch (e->what) {
        case CARVE: {
            pol_space *const from = depth ? &frames[depth - 1].space : POL_SPACE(a);
            good = pol_alloc(from, &x, bytes_at(e->n, e->align)) == POL_OK;
            break;
        }
        case MARK:
            kept[e->mark] = pol_mark(a);
            break;
        case RETRACT:
            good = pol_retract(a, kept[e->mark]) == POL_OK;
            break;
        case RESET:
            good = pol_reset(a) == POL_OK;
            break;
        case BEGIN:
            pol_frame_begin(&frames[depth++], a);
            break;
        case END:
            while (depth > e->depth)
                good = pol_frame_end(&frames[--depth]) == POL_OK && good;
            break;
        }
    }
    while (depth > 0)
        good = pol_frame_end(&frames[--depth]) == POL_OK && good;
    if (good && compared)
        assert_int_equal(pol_watermark(a), pol_watermark(compared));
    return good;
}

/* A2, A5, A6, trap 12: what the sizes that the arena speaks of are worth. */
static void check_sizes(size_t skew)
{
    pol_arena dry, again;
    unsigned char *const room = test_slab(0) + 65536;
    const size_t alignment = model.alignment, watermark = model.watermark;
    const bool strict = strictest > alignment;
    assert_ok(pol_arena_measure(&dry, alignment));
    assert_true(replay(&dry, strict ? NULL : &arena));
    for (int i = 0; i < 2; i++) {
        const size_t budget = pol_arena_budget(i ? &dry : &arena);
        assert_ok(pol_arena_init(&again, room + below(4096), budget, alignment));
        assert_true(replay(&again, strict ? NULL : &arena));
        if (!strict) {
            assert_int_equal(budget, (watermark ? watermark : 1) + alignment - 1);
            assert_ok(pol_arena_init(&again, room + 1, budget, alignment)); /* the worst base */
            assert_true(replay(&again, &arena));
            if (watermark && pol_arena_init(&again, room + 1, budget - 1, alignment) == POL_OK)
                assert_false(replay(&again, NULL)); /* one byte less */
        }
    }
    if (watermark == 0)
        return;
    unsigned char *const base = test_slab(0) + 4096 + skew;
    const size_t exact = (size_t)(model.origin - (uintptr_t)base) + watermark;
    assert_ok(pol_arena_init(&again, base, exact, alignment));
    assert_true(replay(&again, &arena));
    assert_int_equal(pol_arena_capacity(&again), watermark);
    if (pol_arena_init(&again, base, exact - 1, alignment) == POL_OK)
        assert_false(replay(&again, NULL));
}

/* -- the properties --------------------------------------------------------------------------- */

static void one_sequence(void)
{
    const size_t skew = below(64), alignment = (size_t)1 << below(13),
                 nbytes = one_in(4) ? below(65) : below(MOST);
    unsigned char *const base = test_slab(0) + 4096 + skew;
    const bool room = model_init(&model, (uintptr_t)base, nbytes, alignment);
    assert_status(pol_arena_init(&arena, base, nbytes, alignment), room ? POL_OK : POL_ECEILING);
    if (!room)
        return;
    memset(base - GUARD, 0xc5, nbytes + 2 * GUARD);
    nevents = strictest = nmarks = mark_ids = 0;
    const size_t ends = 1 + below(3);
    for (int i = 0; i < STEPS; i++)
        random_step(ends);
    while (model.depth)
        step_end();
    for (size_t i = 0; i < nbytes + 2 * GUARD; i++) /* A1: an arena never touches the bytes */
        if ((base - GUARD)[i] != 0xc5)
            fail_msg("byte %zu was written", i);
    check_sizes(skew);
    assert_ok(pol_arena_close(&arena));
}

static uint64_t seed_of_this_run(void)
{
    const char *const given = getenv("POL_TEST_SEED");
    const uint64_t seed = given ? (uint64_t)strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("seed: POL_TEST_SEED=%" PRIu64 "\n", seed);
    return seed;
}

static double now(void)
{
    struct timespec t = {0, 0}; /* MemorySanitizer does not know timespec_get */
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void random_sequences_agree_with_the_model(void **state) /* A1 to A7, A9, F3, F4 */
{
    (void)state;
    const double start = now();
    int sequences = 0;
    random_state = seed_of_this_run();
    pol_array x;
    assert_ok(pol_arena_init(&stranger, test_slab(0), 1024, 1));
    assert_ok(pol_alloc(&stranger, &x, bytes_at(1, 1)));
    while (sequences < 20000 && (sequences < 50 || now() - start < SECONDS)) {
        one_sequence();
        sequences++;
    }
    print_message("%d sequences\n", sequences);
}

static void every_request_on_every_small_slab(void **state) /* A2, A3, trap 6 */
{
    (void)state;
    const size_t by = test_under_valgrind() ? 13 : 1; /* a sample is enough there */
    pol_arena a;
    pol_array x;
    struct model m;
    size_t at;
    for (size_t skew = 0; skew < 64; skew += 3 * by)
        for (size_t alignment = 1; alignment <= 64; alignment *= 2)
            for (size_t nbytes = 0; nbytes <= 64; nbytes += by) {
                unsigned char *const base = test_slab(0) + 4096 + skew;
                const bool room = model_init(&m, (uintptr_t)base, nbytes, alignment);
                const pol_status status = pol_arena_init(&a, base, nbytes, alignment);
                assert_int_equal(status, room ? POL_OK : POL_ECEILING);
                if (!room)
                    continue;
                const struct pol_mark empty = pol_mark(&a);
                for (size_t n = 1; n <= 65; n += by) {
                    const size_t align = (size_t)1 << (n % 7);
                    const bool fits = model_find(&m, 0, n, align, &at);
                    assert_int_equal(pol_alloc(&a, &x, bytes_at(n, align)),
                                     fits ? POL_OK : POL_ECEILING);
                    assert_int_equal(pol_arena_offset(&a), fits ? at + n : 0);
                    if (fits)
                        assert_int_equal((uintptr_t)x.data, m.origin + at);
                    assert_int_equal(pol_retract(&a, empty), POL_OK);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(random_sequences_agree_with_the_model, test_clear_ambient),
        cmocka_unit_test_teardown(every_request_on_every_small_slab, test_clear_ambient),
    };
    return cmocka_run_group_tests_name("property: arena", tests, NULL, NULL);
}
