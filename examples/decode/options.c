/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct options DEFAULTS = {.seed = 1, .jobs = 1, .temperature = 0.0, .top_p = 0.9};

static pol_status add_prompt(struct options *o, char *text)
{
    if (*text == '\0')
        return pol_fail(POL_EINVAL,
                        "--prompt wants a text; leave the option out to begin with nothing");
    o->prompts[o->prompt_count++] = text;
    return POL_OK;
}

static pol_status set(struct options *o, const char *name, char *value)
{
    if (strcmp(name, "tokenizer") == 0)
        o->tokenizer = value;
    else if (strcmp(name, "prompt") == 0)
        return add_prompt(o, value);
    else if (strcmp(name, "steps") == 0)
        return number_read(&o->steps, name, value, 1, INT32_MAX);
    else if (strcmp(name, "temperature") == 0)
        return fraction_read(&o->temperature, name, value, 0, 100);
    else if (strcmp(name, "top-p") == 0)
        return fraction_read(&o->top_p, name, value, 0, 1);
    else if (strcmp(name, "seed") == 0)
        return number_read(&o->seed, name, value, 0, UINT64_MAX);
    else
        return number_read(&o->jobs, name, value, 1, MOST_JOBS);
    return POL_OK;
}

static bool is_option(const char *name)
{
    static const char *const names[] = {"tokenizer", "prompt", "steps", "temperature",
                                        "top-p",     "seed",   "jobs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

pol_status options_read(struct options *o, int argc, char **argv)
{
    *o = DEFAULTS;
    o->prompts = argv;
    for (int i = 1; i < argc; i++) {
        char *const name = argv[i];
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            o->help = true;
            return POL_OK;
        }
        if (*name != '-' && !o->model) {
            o->model = name;
            continue;
        }
        if (strncmp(name, "--", 2) != 0 || !is_option(name + 2))
            return pol_fail(POL_EINVAL, "no such option: '%s'; --help lists them", name);
        if (i + 1 == argc)
            return pol_fail(POL_EINVAL, "%s wants a value; --help says which", name);
        POL_TRY(set(o, name + 2, argv[++i]));
    }
    if (!o->model)
        return pol_fail(POL_EINVAL, "no model is named; --help says how");
    return POL_OK;
}

void options_print_help(void)
{
    printf(
        "usage: decode MODEL [option value]...\n"
        "Continues a text by a language model; all its buffers are libpol's.\n"
        "\n"
        "  MODEL             a file in the format of llama2.c\n"
        "  --tokenizer FILE  its vocabulary, in that format too (none: bytes)\n"
        "  --prompt TEXT     the text to continue; each further one is another text (none: the\n"
        "                    model begins)\n"
        "  --steps N         tokens, the prompt's included, at most the model's context (%d, or\n"
        "                    the context)\n"
        "  --temperature T   0 takes the best token, more draws among them, to 100 (%g)\n"
        "  --top-p P         draw among the likeliest that have P together, 0 to 1 (%g)\n"
        "  --seed N          of the draws (%" PRIu64 ")\n"
        "  --jobs N          threads, each at a text of its own, 1 to %d (%" PRIu64 ")\n"
        "  --help            this\n",
        DEFAULT_STEPS, DEFAULTS.temperature, DEFAULTS.top_p, DEFAULTS.seed, MOST_JOBS,
        DEFAULTS.jobs);
}
