"""PyTorch on the CPU: torch.distributions.MultivariateNormal and torch.linalg."""

import platform
import sys

import protocol

try:
    import torch
except ImportError as error:
    protocol.absent(f"{error} in Python {platform.python_version()} ({sys.executable})")

import blas
from torch_arrays import load, save


def prepare_batch(problem, inputs):
    n, count = problem["dimension"], problem["count"]
    means, points = inputs["means"].reshape(count, n), inputs["points"].reshape(count, n)
    covariances = inputs["covariances"].reshape(count, n, n)

    def make():
        return torch.distributions.MultivariateNormal(means, covariance_matrix=covariances)

    if problem["case"] == "make":
        return make, lambda made: made.log_prob(points)
    kept = make()
    if problem["case"] == "one draw each":
        return kept.sample
    return lambda: kept.log_prob(points)


def prepare(problem, inputs):
    n, count = problem["dimension"], problem["count"]
    if problem["suite"] == "batches":
        return prepare_batch(problem, inputs)
    tensors = {name: values if name in ("mean", "z") else values.reshape(n, n) for name, values in inputs.items()}
    mean, covariance, factor, z, a, b = map(tensors.get, ("mean", "covariance", "factor", "z", "a", "b"))
    dtype = getattr(torch, problem["dtype"])
    suite = problem["suite"]
    if suite == "transform-normal":
        return lambda: torch.addmv(mean, torch.linalg.cholesky(covariance), z)
    if suite == "transform-normal-factored":
        return lambda: torch.addmv(mean, factor, z)
    if suite == "matrix-product":
        out = torch.empty(n, n, dtype=dtype)
        return lambda: torch.mm(a, b, out=out)
    if suite == "matrix-vector":
        out = torch.empty(n, dtype=dtype)
        return lambda: torch.mv(a, z, out=out)
    if suite == "cholesky":
        return lambda: torch.linalg.cholesky(covariance)
    if suite == "normals":
        out = torch.empty(count, n, dtype=dtype)
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
facts = {"python": platform.python_version(), "interpreter": sys.executable}
if torch.backends.mkl.is_available():
    name = "MKL"
if name:
    facts["blas"] = name
about = f"PyTorch {torch.__version__}" + (f", {name}" if name else "")
protocol.serve(about, torch.get_num_threads(), facts, ["float32", "float64"], prepare, load, save, protocol.OFFERS | protocol.BATCHES)
