"""CuPy on an NVIDIA GPU, by hand: cuRAND's normals, a Cholesky factor of cuSOLVER's, products of cuBLAS's; operands from
memory of the host and results into memory of the host, both pinned, as on the cuda device."""

import platform
import sys

import protocol

try:
    import cupy as cp
    import cupyx
    import numpy as np
except ImportError as error:
    protocol.absent(f"{error} in Python {platform.python_version()} ({sys.executable})")
try:
    GPU = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
except cp.cuda.runtime.CUDARuntimeError as error:
    protocol.absent(f"CuPy {cp.__version__} finds no NVIDIA GPU ({error})")

from numpy_arrays import load, save


def pinned(values):
    out = cupyx.empty_like_pinned(values)
    out[...] = values
    return out


def into(shape, dtype, work):
    """Runs `work` and copies what it gives into memory that all calls share."""
    out = cupyx.empty_pinned(shape, dtype)

    def run():
        work().get(out=out)
        cp.cuda.get_current_stream().synchronize()
        return out

    return run


def prepare(problem, inputs):
    n, count, dtype = problem["dimension"], problem["count"], np.dtype(problem["dtype"])
    suite = problem["suite"]
    arrays = {
        name: pinned(values if name in ("mean", "z") else values.reshape(n, n)) for name, values in inputs.items()
    }
    mean, covariance, factor, z, a, b = map(arrays.get, ("mean", "covariance", "factor", "z", "a", "b"))
    to_gpu = cp.asarray
    if suite == "transform-normal":
        return into(n, dtype, lambda: to_gpu(mean) + cp.linalg.cholesky(to_gpu(covariance)) @ to_gpu(z))
    if suite == "transform-normal-factored":
        return into(n, dtype, lambda: to_gpu(mean) + to_gpu(factor) @ to_gpu(z))
    if suite == "matrix-product":
        return into((n, n), dtype, lambda: to_gpu(a) @ to_gpu(b))
    if suite == "matrix-vector":
        return into(n, dtype, lambda: to_gpu(a) @ to_gpu(z))
    if suite == "cholesky":
        return into((n, n), dtype, lambda: cp.linalg.cholesky(to_gpu(covariance)))
    rng = cp.random.default_rng(42)
    if suite == "normals":
        return into((count, n), dtype, lambda: rng.standard_normal((count, n), dtype=dtype))

    def draw(centre, root):
        rows = rng.standard_normal((count, n), dtype=dtype) @ root.T
        rows += centre
        return rows

    if "factor included" in problem["case"]:
        return into((count, n), dtype, lambda: draw(to_gpu(mean), cp.linalg.cholesky(to_gpu(covariance))))
    if "factor kept" in problem["case"]:
        centre, kept = to_gpu(mean), cp.linalg.cholesky(to_gpu(covariance))
        return into((count, n), dtype, lambda: draw(centre, kept))
    return None


facts = {"python": platform.python_version(), "interpreter": sys.executable, "GPU": GPU}
protocol.serve(f"CuPy {cp.__version__}, {GPU}", None, facts, ["float32", "float64"], prepare, load, save)
