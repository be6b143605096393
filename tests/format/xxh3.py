"""XXH3 with 64 bits, for inputs of at most 128 bytes, after its specification."""

MASK = (1 << 64) - 1
PRIME_1 = 0x9E3779B185EBCA87
PRIME_2 = 0xC2B2AE3D27D4EB4F
PRIME_3 = 0x165667B19E3779F9
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364")


def number(data, at, size=8):
    return int.from_bytes(data[at:at + size], "little")


def swapped(value, size):
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def folded(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK


def rotated(value, count):
    return (value << count | value >> 64 - count) & MASK


def avalanche_of_xxh64(value):
    value = (value ^ value >> 33) * PRIME_2 & MASK
    value = (value ^ value >> 29) * PRIME_3 & MASK
    return value ^ value >> 32


def avalanche(value):
    value = (value ^ value >> 37) * 0x165667919E3779F9 & MASK
    return value ^ value >> 32


def mixed(data, at, secret_at, seed):
    return folded(number(data, at) ^ (number(SECRET, secret_at) + seed & MASK),
                  number(data, at + 8) ^ (number(SECRET, secret_at + 8) - seed & MASK))


def xxh3(data, seed=0):
    size = len(data)
    if size == 0:
        return avalanche_of_xxh64(seed ^ number(SECRET, 56) ^ number(SECRET, 64))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche_of_xxh64(combined ^ (number(SECRET, 0, 4) ^ number(SECRET, 4, 4)) + seed & MASK)
    if size <= 8:
        seed ^= swapped(seed & 0xFFFFFFFF, 4) << 32
        value = number(data, size - 4, 4) + (number(data, 0, 4) << 32)
        value ^= (number(SECRET, 8) ^ number(SECRET, 16)) - seed & MASK
        value ^= rotated(value, 49) ^ rotated(value, 24)
        value = value * 0x9FB21C651E98DF25 & MASK
        value ^= (value >> 35) + size
        value = value * 0x9FB21C651E98DF25 & MASK
        return value ^ value >> 28
    if size <= 16:
        low = number(data, 0) ^ ((number(SECRET, 24) ^ number(SECRET, 32)) + seed & MASK)
        high = number(data, size - 8) ^ ((number(SECRET, 40) ^ number(SECRET, 48)) - seed & MASK)
        return avalanche(size + swapped(low, 8) + high + folded(low, high) & MASK)
    if size > 128:
        raise ValueError(f"{size} bytes are too many")
    total = size * PRIME_1
    for i in range((size - 1) // 32 + 1):
        total += mixed(data, 16 * i, 32 * i, seed) + mixed(data, size - 16 * (i + 1), 32 * i + 16, seed)
    return avalanche(total & MASK)
