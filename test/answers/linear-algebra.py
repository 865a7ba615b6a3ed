"""Makes linear-algebra.json beside it: `python3 test/answers/linear-algebra.py > test/answers/linear-algebra.json`.

What NumPy's linear algebra gives for matrices that are well conditioned, graded, ill-conditioned, and of low rank. A
large matrix is not stored, but made again by the test: see `scattered`.
"""

import json
import platform

import numpy

generator = numpy.random.default_rng(14)


def rounded(a):
    """Numbers of few digits, which JSON holds exactly and float32 too."""
    return numpy.round(a * 64) / 64


def low(m, n, rank):
    return rounded(generator.normal(size=(m, rank))) @ rounded(generator.normal(size=(rank, n)))


def scattered(length, seed):
    """The numbers of `scattered` in test/harness/naive.ts (a linear congruential generator), rounded to float32."""
    state = (seed * 2654435761 + 12345) % 2**32
    numbers = numpy.empty(length)
    for i in range(length):
        state = (state * 1664525 + 1013904223) % 2**32
        numbers[i] = state / 2**31 - 1
    return numbers.astype(numpy.float32).astype(float)


def large(n, seed):
    """The rule: n x n numbers of `scattered`, row by row, over 8, which keeps the determinant in range."""
    a = scattered(n * n, seed).reshape(n, n) / 8
    sign, log = numpy.linalg.slogdet(a)
    return {
        "n": n,
        "seed": seed,
        "s": numpy.linalg.svd(a, compute_uv=False).tolist(),
        "eigenvalues": numpy.linalg.eigvalsh(a + a.T).tolist(),
        "sign": sign,
        "logDeterminant": log,
    }


def hilbert(n):
    a = 1 / (1 + numpy.add.outer(numpy.arange(n), numpy.arange(n)))
    return {
        "n": n,
        "s": numpy.linalg.svd(a, compute_uv=False).tolist(),
        "eigenvalues": numpy.linalg.eigvalsh(a).tolist(),
        "rank": int(numpy.linalg.lstsq(a, a[0], rcond=1e-12)[2]),
    }


def case(name, a, b):
    m, n = a.shape
    x, _, rank, s = numpy.linalg.lstsq(a, b, rcond=None)
    q, r = numpy.linalg.qr(a)
    signs = numpy.where(numpy.diag(r) < 0, -1.0, 1.0)
    told = {
        "name": name,
        "a": a.tolist(),
        "b": b.tolist(),
        "s": s.tolist(),
        "lstsq": x.tolist(),
        "rank": int(rank),
        "q": (q * signs).tolist(),
        "r": (signs[:, None] * r).tolist(),
    }
    if m == n:
        told["eigenvalues"] = numpy.linalg.eigvalsh(a + a.T).tolist()
        told["det"] = float(numpy.linalg.det(a))
        if rank == n:
            told["solve"] = numpy.linalg.solve(a, b).tolist()
            told["inverse"] = numpy.linalg.inv(a).tolist()
    return told


def square(n):
    return rounded(generator.normal(size=(n, n))) + 2 * numpy.sqrt(n) * numpy.eye(n)


cases = [
    case("1 x 1", numpy.array([[-2.5]]), numpy.array([[5.0, 1.0]])),
    case("2 x 2", numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([[1.0], [2.0]])),
    case("3 x 3", square(3), rounded(generator.normal(size=(3, 2)))),
    case("7 x 7", square(7), rounded(generator.normal(size=(7, 1)))),
    case("33 x 33", square(33), rounded(generator.normal(size=(33, 3)))),
    case("graded 6 x 6", square(6) * 4.0 ** -numpy.arange(6)[:, None], rounded(generator.normal(size=(6, 1)))),
    case("tall 9 x 4", rounded(generator.normal(size=(9, 4))), rounded(generator.normal(size=(9, 2)))),
    case("wide 4 x 9", rounded(generator.normal(size=(4, 9))), rounded(generator.normal(size=(4, 2)))),
]
deficient = [case("rank 2 of 6 x 5", low(6, 5, 2), rounded(generator.normal(size=(6, 2)))),
             case("rank 3 of 5 x 5", low(5, 5, 3), rounded(generator.normal(size=(5, 1))))]
for told in deficient:
    a = numpy.array(told["a"])
    told["gramEigenvalues"] = numpy.linalg.eigvalsh(a @ a.T).tolist()
print(json.dumps({"numpy": numpy.__version__, "python": platform.python_version(), "cases": cases,
                  "deficient": deficient, "large": large(500, 14), "hilbert": hilbert(12)}))
