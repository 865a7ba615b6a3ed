"""NumPy at its best, in either dtype: results into memory that is there, Cholesky in place of the default SVD, the
factor kept, and large samples made in blocks by threads, each with a generator of its own."""

from concurrent.futures import ThreadPoolExecutor

import numpy_arrays
import blas
import numpy as np

THREADS = blas.processors()
pool = ThreadPoolExecutor(THREADS)

# Numbers of a block: its normals and its rows stay in a core's cache. Fewer numbers than that are made by one thread.
BLOCK = 1 << 15


def generators():
    """A generator for each thread; SFC64 is NumPy's fastest."""
    return [np.random.Generator(np.random.SFC64([42, i])) for i in range(THREADS)]


def share(rows):
    """The rows of each thread."""
    ends = [rows * i // THREADS for i in range(THREADS + 1)]
    return list(zip(ends, ends[1:]))


def transform(factor, z, mean, out):
    np.matmul(factor, z, out=out)
    out += mean
    return out


def filling(count, n, dtype):
    """Normals into memory that all calls share."""
    rngs = generators()
    out = np.empty((count, n), dtype)
    if count * n <= BLOCK:
        return lambda: rngs[0].standard_normal(dtype=dtype, out=out)

    def fill():
        parts = [out[begin:end] for begin, end in share(count)]
        list(pool.map(lambda rng, part: rng.standard_normal(dtype=dtype, out=part), rngs, parts))
        return out

    return fill


def drawing(mean, count, n, dtype):
    """Draws of mean + factor z, into memory that all calls share."""
    rngs = generators()
    out = np.empty((count, n), dtype)
    rows = max(1, min(count, BLOCK // n))
    z = [np.empty((rows, n), dtype) for _ in range(THREADS)]

    def block(rng, z, factor, out):
        z = z[: len(out)]
        rng.standard_normal(dtype=dtype, out=z)
        np.matmul(z, factor.T, out=out)
        out += mean

    def run(rng, z, factor, begin, end):
        for row in range(begin, end, rows):
            block(rng, z, factor, out[row : min(row + rows, end)])

    def draw(factor):
        if count <= rows:
            block(rngs[0], z[0], factor, out)
            return out
        # Each thread multiplies its own blocks: the BLAS's threads would only wait for one another.
        with blas.one_thread():
            list(pool.map(lambda i, rows: run(rngs[i], z[i], factor, *rows), range(THREADS), share(count)))
        return out

    return draw


def prepare(problem, inputs):
    n, count, dtype = problem["dimension"], problem["count"], np.dtype(problem["dtype"])
    arrays = {name: values if name in ("mean", "z") else values.reshape(n, n) for name, values in inputs.items()}
    mean, covariance, factor, z, a, b = map(arrays.get, ("mean", "covariance", "factor", "z", "a", "b"))
    suite = problem["suite"]
    if suite == "transform-normal":
        out = np.empty(n, dtype)
        return lambda: transform(np.linalg.cholesky(covariance), z, mean, out)
    if suite == "transform-normal-factored":
        out = np.empty(n, dtype)
        return lambda: transform(factor, z, mean, out)
    if suite == "matrix-product":
        out = np.empty((n, n), dtype)
        return lambda: np.matmul(a, b, out=out)
    if suite == "matrix-vector":
        out = np.empty(n, dtype)
        return lambda: np.matmul(a, z, out=out)
    if suite == "cholesky":
        return lambda: np.linalg.cholesky(covariance)
    if suite == "normals":
        return filling(count, n, dtype)
    draw = drawing(mean, count, n, dtype)
    if "factor included" in problem["case"]:
        return lambda: draw(np.linalg.cholesky(covariance))
    if "factor kept" in problem["case"]:
        kept = np.linalg.cholesky(covariance)
        return lambda: draw(kept)
    return None


numpy_arrays.serve(["float32", "float64"], prepare)
