"""Writes foreign-tables.json: small files as pyarrow writes them, in base64, and the numbers that are in them.

    python3 foreign-tables.py > foreign-tables.json
"""

import base64
import datetime
import io
import json
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

count = 50
integers = [None if i % 7 == 3 else i * i - 100 for i in range(count)]
singles = [i / 3 for i in range(count)]
doubles = [None if i == 4 else float("nan") if i == 5 else (-1) ** i * 10.0 ** (i - 25) for i in range(count)]
table = pa.table(
    {
        "int32": pa.array(integers, pa.int32()),
        "int64": pa.array([i * 2**40 for i in range(count)], pa.int64()),
        "uint64": pa.array([2**64 - 2048 * i - 2048 for i in range(count)], pa.uint64()),
        "beyond": pa.array([2**53 + i for i in range(count)], pa.int64()),
        "uint8": pa.array([i * 5 for i in range(count)], pa.uint8()),
        "float16": pa.array([i / 4 for i in range(count)], pa.float16()),
        "float32": pa.array(singles, pa.float32()),
        "float64": pa.array(doubles, pa.float64()),
        "coded": pa.array([i % 3 * 1.5 for i in range(count)]).dictionary_encode(),
        "text": pa.array(["abc"[i % 3] for i in range(count)]).dictionary_encode(),
        "plain": pa.array([str(i) for i in range(count)]),
        "time": pa.array([datetime.datetime(2020, 1, 1 + i % 28) for i in range(count)], pa.timestamp("us")),
        "bool": pa.array([i % 2 == 0 for i in range(count)]),
        "list": pa.array([[i] for i in range(count)]),
        "decimal": pa.array([i for i in range(count)], pa.decimal128(10, 2)),
    }
)


def parquet(**options):
    file = io.BytesIO()
    pa.parquet.write_table(table, file, row_group_size=20, **options)
    return file.getvalue()


def arrow(kind, compression=None):
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    open_writer = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with open_writer(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=20)
    return file.getvalue()


files = {
    "parquet, defaults": ("parquet", parquet()),
    "parquet, gzip, no dictionaries": ("parquet", parquet(compression="gzip", use_dictionary=False)),
    "parquet, zstd, data pages of version 2": ("parquet", parquet(compression="zstd", data_page_version="2.0")),
    "parquet, brotli, format 1.0": ("parquet", parquet(compression="brotli", version="1.0")),
    "parquet, uncompressed, byte stream split": (
        "parquet",
        parquet(compression="none", use_dictionary=False, use_byte_stream_split=["float32", "float64"]),
    ),
    "arrow file": ("arrow", arrow("file")),
    "arrow stream": ("arrow", arrow("stream")),
    "arrow file, zstd": ("arrow", arrow("file", "zstd")),
    "arrow file, lz4": ("arrow", arrow("file", "lz4")),
}


def numbers(name):
    return [None if value is None or value != value else value for value in table[name].to_pylist()]


json.dump(
    {
        "source": f"pyarrow {pa.__version__}, Python {sys.version.split()[0]}: python3 foreign-tables.py > foreign-tables.json",
        "rows": count,
        "numbers": {
            name: numbers(name) for name in ("int32", "int64", "uint8", "float16", "float32", "float64", "coded")
        },
        "text": {"uint64": [str(value) for value in table["uint64"].to_pylist()]},
        "files": {
            name: {"format": format, "base64": base64.b64encode(data).decode()} for name, (format, data) in files.items()
        },
    },
    sys.stdout,
    indent=1,
)
print()
