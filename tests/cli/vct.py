# SPDX-License-Identifier: BSD-3-Clause
"""A decoder of the coordinate transform, made from docs/codec.md alone and laid out like it: slow, and without mercy for
what the page does not allow."""
import struct

ORDINATES = ((0, 1), (0, 1, 2), (0, 1, 3), (0, 1, 2, 3))  # of a point of dimension d, among x y z m


class Bad(Exception):
    """A rule of the page is broken."""


def need(condition, what):
    if not condition:
        raise Bad(what)


def words(data, n, width):
    """n words from planes."""
    return [int.from_bytes(bytes(data[w * n + i] for w in range(width)), "little") for i in range(n)]


def unzigzag(z):
    return (z >> 1) ^ -(z & 1)


class Ordinate:
    def __init__(self, header):
        self.kind, self.decimals, self.delta, self.start_width, self.rest_width = header[:5]
        self.starts, self.rest, self.escapes = struct.unpack("<3Q", header[8:])
        need(self.kind <= 3 and self.decimals <= 15 and self.delta <= 1 and header[5:8] == bytes(3), "an ordinate")
        need((self.kind == 0) == (self.starts == 0) and (self.kind or not (self.rest or self.escapes)), "values of no kind")
        self.bits = 32 if self.kind == 1 else 64
        for n, width in ((self.starts, self.start_width), (self.rest, self.rest_width)):
            need(1 <= width <= self.bits // 8 if n else width == 0, "a width")

    def double(self, k):
        """The eight bytes that the integer stands for."""
        k &= (1 << self.bits) - 1
        if self.kind == 3:
            low, high = k & ((1 << 55) - 1), k >> 55
            return ((high & 1) << 63 | (high >> 1) << 55 | low).to_bytes(8, "little")
        signed = k - (1 << self.bits) if k >> (self.bits - 1) else k
        return struct.pack("<d", signed / 10 ** self.decimals)

    def run(self, n):
        """The next run of n values."""
        k = self.start_words.pop()
        if self.delta:
            k = self.before + unzigzag(k)
        self.before = k
        values = [k]
        for _ in range(n - 1):
            k += unzigzag(self.rest_words.pop())
            values.append(k)
        return [self.double(v) for v in values]


class Decoder:
    def __init__(self, data):
        self.data, self.at, self.out = data, 0, bytearray()

    def take(self, n):
        need(self.at + n <= len(self.data), "too short")
        self.at += n
        return self.data[self.at - n:self.at]

    def header(self):
        need(self.take(3) == b"VCT", "not VCT")
        need(self.take(1) == b"\1", "version")
        coded, zero = self.take(1)[0], self.take(3)
        need(coded <= 1 and zero == bytes(3), "form")
        self.raw_size, = struct.unpack("<Q", self.take(8))
        if coded:
            self.sections, self.n_heads, self.n_members, self.n_counts, self.n_kept = struct.unpack("<5Q", self.take(40))
            flags = self.take(8)
            need(flags[0] <= 3 and flags[1:] == bytes(7), "flags")
            self.closed, paired = flags[0] & 1, flags[0] & 2
            self.ordinates = [Ordinate(self.take(32)) for _ in range(4)]
            self.streams(paired)
        return coded

    def streams(self, paired):
        self.section_list = [struct.unpack("<5Q", self.take(40)) for _ in range(self.sections)]
        self.kept = list(self.take(self.n_kept))[::-1]
        self.heads = list(self.take(self.n_heads))[::-1]
        self.members = words(self.take(4 * self.n_members), self.n_members, 4)[::-1]
        self.counts = words(self.take(4 * self.n_counts), self.n_counts, 4)[::-1]
        for o in self.ordinates:
            o.before = 0
            o.rest_words = words(self.take(o.rest * o.rest_width), o.rest, o.rest_width)[::-1]
        x, y = self.ordinates[:2]
        need(x.starts == y.starts and x.rest == y.rest, "x and y")
        pairs = self.take(2 * x.starts * x.start_width) if paired else b""
        need(not paired or (x.starts and x.start_width == y.start_width and x.bits == y.bits), "pairs")
        for j, o in enumerate(self.ordinates):
            data = pairs[j::2] if paired and j < 2 else self.take(o.starts * o.start_width)
            o.start_words = words(data, o.starts, o.start_width)[::-1]
        for o in self.ordinates:
            places, values = (words(self.take(8 * o.escapes), o.escapes, 8) for _ in range(2))
            o.escape_list = list(zip(places, values))
        need(self.at == len(self.data), "too long")

    def run(self, n, dim, ring=False):
        if n == 0:
            return
        drop = ring and self.closed and n >= 2
        columns = [self.ordinates[j].run(n - drop) for j in ORDINATES[dim]]
        points = [b"".join(p) for p in zip(*columns)]
        self.out += b"".join(points + points[:1] * drop)

    def points_part(self, end, dim, ring):
        """True if the run is cut."""
        n = self.counts.pop()
        self.out += struct.pack("<I", n)
        fit = (end - len(self.out)) // (8 * len(ORDINATES[dim]))
        self.run(min(n, fit), dim, ring and n <= fit)
        return n > fit

    def section(self, kept, dim, points, rings, length):
        need(dim <= 3, "dimension")
        for _ in range(kept):
            self.out.append(self.kept.pop())
        end, cut = len(self.out) + length, False
        self.run(points, dim)
        while len(self.out) < end:
            need(not cut, "a run cut within a section")
            if rings:
                cut, rings = self.points_part(end, dim, True), rings - 1
                continue
            need(end - len(self.out) >= 9, "no room for a geometry")
            dim, kind = divmod(self.heads.pop(), 8)
            need(dim <= 3 and kind, "a type")
            self.out += struct.pack("<BI", 1, 1000 * dim + kind)
            if kind == 1:
                self.run(1, dim)
            elif kind == 2:
                cut = self.points_part(end, dim, False)
            else:
                members = self.members.pop()
                self.out += struct.pack("<I", members)
                rings = members if kind == 3 else 0
        need(len(self.out) == end, "a section that is too long")

    def decode(self):
        if not self.header():
            need(len(self.data) - 16 == self.raw_size, "size")
            return self.data[16:]
        for s in self.section_list:
            self.section(*s)
        left = [self.kept, self.heads, self.members, self.counts, *(w for o in self.ordinates for w in (o.start_words, o.rest_words))]
        need(not any(left) and len(self.out) == self.raw_size, "something is left")
        for o in self.ordinates:
            place = 0
            for distance, value in o.escape_list:
                place += distance
                need(place + 8 <= self.raw_size, "an escape outside")
                self.out[place:place + 8] = value.to_bytes(8, "little")
        return bytes(self.out)


def decode(data):
    return Decoder(bytes(data)).decode()
