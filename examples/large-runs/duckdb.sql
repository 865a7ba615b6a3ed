-- Reads the parts of a run as one table: duckdb < examples/large-runs/duckdb.sql
SELECT count(*) AS rows FROM 'run/part-*.parquet';
SELECT avg(COLUMNS(*)) FROM 'run/part-*.parquet';
SELECT stddev_samp(COLUMNS(*)) FROM 'run/part-*.parquet';
