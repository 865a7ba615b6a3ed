"""The public functions by NumPy and SciPy, as their users write them: factors by LAPACK and triangular solves, which
also have their own suite. Each computes in the case's dtype where the library does."""

import numpy_arrays
import protocol

try:
    import scipy.linalg
    import scipy.special
    import scipy.stats
except ImportError as error:
    protocol.absent(str(error))

import numpy as np

NU = 5.0
PROBABILITY = 0.95


def chol(covariance):
    return np.linalg.cholesky(covariance)


def solve(factor, values):
    return scipy.linalg.solve_triangular(factor, values, lower=True, check_finite=False)


def log_diagonal(factor):
    return np.log(np.diagonal(factor)).sum()


def triangular(name, factor, rows):
    # A product by BLAS's trmm, of columns: a row-major matrix is its transpose there.
    trmm = scipy.linalg.get_blas_funcs("trmm", (factor,))
    upper, columns = factor.T, rows.T
    return {
        "forward solve": lambda: solve(factor, columns).T,
        "backward solve": lambda: scipy.linalg.solve_triangular(upper, columns, lower=False, check_finite=False).T,
        "product": lambda: trmm(1, upper, columns, trans_a=1).T,
    }[name]


def prepare(problem, inputs):
    n, name = problem["dimension"], problem["case"].removesuffix(", harsh")
    if problem["suite"] == "triangular":
        return triangular(name, *(inputs[key].reshape(n, n) for key in ("factor", "a")))
    mean, weights = inputs["mean"], inputs["weights"]
    covariance, other, a = (inputs[key].reshape(n, n) for key in ("covariance", "other", "a"))
    rows, probabilities = (inputs[key].reshape(-1, n) for key in ("rows", "probabilities"))
    factor, other_factor = chol(covariance), chol(other)
    half = -(-n // 2)
    first, last = np.arange(half), np.arange(half, n)
    matrix, given = a[:half], mean[: n - half]

    def squares():
        return np.square(solve(factor, (rows - mean).T)).sum(axis=0)

    def marginal():
        own = covariance[np.ix_(first, first)]
        return own, chol(own)

    def conditional():
        across = solve(chol(covariance[np.ix_(last, last)]), covariance[np.ix_(last, first)])
        own = covariance[np.ix_(first, first)] - across.T @ across
        shift = across.T @ solve(chol(covariance[np.ix_(last, last)]), given - mean[last])
        return own, chol(own), mean[first] + shift

    def affine():
        image = matrix @ covariance @ matrix.T
        return image, chol(image), matrix @ mean

    def fit(ridge=0.0, **options):
        found = np.cov(rows, rowvar=False, **options).reshape(n, n)
        if ridge > 0:
            found = (1 - ridge) * found + ridge * np.trace(found) / n * np.eye(n)
        return found, chol(found), np.average(rows, axis=0, weights=options.get("aweights"))

    def pivoted():
        pstrf = scipy.linalg.get_lapack_funcs("pstrf", (covariance,))
        return pstrf(covariance, lower=1)

    def eigen():
        values, vectors = np.linalg.eigh(covariance)
        return vectors * np.sqrt(np.maximum(values, 0))

    def kl():
        across = solve(other_factor, factor)
        distance = solve(other_factor, mean)
        logs = 2 * (log_diagonal(other_factor) - log_diagonal(factor))
        return 0.5 * (np.square(across).sum() + distance @ distance - n + logs)

    def bhattacharyya():
        between = chol((covariance + other) / 2)
        distance = solve(between, mean)
        logs = log_diagonal(between) - (log_diagonal(factor) + log_diagonal(other_factor)) / 2
        return distance @ distance / 8 + logs

    def wasserstein():
        inner = np.linalg.eigvalsh(factor.T @ other @ factor)
        traces = np.trace(covariance) + np.trace(other)
        return np.sqrt(mean @ mean + traces - 2 * np.sqrt(np.maximum(inner, 0)).sum())

    def ellipsoid():
        radius = np.sqrt(scipy.stats.chi2.ppf(PROBABILITY, n))
        values, vectors = np.linalg.eigh(covariance)
        return radius, vectors * (radius * np.sqrt(values))

    constant = 0.5 * n * np.log(2 * np.pi) + log_diagonal(factor)
    gamma = scipy.special.gammaln
    student = gamma((NU + n) / 2) - gamma(NU / 2) - 0.5 * n * np.log(NU * np.pi) - log_diagonal(factor)
    rng = np.random.Generator(np.random.SFC64(42))
    dtype = rows.dtype

    def student_sample():
        stretch = np.sqrt(NU / rng.chisquare(NU, len(rows))).astype(dtype)
        return mean + rng.standard_normal(rows.shape, dtype=dtype) @ factor.T * stretch[:, None]

    def cdf():
        return np.atleast_1d(scipy.stats.multivariate_normal.cdf(rows, mean, covariance))

    # The scale at which the determinant is neither too large nor too small for float32.
    scaled = a * np.float32(np.sqrt(np.e / n))

    def joined(*parts):
        return np.concatenate([np.ravel(part) for part in parts])

    # What all forms of a decomposition have in common: values and the matrix; or both parts, with a non-negative
    # diagonal.
    def eigen_parts(found):
        values, vectors = found
        return joined(values, vectors * values @ vectors.T)

    def singular_parts(found):
        u, s, vt = found
        return joined(s, u * s @ vt)

    def triangular_parts(found):
        q, r = found
        signs = np.where(np.diagonal(r) < 0, -1, 1).astype(r.dtype)
        return joined(q * signs, signs[:, None] * r)

    def pair(found):
        return found[0]

    functions = {
        "make": (lambda: chol(covariance), lambda found: found @ found.T),
        "make, pivoted": (pivoted, lambda _: covariance),
        "make, eigen": (eigen, lambda found: found @ found.T),
        "fit": (fit, pair),
        "fit, weights": (lambda: fit(aweights=weights), pair),
        "fit, shrinkage": (lambda: fit(ridge=0.1), pair),
        "logPdf": lambda: -0.5 * squares() - constant,
        "mahalanobis": lambda: np.sqrt(squares()),
        "scoreInput": lambda: -scipy.linalg.cho_solve((factor, True), (rows - mean).T, check_finite=False).T,
        "cdf": cdf,
        "quantile": lambda: mean + scipy.special.ndtri(probabilities) @ factor.T,
        "toArray": rows.tolist,
        "covariance": lambda: factor @ factor.T,
        "marginal": (marginal, pair),
        "conditional": (conditional, pair) if len(last) > 0 else None,
        "affine": (affine, pair),
        "klDivergence": lambda: np.atleast_1d(kl()),
        "bhattacharyya": lambda: np.atleast_1d(bhattacharyya()),
        "wasserstein": lambda: np.atleast_1d(wasserstein()),
        "ellipsoid": (ellipsoid, lambda found: np.atleast_1d(found[0])),
        "Student-t logPdf": lambda: student - 0.5 * (NU + n) * np.log1p(squares() / NU),
        "Student-t sample": student_sample,
        "eigh": (lambda: np.linalg.eigh(covariance), eigen_parts),
        "svd": (lambda: np.linalg.svd(a, full_matrices=False), singular_parts),
        "qr": (lambda: np.linalg.qr(a), triangular_parts),
        "solve": lambda: np.linalg.solve(a, mean),
        "inverse": lambda: np.linalg.inv(a),
        "det": lambda: np.atleast_1d(np.linalg.det(scaled)),
        "slogdet": (lambda: np.linalg.slogdet(a), lambda found: joined(*found)),
        "multiply": lambda: a @ a,
        "lstsq": (lambda: np.linalg.lstsq(rows, weights, rcond=None), lambda found: joined(found[0], found[3])),
        "Moments add": lambda: np.cov(rows, rowvar=False).reshape(n, n),
        "Matrix covariance": lambda: np.cov(rows, rowvar=False, dtype=rows.dtype).reshape(n, n),
    }
    return functions.get(name)


inputs = ["mean", "covariance", "other", "a", "rows", "probabilities", "weights"]
numpy_arrays.serve(["float32", "float64"], prepare, {"functions": inputs, "triangular": ["factor", "a"]})
