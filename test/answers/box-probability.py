"""Makes box-probability.json: python3 test/answers/box-probability.py > test/answers/box-probability.json

mpmath with 24 digits. Boxes of normals with one common factor, x_i = a_i t + sqrt(1 - a_i^2) e_i: the probability is an integral over t
(Dunnett and Sobel, Biometrika 42, 1955). Two normals of any correlation: an integral over the first.
"""

import json
import sys
from collections import Counter

import mpmath
from mpmath import mp, mpf

mp.dps = 24
inf = mpmath.inf


def between(a, b):
    if a > 0:
        a, b = -b, -a
    # ncdf of the lower tail keeps its digits.
    return mpmath.ncdf(b) - mpmath.ncdf(a)


def breaks(low, high, kinks):
    inner = sorted(k for k in kinks if low < k < high)
    return [low, *inner, high]


def one_factor(loadings, lower, upper):
    counts = Counter(zip(loadings, lower, upper))
    rows = [(mpf(a), mpmath.sqrt(1 - mpf(a) ** 2), mpf(l), mpf(u), count) for (a, l, u), count in counts.items()]
    value = lambda t: mpmath.npdf(t) * mpmath.fprod(between((l - a * t) / s, (u - a * t) / s) ** k for a, s, l, u, k in rows)
    return mpmath.quad(value, range(-14, 15), method="gauss-legendre", maxdegree=5)


def two(r, lower, upper):
    r = mpf(r)
    s = mpmath.sqrt(1 - r * r)
    value = lambda x: mpmath.npdf(x) * between((lower[1] - r * x) / s, (upper[1] - r * x) / s)
    low, high = max(mpf(lower[0]), mpf(-20)), min(mpf(upper[0]), mpf(20))
    kinks = [mpf(2 * k) for k in range(-10, 11)]
    kinks += [end + side * s * s * w for end in (low, high) for side in (-1, 1) for w in (mpf(1) / 8, mpf(1) / 3, 1, 3)]
    if r != 0:
        kinks += [limit / r + side * s * w for limit in (lower[1], upper[1]) if abs(limit) < inf for side in (-1, 1) for w in (0, 1, 2, 4, 8)]
    return mpmath.quad(value, breaks(low, high, kinks), method="gauss-legendre", maxdegree=5)


def text(x):
    return x if abs(x) < inf else ("Infinity" if x > 0 else "-Infinity")


def case(name, loadings, lower, upper):
    lower, upper = [float(x) for x in lower], [float(x) for x in upper]
    p = one_factor(loadings, lower, upper)
    return dict(name=name, loadings=loadings, lower=[*map(text, lower)], upper=[*map(text, upper)], probability=float(p))


cases = [
    case("n = 3", [0.5, -0.75, 0.25], [-1, -inf, 0], [2, 1, inf]),
    case("n = 5, a tail of 1e-12", [0.6, 0.7, 0.5, 0.8, 0.4], [5.5, 4.5, 4.25, 4, 3], [inf] * 5),
    case("n = 5, narrow", [0.9, -0.8, 0.7, 0.6, 0.95], [0, 0, 0, 0, 0], [0.01, 0.02, 0.01, 1, 0.03]),
    case("n = 10", [k / 11 for k in range(1, 11)], [-2.5] * 10, [1 + k / 8 for k in range(10)]),
    case("n = 20, strong", [0.95 - k / 100 for k in range(20)], [-inf] * 20, [k / 10 for k in range(20)]),
    case("n = 50", [(-1) ** k * 0.5 for k in range(50)], [-3] * 50, [2.5] * 50),
    case("n = 300", [0.3] * 300, [-inf] * 300, [3] * 300),
]
pairs = []
for r in (-0.9999, -0.97, -0.9, -0.5, 0, 0.1, 0.4, 0.8, 0.924, 0.926, 0.99, 0.999999, 1 - 2.0**-40):
    for lower, upper in (
        ([-inf, -inf], [0.5, -1.25]),
        ([-inf, -inf], [-3, 2]),
        ([0.5, -1], [inf, 1]),
        ([-1, -2], [1.5, 0.25]),
        ([1, 1], [1.5, 3]),
        ([3, 4], [inf, inf]),
        ([-8, -1], [9, 0.001]),
    ):
        pairs.append(dict(r=r, lower=[*map(text, lower)], upper=[*map(text, upper)], probability=float(two(r, lower, upper))))

json.dump(
    dict(
        source=f"mpmath {mpmath.__version__}, Python {sys.version.split()[0]}, mp.dps = {mp.dps}: python3 test/answers/box-probability.py",
        cases=cases,
        pairs=pairs,
    ),
    sys.stdout,
    indent=1,
)
print()
