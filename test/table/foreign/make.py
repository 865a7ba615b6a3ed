"""Writes the files of this folder with other tools, by default and with other options; README.md has the list.

    pip install pyarrow pandas polars && python3 make.py
"""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

count = 600
step = np.arange(count)
data = {
    "d": np.sin(step) * 1000,
    "f": (step / 7).astype(np.float32),
    "i": (step * step) % 1009 - 500,
    "u": (step % 200).astype(np.uint8),
    "c": np.where(step % 3 == 0, 0.25, 1.5),
}
frame = pd.DataFrame(data)
table = pa.table(data)
nullable = pa.array([None if row % 10 == 4 else row / 8 for row in step], pa.float64())
table = table.append_column("n", nullable)
frame["n"] = table["n"].to_pandas()

pq.write_table(table, "pyarrow.parquet")
pq.write_table(table, "pyarrow-lz4-v2.parquet", compression="lz4", data_page_version="2.0", data_page_size=2000)
pq.write_table(
    table,
    "pyarrow-delta-split-crc.parquet",
    use_dictionary=False,
    write_page_checksum=True,
    column_encoding={name: "DELTA_BINARY_PACKED" if name in "iu" else "BYTE_STREAM_SPLIT" for name in table.column_names},
    row_group_size=250,
)
pa.feather.write_feather(table, "pyarrow-feather.arrow")  # LZ4 by default
with pa.OSFile("pyarrow.arrows", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
    writer.write_table(table, max_chunksize=250)

frame.to_parquet("pandas.parquet")
frame.to_feather("pandas.arrow")
frame.set_axis(step * 7, axis=0).to_parquet("pandas-index.parquet")  # as after a filter: a column __index_level_0__
pa.feather.write_feather(frame.set_axis(pd.Index(step * 7, name="id"), axis=0), "pandas-index.arrow")
# The first of three booleans in one run, the others in none.
flags = pa.table({"f": step >= 100, "g": step % 3 == 0, "n": pa.array([None if row % 10 == 4 else row % 7 < 3 for row in step])})
pq.write_table(flags, "pyarrow-booleans.parquet", use_dictionary=False)
encodings = {name: "RLE" for name in flags.column_names}
pq.write_table(flags, "pyarrow-booleans-v2.parquet", use_dictionary=False, data_page_version="2.0", column_encoding=encodings)
pa.feather.write_feather(flags, "pyarrow-booleans.arrow")
durations = pd.DataFrame({"x": [0.5, 1.5], "n": [1, 2], "t": pd.to_timedelta([1, 2], unit="s").as_unit("ns")})
durations.to_parquet("pandas-duration.parquet")
durations.to_feather("pandas-duration.arrow")
periods = pd.DataFrame({"x": [0.5, 1.5], "t": pd.period_range("2020-01", periods=2, freq="M")})
periods.to_parquet("pandas-period.parquet")
periods.to_feather("pandas-period.arrow")

polars = pl.DataFrame(data).with_columns(pl.Series("n", nullable.to_pylist()))
polars.write_parquet("polars.parquet")
polars.write_ipc("polars.arrow")
polars.write_ipc("polars-lz4.arrow", compression="lz4")
polars.write_ipc_stream("polars-zstd.arrows", compression="zstd")
