/* SPDX-License-Identifier: MIT */
#include "dataset.h"

static pol_status check_shapes(const struct idx *images, const struct idx *labels)
{
    const int64_t *const dims = images->shape.dims;
    if (dims[1] != IMAGE_SIDE || dims[2] != IMAGE_SIDE)
        return pol_fail(POL_EUSER, "%s has images of %lld x %lld where %d x %d was wanted, in %s",
                        images->name, (long long)dims[1], (long long)dims[2], IMAGE_SIDE,
                        IMAGE_SIDE, images->folder);
    /* A batch is picked by 32-bit positions. */
    if (dims[0] < 1 || dims[0] > INT32_MAX)
        return pol_fail(POL_EUSER, "%s has %lld images where 1 to %lld were wanted, in %s",
                        images->name, (long long)dims[0], (long long)INT32_MAX, images->folder);
    if (labels->shape.dims[0] != dims[0])
        return pol_fail(POL_EUSER, "%s has %lld labels for %lld images, in %s", labels->name,
                        (long long)labels->shape.dims[0], (long long)dims[0], labels->folder);
    return POL_OK;
}

static pol_status open_samples(struct idx *images, struct idx *labels, struct samples *description)
{
    POL_TRY(check_shapes(images, labels));
    *description = (struct samples){.images = images->shape, .labels = labels->shape};
    return POL_OK;
}

pol_status dataset_open(struct dataset_files *files, const char *folder,
                        struct dataset *description)
{
    *files = (struct dataset_files){0};
    POL_TRY(idx_open(&files->train_images, folder, "train-images-idx3-ubyte.gz", 3));
    POL_TRY(idx_open(&files->train_labels, folder, "train-labels-idx1-ubyte.gz", 1));
    POL_TRY(idx_open(&files->test_images, folder, "t10k-images-idx3-ubyte.gz", 3));
    POL_TRY(idx_open(&files->test_labels, folder, "t10k-labels-idx1-ubyte.gz", 1));
    POL_TRY(open_samples(&files->train_images, &files->train_labels, &description->train));
    return open_samples(&files->test_images, &files->test_labels, &description->test);
}

static pol_status read_labels(struct idx *f, const pol_array *labels)
{
    POL_TRY(idx_read(f, labels));
    const uint8_t *const label = pol_data(labels, uint8_t);
    for (int64_t i = 0; i < labels->dims[0]; i++)
        if (label[i] >= CLASSES)
            return pol_fail(POL_EUSER, "%s has label %d at %lld where 0 to %d was wanted, in %s",
                            f->name, label[i], (long long)i, CLASSES - 1, f->folder);
    return POL_OK;
}

pol_status dataset_read(struct dataset_files *files, const struct dataset *data)
{
    POL_TRY(idx_read(&files->train_images, &data->train.images));
    POL_TRY(read_labels(&files->train_labels, &data->train.labels));
    POL_TRY(idx_read(&files->test_images, &data->test.images));
    return read_labels(&files->test_labels, &data->test.labels);
}

void dataset_close(struct dataset_files *files)
{
    idx_close(&files->train_images);
    idx_close(&files->train_labels);
    idx_close(&files->test_images);
    idx_close(&files->test_labels);
}
