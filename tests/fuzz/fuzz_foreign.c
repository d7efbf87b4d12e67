/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Any bytes as a file that is opened through the driver: a HDF5 file with a layer in which the full check
 * finds nothing, or an error that says why not. The first byte says which of a shapefile's other files follow
 * (1 .shx, 2 .dbf, 4 .cpg, 8 .prj), each as two bytes of size, the low one first, and its contents, and
 * whether malformed records are skipped (16); the rest is the file itself.
 */
#include <unistd.h>
#include "H5FDh5vec.h"
#include "fuzz.h"
#include "h5vec_layer.h"

static char folder[64];

static void path_of(char path[128], const char *extension)
{
    snprintf(path, 128, "%s/map%s", folder, extension);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    MUST(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

static void remove_all(void)
{
    static const char *const extensions[] = {".any", ".shx", ".dbf", ".cpg", ".prj"};
    char path[128];
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        path_of(path, extensions[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    if (folder[0])
        return;
    snprintf(folder, sizeof folder, "%.40s/h5vec-fuzz-XXXXXX", tmp ? tmp : "/tmp");
    MUST(mkdtemp(folder));
    atexit(remove_all);
    MUST(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
}

/* The other files; returns what is left of the input. */
static const uint8_t *write_siblings(const uint8_t *data, const uint8_t *end, unsigned which)
{
    static const char *const extensions[] = {".shx", ".dbf", ".cpg", ".prj"};
    char path[128];
    for (int i = 0; i < 4; i++) {
        path_of(path, extensions[i]);
        unlink(path);
        if (!(which & 1u << i) || end - data < 2)
            continue;
        size_t size = data[0] | (size_t)data[1] << 8;
        data += 2;
        if (size > (size_t)(end - data))
            size = (size_t)(end - data);
        write_file(path, data, size);
        data += size;
    }
    return data;
}

/* HDF5's own files are not meant. */
static int is_hdf5(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 4 <= size; i++)
        if (memcmp(data + i, "\x89HDF", 4) == 0)
            return 1;
    return 0;
}

static void tell(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    if (size == 0 || is_hdf5(data, size))
        return 0;
    make_folder();
    const uint8_t *file_data = write_siblings(data + 1, data + size, data[0]);
    path_of(path, ".any");
    write_file(path, file_data, (size_t)(data + size - file_data));

    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config,
                                       .foreign_max = 8 << 20,
                                       .bad = data[0] & 16 ? H5FD_H5VEC_BAD_SKIP : H5FD_H5VEC_BAD_ERROR};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    MUST(fapl >= 0 && H5Pset_fapl_h5vec(fapl, &config) >= 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    if (file < 0) {
        MUST(H5Eget_num(H5E_DEFAULT) > 0);
    } else {
        uint64_t findings = 0;
        MUST(h5vec_layer_check(file, "layer", tell, NULL, &findings, NULL) == H5VEC_OK && findings == 0);
        MUST(H5Fclose(file) >= 0);
    }
    MUST(H5Pclose(fapl) >= 0);
    return 0;
}
