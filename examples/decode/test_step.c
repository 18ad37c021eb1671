/* SPDX-License-Identifier: MIT */
/*
 * Steps of a small model in a space that writes down every address it hands out. A recorded graph
 * would be replayed on these addresses, so they must be the same in every step.
 */
#include "random.h"
#include "layers.h"
#include "step.h"
#include "test_make.h"
#include "test_run.h"

#include <string.h>

enum { MOST_ARRAYS = 256, POSITIONS = 150 /* three splits */ };

/* An arena's memory, and what of it one step was given. */
struct tracing {
    pol_space space;
    pol_arena *arena;
    const void *data[MOST_ARRAYS];
    size_t nbytes[MOST_ARRAYS];
    size_t n;
};

static struct tracing *of(pol_space *self)
{
    return (struct tracing *)(void *)self;
}

static pol_status tracing_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    struct tracing *const t = of(self);
    pol_array memory;
    CHECK(t->n < MOST_ARRAYS);
    POL_TRY(pol_alloc(t->arena, &memory, pol_undef_like(a)));
    a->data = memory.data;
    t->data[t->n] = memory.data;
    t->nbytes[t->n++] = nbytes;
    return POL_OK;
}

static struct pol_mark tracing_mark(pol_space *self)
{
    return pol_mark(of(self)->arena);
}

static pol_status tracing_retract(pol_space *self, struct pol_mark mark)
{
    return pol_retract(of(self)->arena, mark);
}

static const pol_space_ops tracing_ops = {
    .name = "tracing",
    .alloc = tracing_alloc,
    .mark = tracing_mark,
    .retract = tracing_retract,
};

struct fixture {
    struct config config;
    struct weights weights;
    struct cache cache;
    struct angles_outputs angles;
};

static const struct config CONFIG = {
    .dim = 16,
    .hidden = 24,
    .layers = 3,
    .heads = 4,
    .kv_heads = 2,
    .vocab = 300,
    .context = POSITIONS,
    .own_output = false,
};

static pol_status prepare(pol_space *space, struct fixture *f)
{
    const struct angles_args angles = {.context = POSITIONS,
                                       .head_size = config_head_size(&CONFIG)};
    f->config = CONFIG;
    POL_TRY(pol_alloc(space, &f->weights, weights_undef(&CONFIG, false)));
    POL_TRY(pol_alloc(space, &f->cache, cache_undef(&CONFIG, POSITIONS)));
    POL_TRY(pol_call(angles, space, &angles, &f->angles));
    make_weights(&f->weights, 3);
    return POL_OK;
}

static pol_status take_step(const struct fixture *f, pol_space *space, int64_t position,
                            float temperature, int32_t *token)
{
    const struct step_args args = {
        .config = &f->config,
        .weights = &f->weights,
        .cache = &f->cache,
        .angles = f->angles.table,
        .position = position,
        .token = *token,
        .choice = {.temperature = temperature, .top_p = 0.9f, .coin = 0.25f},
    };
    return pol_call_into(step, space, &args, NULL,
                         (struct step_outputs){.next = pol_wrap_scalar(token, POL_I32)});
}

static pol_status measure_step(const struct fixture *f, float temperature, size_t *nbytes)
{
    pol_arena measure;
    int32_t token = 1;
    POL_TRY(pol_arena_measure(&measure, 0));
    POL_TRY(take_step(f, &measure.space, POSITIONS - 1, temperature, &token));
    *nbytes = pol_watermark(&measure);
    return POL_OK;
}

static pol_status compare_steps(float temperature)
{
    static struct tracing first, later;
    struct fixture f;
    pol_arena arena;
    int32_t token = 1;
    size_t slab = 0;
    POL_SCRATCHSPACE(memory, pol_heap()) {
        POL_TRY(prepare(&memory->space, &f));
        POL_TRY(measure_step(&f, temperature, &slab));
        POL_TRY(pol_arena_open(&arena, memory, slab, 0));
        first = (struct tracing){.space = {&tracing_ops}, .arena = &arena};
        POL_TRY(take_step(&f, &first.space, 0, temperature, &token));
        CHECK(first.n > 30);
        for (int64_t position = 1; position < POSITIONS; position++) {
            later = (struct tracing){.space = {&tracing_ops}, .arena = &arena};
            POL_TRY(take_step(&f, &later.space, position, temperature, &token));
            CHECK(later.n == first.n);
            CHECK(memcmp(later.data, first.data, sizeof later.data) == 0);
            CHECK(memcmp(later.nbytes, first.nbytes, sizeof later.nbytes) == 0);
        }
        CHECK(pol_watermark(&arena) == slab);
        CHECK(pol_arena_offset(&arena) == 0);
    }
    return POL_OK;
}

static pol_status steps_get_the_same_addresses(void)
{
    return compare_steps(0);
}

static pol_status steps_that_draw_get_the_same_addresses(void)
{
    return compare_steps(1);
}

/* Keys and values of earlier positions stay; so does the cache of other layers' later positions. */
static pol_status step_appends_one_row_a_layer_to_the_cache(void)
{
    struct fixture f;
    int32_t token = 1;
    POL_SCRATCHSPACE(memory, pol_heap()) {
        POL_TRY(prepare(&memory->space, &f));
        const int64_t rows = CONFIG.layers * POSITIONS, kv_dim = config_kv_dim(&CONFIG);
        float *const keys = pol_data(&f.cache.keys, float);
        float *const values = pol_data(&f.cache.values, float);
        for (int64_t i = 0; i < rows * kv_dim; i++)
            keys[i] = values[i] = 777;
        for (int64_t position = 0; position < 3; position++)
            POL_TRY(take_step(&f, &memory->space, position, 0, &token));
        for (int64_t i = 0; i < rows * kv_dim; i++) {
            const bool is_written = i / kv_dim % POSITIONS < 3;
            CHECK((keys[i] < 777) == is_written && (values[i] < 777) == is_written);
        }
    }
    return POL_OK;
}

static pol_status step_refuses_a_token_that_is_none(void)
{
    struct fixture f;
    POL_SCRATCHSPACE(memory, pol_heap()) {
        POL_TRY(prepare(&memory->space, &f));
        int32_t token = 300;
        CHECK(take_step(&f, &memory->space, 0, 0, &token) == POL_EINVAL);
        token = -1;
        CHECK(take_step(&f, &memory->space, 0, 0, &token) == POL_EINVAL);
        token = 1;
        CHECK(take_step(&f, &memory->space, POSITIONS, 0, &token) == POL_EINVAL);
    }
    return POL_OK;
}

int main(void)
{
    static const struct test tests[] = {
        {"steps_get_the_same_addresses", steps_get_the_same_addresses},
        {"steps_that_draw_get_the_same_addresses", steps_that_draw_get_the_same_addresses},
        {"step_appends_one_row_a_layer_to_the_cache", step_appends_one_row_a_layer_to_the_cache},
        {"step_refuses_a_token_that_is_none", step_refuses_a_token_that_is_none},
    };
    return RUN_TESTS(tests);
}
