"""NumPy at its best: float32 throughout, results into memory that is there, Cholesky in place of the default SVD, the factor kept."""

import numpy_arrays
import numpy as np


def transform(factor, z, mean, out):
    np.matmul(factor, z, out=out)
    out += mean
    return out


def drawing(mean, count, n):
    """Draws of mean + factor z, into memory that all calls share."""
    rng = np.random.Generator(np.random.SFC64(42))  # its fastest
    z = np.empty((count, n), np.float32)
    out = np.empty((count, n), np.float32)

    def draw(factor):
        rng.standard_normal(dtype=np.float32, out=z)
        return transform(z, factor.T, mean, out)

    return draw


def prepare(problem, inputs):
    n, count = problem["dimension"], problem["count"]
    arrays = {name: values if name in ("mean", "z") else values.reshape(n, n) for name, values in inputs.items()}
    mean, covariance, factor, z, a, b = map(arrays.get, ("mean", "covariance", "factor", "z", "a", "b"))
    suite = problem["suite"]
    if suite == "transform-normal":
        out = np.empty(n, np.float32)
        return lambda: transform(np.linalg.cholesky(covariance), z, mean, out)
    if suite == "transform-normal-factored":
        out = np.empty(n, np.float32)
        return lambda: transform(factor, z, mean, out)
    if suite == "matrix-product":
        out = np.empty((n, n), np.float32)
        return lambda: np.matmul(a, b, out=out)
    if suite == "matrix-vector":
        out = np.empty(n, np.float32)
        return lambda: np.matmul(a, z, out=out)
    if suite == "cholesky":
        return lambda: np.linalg.cholesky(covariance)
    if suite == "normals":
        rng = np.random.Generator(np.random.SFC64(42))
        out = np.empty((count, n), np.float32)
        return lambda: rng.standard_normal(dtype=np.float32, out=out)
    draw = drawing(mean, count, n)
    if "factor included" in problem["case"]:
        return lambda: draw(np.linalg.cholesky(covariance))
    if "factor kept" in problem["case"]:
        kept = np.linalg.cholesky(covariance)
        return lambda: draw(kept)
    return None


numpy_arrays.serve("float32", prepare)
