/* SPDX-License-Identifier: MIT */
/*
 * Models and tokenizers in files: what is written is read, and what is cut at any byte, too long or
 * absurd is refused with one line that names the file. Called with a folder to write to.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* truncate, opendir, symlink */
#endif
#include "model_file.h"
#include "test_make.h"
#include "test_run.h"
#include "tokenizer.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const MODEL = "model.bin", *const TOKENIZER = "tokenizer.bin";

static const struct config CONFIG = {
    .dim = 4,
    .hidden = 3,
    .layers = 2,
    .heads = 2,
    .kv_heads = 1,
    .vocab = 5,
    .context = 6,
    .own_output = true,
};

/* The last failure is told in one line that names the file. */
static bool names(const char *path)
{
    return strstr(pol_last_error(), path) && !strchr(pol_last_error(), '\n');
}

static pol_status read_all(const char *path, char *bytes, size_t most, size_t *nbytes)
{
    struct mapped_file f;
    POL_TRY(mapped_file_open(&f, path));
    *nbytes = f.nbytes;
    if (f.nbytes <= most)
        memcpy(bytes, f.data, f.nbytes);
    mapped_file_close(&f);
    CHECK(*nbytes <= most);
    return POL_OK;
}

static int64_t count_files(void)
{
    int64_t n = 0;
    DIR *const folder = opendir(".");
    while (folder && readdir(folder))
        n++;
    if (folder)
        (void)closedir(folder);
    return n;
}

/* Models */

static pol_status check_written(const struct config *c)
{
    struct model_file m;
    POL_TRY(make_model(MODEL, c, 11));
    POL_TRY(model_file_open(&m, MODEL));
    CHECK(m.config.dim == c->dim && m.config.hidden == c->hidden);
    CHECK(m.config.layers == c->layers && m.config.heads == c->heads);
    CHECK(m.config.kv_heads == c->kv_heads && m.config.vocab == c->vocab);
    CHECK(m.config.context == c->context && m.config.own_output == c->own_output);
    POL_SCRATCHSPACE(frame, pol_heap()) {
        struct weights w;
        POL_TRY(pol_alloc(frame, &w, weights_undef(c, false)));
        make_weights(&w, 11);
        const pol_array *const made = pol_arrays(&w);
        const pol_array *const read = pol_arrays(&m.weights);
        for (size_t i = 0; i < pol_count_arrays(&w); i++) {
            size_t nbytes;
            POL_TRY(pol_nbytes(&made[i], &nbytes));
            CHECK(nbytes == 0 || memcmp(made[i].data, read[i].data, nbytes) == 0);
            CHECK(nbytes == 0 || pol_undef_equal(&made[i], &read[i]));
        }
        CHECK(pol_is_array(&m.weights.unused[1]) && pol_data(&m.weights.unused[1], float)[2] == 0);
        CHECK(pol_is_array(&m.weights.output) == c->own_output);
    }
    model_file_close(&m);
    return POL_OK;
}

static pol_status model_that_is_written_is_read(void)
{
    struct config shared = CONFIG;
    shared.own_output = false;
    POL_TRY(check_written(&CONFIG));
    return check_written(&shared);
}

static pol_status model_cut_at_any_byte_is_refused(void)
{
    struct model_file m;
    char bytes[4096];
    size_t nbytes = 0;
    POL_TRY(make_model(MODEL, &CONFIG, 1));
    POL_TRY(read_all(MODEL, bytes, sizeof bytes, &nbytes));
    for (size_t n = nbytes; n-- > 0;) {
        CHECK(truncate(MODEL, (off_t)n) == 0);
        CHECK(model_file_open(&m, MODEL) == POL_EUSER);
        CHECK(names(MODEL) && strstr(pol_last_error(), "truncated"));
        CHECK(!m.file.data);
    }
    for (size_t more = 1; more < 9; more++) {
        memset(bytes + nbytes, 0, more);
        POL_TRY(make_file(MODEL, bytes, nbytes + more));
        CHECK(model_file_open(&m, MODEL) == POL_EUSER && names(MODEL));
    }
    return POL_OK;
}

static pol_status model_of_absurd_dims_is_refused(void)
{
    const int64_t absurd[] = {0, -1, INT32_MAX, INT32_MIN, INT32_MIN + 1, 7};
    struct model_file m;
    char bytes[4096];
    size_t nbytes = 0;
    POL_TRY(make_model(MODEL, &CONFIG, 1));
    POL_TRY(read_all(MODEL, bytes, sizeof bytes, &nbytes));
    for (size_t at = 0; at < 28; at += 4)
        for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
            char changed[sizeof bytes];
            memcpy(changed, bytes, nbytes);
            for (size_t j = 0; j < 4; j++)
                changed[at + j] = (char)((uint64_t)absurd[i] >> 8 * j & 0xff);
            POL_TRY(make_file(MODEL, changed, nbytes));
            CHECK(model_file_open(&m, MODEL) == POL_EUSER && names(MODEL));
        }
    /* All of them at once, so that no product fits anywhere. */
    memset(bytes, 0x7f, 28);
    POL_TRY(make_file(MODEL, bytes, nbytes));
    CHECK(model_file_open(&m, MODEL) == POL_EUSER && names(MODEL));
    return POL_OK;
}

static pol_status model_that_cannot_be_read_is_told(void)
{
    struct model_file m;
    CHECK(model_file_open(&m, "nowhere.bin") == POL_EUSER && names("nowhere.bin"));
    CHECK(model_file_open(&m, ".") == POL_EUSER);
    POL_TRY(make_file(MODEL, "", 0));
    CHECK(model_file_open(&m, MODEL) == POL_EUSER && names(MODEL));
    model_file_close(&m); /* of a model that is not open: nothing happens */
    return POL_OK;
}

static pol_status failed_write_leaves_what_was_there(void)
{
    struct weights w;
    char bytes[8] = {0};
    size_t nbytes = 0;
    POL_TRY(make_file(MODEL, "earlier", 7));
    const int64_t before = count_files();
    POL_SCRATCHSPACE(frame, pol_heap()) {
        struct config other = CONFIG;
        other.hidden = 9;
        POL_TRY(pol_alloc(frame, &w, weights_undef(&CONFIG, false)));
        make_weights(&w, 1);
        CHECK(model_file_write(MODEL, &other, &w) == POL_EINVAL);
        CHECK(model_file_write("nowhere/model.bin", &CONFIG, &w) == POL_EUSER);
        CHECK(names("nowhere/model.bin"));
        CHECK(model_file_write(".", &CONFIG, &w) == POL_EUSER);
        w.norm_final = pol_undef_like(NULL);
        CHECK(model_file_write(MODEL, &CONFIG, &w) == POL_EINVAL);
    }
    POL_TRY(read_all(MODEL, bytes, sizeof bytes, &nbytes));
    CHECK(nbytes == 7 && memcmp(bytes, "earlier", 7) == 0);
    CHECK(count_files() == before); /* nothing is left beside it */
    return POL_OK;
}

/* Whoever may read it may read the next one too, and a link stays one. */
static pol_status write_replaces_a_file_where_it_is(void)
{
    static const char *const name = "link.bin", *const nothing = "link_to_nothing.bin";
    struct stat linked, link;
    (void)unlink(name);
    (void)unlink(nothing);
    POL_TRY(make_file(MODEL, "earlier", 7));
    CHECK(chmod(MODEL, 0640) == 0 && symlink(MODEL, name) == 0);
    CHECK(symlink("nowhere.bin", nothing) == 0);
    const int64_t before = count_files();
    POL_TRY(make_model(name, &CONFIG, 11));
    CHECK(lstat(name, &link) == 0 && S_ISLNK(link.st_mode));
    CHECK(lstat(MODEL, &linked) == 0 && S_ISREG(linked.st_mode));
    CHECK((linked.st_mode & 0777) == 0640 && linked.st_size > 7);
    CHECK(make_model(nothing, &CONFIG, 11) == POL_EUSER && names(nothing));
    CHECK(count_files() == before);
    return POL_OK;
}

/* Tokenizers */

static pol_status load(int64_t vocab)
{
    struct tokenizer t;
    pol_status status = tokenizer_open(&t, TOKENIZER, vocab);
    POL_SCRATCHSPACE(frame, pol_heap()) {
        if (status == POL_OK)
            status = pol_alloc(frame, &t.tables, t.tables);
        if (status == POL_OK)
            status = tokenizer_load(&t);
        tokenizer_close(&t);
    }
    return status;
}

static pol_status tokenizer_cut_at_any_byte_is_refused(void)
{
    char bytes[8192];
    size_t nbytes = 0;
    int64_t whole = 0;
    POL_TRY(make_tokenizer(TOKENIZER, make_vocab()));
    POL_TRY(load(make_vocab()));
    POL_TRY(read_all(TOKENIZER, bytes, sizeof bytes - 1, &nbytes));
    for (size_t n = nbytes; n-- > 0;) {
        CHECK(truncate(TOKENIZER, (off_t)n) == 0);
        CHECK(load(make_vocab()) == POL_EUSER && names(TOKENIZER));
        CHECK(strstr(pol_last_error(), "truncated"));
        const pol_status uncounted = load(0); /* between two tokens nothing is missing */
        whole += uncounted == POL_OK;
        CHECK(uncounted == POL_OK || (uncounted == POL_EUSER && names(TOKENIZER)));
        CHECK(uncounted == POL_OK || !strstr(pol_last_error(), "model"));
    }
    CHECK(whole < make_vocab());
    bytes[nbytes] = 0;
    POL_TRY(make_file(TOKENIZER, bytes, nbytes + 1));
    CHECK(load(make_vocab()) == POL_EUSER && names(TOKENIZER));
    CHECK(load(0) == POL_EUSER && names(TOKENIZER) && !strstr(pol_last_error(), "model"));
    return POL_OK;
}

static pol_status tokenizer_of_another_vocabulary_is_refused(void)
{
    POL_TRY(make_tokenizer(TOKENIZER, make_vocab()));
    CHECK(load(make_vocab() - 1) == POL_EUSER && names(TOKENIZER));
    CHECK(load(make_vocab() + 1) == POL_EUSER && names(TOKENIZER));
    CHECK(load(1) == POL_EUSER && names(TOKENIZER));
    return POL_OK;
}

/* Four bytes at `at`, in turn; the file is as it was in between. */
static pol_status check_spoilt(size_t at, const uint32_t *values, size_t count)
{
    char bytes[8192];
    size_t nbytes = 0;
    POL_TRY(make_tokenizer(TOKENIZER, make_vocab()));
    POL_TRY(read_all(TOKENIZER, bytes, sizeof bytes, &nbytes));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < 4; j++)
            bytes[at + j] = (char)(values[i] >> 8 * j & 0xff);
        POL_TRY(make_file(TOKENIZER, bytes, nbytes));
        CHECK(load(make_vocab()) == POL_EUSER && names(TOKENIZER));
    }
    return POL_OK;
}

static pol_status tokenizer_that_lies_is_refused(void)
{
    const uint32_t longest[] = {0, 1, 5, 7, 0x7fffffff, 0x80000000, 0xffffffff};
    const uint32_t scores[] = {0x7fc00000, 0x7f800000, 0xff800000, 0xffffffff};
    const uint32_t lengths[] = {0, 4, 6, 0x7fffffff, 0x80000000, 0xffffffff};
    POL_TRY(check_spoilt(0, longest, sizeof longest / sizeof *longest));
    POL_TRY(check_spoilt(4, scores, sizeof scores / sizeof *scores));
    return check_spoilt(8, lengths, sizeof lengths / sizeof *lengths);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"model_that_is_written_is_read", model_that_is_written_is_read},
        {"model_cut_at_any_byte_is_refused", model_cut_at_any_byte_is_refused},
        {"model_of_absurd_dims_is_refused", model_of_absurd_dims_is_refused},
        {"model_that_cannot_be_read_is_told", model_that_cannot_be_read_is_told},
        {"failed_write_leaves_what_was_there", failed_write_leaves_what_was_there},
        {"write_replaces_a_file_where_it_is", write_replaces_a_file_where_it_is},
        {"tokenizer_cut_at_any_byte_is_refused", tokenizer_cut_at_any_byte_is_refused},
        {"tokenizer_of_another_vocabulary_is_refused", tokenizer_of_another_vocabulary_is_refused},
        {"tokenizer_that_lies_is_refused", tokenizer_that_lies_is_refused},
    };
    if (argc != 2 || chdir(argv[1]) != 0) {
        fprintf(stderr, "usage: decode_test_files FOLDER\n");
        return 1;
    }
    return RUN_TESTS(tests);
}
