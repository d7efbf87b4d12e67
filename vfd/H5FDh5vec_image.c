/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file is cut into as many parts as there are readers; the caller is one of them. Where a thread cannot
 * be made, the caller reads that part too. The program's signals stay with its own threads.
 */
#include "H5FDh5vec_image.h"

#include "H5FDh5vec_io.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

enum { READERS_MAX = 4, PART_MIN = 16 << 20, PART_ALIGN = 1 << 20 };

struct part {
    pthread_t thread;
    bool started;
    int fd, error;
    unsigned char *to;
    size_t size;
    uint64_t offset;
};

static void *read_part(void *data)
{
    struct part *part = data;
    part->error = H5FD_h5vec_io_read(part->fd, part->to, part->size, part->offset);
    return NULL;
}

static int read_parts(struct part *parts, size_t count)
{
    sigset_t all, before;
    int error = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 1; i < count; i++)
        parts[i].started = pthread_create(&parts[i].thread, NULL, read_part, &parts[i]) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; i < count; i++)
        if (!parts[i].started)
            read_part(&parts[i]);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].started)
            pthread_join(parts[i].thread, NULL);
        error = error ? error : parts[i].error;
    }
    return error;
}

int H5FD_h5vec_image_load(int fd, uint64_t size, unsigned char **image)
{
    struct part parts[READERS_MAX] = {0};
    unsigned char *bytes = size <= SIZE_MAX / 2 ? malloc((size_t)size) : NULL;
    if (!bytes)
        return ENOMEM;
    uint64_t count = size / PART_MIN + 1, done = 0;
    count = count < READERS_MAX ? count : READERS_MAX;
    uint64_t step = (size / count + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
    for (size_t i = 0; i < count; i++) {
        uint64_t n = i + 1 < count && step < size - done ? step : size - done;
        parts[i] = (struct part){.fd = fd, .to = bytes + done, .size = (size_t)n, .offset = done};
        done += n;
    }
    int error = read_parts(parts, (size_t)count);
    if (error)
        free(bytes);
    else
        *image = bytes;
    return error;
}
