"""pyarrow: CSV, Arrow's file format, and Parquet, plain and uncompressed as covarium writes it; NumPy turns rows into
columns and back."""

import platform
import sys

import protocol

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet
except ImportError as error:
    protocol.absent(f"{error} in Python {platform.python_version()} ({sys.executable})")

import numpy_arrays
import tables


def rows_of(table):
    return np.column_stack([column.to_numpy() for column in table.columns])


def table_of(rows):
    return pa.table({f"x{i + 1}": rows[:, i].copy() for i in range(rows.shape[1])})


def read_csv(path):
    return rows_of(pyarrow.csv.read_csv(path))


def write_csv(rows, path):
    pyarrow.csv.write_csv(table_of(rows), path)


def read_arrow(path):
    with pa.memory_map(path) as file:
        return rows_of(pa.ipc.open_file(file).read_all())


def write_arrow(rows, path):
    table = table_of(rows)
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def read_parquet(path):
    return rows_of(pyarrow.parquet.read_table(path))


def write_parquet(rows, path):
    pyarrow.parquet.write_table(table_of(rows), path, compression="none", use_dictionary=False)


formats = {"CSV": (read_csv, write_csv), "Arrow": (read_arrow, write_arrow), "Parquet": (read_parquet, write_parquet)}


def prepare(problem, inputs):
    return tables.run(problem, inputs, formats)


facts = {"python": platform.python_version(), "interpreter": sys.executable}
protocol.serve(f"pyarrow {pa.__version__}", pa.cpu_count(), facts, ["float64"], prepare, numpy_arrays.load, numpy_arrays.save, protocol.TABLES)
