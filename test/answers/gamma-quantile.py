"""Makes gamma-quantile.json: python3 test/answers/gamma-quantile.py > test/answers/gamma-quantile.json

mpmath with 40 digits: P(a, x) of doubles a and x, rounded to a double."""

import json
import sys

import mpmath
from mpmath import mp, mpf

mp.dps = 40

rows = []
for a in (0.05, 0.25, 0.5, 1, 1.5, 2.1, 5, 15.5, 16, 65, 500, 20000):
    for z in (-8, -5, -3, -2, -1, -0.3, 0, 0.5, 1, 2, 3):
        x = float(a * max(mpf(1) / 1000, 1 - mpf(1) / (9 * mpf(a)) + z / (3 * mpmath.sqrt(a))) ** 3)
        p = mpmath.gammainc(mpf(a), 0, mpf(x), regularized=True)
        if mpf(10) ** -290 < p < 1 - mpf(10) ** -9:
            rows.append(dict(a=a, x=x, p=float(p)))
json.dump(
    dict(source=f"mpmath {mpmath.__version__}, Python {sys.version.split()[0]}, mp.dps = {mp.dps}: python3 test/answers/gamma-quantile.py", rows=rows),
    sys.stdout,
    indent=1,
)
print()
