/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of hdf5_table.h, filled by dlsym.
 *
 * A variable of HDF5's may be in the main program: a program that uses H5T_NATIVE_INT gets a copy of it, to
 * which the library's own references are bound, and the library's original is never set. So where HDF5 is in
 * the global scope its names are looked up there first, as the dynamic linker did.
 */
#define H5VEC_HDF5_NAMES
#include "hdf5_table.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct h5vec_layer_hdf5 h5vec_layer_hdf5;
/* Where the library that the table was filled from begins. */
static const void *filled_from;

#define NAME(name) #name,
static const char *const names[] = {H5VEC_HDF5_SYMBOLS(NAME)};
#define NAMES (sizeof names / sizeof names[0])

/* The table as what it is: pointers, in the order of names. */
union table {
    struct h5vec_layer_hdf5 hdf5;
    void *slots[NAMES];
};
_Static_assert(sizeof(struct h5vec_layer_hdf5) == NAMES * sizeof(void *), "one pointer a name");

struct library {
    void *handle; /* of dlopen */
    const void *base;
    const void *program; /* where the main program begins */
    bool global;         /* its names are in the global scope */
};

/* Where the program or library begins that has the address in it; NULL if none has. */
static const void *base_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

struct nth {
    size_t left;
    const void *address;
};

static int count_down(struct dl_phdr_info *info, size_t size, void *context)
{
    struct nth *nth = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            nth->address = (const void *)begin; /* NOLINT(performance-no-int-to-ptr) */
            break;
        }
    return nth->left-- == 0;
}

/* An address in the n-th object of this process, 0 being the main program; NULL if there are fewer. (Objects
 * are counted rather than looked at in the callback: it is called under the dynamic linker's lock.) */
static const void *object(size_t n)
{
    struct nth nth = {n, NULL};
    return dl_iterate_phdr(count_down, &nth) ? nth.address : NULL;
}

/* The object that has the address in it, opened, if it is an HDF5. */
static bool open_library(const void *address, struct library *library)
{
    Dl_info info;
    if (!address || !dladdr(address, &info))
        return false;
    const char *const paths[] = {info.dli_fname, NULL}; /* NULL: the main program */
    for (int i = 0; i < 2; i++) {
        void *handle = dlopen(paths[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle && base_of(dlsym(handle, "H5open")) == info.dli_fbase) {
            library->handle = handle;
            library->base = info.dli_fbase;
            library->program = base_of(object(0));
            const void *global = base_of(dlsym(RTLD_DEFAULT, "H5open"));
            library->global = global && (global == library->base || global == library->program);
            return true;
        }
        if (handle)
            dlclose(handle);
    }
    return false;
}

static void *find(const struct library *library, const char *name)
{
    void *global = library->global ? dlsym(RTLD_DEFAULT, name) : NULL;
    const void *base = base_of(global);
    return base && (base == library->base || base == library->program) ? global
                                                                       : dlsym(library->handle, name);
}

__attribute__((format(printf, 2, 3))) static bool refuse(const struct h5vec_layer_hdf5 *hdf5,
                                                         const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (hdf5->H5Epush2 && hdf5->H5E_ERR_CLS_g && hdf5->H5E_PLUGIN_g && hdf5->H5E_CANTINIT_g)
        hdf5->H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, *hdf5->H5E_ERR_CLS_g, *hdf5->H5E_PLUGIN_g,
                       *hdf5->H5E_CANTINIT_g, "%s", text);
    return false;
}

/* HDF5 loads all plugins once more after each H5Fopen that failed: what that left on the error stack stays.
 */
static bool check_version(const struct h5vec_layer_hdf5 *hdf5)
{
    unsigned major = 0, minor = 0, release = 0;
    if (!hdf5->H5get_libversion || !hdf5->H5Eget_current_stack || !hdf5->H5Eset_current_stack)
        return refuse(hdf5, "the driver h5vec cannot tell this HDF5's version");
    hid_t errors = hdf5->H5Eget_current_stack();
    hdf5->H5get_libversion(&major, &minor, &release); /* clears the error stack */
    hdf5->H5Eset_current_stack(errors);               /* and closes errors */
    if (major == H5_VERS_MAJOR && minor == H5_VERS_MINOR)
        return true;
    return refuse(
        hdf5, "this driver h5vec was built for HDF5 %d.%d, and this is HDF5 %u.%u.%u: build h5vec with it",
        H5_VERS_MAJOR, H5_VERS_MINOR, major, minor, release);
}

static bool fill(const struct library *library)
{
    union table table;
    const char *missing = NULL;
    for (size_t i = 0; i < NAMES; i++)
        if (!(table.slots[i] = find(library, names[i])))
            missing = names[i];
    if (!check_version(&table.hdf5))
        return false;
    if (filled_from && filled_from != library->base && base_of(filled_from) == filled_from)
        return refuse(&table.hdf5, "the driver h5vec already serves another HDF5 of this process");
    if (missing)
        return refuse(&table.hdf5, "the driver h5vec needs %s, which this HDF5 does not have", missing);
    h5vec_layer_hdf5 = table.hdf5;
    filled_from = library->base;
    return true;
}

bool h5vec_layer_hdf5_load(const void *caller)
{
    struct library library;
    bool found = open_library(caller, &library);
    const void *address;
    for (size_t n = 0; !found && (address = object(n)); n++)
        found = open_library(address, &library);
    if (!found)
        return false;
    bool filled = fill(&library);
    dlclose(library.handle); /* whoever loaded us keeps it */
    return filled;
}

bool h5vec_layer_hdf5_has_drivers(const void *caller)
{
    struct library library;
    if (!open_library(caller, &library))
        return true;
    bool has = dlsym(library.handle, "H5Pset_driver_by_name") != NULL; /* new in 1.14 */
    dlclose(library.handle);
    return has;
}
