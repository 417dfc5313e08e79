"""Philox4x32-10 in plain Python integers, one record at a time."""

import math

MASK = 0xFFFFFFFF


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, 1 << 32)
        high1, low1 = divmod(0xCD9E8D57 * c2, 1 << 32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def pair(word0: int, word1: int, record: int, block: int) -> tuple[float, float]:
    counter = (record & MASK, record >> 32, (block ^ word1) & MASK, word1 >> 32)
    c0, c1, c2, c3 = philox(counter, (word0 & MASK, word0 >> 32))
    return ((c0 << 32 | c1) >> 11) / 2**53, ((c2 << 32 | c3) >> 11) / 2**53


def uniform(word0: int, word1: int, record: int, draw: int) -> float:
    return pair(word0, word1, record, draw // 2)[draw % 2]


def normal(word0: int, word1: int, record: int, draw: int) -> float:
    first, second = pair(word0, word1, record, draw // 2)
    turn = math.sin if draw % 2 else math.cos
    return math.sqrt(-2 * math.log(first + 2.0**-54)) * turn(2 * math.pi * second)
