/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranges are in a balanced tree (tsearch) whose order calls overlapping ranges equal: looking up a range
 * finds any one that overlaps it, in logarithmic time.
 */
#include "H5FDh5vec_ranges.h"

#include <search.h>
#include <stdlib.h>

struct range {
    uint64_t begin, end;
};

static int compare(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->end <= y->begin ? -1 : x->begin >= y->end ? 1 : 0;
}

static struct range *find(const struct H5FD_h5vec_ranges *set, uint64_t begin, uint64_t end)
{
    struct range key = {begin, end};
    void *node = tfind(&key, &set->root, compare);
    return node ? *(struct range **)node : NULL;
}

int H5FD_h5vec_ranges_add(struct H5FD_h5vec_ranges *set, uint64_t begin, uint64_t end)
{
    struct range *mine = NULL, *other;
    /* Take out all that overlap or touch; the first one's memory becomes the union's. */
    while ((other = find(set, begin ? begin - 1 : 0, end < UINT64_MAX ? end + 1 : end))) {
        begin = other->begin < begin ? other->begin : begin;
        end = other->end > end ? other->end : end;
        tdelete(other, &set->root, compare);
        free(mine);
        mine = other;
    }
    if (!mine && !(mine = malloc(sizeof *mine)))
        return -1;
    *mine = (struct range){begin, end};
    if (tsearch(mine, &set->root, compare))
        return 0;
    free(mine);
    return -1;
}

bool H5FD_h5vec_ranges_cover(const struct H5FD_h5vec_ranges *set, uint64_t begin, uint64_t end)
{
    const struct range *found = find(set, begin, end);
    return found && found->begin <= begin && found->end >= end;
}

bool H5FD_h5vec_ranges_overlap(const struct H5FD_h5vec_ranges *set, uint64_t begin, uint64_t end)
{
    return find(set, begin, end) != NULL;
}

void H5FD_h5vec_ranges_clear(struct H5FD_h5vec_ranges *set)
{
    struct range *any;
    while ((any = find(set, 0, UINT64_MAX))) {
        tdelete(any, &set->root, compare);
        free(any);
    }
}
