"""NumPy as its documentation shows it: float64, a new array for each result, Generator.multivariate_normal with its default method."""

import numpy_arrays
import numpy as np
import protocol
import tables


def save_npy(rows, path):
    with open(path, "wb") as file:
        np.save(file, rows)


def prepare(problem, inputs):
    if problem["suite"] == "tables":
        return tables.run(problem, inputs, {"NPY": (np.load, save_npy)})
    n, count = problem["dimension"], problem["count"]
    # Vectors stay vectors, the rest is square.
    arrays = {name: values if name in ("mean", "z") else values.reshape(n, n) for name, values in inputs.items()}
    mean, covariance, factor, z, a, b = map(arrays.get, ("mean", "covariance", "factor", "z", "a", "b"))
    rng = np.random.default_rng(42)
    suite = problem["suite"]
    if suite == "transform-normal":
        return lambda: mean + np.linalg.cholesky(covariance) @ z
    if suite == "transform-normal-factored":
        return lambda: mean + factor @ z
    if suite == "matrix-product":
        return lambda: a @ b
    if suite == "matrix-vector":
        return lambda: a @ z
    if suite == "cholesky":
        return lambda: np.linalg.cholesky(covariance)
    if suite == "normals":
        return lambda: rng.standard_normal((count, n))
    # multivariate_normal keeps no factor: each call makes it anew.
    if "factor included" in problem["case"]:
        return lambda: rng.multivariate_normal(mean, covariance, size=count)
    return None


# float64 is NumPy's default.
numpy_arrays.serve(["float64"], prepare, {**protocol.OFFERS, **protocol.TABLES})
