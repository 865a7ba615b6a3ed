"""What both NumPy peers share: files and facts. Ends the process with the reason if NumPy is missing."""

import platform
import sys

import protocol

try:
    import numpy as np
except ImportError as error:
    protocol.absent(f"{error} in Python {platform.python_version()} ({sys.executable})")

import blas


def load(name, dtype):
    return np.fromfile(name, dtype="<f4" if dtype == "float32" else "<f8").astype(dtype, copy=False)


def save(values, rows, name):
    """Writes at most `rows` rows: no more draws than that are checked."""
    values = np.asarray(values)
    if rows is not None:
        values = values[:rows]
    dtype = "float64" if values.dtype == np.float64 else "float32"
    values.astype("<f8" if dtype == "float64" else "<f4", copy=False).tofile(name)
    return values.size, dtype


def serve(dtypes, prepare, offers=protocol.OFFERS):
    name, threads = blas.loaded_blas()
    facts = {"python": platform.python_version(), "interpreter": sys.executable}
    if name:
        facts["blas"] = name
    about = f"NumPy {np.__version__}" + (f", {name}" if name else "")
    protocol.serve(about, threads, facts, dtypes, prepare, load, save, offers)
