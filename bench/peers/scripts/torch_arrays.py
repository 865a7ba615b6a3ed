"""Arrays of the protocol as PyTorch's tensors."""

import numpy as np
import torch


def load(name, dtype):
    return torch.from_numpy(np.fromfile(name, dtype="<f4" if dtype == "float32" else "<f8"))


def save(values, rows, name):
    values = values[:rows] if rows is not None else values
    dtype = "float64" if values.dtype == torch.float64 else "float32"
    values.contiguous().numpy().astype("<f8" if dtype == "float64" else "<f4", copy=False).tofile(name)
    return values.numel(), dtype
