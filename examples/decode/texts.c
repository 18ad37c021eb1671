/* SPDX-License-Identifier: MIT */
/*
 * What is drawn depends on the seed, the number of the text and the position alone, so texts come
 * out the same whoever continues them. Output goes past stdio, which takes a buffer from the heap.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* write */
#endif
#include "texts.h"

#include "random.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static pol_status choose_steps(struct texts *t)
{
    const int64_t context = t->model->config.context, wanted = (int64_t)t->options->steps;
    if (wanted > context)
        return pol_fail(POL_EINVAL, "--steps wants the model's context of %lld at most, not %lld",
                        (long long)context, (long long)wanted);
    t->steps = wanted > 0 ? wanted : context < DEFAULT_STEPS ? context : DEFAULT_STEPS;
    return POL_OK;
}

pol_status texts_open(struct texts *t, const struct options *o, const struct model_file *model)
{
    const struct config *const c = &model->config;
    *t = (struct texts){.options = o, .model = model};
    t->texts = o->prompt_count > 0 ? o->prompt_count : 1;
    POL_TRY(choose_steps(t));
    POL_TRY(tokenizer_open(&t->tokenizer, o->tokenizer, c->vocab));
    const struct angles_args angles = {.context = t->steps, .head_size = config_head_size(c)};
    t->memory = (struct texts_memory){
        .tables = t->tokenizer.tables,
        .tokens = pol_undef(POL_I32, t->texts, t->steps + 1),
        .known = pol_undef(POL_I64, t->texts),
        .count = pol_undef(POL_I64, t->texts),
        .angles = angles_outputs(&angles),
    };
    return POL_OK;
}

void texts_close(struct texts *t)
{
    tokenizer_close(&t->tokenizer);
}

/* The prompts */

static const char *prompt_of(const struct texts *t, int64_t text)
{
    return t->options->prompt_count > 0 ? t->options->prompts[text] : "";
}

static int32_t *tokens_of(const struct texts *t, int64_t text)
{
    return pol_data(&t->memory.tokens, int32_t) + text * (t->steps + 1);
}

static pol_status too_long(const struct texts *t, int64_t text, const char *about, int64_t tokens)
{
    return pol_fail(POL_EUSER,
                    "prompt %lld is too long: %s%lld tokens where %lld steps were asked for; make "
                    "it shorter, or --steps more",
                    (long long)text + 1, about, (long long)tokens, (long long)t->steps);
}

/* In bytes it must be bounded too, or no memory would do for encoding it. */
static pol_status check_lengths(const struct texts *t, int64_t *longest)
{
    const size_t most = tokenizer_longest_prompt(&t->tokenizer, t->steps);
    *longest = 0;
    for (int64_t i = 0; i < t->texts; i++) {
        const size_t nbytes = strlen(prompt_of(t, i));
        if (nbytes > most)
            return too_long(t, i, "more than ", t->steps);
        *longest = (int64_t)nbytes > *longest ? (int64_t)nbytes : *longest;
    }
    return POL_OK;
}

static pol_status encode_prompt(const struct texts *t, int64_t text, const pol_array *tokens)
{
    int64_t n = 0;
    if (tokenizer_encode_prompt(&t->tokenizer, prompt_of(t, text), tokens, &n) != POL_OK)
        return pol_fail(POL_EINVAL, "prompt %lld: %s", (long long)text + 1, pol_last_error());
    if (n > t->steps) /* the last step's token comes after them all */
        return too_long(t, text, "", n);
    memcpy(tokens_of(t, text), pol_data(tokens, int32_t), (size_t)n * sizeof(int32_t));
    pol_data(&t->memory.known, int64_t)[text] = n;
    pol_data(&t->memory.count, int64_t)[text] = n;
    return POL_OK;
}

static pol_status encode_prompts(const struct texts *t, pol_arena *arena)
{
    int64_t longest;
    POL_TRY(check_lengths(t, &longest));
    POL_SCRATCHSPACE(frame, arena) {
        pol_array tokens; /* before pairs are merged there may be more of them */
        POL_TRY(pol_alloc(frame, &tokens, pol_undef(POL_I32, longest + 2)));
        for (int64_t i = 0; i < t->texts && !pol_is_measuring(frame); i++)
            POL_TRY(encode_prompt(t, i, &tokens));
    }
    return POL_OK;
}

pol_status texts_set_up(struct texts *t, pol_arena *arena)
{
    const struct angles_args angles = {.context = t->steps,
                                       .head_size = config_head_size(&t->model->config)};
    POL_TRY(pol_alloc(arena, &t->memory, t->memory));
    t->tokenizer.tables = t->memory.tables;
    if (!pol_is_measuring(arena))
        POL_TRY(tokenizer_load(&t->tokenizer));
    POL_TRY(pol_call_into(angles, arena, &angles, NULL, t->memory.angles));
    return encode_prompts(t, arena);
}

/* The steps */

static pol_status write_bytes(const char *bytes, size_t nbytes)
{
    while (nbytes > 0) {
        const ssize_t written = write(STDOUT_FILENO, bytes, nbytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return pol_fail(POL_EUSER, "cannot write (%s): standard output", strerror(errno));
        bytes += written;
        nbytes -= (size_t)written;
    }
    return POL_OK;
}

static pol_status write_token(const struct texts *t, int32_t previous, int32_t token)
{
    size_t nbytes;
    const char *const bytes = tokenizer_decode(&t->tokenizer, previous, token, &nbytes);
    return write_bytes(bytes, nbytes);
}

pol_status texts_step(const struct texts *t, const struct cache *cache, pol_space *space,
                      int64_t position, int32_t token, float coin, int32_t *next)
{
    const struct step_args args = {
        .config = &t->model->config,
        .weights = &t->model->weights,
        .cache = cache,
        .angles = t->memory.angles.table,
        .position = position,
        .token = token,
        .choice = {.temperature = (float)t->options->temperature,
                   .top_p = (float)t->options->top_p,
                   .coin = coin},
    };
    const struct step_outputs here = {.next = pol_wrap_scalar(next, POL_I32)};
    return pol_call_into(step, space, &args, NULL, here);
}

/* Of equal seeds, texts of different numbers have nothing in common. */
static uint64_t seed_of(const struct texts *t, int64_t text)
{
    uint64_t number = (uint64_t)text;
    return t->options->seed ^ random_next(&number);
}

pol_status texts_continue(const struct texts *t, int64_t text, const struct cache *cache,
                          pol_space *space)
{
    int32_t *const tokens = tokens_of(t, text);
    int64_t *const count = &pol_data(&t->memory.count, int64_t)[text];
    const int64_t known = pol_data(&t->memory.known, int64_t)[text];
    uint64_t random = seed_of(t, text);
    for (int64_t i = 0; i < t->steps; i++) {
        int32_t next = 0;
        POL_TRY(texts_step(t, cache, space, i, tokens[i], random_unit(&random), &next));
        if (i + 1 < known)
            next = tokens[i + 1];
        *count = i + 1;
        if (next == TOKEN_START) /* the text is over */
            break;
        tokens[i + 1] = next;
        *count = i + 2;
        if (t->texts == 1)
            POL_TRY(write_token(t, tokens[i], next));
    }
    return t->texts == 1 ? write_bytes("\n", 1) : POL_OK;
}

pol_status texts_write(const struct texts *t)
{
    for (int64_t text = 0; t->texts > 1 && text < t->texts; text++) {
        const int32_t *const tokens = tokens_of(t, text);
        const int64_t count = pol_data(&t->memory.count, int64_t)[text];
        if (text > 0)
            POL_TRY(write_bytes("\n", 1));
        for (int64_t i = 1; i < count; i++)
            POL_TRY(write_token(t, tokens[i - 1], tokens[i]));
        POL_TRY(write_bytes("\n", 1));
    }
    return POL_OK;
}

int64_t texts_count_steps(const struct texts *t)
{
    int64_t steps = 0;
    for (int64_t i = 0; i < t->texts; i++) {
        const int64_t count = pol_data(&t->memory.count, int64_t)[i];
        steps += count > t->steps ? t->steps : count;
    }
    return steps;
}
