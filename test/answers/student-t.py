"""Makes student-t.json: python3 test/answers/student-t.py > test/answers/student-t.json

Densities, entropies and distances by mpmath with 50 digits; the same densities by scipy.stats.multivariate_t and by mvtnorm::dmvt in R
(needs Rscript with mvtnorm), which lose digits where nu is large; quantiles by SciPy. Every argument is a float32. A degree of freedom
of null is infinite."""

import json
import subprocess
import sys

import mpmath
import numpy
import scipy
import scipy.stats
from mpmath import log, loggamma, mpf, pi, psi

mpmath.mp.dps = 50
degrees = [0.5, 1.0, 4.2, 1e6, None]
state = 1


def entry():
    """A multiple of 1/64 between -1 and 1."""
    global state
    state = (state * 1664525 + 1013904223) % 2**32
    return ((state >> 16) % 129 - 64) / 64


def log_pdf(n, nu, square, log_determinant):
    if nu is None:
        return -(n * log(2 * pi) + log_determinant + square) / 2
    nu = mpf(nu)
    constant = loggamma((nu + n) / 2) - loggamma(nu / 2) - n * log(nu * pi) / 2 - log_determinant / 2
    return constant - (nu + n) / 2 * log(1 + square / nu)


def entropy(n, nu, log_determinant):
    if nu is None:
        return (n * (1 + log(2 * pi)) + log_determinant) / 2
    nu = mpf(nu)
    return (nu + n) / 2 * (psi(0, (nu + n) / 2) - psi(0, nu / 2)) - log_pdf(n, nu, 0, log_determinant)


def by_mvtnorm(rows, location, scale, nu):
    def numbers(values):
        return "c(" + ",".join(repr(float(value)) for value in numpy.ravel(values)) + ")"

    n = len(location)
    program = (
        f"x <- matrix({numbers(rows)}, ncol={n}, byrow=TRUE); s <- matrix({numbers(scale)}, {n});"
        f"cat(format(mvtnorm::dmvt(x, {numbers(location)}, s, {'Inf' if nu is None else nu}, log=TRUE), digits=17))"
    )
    return [float(word) for word in run_r(program).split()]


def run_r(program):
    return subprocess.run(["Rscript", "-e", program], check=True, capture_output=True, text=True).stdout


def case(n):
    a = [[entry() for _ in range(n)] for _ in range(n)]
    scale = [[sum(x * y for x, y in zip(a[i], a[j])) + (i == j) for j in range(n)] for i in range(n)]
    location = [entry() for _ in range(n)]
    rows = [location, *([4 * entry() for _ in range(n)] for _ in range(3)), [1e6 * entry() for _ in range(n)]]
    rows = [[float(numpy.float32(value)) for value in row] for row in rows]
    exact = mpmath.matrix(scale)
    log_determinant = log(mpmath.det(exact))
    squares = []
    for row in rows:
        difference = mpmath.matrix([mpf(x) - mpf(m) for x, m in zip(row, location)])
        squares.append((difference.T * mpmath.lu_solve(exact, difference))[0])
    answers = []
    for nu in degrees:
        scipys = scipy.stats.multivariate_t(location, scale, numpy.inf if nu is None else nu).logpdf(rows)
        answers.append(
            {
                "degreesOfFreedom": nu,
                "logPdf": [float(log_pdf(n, nu, square, log_determinant)) for square in squares],
                "logPdfSciPy": [float(value) for value in numpy.ravel(scipys)],
                "logPdfMvtnorm": by_mvtnorm(rows, location, scale, nu),
                "entropy": float(entropy(n, nu, log_determinant)),
            }
        )
    return {
        "location": location,
        "scale": scale,
        "rows": rows,
        "logDeterminant": float(log_determinant),
        "mahalanobis": [float(mpmath.sqrt(square)) for square in squares],
        "answers": answers,
    }


cells = 64
levels = [k / cells for k in range(1, cells)]
versions = (
    f"mpmath {mpmath.__version__} (mp.dps = 50), SciPy {scipy.__version__}, NumPy {numpy.__version__}, "
    f"Python {sys.version.split()[0]}, {run_r('cat(R.version.string)')}, "
    f"mvtnorm {run_r('cat(as.character(packageVersion(%smvtnorm%s)))' % (chr(39), chr(39)))}"
)
json.dump(
    {
        "source": f"{versions}: python3 test/answers/student-t.py",
        "cases": [case(n) for n in (1, 3, 20)],
        "quantilesOfChiSquared": [
            {"degreesOfFreedom": nu, "edges": [float(q) for q in scipy.stats.chi2.ppf(levels, nu)]}
            for nu in (0.1, 0.5, 1.0, 1.9, 2.0, 4.2, 30.0, 1e6)
        ],
        "quantilesOfStudent": [
            {"degreesOfFreedom": nu, "edges": [float(q) for q in scipy.stats.t.ppf(levels, nu)]}
            for nu in (0.5, 1.0, 4.2, 1e6)
        ],
    },
    sys.stdout,
)
print()
