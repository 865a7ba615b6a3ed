#!/bin/sh
# Writes the CSV files beside it, each by its tool's default. Needs R, LibreOffice (soffice), and a python3 with pandas,
# NumPy, Polars, DuckDB and pyarrow. README.md says what the rows are.
set -e
cd "$(dirname "$0")"
Rscript -e '
x <- data.frame(a = c(1.5, 1e-7, 0.1), b = c(-2, 123456789.125, 1e22)); holes <- data.frame(a = c(1.5, 2.5), b = c(NA, 3.5))
write.csv(x, "r-write-csv.csv"); write.csv2(x, "r-write-csv2.csv"); write.table(x, "r-write-table.csv")
write.csv(holes, "r-holes.csv"); rownames(x) <- c("Mazda RX4", "Datsun 710", "Valiant"); write.csv(x, "r-named-rows.csv")'
"${PYTHON:-python3}" - <<'P'
import duckdb, numpy, pandas as pd, polars as pl, pyarrow as pa, pyarrow.csv
rows = {"a": [1.5, 1e-7, 0.1], "b": [-2.0, 123456789.125, 1e22]}
holes = {"a": [1.5, 2.5], "b": [None, 3.5]}
numpy.savetxt("numpy-savetxt.csv", numpy.column_stack(list(rows.values())))
for name, columns in (("", rows), ("-holes", holes)):
    pd.DataFrame(columns).to_csv(f"pandas{name}.csv")
    pl.DataFrame(columns).write_csv(f"polars{name}.csv")
    pyarrow.csv.write_csv(pa.table(columns), f"pyarrow{name}.csv")
    frame = pd.DataFrame(columns)
    duckdb.sql(f"COPY (SELECT * FROM frame) TO 'duckdb{name}.csv'")
P
# From a file of CSV to its own format, and from there to CSV, as a person saves it.
for name in polars polars-holes; do
  soffice --headless --convert-to ods "$name.csv" > /dev/null
  soffice --headless --convert-to csv "$name.ods" --outdir saved > /dev/null
  mv "saved/$name.csv" "$(echo "$name" | sed 's/polars/libreoffice/').csv"
  rm "$name.ods"
done
rmdir saved
