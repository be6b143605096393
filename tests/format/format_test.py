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


def read(block):
    """Sections 2 and 5, for a block that is whole."""
    assert block[-5:] == MARK
    k, layout = block[-11:-9]
    assert layout & 0x60 == 0
    seed_bytes = 8 if layout & 0x80 else 0
    trailer_bytes = 11 + (layout & 15) + seed_bytes
    fields = block[-trailer_bytes:-9]
    assert block[-9:-5] == (xxh3(fields, len(block)) & 0xFFFFFFFF).to_bytes(4, "little")
    seed = int.from_bytes(fields[:seed_bytes], "little")
    n = int.from_bytes(fields[seed_bytes:-2], "little")
    return Filter(layout >> 4 & 1, k, 8 * (len(block) - trailer_bytes), n, seed)


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
    return [b"key %d" % i for i in range(1000)]


class FormatTest(unittest.TestCase):
    def setUp(self):
        self.blocks = {path.name: path.read_bytes() for path in sorted(GOLDEN.glob("*.block"))}
        self.assertEqual(len(self.blocks), 6)

    def test_the_golden_blocks_are_read(self):
        for name, block in self.blocks.items():
            with self.subTest(name):
                found = read(block)
                self.assertEqual(found.kind, int(name.startswith("classic")))
                self.assertEqual(found.n, len(keys_of(name)))
                self.assertEqual(found.seed, SALT if "numbers" in name else 0)
                self.assertTrue(all(may_contain(block, key) for key in keys_of(name)[:200]))
                passed = sum(may_contain(block, b"absent %d" % i) for i in range(500))
                self.assertLess(passed, 25)

    def test_the_golden_blocks_are_written(self):
        for name, block in self.blocks.items():
            with self.subTest(name):
                self.assertEqual(write(read(block), keys_of(name)), block)

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
