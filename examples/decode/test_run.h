/* SPDX-License-Identifier: MIT */
#ifndef TEST_RUN_H
#define TEST_RUN_H

/* Tests as functions that fail with a text. */

#include <pol/pol.h>

#include <stdio.h>

/* Fails the test unless `condition` holds. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return pol_fail(POL_EUSER, "line %d: %s", __LINE__, #condition);                       \
    } while (0)

struct test {
    const char *name;
    pol_status (*run)(void);
};

/* Runs them all; returns what main() returns. */
static inline int run_tests(const struct test *tests, size_t count)
{
    int failed = 0;
    for (size_t i = 0; i < count; i++) {
        const pol_status status = tests[i].run();
        printf("%-6s %s\n", status == POL_OK ? "ok" : "FAILED", tests[i].name);
        if (status != POL_OK)
            printf("       %s\n", pol_last_error());
        failed += status != POL_OK;
    }
    return failed > 0;
}

#define RUN_TESTS(tests) run_tests((tests), sizeof(tests) / sizeof *(tests))

#endif
