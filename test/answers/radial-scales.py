"""Makes radial-scales.json: python3 test/answers/radial-scales.py > test/answers/radial-scales.json

sqrt(nu / w) of docs/numerics.md, by mpmath with 50 digits from the words of Philox on: it shares no line with what it checks."""

import json
import sys

import mpmath
from mpmath import cos, log, mpf, pi, sin, sqrt

mpmath.mp.dps = 50
mask = 2**32 - 1


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & mask, (p0 >> 32) ^ c[3] ^ k[1], p0 & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def words(seed, stream, block):
    return philox([block & mask, block >> 32, stream & mask, stream >> 32], [seed & mask, seed >> 32])


def uniform(high, low):
    return (mpf((high << 32) | low) + mpf(1) / 2) / 2**64


def normal(w):
    """The first float64 normal of a block."""
    radius = sqrt(-2 * log(uniform(w[0], w[1])))
    bits = (w[2] << 32) | w[3]
    t = bits & (2**62 - 1)
    if t >= 2**61:
        t -= 2**62
    angle = (mpf(t) + mpf(1) / 2) * pi / 4 / 2**61
    direction = sin(angle) if (bits >> 62) & 1 else cos(angle)
    return radius * direction * (-1 if bits >> 63 else 1)


def scale(nu, seed, stream, row):
    nu = mpf(nu)
    a = nu / 2 if nu >= 2 else nu / 2 + 1
    d = a - mpf(1) / 3
    first = words(seed, stream, 2**63 + 128 * row + 1)
    for attempt in range(64):
        x = normal(words(seed, stream, 2**63 + 128 * row + 2 * attempt))
        w = words(seed, stream, 2**63 + 128 * row + 2 * attempt + 1)
        v = (1 + x / sqrt(9 * d)) ** 3
        if v > 0 and log(uniform(w[0], w[1])) < x * x / 2 + d * (1 - v + log(v)):
            boost = 1 if nu >= 2 else uniform(first[2], first[3]) ** (2 / nu)
            return float(sqrt(nu / (2 * d * v * boost))), attempt
    raise ArithmeticError(row)


def run(nu, seed, stream, row, count):
    made = [scale(nu, seed, stream, row + i) for i in range(count)]
    return {
        "degreesOfFreedom": nu,
        "seed": str(seed),
        "stream": str(stream),
        "firstRow": str(row),
        "scales": [value for value, _ in made],
        "attempts": [attempt for _, attempt in made],
    }


runs = [run(nu, 42, 7, 0, 60) for nu in (0.1, 0.5, 1.0, 2.0, 4.2, 1e6)]
third = next(row for row in range(100_000) if scale(2.0, 42, 7, row)[1] == 2)
runs += [run(2.0, 42, 7, third - 1, 3), run(2.0, 2**64 - 1, 2**64 - 1, 2**56 - 2, 2), run(3.0, 1, 2**63, 2**32 - 2, 4)]
source = f"mpmath {mpmath.__version__}, Python {sys.version.split()[0]}, mp.dps = 50: python3 test/answers/radial-scales.py"
json.dump({"source": source, "runs": runs}, sys.stdout)
print()
