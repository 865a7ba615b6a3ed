"""PyTorch on the CPU, float32, its default: torch.distributions.MultivariateNormal and torch.linalg."""

import platform
import sys

import protocol

try:
    import numpy as np
    import torch
except ImportError as error:
    protocol.absent(f"{error} in Python {platform.python_version()} ({sys.executable})")

import blas


def load(name):
    return torch.from_numpy(np.fromfile(name, dtype="<f4"))


def save(values, rows, name):
    values = values[:rows] if rows is not None else values
    values.contiguous().numpy().astype("<f4", copy=False).tofile(name)
    return values.numel(), "float32"


def prepare(problem, inputs):
    n, count = problem["dimension"], problem["count"]
    tensors = {name: values if name in ("mean", "z") else values.reshape(n, n) for name, values in inputs.items()}
    mean, covariance, factor, z, a, b = map(tensors.get, ("mean", "covariance", "factor", "z", "a", "b"))
    suite = problem["suite"]
    if suite == "transform-normal":
        return lambda: torch.addmv(mean, torch.linalg.cholesky(covariance), z)
    if suite == "transform-normal-factored":
        return lambda: torch.addmv(mean, factor, z)
    if suite == "matrix-product":
        out = torch.empty(n, n)
        return lambda: torch.mm(a, b, out=out)
    if suite == "matrix-vector":
        out = torch.empty(n)
        return lambda: torch.mv(a, z, out=out)
    if suite == "cholesky":
        return lambda: torch.linalg.cholesky(covariance)
    if suite == "normals":
        out = torch.empty(count, n)
        return lambda: out.normal_()
    normal = torch.distributions.MultivariateNormal
    if "factor included" in problem["case"]:
        return lambda: normal(mean, covariance_matrix=covariance).sample((count,))
    if "factor kept" in problem["case"]:
        kept = normal(mean, covariance_matrix=covariance)
        return lambda: kept.sample((count,))
    return None


torch.set_grad_enabled(False)
torch.manual_seed(42)
name, _ = blas.loaded_blas()
facts = {"python": platform.python_version(), "interpreter": sys.executable, "dtype": "float32"}
if torch.backends.mkl.is_available():
    name = "MKL"
if name:
    facts["blas"] = name
about = f"PyTorch {torch.__version__}" + (f", {name}" if name else "")
protocol.serve(about, torch.get_num_threads(), facts, prepare, load, save)
