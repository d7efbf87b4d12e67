/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfd_record.h"

#include "H5FDh5vec_file.h"

enum { RECORD_MAX = 1 << 16 };
enum owner { METADATA, RESERVED, PLACED };

static struct {
    H5FD_class_t class;
    const H5FD_class_t *driver;
    struct block {
        haddr_t begin, end;
        enum owner owner;
    } blocks[RECORD_MAX];
    int n, given, extensions;
    char verdict[256];
} rec;

static bool meets(const struct block *b, haddr_t begin, haddr_t end)
{
    return b->begin < end && begin < b->end;
}

static void note(haddr_t begin, haddr_t end, enum owner owner)
{
    for (int i = 0; i < rec.n; i++) {
        const struct block *b = &rec.blocks[i];
        bool inside = owner == PLACED && b->owner == RESERVED && b->begin <= begin && end <= b->end;
        if (meets(b, begin, end) && !inside)
            snprintf(rec.verdict, sizeof rec.verdict, "[%llu, %llu) of kind %d meets [%llu, %llu) of kind %d",
                     (unsigned long long)begin, (unsigned long long)end, owner, (unsigned long long)b->begin,
                     (unsigned long long)b->end, b->owner);
    }
    ck_assert(rec.n < RECORD_MAX);
    rec.blocks[rec.n++] = (struct block){begin, end, owner};
}

static bool in_reservation(haddr_t begin, haddr_t end)
{
    for (int i = 0; i < rec.n; i++)
        if (rec.blocks[i].owner == RESERVED && meets(&rec.blocks[i], begin, end))
            return true;
    return false;
}

static haddr_t rec_alloc(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, hsize_t size)
{
    haddr_t addr = rec.driver->alloc(file, type, dxpl, size);
    if (addr != HADDR_UNDEF) {
        bool placed = type == H5FD_MEM_DRAW && in_reservation(addr, addr + size);
        note(addr, addr + size, placed ? PLACED : METADATA);
        rec.given++;
    }
    return addr;
}

static herr_t rec_free(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, hsize_t size)
{
    for (int i = 0; i < rec.n; i++)
        if (rec.blocks[i].begin >= addr && rec.blocks[i].end <= addr + size)
            rec.blocks[i--] = rec.blocks[--rec.n];
    return rec.driver->free(file, type, dxpl, addr, size);
}

static herr_t rec_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t addr)
{
    haddr_t eoa = rec.driver->get_eoa(file, type);
    if (addr > eoa) {
        note(eoa, addr, METADATA);
        rec.extensions++;
    }
    return rec.driver->set_eoa(file, type, addr);
}

static herr_t rec_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size, const void *buf)
{
    for (int i = 0; i < rec.n; i++) {
        const struct block *b = &rec.blocks[i];
        if (b->owner == RESERVED && meets(b, addr, addr + size) &&
            !(b->begin <= addr && addr + size <= b->end))
            snprintf(rec.verdict, sizeof rec.verdict, "a write of %zu bytes at %llu leaves a reservation",
                     size, (unsigned long long)addr);
    }
    return rec.driver->write(file, type, dxpl, addr, size, buf);
}

void record_start(hid_t id)
{
    H5FD_t *file = &H5FD_h5vec_file_of(id)->pub;
    memset(&rec, 0, sizeof rec);
    rec.driver = file->cls;
    rec.class = *file->cls;
    rec.class.alloc = rec_alloc;
    rec.class.free = rec_free;
    rec.class.set_eoa = rec_set_eoa;
    rec.class.write = rec_write;
    note(0, file->cls->get_eoa(file, H5FD_MEM_DEFAULT), METADATA);
    file->cls = &rec.class;
}

haddr_t record_reserve(hid_t file, hsize_t size)
{
    haddr_t addr;
    ck_assert_msg(H5FD_h5vec_reserve(file, size, &addr) >= 0, "%s", error_text());
    note(addr, addr + size, RESERVED);
    return addr;
}

int record_blocks(void)
{
    return rec.given;
}

int record_extensions(void)
{
    return rec.extensions;
}

const char *record_verdict(void)
{
    return rec.verdict[0] ? rec.verdict : NULL;
}
