/* SPDX-License-Identifier: MIT */

/*
 * Errors, rules E1 to E4: a code by value, a text per thread, nothing printed.
 *
 * malloc is interposed where that is possible, because "takes no heap" is a promise of its own.
 * Addresses and sizes in texts are not compared word by word: a test takes the numbers out of the
 * text and asks whether the ones that the reader needs are among them.
 */

#define _POSIX_C_SOURCE 200809L

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "support.h"

static const struct {
    pol_status status;
    const char *name;
} codes[] = {
    {POL_OK, "POL_OK"},
    {POL_EINVAL, "POL_EINVAL"},
    {POL_EOVERFLOW, "POL_EOVERFLOW"},
    {POL_ECEILING, "POL_ECEILING"},
    {POL_ENOMEM, "POL_ENOMEM"},
    {POL_ENOAMBIENT, "POL_ENOAMBIENT"},
    {POL_ESTALE, "POL_ESTALE"},
    {POL_EORDER, "POL_EORDER"},
    {POL_ECAPTURE, "POL_ECAPTURE"},
    {POL_ECORRUPT, "POL_ECORRUPT"},
    {POL_ETHREAD, "POL_ETHREAD"},
    {POL_ENOTSUP, "POL_ENOTSUP"},
    {POL_EUSER, "POL_EUSER"},
};
enum { NCODES = sizeof codes / sizeof codes[0] };

static const pol_status no_codes[] = {1, 2, 12, INT_MAX, -13, -1000, INT_MIN};
enum { NNO_CODES = sizeof no_codes / sizeof no_codes[0] };

static int forget(void **state)
{
    (void)pol_on_misuse(NULL, NULL);
    return test_clear_ambient(state);
}

static void fail_once(void)
{
    size_t n = 0;
    const pol_array negative = pol_undef(POL_U8, -1);
    assert_status(pol_nbytes(&negative, &n), POL_EINVAL);
}

/* Whether `text` has a decimal number between `low` and `high`. */
static bool has_number(const char *text, unsigned long long low, unsigned long long high)
{
    while (*text) {
        if (*text < '0' || *text > '9') {
            text++;
            continue;
        }
        char *end;
        const unsigned long long number = strtoull(text, &end, 10);
        if (low <= number && number <= high)
            return true;
        text = end;
    }
    return false;
}

/* --- E1: codes ------------------------------------------------------------------------------- */

static void status_is_an_int(void **state) /* E1 */
{
    (void)state;
    assert_true(_Generic((pol_status)0, int : true, default : false));
}

static void status_ok_is_zero(void **state) /* E1 */
{
    (void)state;
    assert_int_equal(POL_OK, 0);
}

static void status_failures_are_negative(void **state) /* E1 */
{
    (void)state;
    for (int i = 1; i < NCODES; i++)
        assert_true(codes[i].status < 0);
}

static void status_codes_are_distinct(void **state) /* E1 */
{
    (void)state;
    for (int i = 0; i < NCODES; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(codes[i].status, codes[k].status);
}

static void status_name_is_the_codes_own_spelling(void **state) /* E1 */
{
    (void)state;
    for (int i = 0; i < NCODES; i++)
        assert_string_equal(pol_status_name(codes[i].status), codes[i].name);
}

static void status_name_of_no_code_says_so(void **state) /* E1 */
{
    (void)state;
    for (int i = 0; i < NNO_CODES; i++)
        assert_string_equal(pol_status_name(no_codes[i]), "POL_E?");
}

static void status_texts_are_distinct_phrases(void **state) /* E1 */
{
    (void)state;
    for (int i = 0; i < NCODES; i++) {
        assert_true(strlen(pol_status_text(codes[i].status)) > 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(pol_status_text(codes[i].status),
                                    pol_status_text(codes[k].status));
    }
}

static void status_text_of_no_code_is_not_null(void **state) /* E1 */
{
    (void)state;
    for (int i = 0; i < NNO_CODES; i++) {
        const char *const text = pol_status_text(no_codes[i]);
        assert_non_null(text);
        for (int k = 0; k < NCODES; k++)
            assert_string_not_equal(text, pol_status_text(codes[k].status));
    }
}

static int evaluations;

static pol_status count_and_return(pol_status status)
{
    evaluations++;
    return status;
}

static pol_status try_then_user(pol_status status)
{
    POL_TRY(count_and_return(status));
    return POL_EUSER;
}

static void try_returns_a_failure_from_the_enclosing_function(void **state) /* E1 */
{
    (void)state;
    assert_int_equal(try_then_user(POL_ECEILING), POL_ECEILING);
}

static void try_goes_on_after_success(void **state) /* E1 */
{
    (void)state;
    assert_int_equal(try_then_user(POL_OK), POL_EUSER);
}

static void try_evaluates_its_expression_once(void **state) /* E1 */
{
    (void)state;
    evaluations = 0;
    assert_int_equal(try_then_user(POL_OK), POL_EUSER);
    assert_int_equal(evaluations, 1);
}

/* --- E2: texts ------------------------------------------------------------------------------- */

static void *text_of_a_new_thread(void *copy)
{
    const char *const text = pol_last_error();
    *(char *)copy = text && !*text ? 'y' : 'n';
    return NULL;
}

static void last_error_of_a_new_thread_is_empty(void **state) /* E2 */
{
    (void)state;
    char empty = '?';
    pthread_t thread;
    fail_once(); /* this thread's failure is not that one's */
    assert_int_equal(pthread_create(&thread, NULL, text_of_a_new_thread, &empty), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(empty, 'y');
}

static void *fail_in_a_thread(void *unused)
{
    (void)unused;
    const pol_status status = pol_fail(POL_EUSER, "another thread's");
    return status == POL_EUSER ? test_slab(0) : NULL;
}

static void last_error_is_each_threads_own(void **state) /* E2 */
{
    (void)state;
    pthread_t thread;
    void *did = NULL;
    assert_status(pol_fail(POL_EUSER, "this thread's"), POL_EUSER);
    assert_int_equal(pthread_create(&thread, NULL, fail_in_a_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &did), 0);
    assert_non_null(did);
    assert_string_equal(pol_last_error(), "this thread's");
}

static void last_error_stands_until_the_next_failure(void **state) /* E2 */
{
    (void)state;
    pol_arena a;
    pol_array x;
    size_t n;
    assert_status(pol_fail(POL_EUSER, "stands"), POL_EUSER);
    const char *const text = pol_last_error();
    assert_status(pol_arena_init(&a, test_slab(0), 4096, 64), POL_OK);
    assert_status(pol_alloc(&a, &x, pol_undef(POL_F32, 3)), POL_OK);
    assert_status(pol_nbytes(&x, &n), POL_OK);
    assert_status(pol_arena_close(&a), POL_OK);
    assert_string_equal(text, "stands");
    assert_string_equal(pol_last_error(), "stands");
}

static void last_error_is_of_the_last_failure(void **state) /* E2 */
{
    (void)state;
    assert_status(pol_fail(POL_EUSER, "first"), POL_EUSER);
    fail_once();
    assert_string_not_equal(pol_last_error(), "first");
    assert_true(strlen(pol_last_error()) > 0);
}

/* 200 bytes, 40 in use at alignment 64, 300 asked: they would start at 64, where 136 are left. */
static void fill_and_ask_for_300(pol_arena *a)
{
    pol_array x;
    assert_status(pol_arena_init(a, test_slab(0), 200, 64), POL_OK);
    assert_status(pol_alloc(a, &x, pol_undef(POL_U8, 40)), POL_OK);
    assert_status(pol_alloc(a, &x, pol_undef(POL_U8, 300)), POL_ECEILING);
}

static void last_error_of_a_full_slab_names_the_arena(void **state) /* E2 */
{
    (void)state;
    pol_arena a;
    fill_and_ask_for_300(&a);
    assert_non_null(strstr(pol_last_error(), "arena"));
}

static void last_error_of_a_full_slab_says_what_was_needed(void **state) /* E2 */
{
    (void)state;
    pol_arena a;
    fill_and_ask_for_300(&a);
    assert_true(has_number(pol_last_error(), 300, 300));
    assert_non_null(strstr(pol_last_error(), "bytes"));
}

static void last_error_of_a_full_slab_says_what_there_is(void **state) /* E2 */
{
    (void)state;
    pol_arena a;
    fill_and_ask_for_300(&a);
    assert_true(has_number(pol_last_error(), 136, 136) || /* with or without the padding */
                has_number(pol_last_error(), 160, 160));
}

static void last_error_of_a_full_slab_says_which_slab_is_enough(void **state) /* E2 */
{
    (void)state;
    pol_arena a;
    fill_and_ask_for_300(&a);
    /* 64 + 300 at this base, at most 63 more at any. */
    assert_true(has_number(pol_last_error(), 364, 364 + 63));
}

static void last_error_of_a_full_slab_counts_the_whole_bundle(void **state) /* E2 */
{
    (void)state;
    pol_arena a;
    struct two {
        pol_array x, y;
    } two;
    assert_status(pol_arena_init(&a, test_slab(0), 200, 64), POL_OK);
    assert_status(pol_alloc(&a, &two, (struct two){pol_undef(POL_U8, 100), pol_undef(POL_U8, 300)}),
                  POL_ECEILING);
    assert_true(has_number(pol_last_error(), 128 + 300, 128 + 300 + 63));
}

static void last_error_of_an_overflow_names_the_shape(void **state) /* E2 */
{
    (void)state;
    size_t n = 0;
    const pol_array a = pol_undef(POL_F32, 4611686018427387906);
    assert_status(pol_nbytes(&a, &n), POL_EOVERFLOW);
    assert_non_null(strstr(pol_last_error(), "4611686018427387906"));
}

static void last_error_of_a_negative_dim_names_it(void **state) /* E1, E2: a bad argument, named */
{
    (void)state;
    size_t n = 0;
    const pol_array a = pol_undef(POL_F32, 3, -77);
    assert_status(pol_nbytes(&a, &n), POL_EINVAL);
    assert_non_null(strstr(pol_last_error(), "-77"));
}

static void last_error_of_a_bad_alignment_names_it(void **state) /* E1, E2 */
{
    (void)state;
    pol_arena a;
    assert_status(pol_arena_init(&a, test_slab(0), 200, 24), POL_EINVAL);
    assert_true(has_number(pol_last_error(), 24, 24));
}

static void fail_returns_its_status(void **state) /* E2 */
{
    (void)state;
    assert_status(pol_fail(POL_ENOMEM, "x"), POL_ENOMEM);
    assert_status(pol_fail(POL_EUSER, "x"), POL_EUSER);
}

static void fail_records_the_formatted_text(void **state) /* E2 */
{
    (void)state;
    assert_status(pol_fail(POL_EUSER, "conv: stride %d of %s", -3, "x"), POL_EUSER);
    assert_string_equal(pol_last_error(), "conv: stride -3 of x");
}

static void fail_cuts_the_text_at_255_bytes(void **state) /* E2 */
{
    (void)state;
    char wide[1001];
    memset(wide, 'w', 1000);
    wide[1000] = '\0';
    assert_status(pol_fail(POL_EUSER, "%s", wide), POL_EUSER);
    assert_int_equal(strlen(pol_last_error()), 255);
    wide[255] = '\0';
    assert_string_equal(pol_last_error(), wide);
    wide[254] = 'v';
    assert_status(pol_fail(POL_EUSER, "%s", wide), POL_EUSER); /* what just fits is not cut */
    assert_string_equal(pol_last_error(), wide);
}

static void fail_may_quote_the_last_error(void **state) /* E2 */
{
    (void)state;
    char want[256];
    assert_status(pol_fail(POL_EUSER, "inner"), POL_EUSER);
    assert_status(pol_fail(POL_EUSER, "outer: %s", pol_last_error()), POL_EUSER);
    assert_string_equal(pol_last_error(), "outer: inner");
    assert_status(pol_fail(POL_EUSER, "%s; %s", pol_last_error(), pol_last_error()), POL_EUSER);
    assert_string_equal(pol_last_error(), "outer: inner; outer: inner");
    assert_status(pol_fail(POL_EUSER, "%.5s", pol_last_error() + 7), POL_EUSER);
    assert_string_equal(pol_last_error(), "inner");
    memset(want, 'w', sizeof want);
    want[255] = '\0';
    assert_status(pol_fail(POL_EUSER, "%s", want), POL_EUSER);
    assert_status(pol_fail(POL_EUSER, "f: %s", pol_last_error()), POL_EUSER); /* cut at its end */
    memcpy(want, "f: ", 3);
    assert_string_equal(pol_last_error(), want);
}

/* One of each of the failures that can be had without a space of one's own. */
static void fail_in_every_way(void)
{
    pol_arena a;
    pol_array x;
    struct pol_mark none = {0, 0, 0};
    size_t n = 0;
    pol_frame f = {0};
    const pol_array huge = pol_undef(POL_F64, INT64_MAX);
    assert_status(pol_nbytes(&huge, &n), POL_EOVERFLOW);
    fail_once();
    assert_status(pol_alloc((pol_space *)NULL, &x, pol_undef(POL_U8, 1)), POL_ENOAMBIENT);
    assert_null(pol_ambientspace());
    assert_status(pol_arena_init(&a, NULL, 200, 64), POL_EINVAL);
    assert_status(pol_arena_init(&a, test_slab(0), 200, 3), POL_EINVAL);
    assert_status(pol_arena_init(&a, test_slab(0), 0, 64), POL_ECEILING);
    fill_and_ask_for_300(&a);
    assert_null(pol_new(&a, double, 1000));
    assert_status(pol_retract(&a, none), POL_ESTALE);
    assert_status(pol_frame_end(&f), POL_EORDER);
    pol_frame_recover(&f);
    assert_null(pol_data(&huge, char));
    assert_true(strlen(pol_last_error()) > 0);
}

static void failures_take_no_heap(void **state) /* E2 */
{
    (void)state;
    if (!test_heap_is_ours())
        skip();
    const size_t before = test_heap_calls();
    fail_in_every_way();
    assert_int_equal(test_heap_calls() - before, 0);
}

/* --- E4: nothing printed, misuse told --------------------------------------------------------- */

static void failures_print_nothing(void **state) /* E4 */
{
    (void)state;
    FILE *const caught = tmpfile();
    assert_non_null(caught);
    fflush(stdout);
    fflush(stderr);
    const int out = dup(1), err = dup(2);
    dup2(fileno(caught), 1);
    dup2(fileno(caught), 2);
    fail_in_every_way();
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    fseek(caught, 0, SEEK_END);
    const long printed = ftell(caught);
    fclose(caught);
    assert_int_equal(printed, 0);
}

struct told {
    int times;
    pol_status status;
    char text[256];
    char last_error[256];
};

static void tell(pol_status status, const char *text, void *ctx)
{
    struct told *const told = (struct told *)ctx;
    told->times++;
    told->status = status;
    strcpy(told->text, text);
    strcpy(told->last_error, pol_last_error());
}

static void tell_nobody(pol_status status, const char *text, void *ctx)
{
    (void)status;
    (void)text;
    (void)ctx;
}

static void misuse_handler_before_is_returned(void **state) /* E4 */
{
    (void)state;
    assert_true(pol_on_misuse(tell, NULL) == NULL);
    assert_true(pol_on_misuse(tell_nobody, NULL) == tell);
    assert_true(pol_on_misuse(NULL, NULL) == tell_nobody);
    assert_true(pol_on_misuse(NULL, NULL) == NULL);
}

static void misuse_reaches_the_handler_with_its_context(void **state) /* E4 */
{
    (void)state;
    struct told told = {0};
    pol_frame never_begun = {0};
    pol_on_misuse(tell, &told);
    pol_frame_recover(&never_begun);
    assert_int_equal(told.times, 1);
    assert_int_equal(told.status, POL_EORDER);
    assert_true(strlen(told.text) > 0);
}

static void misuse_is_in_the_last_error_before_the_handler_runs(void **state) /* E4 */
{
    (void)state;
    struct told told = {0};
    pol_frame never_begun = {0};
    assert_status(pol_fail(POL_EUSER, "before"), POL_EUSER);
    pol_on_misuse(tell, &told);
    pol_frame_recover(&never_begun);
    assert_string_equal(told.last_error, told.text);
    assert_string_equal(pol_last_error(), told.text);
    assert_string_not_equal(told.text, "before");
}

static void misuse_without_a_handler_is_in_the_last_error(void **state) /* E4 */
{
    (void)state;
    pol_frame never_begun = {0};
    assert_status(pol_fail(POL_EUSER, "before"), POL_EUSER);
    pol_on_misuse(NULL, NULL);
    pol_frame_recover(&never_begun);
    assert_string_not_equal(pol_last_error(), "before");
    assert_true(strlen(pol_last_error()) > 0);
}

static void *misuse_in_a_thread(void *unused)
{
    (void)unused;
    pol_frame never_begun = {0};
    pol_frame_recover(&never_begun);
    return NULL;
}

static void misuse_handler_is_of_the_whole_process(void **state) /* E4 */
{
    (void)state;
    struct told told = {0};
    pthread_t thread;
    pol_on_misuse(tell, &told);
    assert_int_equal(pthread_create(&thread, NULL, misuse_in_a_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(told.times, 1);
}

static void failures_that_are_returned_are_no_misuse(void **state) /* E4 */
{
    (void)state;
    struct told told = {0};
    pol_arena a;
    pol_on_misuse(tell, &told);
    fail_once();
    fill_and_ask_for_300(&a);
    assert_int_equal(told.times, 0);
}

#define T(test) cmocka_unit_test_teardown(test, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(status_is_an_int),
        T(status_ok_is_zero),
        T(status_failures_are_negative),
        T(status_codes_are_distinct),
        T(status_name_is_the_codes_own_spelling),
        T(status_name_of_no_code_says_so),
        T(status_texts_are_distinct_phrases),
        T(status_text_of_no_code_is_not_null),
        T(try_returns_a_failure_from_the_enclosing_function),
        T(try_goes_on_after_success),
        T(try_evaluates_its_expression_once),
        T(last_error_of_a_new_thread_is_empty),
        T(last_error_is_each_threads_own),
        T(last_error_stands_until_the_next_failure),
        T(last_error_is_of_the_last_failure),
        T(last_error_of_a_full_slab_names_the_arena),
        T(last_error_of_a_full_slab_says_what_was_needed),
        T(last_error_of_a_full_slab_says_what_there_is),
        T(last_error_of_a_full_slab_says_which_slab_is_enough),
        T(last_error_of_a_full_slab_counts_the_whole_bundle),
        T(last_error_of_an_overflow_names_the_shape),
        T(last_error_of_a_negative_dim_names_it),
        T(last_error_of_a_bad_alignment_names_it),
        T(fail_returns_its_status),
        T(fail_records_the_formatted_text),
        T(fail_cuts_the_text_at_255_bytes),
        T(fail_may_quote_the_last_error),
        T(failures_take_no_heap),
        T(failures_print_nothing),
        T(misuse_handler_before_is_returned),
        T(misuse_reaches_the_handler_with_its_context),
        T(misuse_is_in_the_last_error_before_the_handler_runs),
        T(misuse_without_a_handler_is_in_the_last_error),
        T(misuse_handler_is_of_the_whole_process),
        T(failures_that_are_returned_are_no_misuse),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
