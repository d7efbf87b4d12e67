/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a fuzz target without libFuzzer: on each file named, or in a directory named, on every prefix of it,
 * and on seeded mutations of it, always the same ones. Says how many inputs there were; none is a failure.
 */
#include <dirent.h>
#include <sys/stat.h>
#include "fuzz.h"

#define MUTATIONS 2000
#define LARGEST (1 << 20)

static unsigned long inputs;
static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (uint32_t)(state >> 32) % n : 0;
}

/* The target gets memory of its own of exactly this size. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = exactly(size);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    inputs++;
}

/* Change, insert, remove or repeat a few bytes in place; returns the new size, at most room. */
static size_t mutate(uint8_t *data, size_t size, size_t room)
{
    static const char spice[] = "()., -+eE0019nNiIzZmM;=\t\x80\xff";
    size_t at = below((uint32_t)size + 1);
    switch (below(5)) {
    case 0:
        if (at < size)
            data[at] ^= (uint8_t)(1u << below(8));
        return size;
    case 1:
        if (at < size)
            data[at] = (uint8_t)spice[below(sizeof spice - 1)];
        return size;
    case 2:
        if (size == room)
            return size;
        memmove(data + at + 1, data + at, size - at);
        data[at] = (uint8_t)spice[below(sizeof spice - 1)];
        return size + 1;
    case 3: {
        size_t n = below((uint32_t)(size - at) + 1) % 16;
        memmove(data + at, data + at + n, size - at - n);
        return size - n;
    }
    default: {
        size_t n = below((uint32_t)(size - at) + 1) % 64;
        if (n > room - size)
            n = room - size;
        memmove(data + at + n, data + at, size - at);
        return size + n;
    }
    }
}

static void run_file(const char *path)
{
    static uint8_t data[LARGEST], changed[LARGEST + 4096];
    FILE *f = fopen(path, "rb");
    MUST(f);
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    run(data, size);
    for (size_t n = 0; n < size && n < 4096; n++)
        run(data, n);
    for (int i = 0; i < MUTATIONS; i++) {
        size_t n = size;
        memcpy(changed, data, size);
        for (uint32_t steps = 1 + below(6); steps > 0; steps--)
            n = mutate(changed, n, sizeof changed);
        run(changed, n);
    }
}

static void run_path(const char *path)
{
    struct stat info;
    MUST(stat(path, &info) == 0);
    if (!S_ISDIR(info.st_mode)) {
        run_file(path);
        return;
    }
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    MUST(n >= 0);
    for (int i = 0; i < n; i++) {
        char child[4096];
        snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            run_path(child);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    printf("%lu inputs\n", inputs);
    return inputs ? 0 : 1;
}
