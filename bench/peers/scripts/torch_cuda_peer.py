"""PyTorch on an NVIDIA GPU: torch.distributions.MultivariateNormal and torch.linalg, with operands from memory of the
host and results into memory of the host, both pinned, as on the cuda device."""

import platform
import sys

import protocol

try:
    import torch
except ImportError as error:
    protocol.absent(f"{error} in Python {platform.python_version()} ({sys.executable})")
if not torch.cuda.is_available():
    protocol.absent(f"PyTorch {torch.__version__} finds no NVIDIA GPU")

from torch_arrays import load, save

gpu = torch.device("cuda")


def to_gpu(values):
    return values.to(gpu, non_blocking=True)


def into(shape, dtype, work):
    """Runs `work` and copies what it gives into memory that all calls share."""
    out = torch.empty(shape, dtype=dtype, pin_memory=True)

    def run():
        out.copy_(work(), non_blocking=True)
        torch.cuda.synchronize()
        return out

    return run


def prepare(problem, inputs):
    n, count, suite = problem["dimension"], problem["count"], problem["suite"]
    tensors = {
        name: (values if name in ("mean", "z") else values.reshape(n, n)).pin_memory()
        for name, values in inputs.items()
    }
    mean, covariance, factor, z, a, b = map(tensors.get, ("mean", "covariance", "factor", "z", "a", "b"))
    dtype = getattr(torch, problem["dtype"])
    if suite == "transform-normal":
        return into(n, dtype, lambda: torch.addmv(to_gpu(mean), torch.linalg.cholesky(to_gpu(covariance)), to_gpu(z)))
    if suite == "transform-normal-factored":
        return into(n, dtype, lambda: torch.addmv(to_gpu(mean), to_gpu(factor), to_gpu(z)))
    if suite == "matrix-product":
        return into((n, n), dtype, lambda: torch.mm(to_gpu(a), to_gpu(b)))
    if suite == "matrix-vector":
        return into(n, dtype, lambda: torch.mv(to_gpu(a), to_gpu(z)))
    if suite == "cholesky":
        return into((n, n), dtype, lambda: torch.linalg.cholesky(to_gpu(covariance)))
    if suite == "normals":
        return into((count, n), dtype, lambda: torch.randn(count, n, dtype=dtype, device=gpu))
    normal = torch.distributions.MultivariateNormal
    if "factor included" in problem["case"]:
        made = lambda: normal(to_gpu(mean), covariance_matrix=to_gpu(covariance), validate_args=False)
        return into((count, n), dtype, lambda: made().sample((count,)))
    if "factor kept" in problem["case"]:
        kept = normal(to_gpu(mean), covariance_matrix=to_gpu(covariance), validate_args=False)
        return into((count, n), dtype, lambda: kept.sample((count,)))
    return None


torch.set_grad_enabled(False)
torch.manual_seed(42)
torch.backends.cuda.matmul.allow_tf32 = False
facts = {"python": platform.python_version(), "interpreter": sys.executable, "GPU": torch.cuda.get_device_name()}
about = f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}"
protocol.serve(about, None, facts, ["float32", "float64"], prepare, load, save)
