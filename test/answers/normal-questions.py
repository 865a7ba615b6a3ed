"""Makes normal-questions.json: python3 test/answers/normal-questions.py > test/answers/normal-questions.json

mpmath with 60 digits, by the textbook's formulas (inverses, determinants, eigenvalues), none of which the package uses; every argument is a
double, each answer the double that is nearest to the exact one."""

import json
import sys

import mpmath
from mpmath import mp, mpf, matrix

mp.dps = 60


def column(numbers):
    return matrix([mpf(number) for number in numbers])


def square(rows):
    return matrix([[mpf(number) for number in row] for row in rows])


def symmetric_map(a, f):
    values, vectors = mpmath.eigsy(a)
    return vectors * mpmath.diag([f(value) for value in values]) * vectors.T


def log_det(a):
    return mpmath.log(mpmath.det(a))


def trace(a):
    return mpmath.fsum(a[i, i] for i in range(a.rows))


def kl(mp_, p, mq, q):
    inverse = q**-1
    d = mq - mp_
    return (trace(inverse * p) + (d.T * inverse * d)[0] - p.rows + log_det(q) - log_det(p)) / 2


def bhattacharyya(mp_, p, mq, q):
    middle = (p + q) / 2
    d = mp_ - mq
    return (d.T * middle**-1 * d)[0] / 8 + (log_det(middle) - (log_det(p) + log_det(q)) / 2) / 2


def renyi(mp_, p, mq, q, alpha):
    """None where the mixed covariance is not positive definite: the divergence is infinite."""
    alpha = mpf(alpha)
    mixed = (1 - alpha) * p + alpha * q
    if min(mpmath.eigsy(mixed, eigvals_only=True)) <= 0:
        return None
    d = mp_ - mq
    volume = log_det(mixed) - (1 - alpha) * log_det(p) - alpha * log_det(q)
    return alpha / 2 * (d.T * mixed**-1 * d)[0] + volume / (2 * (1 - alpha))


def wasserstein(mp_, p, mq, q):
    root = symmetric_map(p, lambda value: mpmath.sqrt(max(value, 0)))
    values = mpmath.eigsy(root * q * root, eigvals_only=True)
    d = mp_ - mq
    total = (d.T * d)[0] + trace(p) + trace(q) - 2 * mpmath.fsum(mpmath.sqrt(max(value, 0)) for value in values)
    return mpmath.sqrt(max(total, 0))


def entropy(p):
    return (p.rows * (1 + mpmath.log(2 * mpmath.pi)) + log_det(p)) / 2


def student_answers(nu, n, volume, squares, scores):
    half = (nu + n) / 2
    at_location = mpmath.loggamma(half) - mpmath.loggamma(nu / 2) - n * mpmath.log(nu * mpmath.pi) / 2 - volume / 2
    return {
        "degreesOfFreedom": float(nu),
        "entropy": float(half * (mpmath.digamma(half) - mpmath.digamma(nu / 2)) - at_location),
        "logPdf": [float(at_location - half * mpmath.log1p(square / nu)) for square in squares],
        "score": [flat((nu + n) / (nu + square) * score) for square, score in zip(squares, scores)],
    }


def pick(a, rows, columns):
    return matrix([[a[i, j] for j in columns] for i in rows])


def conditional(mean, a, given, values):
    others = [i for i in range(a.rows) if i not in given]
    inverse = pick(a, given, given) ** -1
    gain = pick(a, others, given) * inverse
    centre = column([mean[i] for i in others]) + gain * (column(values) - column([mean[i] for i in given]))
    return centre, pick(a, others, others) - gain * pick(a, given, others)


def flat(a):
    return [float(a[i, j]) for i in range(a.rows) for j in range(a.cols)]


def product(factor):
    lower = square(factor)
    return lower * lower.T


def chi_square_quantile(p, n):
    # Bisection of the regularised gamma function's logarithm.
    a, p = mpf(n) / 2, mpf(p)
    upper = p > mpf(1) / 2
    wanted = mpmath.log(1 - p if upper else p)

    def off(t):
        x = mpmath.exp(t)
        tail = mpmath.gammainc(a, x, mpmath.inf, regularized=True) if upper else mpmath.gammainc(a, 0, x, regularized=True)
        return (mpmath.log(tail) - wanted) * (-1 if upper else 1)

    low, high = mpf(-1500), mpf(12)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if off(middle) < 0 else (low, middle)
    return 2 * mpmath.exp((low + high) / 2)


def scaled(factor, scales):
    return [[entry * scale for entry in row] for row, scale in zip(factor, scales)]


def factor_of(n, seed):
    """Lower triangular, well-conditioned, of short doubles."""
    state = seed
    rows = []
    for i in range(n):
        row = []
        for j in range(n):
            state = (state * 1103515245 + 12345) % 2**31
            share = (state >> 20) / 1024 - 1
            row.append(0.0 if j > i else 1.5 + share / 4 if i == j else share / 4)
        rows.append(row)
    return rows


def hilbert_factor(n):
    """The Cholesky factor of Hilbert's matrix, each entry rounded to a double: its covariance is nearly that matrix."""
    hilbert = matrix(n, n)
    for i in range(n):
        for j in range(n):
            hilbert[i, j] = mpf(1) / (i + j + 1)
    lower = mpmath.cholesky(hilbert)
    return [[float(lower[i, j]) for j in range(n)] for i in range(n)]


def kahan_factor(n):
    """K' of Kahan's upper triangular matrix with s^2 + c^2 = 1, c = 0.285, each entry rounded to a double: the factor of K' K."""
    c = mpf(0.285)
    s = mpmath.sqrt(1 - c * c)
    return [[0.0 if j > i else float(s**j * (1 if i == j else -c)) for j in range(n)] for i in range(n)]


wide = [1e-6, 1e6, 1.0, 1e-3, 1e3]
pairs = {
    "one dimension": ([0.5], [[2.0]], [-1.0], [[0.25]]),
    "two dimensions": ([1.0, -1.0], [[2.0, 0.0], [0.5, 1.0]], [0.0, 0.5], [[1.0, 0.0], [-0.75, 1.25]]),
    "one differs from the other by little": (
        [1.0, 2.0, 3.0],
        [[1.0, 0.0, 0.0], [0.25, 2.0, 0.0], [-0.5, 0.125, 0.5]],
        [1.0, 2.0, 3.0],
        [[1.0 + 2**-20, 0.0, 0.0], [0.25, 2.0, 0.0], [-0.5, 0.125 - 2**-21, 0.5]],
    ),
    "five dimensions": ([0.5, -1.0, 2.0, 0.0, 1.0], factor_of(5, 1), [0.0, -1.0, 1.5, 0.5, 0.0], factor_of(5, 2)),
    "standard deviations from 1e-6 to 1e6": (
        [x * 0.5 for x in wide],
        scaled(factor_of(5, 3), wide),
        [0.0] * 5,
        scaled(factor_of(5, 4), wide),
    ),
    "a wide one and one of unit size": ([0.0] * 5, scaled(factor_of(5, 5), wide), [0.25] * 5, factor_of(5, 6)),
    "Hilbert's matrix and the identity": (
        [0.0] * 6,
        hilbert_factor(6),
        [0.5, 0.0, 0.0, -0.5, 0.0, 1.0],
        [[1.0 if i == j else 0.0 for j in range(6)] for i in range(6)],
    ),
    "Hilbert's matrix and its double": (
        [0.0] * 6,
        hilbert_factor(6),
        [0.0] * 6,
        [[2 * entry for entry in row] for row in hilbert_factor(6)],
    ),
    "Kahan's matrix and the identity": (
        [0.0] * 10,
        kahan_factor(10),
        [0.5, 0.0, 0.0, -0.5, 0.0, 1.0, 0.0, 0.0, 0.25, 0.0],
        [[1.0 if i == j else 0.0 for j in range(10)] for i in range(10)],
    ),
}
orders = [0.25, 0.5, 0.9990234375, 1.25, 3]

distances = []
for name, (mean_p, factor_p, mean_q, factor_q) in pairs.items():
    mean = {"p": column(mean_p), "q": column(mean_q)}
    spread = {"p": product(factor_p), "q": product(factor_q)}
    both = (mean["p"], spread["p"], mean["q"], spread["q"])
    back = (mean["q"], spread["q"], mean["p"], spread["p"])
    close = bhattacharyya(*both)
    renyis = [renyi(*both, order) for order in orders]
    distances.append(
        {
            "name": name,
            "p": {"mean": mean_p, "factor": factor_p},
            "q": {"mean": mean_q, "factor": factor_q},
            "kl": float(kl(*both)),
            "klBack": float(kl(*back)),
            "crossEntropy": float(kl(*both) + entropy(spread["p"])),
            "bhattacharyya": float(close),
            "hellinger": float(mpmath.sqrt(-mpmath.expm1(-close))),
            "renyi": [
                {"alpha": order, "value": None if value is None else float(value)} for order, value in zip(orders, renyis)
            ],
            "wasserstein": float(wasserstein(*both)),
        }
    )

conditionals = []
for name, mean, factor, given, values in [
    ("two dimensions", [1.0, -1.0], [[2.0, 0.0], [0.5, 1.0]], [1], [0.25]),
    ("five dimensions", [0.5, -1.0, 2.0, 0.0, 1.0], factor_of(5, 1), [3, 0], [1.0, -0.5]),
    ("wide", [x * 0.5 for x in wide], scaled(factor_of(5, 3), wide), [4, 0, 2], [125.0, 2e-6, -1.0]),
    ("Hilbert", [0.0] * 6, hilbert_factor(6), [5, 1, 3], [0.5, -0.25, 0.125]),
    ("Kahan", [0.0] * 10, kahan_factor(10), [9, 2, 7], [0.5, -0.25, 0.125]),
    ("all but one", [0.5, -1.0, 2.0, 0.0, 1.0], factor_of(5, 7), [4, 3, 1, 0], [0.5, 0.25, -0.125, 1.0]),
]:
    centre, spread = conditional(column(mean), product(factor), given, values)
    conditionals.append(
        {
            "name": name,
            "mean": mean,
            "factor": factor,
            "given": given,
            "values": values,
            "conditionalMean": flat(centre),
            "covariance": flat(spread),
            "factorOfCovariance": flat(mpmath.cholesky(spread)),
        }
    )

ellipsoids = []
for name, factor in [
    ("one dimension", [[2.0]]),
    ("five dimensions", factor_of(5, 1)),
    ("wide", scaled(factor_of(5, 3), wide)),
    ("Hilbert", hilbert_factor(6)),
    ("Kahan", kahan_factor(10)),
]:
    lengths = sorted((mpmath.sqrt(value) for value in mpmath.eigsy(product(factor), eigvals_only=True)), reverse=True)
    ellipsoids.append({"name": name, "factor": factor, "lengths": [float(length) for length in lengths]})

densities = []
for name, mean, factor in [
    ("one dimension", [0.5], [[2.0]]),
    ("five dimensions", [0.5, -1.0, 2.0, 0.0, 1.0], factor_of(5, 1)),
    ("wide", [x * 0.5 for x in wide], scaled(factor_of(5, 3), wide)),
    ("Hilbert", [0.0] * 6, hilbert_factor(6)),
    ("Kahan", [0.0] * 10, kahan_factor(10)),
]:
    n = len(mean)
    spread = product(factor)
    inverse = spread**-1
    # Within a few standard deviations along each coordinate, and the mean itself.
    rows = [[mean[i] + shift * (-1) ** i * float(mpmath.sqrt(spread[i, i])) for i in range(n)] for shift in [0.0, 0.5, 2.0]]
    away = [column(row) - column(mean) for row in rows]
    squares = [(d.T * inverse * d)[0] for d in away]
    densities.append(
        {
            "name": name,
            "mean": mean,
            "factor": factor,
            "rows": rows,
            "logDeterminant": float(log_det(spread)),
            "entropy": float(entropy(spread)),
            "mahalanobis": [float(mpmath.sqrt(square)) for square in squares],
            "logPdf": [float(-(n * mpmath.log(2 * mpmath.pi) + log_det(spread) + square) / 2) for square in squares],
            "score": [flat(-(inverse * d)) for d in away],
            # The same location and scale with 2.5 degrees of freedom.
            "student": student_answers(mpf(2.5), n, log_det(spread), squares, [-(inverse * d) for d in away]),
        }
    )

quantiles = [
    {"p": p, "n": n, "value": float(chi_square_quantile(p, n))}
    for n in [1, 2, 3, 4, 10, 25, 100, 1001, 10000]
    for p in [1e-300, 1e-12, 0.001, 0.25, 0.5, 0.68, 0.95, 0.99, 1 - 2**-20, 1 - 2**-50]
]

mp.dps = 400
logs = [
    {"x": x, "value": float(mpmath.log1p(mpf(x)) - mpf(x))}
    for x in [-1 + 2**-40, -0.9, -0.391, -0.389, -0.1, -1e-3, -1e-8, -1e-150, 0.0, 1e-12, 1e-5, 0.01, 0.3, 0.5, 0.569, 0.571, 2.0, 1e9]
]

answers = {
    "source": f"python3 test/answers/normal-questions.py, with mpmath {mpmath.__version__} and 60 digits",
    "distances": distances,
    "conditionals": conditionals,
    "ellipsoids": ellipsoids,
    "densities": densities,
    "chiSquareQuantiles": quantiles,
    "log1pmx": logs,
}
# An answer a line.
lists = [
    f'"{name}": [\n' + ",\n".join(json.dumps(item) for item in value) + "\n]" if isinstance(value, list) else f'"{name}": {json.dumps(value)}'
    for name, value in answers.items()
]
sys.stdout.write("{\n" + ",\n".join(lists) + "\n}\n")
