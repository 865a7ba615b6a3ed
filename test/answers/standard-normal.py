"""Makes standard-normal.json: python3 test/answers/standard-normal.py > test/answers/standard-normal.json

mpmath with 60 digits; every argument is a double, each answer the double that is nearest to the exact one."""

import json
import random
import sys

import mpmath
from mpmath import mp, mpf

mp.dps = 60
random.seed(1)


def cdf(z):
    return mpmath.erfc(-mpf(z) / mpmath.sqrt(2)) / 2


def quantile(p):
    # Newton's steps for log cdf(z) = log p in the lower half, from the tail's first term; the upper half by symmetry.
    p = mpf(p)
    if p == mpf(1) / 2:
        return mpf(0)
    if p > mpf(1) / 2:
        return -quantile_low(1 - p)
    return quantile_low(p)


def quantile_low(p):
    z = -mpmath.sqrt(2) * mpmath.sqrt(max(-mpmath.log(2 * p), mpf(10) ** -40)) / 2
    for _ in range(200):
        below = cdf(z)
        step = (mpmath.log(below) - mpmath.log(p)) * below / mpmath.npdf(z)
        z -= step
        if abs(step) < abs(z) * mpf(10) ** -45:
            return z
    raise ArithmeticError(p)


arguments = sorted(
    {random.uniform(-37.5, 8.5) for _ in range(150)}
    | {random.uniform(-6, 6) for _ in range(150)}
    | {sign * 10.0**k for k in range(-20, 1, 4) for sign in (-1, 1)}
    | {0.0, 0.67448975, -0.67448975, 5.656854, -5.656854, -37.0, -30.0, -0.5, 0.5}
)
probabilities = sorted(
    {10.0 ** random.uniform(-307, -1) for _ in range(100)}
    | {random.uniform(0, 1) for _ in range(150)}
    | {0.5 + sign * 10.0**-k for k in range(1, 16, 2) for sign in (-1, 1)}
    | {1 - 2.0**-k for k in range(1, 54, 4)}
    | {0.075, 0.925, 1e-300, 5e-324, 1.3887943864964021e-11, 0.5}
)
json.dump(
    {
        "source": f"mpmath {mpmath.__version__}, Python {sys.version.split()[0]}, mp.dps = {mp.dps}: python3 test/answers/standard-normal.py",
        "arguments": arguments,
        "cdf": [float(cdf(z)) for z in arguments],
        "probabilities": probabilities,
        "quantile": [float(quantile(p)) for p in probabilities],
    },
    sys.stdout,
    indent=1,
)
print()
