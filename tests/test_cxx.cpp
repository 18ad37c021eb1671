// SPDX-License-Identifier: MIT

// C++11 and later: rule T2. Every macro of the headers is used once, and exceptions pass through
// each of the ways to open a block. No cmocka here: its assertions would jump over destructors.

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <pol/pol.h>

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

namespace {

// A space of the user's own, in C++: counts what is out.
struct counting_space {
    pol_space space;
    int live;
    int released;
    void *newest;
};

pol_status counting_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    counting_space *s = reinterpret_cast<counting_space *>(self);
    a->data = new double[nbytes / sizeof(double) + 1];
    s->newest = a->data;
    s->live++;
    return POL_OK;
}

void counting_release(pol_space *self, pol_array *a)
{
    counting_space *s = reinterpret_cast<counting_space *>(self);
    delete[] static_cast<double *>(a->data);
    s->live--;
    s->released++;
}

const pol_space_ops counting_ops = {"counting space", counting_alloc, counting_release, nullptr,
                                    nullptr,          nullptr,        nullptr};

struct boom : std::runtime_error {
    boom() : std::runtime_error("boom")
    {
    }
};

alignas(4096) unsigned char slab[1 << 16];
bool throwing;

struct pair {
    pol_array a, b;
};

} // namespace

// -- verbs, as a C++ author writes them: a struct and a function share a name ----------------------

struct half_args {
    pol_array x;
};
struct half_outputs {
    pol_array y;
};
struct half_checkpoints {
    pol_array saved;
};
struct half_scratch {
    pol_array tmp;
};
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
static struct half_outputs half_outputs(const struct half_args *a)
{
    struct half_outputs out = {pol_undef_like(&a->x)};
    return out;
}
static struct half_checkpoints half_checkpoints(const struct half_args *a)
{
    struct half_checkpoints saved = {pol_undef_like(&a->x)};
    return saved;
}
static struct half_scratch half_scratch(const struct half_args *a)
{
    struct half_scratch s = {pol_undef_like_type(&a->x, POL_F64)};
    return s;
}
static pol_status half(const struct half_outputs *out, const struct half_args *a,
                       const struct half_scratch *s)
{
    const float *x = pol_data(&a->x, float);
    float *y = pol_data(&out->y, float);
    double *tmp = pol_data(&s->tmp, double);
    for (int64_t i = 0; i < a->x.dims[0]; i++)
        tmp[i] = double(x[i]) / 2;
    if (throwing)
        throw boom();
    for (int64_t i = 0; i < a->x.dims[0]; i++)
        y[i] = float(tmp[i]);
    return POL_OK;
}
POL_ALLOCATING(half, outputs, scratch);

struct quarter_args {
    pol_array x;
};
struct quarter_outputs {
    pol_array y;
};
static struct quarter_outputs quarter_outputs(const struct quarter_args *a)
{
    struct quarter_outputs out = {pol_undef_like(&a->x)};
    return out;
}
static pol_status quarter(const struct quarter_outputs *out, const struct quarter_args *a,
                          pol_frame *frame)
{
    const struct half_args args = {a->x};
    struct half_outputs once;
    POL_TRY(pol_call(half, frame, &args, &once));
    const struct half_args again = {once.y};
    struct half_outputs result;
    const struct half_outputs over = {out->y};
    return pol_call_into(half, frame, &again, &result, over);
}
POL_ALLOCATING(quarter, outputs, space);

struct copy_args {
    pol_array x;
};
struct copy_outputs {
    pol_array y;
};
static struct copy_outputs copy_outputs(const struct copy_args *a)
{
    struct copy_outputs out = {pol_undef_like(&a->x)};
    return out;
}
static pol_status copy(const struct copy_outputs *out, const struct copy_args *a)
{
    if (throwing)
        throw boom();
    std::memcpy(out->y.data, a->x.data, 16);
    return POL_OK;
}
POL_ALLOCATING(copy, outputs);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

// -- T2: exceptions ----------------------------------------------------------------------------

// Runs `body` on an arena and on a counting space; it must throw and leave everything as it was.
template <class Body> static void throws_and_restores(Body body)
{
    pol_arena arena;
    counting_space counting = {{&counting_ops}, 0, 0, nullptr};
    CHECK(pol_arena_init(&arena, slab, sizeof slab, 64) == POL_OK);
    pol_array kept;
    CHECK(pol_alloc(&arena, &kept, pol_undef(POL_U8, 3)) == POL_OK);
    pol_space *const spaces[] = {&arena.space, &counting.space};
    throwing = true;
    for (pol_space *space : spaces) {
        bool thrown = false;
        pol_scope scope;
        pol_withspace_begin(&scope, pol_heap());
        try {
            body(space);
        } catch (const boom &) {
            thrown = true;
        }
        CHECK(thrown);
        CHECK(pol_ambientspace() == pol_heap());
        pol_withspace_end(&scope);
        CHECK(pol_ambientspace_or(nullptr) == nullptr);
        CHECK(pol_arena_offset(&arena) == 3);
        CHECK(counting.live == 0);
    }
    throwing = false;
    CHECK(pol_reset(&arena) == POL_OK); // no frame is open
    CHECK(pol_arena_close(&arena) == POL_OK);
}

static void a_scratchspace_survives_an_exception()
{
    throws_and_restores([](pol_space *space) {
        POL_SCRATCHSPACE(outer, space) {
            pol_array a;
            CHECK(pol_alloc(outer, &a, pol_undef(POL_F32, 10)) == POL_OK);
            POL_SCRATCHSPACE(inner, outer) {
                CHECK(pol_alloc(inner, &a, pol_undef(POL_F32, 10)) == POL_OK);
                CHECK(pol_alloc(inner, &a, pol_undef(POL_F32, 20)) == POL_OK);
                throw boom();
            }
        }
    });
}

static void a_binding_survives_an_exception()
{
    throws_and_restores([](pol_space *space) {
        POL_WITHSPACE(space) {
            POL_WITHSPACE(pol_pages()) {
                throw boom();
            }
        }
    });
}

static pol_status throw_in_callback(pol_frame *frame, void *ctx)
{
    pol_array a;
    ++*static_cast<int *>(ctx);
    CHECK(pol_alloc(frame, &a, pol_undef(POL_F32, 10)) == POL_OK);
    throw boom();
}

static void a_callback_may_throw_through_pol_scratchspace()
{
    int calls = 0;
    throws_and_restores([&calls](pol_space *space) {
        const pol_status status = pol_scratchspace(space, throw_in_callback, &calls);
        CHECK(status == POL_OK); // not reached
    });
    CHECK(calls == 2);
}

static float values[4] = {4, 8, 12, 16};

// T2, V6: nothing of the call is left: not its frame, and where the space can take back, not its
// outputs.
static void a_verb_may_throw_through_pol_call()
{
    throws_and_restores([](pol_space *space) {
        const struct half_args args = {pol_wrap(values, POL_F32, 4)};
        struct half_outputs out;
        CHECK(pol_call(half, space, &args, &out) == POL_OK); // does not return
    });
    throws_and_restores([](pol_space *space) {
        const struct quarter_args args = {pol_wrap(values, POL_F32, 4)};
        struct quarter_outputs out;
        POL_SCRATCHSPACE(frame, space) {
            CHECK(pol_call(quarter, frame, &args, &out) == POL_OK);
        }
    });
    throws_and_restores([](pol_space *space) {
        const struct quarter_args args = {pol_wrap(values, POL_F32, 4)};
        struct quarter_outputs out;
        CHECK(pol_call(quarter, space, &args, &out) == POL_OK);
    });
    throws_and_restores([](pol_space *space) {
        const struct copy_args args = {pol_wrap(values, POL_F32, 4)};
        struct copy_outputs out;
        CHECK(pol_call(copy, space, &args, &out) == POL_OK);
    });
    throws_and_restores([](pol_space *space) { // no outputs to describe anew
        const struct half_args args = {pol_wrap(values, POL_F32, 4)};
        const struct half_outputs over = {args.x};
        CHECK(pol_call_into(half, space, &args, nullptr, over) == POL_OK);
    });
}

static int leave_by_return(pol_arena *arena)
{
    POL_WITHSPACE(arena) {
        POL_SCRATCHSPACE(frame, pol_ambientspace()) {
            CHECK(pol_new(frame, int, 5) != nullptr);
            return 7;
        }
    }
    return 0;
}

static void every_other_exit_closes_the_block()
{
    pol_arena arena;
    CHECK(pol_arena_init(&arena, slab, sizeof slab, 64) == POL_OK);
    CHECK(leave_by_return(&arena) == 7);
    for (int i = 0; i < 3; i++) {
        POL_SCRATCHSPACE(frame, &arena) {
            CHECK(pol_new(frame, int, 5) != nullptr);
            if (i == 0)
                break;
            if (i == 1)
                continue;
            goto out;
        }
        CHECK(i < 2); // break and continue leave the block alone
    }
out:
    CHECK(pol_arena_offset(&arena) == 0);
    CHECK(pol_ambientspace_or(nullptr) == nullptr);
}

// -- T2: every macro, in C++ -------------------------------------------------------------------

static pol_status use_try(pol_arena *arena, pol_array *a)
{
    POL_TRY(pol_alloc(arena, a, pol_undef(POL_U8, 1)));
    POL_TRY(pol_alloc(arena, a, pol_undef(POL_U8, -1)));
    return POL_OK;
}

static void descriptions_are_the_same_as_in_c()
{
    const pol_array a = pol_undef(POL_F32, 2, 3), b = pol_undef_like_dims(&a, 6);
    const pol_array s = pol_undef_scalar(POL_I64);
    const pol_array eight = pol_undef(POL_U8, 1, 2, 3, 4, 5, 6, 7, 8);
    pol_array raw;
    std::memset(&raw, 0, sizeof raw);
    raw.type = POL_F32;
    raw.ndim = 2;
    raw.dims[0] = 2;
    raw.dims[1] = 3;
    CHECK(std::memcmp(&a, &raw, sizeof a) == 0);
    CHECK(eight.ndim == 8 && eight.dims[7] == 8);
    CHECK(b.ndim == 1 && b.dims[0] == 6);
    CHECK(s.ndim == 0);
    CHECK(pol_is_undef(&a) && !pol_is_absent(&a) && !pol_is_array(&a));
    size_t nbytes = 0;
    int64_t len = 0;
    CHECK(pol_nbytes(&a, &nbytes) == POL_OK && nbytes == 24);
    CHECK(pol_len(&a, &len) == POL_OK && len == 6);
    struct sixteen {
        alignas(16) unsigned char bytes[16];
    };
    const pol_type opaque = POL_TYPE_OF(sixteen), f = POL_TYPE_OF(float), i = POL_TYPE_OF(int32_t);
    CHECK(opaque.code == POL_CODE_OPAQUE && opaque.size == 16 && opaque.align == 16);
    const pol_type f32 = POL_F32, i32 = POL_I32;
    CHECK(std::memcmp(&f, &f32, sizeof f) == 0);
    CHECK(std::memcmp(&i, &i32, sizeof i) == 0);
    const pol_type all[] = {POL_I8,        POL_I16,     POL_I32, POL_I64,  POL_U8,
                            POL_U16,       POL_U32,     POL_U64, POL_BOOL, POL_F16,
                            POL_BF16,      POL_F32,     POL_F64, POL_C64,  POL_C128,
                            POL_F8_E4M3FN, POL_F8_E5M2, POL_I4,  POL_U4,   POL_F4_E2M1};
    for (const pol_type &type : all)
        CHECK(type.lanes == 1 && type.align != 0);
}

static void the_macros_work()
{
    pol_arena arena, sub;
    pol_array a;
    pair p;
    CHECK(pol_arena_init(&arena, slab, sizeof slab, 64) == POL_OK);
    CHECK(use_try(&arena, &a) == POL_EINVAL);
    CHECK(pol_retract(&arena, pol_mark(&arena)) == POL_OK);
    const pair want = {pol_undef(POL_F32, 4), pol_undef(POL_F64, 4)};
    CHECK(pol_alloc(&arena, &p, want) == POL_OK);
    CHECK(pol_data(&p.a, float) != nullptr && pol_data(&p.a, double) == nullptr);
    const pol_array view = pol_reshape(&p.a, 2, 2);
    CHECK(view.data == p.a.data && view.ndim == 2);
    const pol_array row = pol_index(&view, 1), rest = pol_slice(&view, 1, 1);
    float *const first = pol_data(&view, float);
    CHECK(row.data == first + 2 && row.ndim == 1 && row.dims[0] == 2);
    CHECK(rest.data == row.data && rest.ndim == 2 && rest.dims[0] == 1);
    const pol_array outside = pol_index(&view, 2), scalar = pol_wrap_scalar(first, POL_F32);
    CHECK(pol_is_absent(&outside) && std::strstr(pol_last_error(), "pol_index") != nullptr);
    CHECK(scalar.data == first && scalar.ndim == 0);
    pair both = {a, view};
    const pair *const constant = &both;
    static_assert(pol_count_arrays(static_cast<pair *>(nullptr)) == 2, "a constant");
    CHECK(pol_count_arrays(&both) == 2 && pol_count_arrays(constant) == 2);
    pol_array *const each = pol_arrays(&both);
    const pol_array *const each_const = pol_arrays(constant);
    CHECK(each == &both.a && each + 1 == &both.b && each_const == each);
    CHECK(pol_expect("view", &view, pol_undef(POL_F32, 2, 2)) == POL_OK);
    CHECK(pol_expect("view", &view, pol_undef(POL_F32, 4)) == POL_EINVAL);
    const pol_array stack = pol_undef_stack(&row, 3);
    CHECK(stack.ndim == 2 && stack.dims[0] == 3 && stack.dims[1] == 2 && pol_is_undef(&stack));
    CHECK(POL_SPACE(&arena) == &arena.space && POL_SPACE(pol_heap()) == pol_heap());
    CHECK(POL_SPACE(nullptr) == nullptr);
    CHECK(pol_alloc(nullptr, &a, pol_undef(POL_U8, 1)) == POL_ENOAMBIENT);
    CHECK(pol_arena_open(&sub, &arena, 256, 0) == POL_OK);
    CHECK(pol_new(&sub, double, 4) != nullptr);
    CHECK(!pol_is_measuring(&sub));
    CHECK(pol_arena_close(&sub) == POL_OK);
    pol_frame f;
    pol_frame_begin(&f, &arena);
    CHECK(pol_ambientspace() == &f.space && POL_SPACE(&f) == &f.space);
    CHECK(pol_new(&f, double, 4) != nullptr && pol_new(&f.space, double, 4) != nullptr);
    pol_frame_recover(&f);
    CHECK(pol_frame_end(&f) == POL_OK);
    CHECK(pol_ambientspace_or(&arena) == &arena.space);
}

static void verbs_work()
{
    pol_arena arena;
    CHECK(pol_arena_init(&arena, slab, sizeof slab, 64) == POL_OK);
    const struct half_args ha = {pol_wrap(values, POL_F32, 4)};
    const struct quarter_args qa = {ha.x};
    const struct copy_args ca = {ha.x};
    struct half_outputs h, by_hand;
    struct quarter_outputs q;
    struct copy_outputs c;
    struct half_checkpoints saved;
    CHECK(pol_call(half, &arena, &ha, &h) == POL_OK && pol_data(&h.y, float)[3] == 8);
    CHECK(pol_call(quarter, &arena, &qa, &q) == POL_OK && pol_data(&q.y, float)[3] == 4);
    CHECK(pol_call(copy, &arena, &ca, &c) == POL_OK && pol_data(&c.y, float)[3] == 16);
    CHECK(pol_verb_call(&half_verb, &arena, &ha, &h.y) == POL_OK);
    CHECK(pol_verb_call_into(&copy_verb, &arena, &ca, &c.y, &h.y) == POL_OK &&
          c.y.data == h.y.data);
    const size_t offset = pol_arena_offset(&arena);
    const struct half_outputs over = {h.y}, none = {};
    CHECK(pol_call_into(half, &arena, &ha, nullptr, over) == POL_OK);
    CHECK(pol_call_into(half, &arena, &ha, NULL, none) == POL_EINVAL);
    CHECK(pol_arena_offset(&arena) == offset && pol_data(&h.y, float)[3] == 8);
    CHECK(pol_checkpoints(&arena, half, &ha, &saved) == POL_OK);
    CHECK(pol_outputs(&arena, half, &ha, &by_hand) == POL_OK);
    POL_SCRATCHSPACE(frame, &arena) {
        struct half_scratch s;
        CHECK(pol_scratch(frame, half, &ha, &s) == POL_OK);
        CHECK(half(&by_hand, &ha, &s) == POL_OK && pol_data(&by_hand.y, float)[0] == 2);
    }
    pol_verb_sizes sizes;
    CHECK(pol_verb_nbytes(&half_verb, &ha, 64, &sizes) == POL_OK && sizes.outputs == 16);
    CHECK(half_verb.noutputs == 1 && std::strcmp(half_verb.name, "half") == 0);
    pol_arena dry;
    CHECK(pol_arena_measure(&dry, 64) == POL_OK);
    throwing = true; // a leaf is not run
    CHECK(pol_call(quarter, &dry, &qa, &q) == POL_OK && pol_is_measuring(&dry));
    throwing = false;
}

static void shadows_work()
{
    pol_array x = pol_undef(POL_F32, 3);
    pol_shadowed s = pol_shadowed_like(&x, POL_F64);
    const pol_shadowed c = pol_constant(x);
    CHECK(pol_primal(&s) == &s.primal && pol_shadow(&s) == &s.shadow);
    CHECK(pol_primal(&c) == &c.primal && pol_is_absent(pol_shadow(&c)));
    CHECK(pol_primal(&x) == &x && pol_shadow(&x) == nullptr);
    POL_SCRATCHSPACE(frame, pol_heap()) {
        pol_shadowed got;
        CHECK(pol_alloc(frame, &got, s) == POL_OK);
        CHECK(pol_is_array(&got.primal) && pol_is_array(&got.shadow));
    }
}

int main()
{
    descriptions_are_the_same_as_in_c();
    the_macros_work();
    verbs_work();
    shadows_work();
    every_other_exit_closes_the_block();
    a_scratchspace_survives_an_exception();
    a_binding_survives_an_exception();
    a_callback_may_throw_through_pol_scratchspace();
    a_verb_may_throw_through_pol_call();
    CHECK(std::strcmp(pol_version(), POL_VERSION_STRING) == 0);
    std::printf("%s: %d failures\n", failures ? "FAILED" : "PASSED", failures);
    return failures != 0;
}
