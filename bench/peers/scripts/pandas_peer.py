"""pandas: CSV, with its default parser, which uses one thread."""

import platform
import sys

import protocol

try:
    import pandas as pd
except ImportError as error:
    protocol.absent(f"{error} in Python {platform.python_version()} ({sys.executable})")

import numpy_arrays
import tables


def read_csv(path):
    return pd.read_csv(path).to_numpy()


def write_csv(rows, path):
    pd.DataFrame(rows, columns=[f"x{i + 1}" for i in range(rows.shape[1])]).to_csv(path, index=False)


def prepare(problem, inputs):
    return tables.run(problem, inputs, {"CSV": (read_csv, write_csv)})


facts = {"python": platform.python_version(), "interpreter": sys.executable}
protocol.serve(f"pandas {pd.__version__}", 1, facts, ["float64"], prepare, numpy_arrays.load, numpy_arrays.save, protocol.TABLES)
