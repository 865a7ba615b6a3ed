"""Makes gamma.json: python3 test/answers/gamma.py > test/answers/gamma.json

mpmath with 60 digits; every argument is a double, each answer the double that is nearest to the exact one."""

import json
import sys

import mpmath
from mpmath import loggamma, mpf, psi

mpmath.mp.dps = 60
arguments = [1e-300, 1e-8, 0.005, 0.25, 0.5, 0.75, 1.0, 1.0000001, 1.25, 1.5, 1.75, 1.9999999, 2.0, 2.1, 2.5, 3.0, 4.6, 7.0,
             9.5, 9.999999, 10.0, 10.5, 12.0, 17.25, 50.0, 171.5, 1000.0, 12345.678, 1e6, 1e10, 1e15, 1e20, 1e100, 1e300]
steps = [0.5, 1.0, 1.5, 10.0, 50.0, 500.0]


def exact(number):
    return float(number)


def ratio(x, b):
    x, b = mpf(x), mpf(b)
    # For such large arguments only the leading terms matter, and 60 digits would not suffice for the difference.
    if x > mpf(10) ** 30:
        return exact(b * (b - 1) / (2 * x))
    return exact(loggamma(x + b) - loggamma(x) - b * mpmath.log(x))


def difference(x, b):
    x, b = mpf(x), mpf(b)
    if x > mpf(10) ** 30:
        return exact(b / x)
    return exact(psi(0, x + b) - psi(0, x))


json.dump(
    {
        "source": f"mpmath {mpmath.__version__}, Python {sys.version.split()[0]}, mp.dps = 60: python3 test/answers/gamma.py",
        "logGamma": [[x, exact(loggamma(mpf(x)))] for x in arguments],
        "logGammaRatio": [[x, b, ratio(x, b)] for x in arguments for b in steps],
        "digammaDifference": [[x, b, difference(x, b)] for x in arguments for b in steps],
    },
    sys.stdout,
)
print()
