#!/usr/bin/env python3
"""A reader and a writer of blocks made after docs/format.md alone, without ExactBloom's code, and the golden blocks.

usage: format_test.py
"""

import ctypes
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
MULTIPLIER = 0xD0AB4E5A2D11F3DD
MARK = b"\0ExB\1"
SALT = 0x0123456789ABCDEF
MASK = (1 << 64) - 1
XXHASH = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
XXHASH.argtypes = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64
XXHASH.restype = ctypes.c_uint64


def xxh3(data, seed=0):
    return XXHASH(data, len(data), seed)


def high(a, b):
    return a * b >> 64


class Filter:
    """What a block says of its filter. Section 2."""

    def __init__(self, kind, k, m, n, seed):
        self.kind, self.k, self.m, self.n, self.seed = kind, k, m, n, seed

    def trailer(self):
        """Sections 2, 3 and 5."""
        n = self.n.to_bytes((self.n.bit_length() + 7) // 8, "little")
        seed = self.seed.to_bytes(8, "little") if self.seed else b""
        layout = len(n) | self.kind << 4 | (0x80 if self.seed else 0)
        fields = seed + n + bytes([self.k, layout])
        block_bytes = self.m // 8 + len(fields) + 4 + len(MARK)
        return fields + (xxh3(fields, block_bytes) & 0xFFFFFFFF).to_bytes(4, "little") + MARK

    def positions(self, key):
        """Section 4."""
        h = xxh3(key, self.seed)
        found = []
        for i in range(self.k):
            value = h * pow(MULTIPLIER, i + 1, 1 << 64) & MASK
            if self.kind == 0:
                found.append(high(value, self.m))
                continue
            last = self.m - self.k + i
            draw = high(value, last + 1)
            found.append(last if draw in found else draw)
        return found


class Ribbon:
    """Section 8."""

    kind = 6

    def __init__(self, block, r, n, seed, shape, trailer_bytes):
        self.block, self.r, self.n, self.seed = block, r, n, seed
        self.slots, self.shards, self.buckets = number(shape[:4]), number(shape[4:7]), shape[7]
        self.record_bytes = 8 + self.buckets if self.shards else 0
        self.column_bytes = len(block) - trailer_bytes - self.shards * self.record_bytes
        self.groups = -(-self.slots // 64)
        self.wide_groups = self.count_wide_groups()

    def count_wide_groups(self):
        if self.slots == 0:
            assert self.shards == self.buckets == self.column_bytes == 0 and self.r <= 1
            return 0
        wide_bytes = self.column_bytes - self.r * self.slots // 8
        last_bytes = self.word_bytes(self.groups - 1)
        assert wide_bytes == 0 or (wide_bytes >= last_bytes and (wide_bytes - last_bytes) % 8 == 0)
        wide_groups = 1 + (wide_bytes - last_bytes) // 8 if wide_bytes else 0
        assert wide_groups < self.groups
        return wide_groups

    def word_bytes(self, group):
        return min(64, self.slots - 64 * group) // 8

    def columns(self, group):
        return self.r + (group >= self.groups - self.wide_groups)

    def bit(self, column, slot):
        group = slot // 64
        begin = sum(self.columns(before) for before in range(group)) * 8
        word = number(self.block[begin + column * self.word_bytes(group):][:self.word_bytes(group)])
        return word >> slot % 64 & 1

    def record(self, shard):
        record = self.block[self.column_bytes + shard * self.record_bytes:][:self.record_bytes]
        first, count = number(record[:4]), number(record[4:6])
        starts = [(b * count * ((1 << 32) // self.buckets) >> 32) + 2 * int.from_bytes(record[7 + b:8 + b], "little", signed=True)
                  for b in range(self.buckets + 1)]
        return first, record[6], starts

    def equation(self, key):
        """Start slot, coefficients and results; nothing where every key passes."""
        h = xxh3(key, self.seed)
        first, seed, starts = self.record(high(h, self.shards))
        if seed == 255:
            return None
        if seed:
            h = h + 0xA0761D6478BD642F * seed & MASK
            for _ in range(2):
                h = (h ^ h >> 32) * 0xD6E8FEB86659FD93 & MASK
            h ^= h >> 32
        y = ((h * self.shards & MASK) >> 32) * self.buckets
        bucket, fraction = y >> 32, y & 0xFFFFFFFF
        start = first + starts[bucket] + (fraction * (starts[bucket + 1] - starts[bucket]) >> 32)
        return min(start, self.slots - 64), h * 0x9E3779B97F4A7C15 & MASK | 1, (h * 0xD6E8FEB86659FD93 & MASK) >> 32

    def may_contain(self, key):
        if self.shards == 0:
            return self.r == 0
        equation = self.equation(key)
        if equation is None:
            return True
        start, coefficients, results = equation
        chosen = [start + i for i in range(64) if coefficients >> i & 1]
        return all(sum(self.bit(c, slot) for slot in chosen) % 2 == results >> c & 1 for c in range(self.columns(start // 64)))

    def rate(self):
        if self.shards == 0:
            return 1 - self.r
        narrow_slots = 64 * (self.groups - self.wide_groups)
        rates = []
        for first, seed, starts in map(self.record, range(self.shards)):
            for low, high_start in zip(starts, starts[1:]):
                slots = range(first + low, first + max(high_start, low + 1))
                rates.append(1 if seed == 255 else sum(0.5 ** (self.r + (slot >= narrow_slots)) for slot in slots) / len(slots))
        return sum(rates) / len(rates)


def number(data):
    return int.from_bytes(data, "little")


def read(block):
    """Sections 2 and 5, for a block that is whole."""
    assert block[-5:] == MARK
    k, layout = block[-11:-9]
    kind = layout >> 4 & 7
    assert kind in (0, 1, 6)
    shape_bytes = 8 if kind == 6 else 0
    seed_bytes = 8 if layout & 0x80 else 0
    trailer_bytes = 11 + (layout & 15) + seed_bytes + shape_bytes
    fields = block[-trailer_bytes:-9]
    assert block[-9:-5] == (xxh3(fields, len(block)) & 0xFFFFFFFF).to_bytes(4, "little")
    seed = number(fields[shape_bytes:shape_bytes + seed_bytes])
    n = number(fields[shape_bytes + seed_bytes:-2])
    if kind == 6:
        return Ribbon(block, k, n, seed, fields[:8], trailer_bytes)
    return Filter(kind, k, 8 * (len(block) - trailer_bytes), n, seed)


def may_contain(block, key):
    return all(block[position // 8] >> position % 8 & 1 for position in read(block).positions(key))


def write(found, keys):
    array = bytearray(found.m // 8)
    for key in keys:
        for position in found.positions(key):
            array[position // 8] |= 1 << position % 8
    return bytes(array) + found.trailer()


def keys_of(name):
    if "empty" in name:
        return []
    if "fruit" in name or "replaced" in name:
        return [b"apple", b"banana", b"cherry"]
    return [b"key %d" % i for i in range({"ribbon_shards.block": 31500, "ribbon_reseeded.block": 300}.get(name, 1000))]


def seed_of(name):
    return SALT if "numbers" in name else 2923 if "reseeded" in name else 0


class FormatTest(unittest.TestCase):
    def setUp(self):
        all_blocks = {path.name: path.read_bytes() for path in sorted(GOLDEN.glob("*.block"))}
        self.ribbons = {name: block for name, block in all_blocks.items() if name.startswith("ribbon")}
        self.blocks = {name: block for name, block in all_blocks.items() if name not in self.ribbons}
        self.assertEqual((len(self.blocks), len(self.ribbons)), (6, 5))

    def test_the_golden_blocks_are_read(self):
        for name, block in self.blocks.items():
            with self.subTest(name):
                found = read(block)
                self.assertEqual(found.kind, int(name.startswith("classic")))
                self.assertEqual(found.n, len(keys_of(name)))
                self.assertEqual(found.seed, seed_of(name))
                self.assertTrue(all(may_contain(block, key) for key in keys_of(name)[:200]))
                passed = sum(may_contain(block, b"absent %d" % i) for i in range(500))
                self.assertLess(passed, 25)

    def test_the_golden_blocks_are_written(self):
        for name, block in self.blocks.items():
            with self.subTest(name):
                self.assertEqual(write(read(block), keys_of(name)), block)

    def test_the_golden_ribbons_are_read(self):
        for name, block in self.ribbons.items():
            with self.subTest(name):
                found, keys = read(block), keys_of(name)
                self.assertEqual((found.n, found.seed), (len(keys), seed_of(name)))
                self.assertTrue(all(found.may_contain(key) for key in keys[::1 + len(keys) // 300]))
                passed = sum(found.may_contain(b"absent %d" % i) for i in range(1000))
                self.assertLess(abs(passed - 1000 * found.rate()), 5 * (1 + 1000 * found.rate()) ** 0.5 * (0 < found.rate() < 1) + 0.5)

    def test_the_golden_ribbons_have_what_they_are_for(self):
        found = {name: read(block) for name, block in self.ribbons.items()}
        self.assertEqual([found[f"ribbon_{name}.block"].shards for name in ("empty", "fruit", "numbers", "shards")], [0, 0, 1, 3])
        self.assertNotEqual(found["ribbon_reseeded.block"].record(0)[1], 0)
        self.assertTrue(any(ribbon.slots % 64 and ribbon.wide_groups for ribbon in found.values()))

    def test_the_equations_in_the_document_are_those_of_a_golden_block(self):
        document = (ROOT / "docs/format.md").read_text(encoding="utf-8")
        found = read(self.ribbons["ribbon_numbers.block"])
        shown = f"L = {found.slots}, S = {found.shards}, B = {found.buckets}, r = {found.r} and X = {found.wide_groups}"
        self.assertIn(shown, " ".join(document.split()))
        for key in keys_of("ribbon_numbers.block")[:3]:
            start, coefficients, results = found.equation(key)
            self.assertIn(f"| `{key.decode()}` | {start} | `{coefficients:#018x}` | `{results:#010x}` |", document)

    def test_the_worked_example_is_a_golden_block(self):
        document = (ROOT / "docs/format.md").read_text(encoding="utf-8")
        (name, dump), = re.findall(r"hex dump of `([^`]+)`.*?```\n(.*?)```", document, re.DOTALL)
        bytes_of_dump = bytearray()
        for line in dump.splitlines():
            offset, row = line.split(": ", 1)
            self.assertEqual(int(offset, 16), len(bytes_of_dump))
            bytes_of_dump += bytes.fromhex(row.split("  ")[0])
        self.assertEqual(bytes_of_dump, self.blocks[name])

    def test_the_positions_in_the_document_are_those_of_golden_blocks(self):
        document = (ROOT / "docs/format.md").read_text(encoding="utf-8")
        shown = [name for name in self.blocks if f"`{name}`" in document]
        self.assertEqual(len(shown), 2)
        for name in shown:
            found = read(self.blocks[name])
            for key in keys_of(name)[:3]:
                positions = " ".join(map(str, found.positions(key)))
                row = f"| `{key.decode()}` | `{xxh3(key, found.seed):#018x}` | {positions} |"
                self.assertIn(row, document)


if __name__ == "__main__":
    unittest.main()
