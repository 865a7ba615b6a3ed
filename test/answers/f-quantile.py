"""Makes f-quantile.json: python3 test/answers/f-quantile.py > test/answers/f-quantile.json

mpmath with 350 digits, so that neither tail is lost beside the other: P(F < f) and P(F > f), each rounded to a double, of Snedecor's F with m and nu degrees of freedom and f = e^v for
doubles m, nu and v, by a series of the incomplete beta function; P(T < t) and P(T > t) of Student's t with nu degrees of freedom, by that of t^2."""

import json
import sys

import mpmath
from mpmath import mp, mpf

mp.dps = 350


def tail(a, b, x, y):
    """I_x(a, b), y = 1 - x, by the series of positive terms (DLMF 8.17.8)."""
    total, term, k = mpf(1), mpf(1), 0
    while term > total * mpf(10) ** -345 or (a + b + k) * x >= a + 1 + k:
        term *= (a + b + k) / (a + 1 + k) * x
        k += 1
        total += term
    log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
    return mpmath.exp(a * mpmath.log(x) + b * mpmath.log(y) - log_beta) * total / a


def tails(m, nu, f):
    a, b = mpf(m) / 2, mpf(nu) / 2
    x, y = a * f / (a * f + b), b / (a * f + b)
    if x < y:
        low = tail(a, b, x, y)
        return low, 1 - low
    high = tail(b, a, y, x)
    return 1 - high, high


rows = []
for m in (1, 2, 7, 100):
    for nu in (0.05, 0.5, 1, 2, 4.2, 30, 1000, 1e6):
        for v in (-60, -3.5, -1, -0.25, 0, 0.125, 0.5, 2, 6, 45, 300):
            below, above = tails(m, nu, mpmath.exp(mpf(v)))
            # A probability beyond the range of doubles says nothing about v.
            if min(below, above) > mpf(10) ** -300:
                rows.append(dict(m=m, nu=nu, logF=v, below=float(below), above=float(above)))
students = []
for nu in (0.25, 0.5, 1, 2, 4.2, 30, 1e6):
    for t in (2.0**-30, 0.25, 1.5, 8.0, 1000.0, 1e40):
        above = tails(1, nu, mpf(t) ** 2)[1] / 2
        if above > mpf(10) ** -300:
            students.append(dict(nu=nu, t=t, above=float(above)))
source = f"mpmath {mpmath.__version__}, Python {sys.version.split()[0]}, mp.dps = {mp.dps}: python3 test/answers/f-quantile.py"
print('{"source": %s,' % json.dumps(source))
for name, answers, end in (("rows", rows, ","), ("students", students, "}")):
    print('"%s": [\n%s\n]%s' % (name, ",\n".join(json.dumps(answer) for answer in answers), end))
