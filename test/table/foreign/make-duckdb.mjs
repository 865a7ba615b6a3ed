// Writes the files of this folder that DuckDB writes: node make-duckdb.mjs
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create()).connect();
const rows = `SELECT sin(i) * 1000 AS d, (i / 7)::FLOAT AS f, (i * i) % 1009 - 500 AS i, (i % 200)::UTINYINT AS u,
  CASE WHEN i % 3 = 0 THEN 0.25::DOUBLE ELSE 1.5::DOUBLE END AS c, CASE WHEN i % 10 = 4 THEN NULL ELSE i / 8 END AS n
  FROM range(600) AS t(i)`;
await connection.run(`COPY (${rows}) TO 'duckdb.parquet' (FORMAT parquet)`);
await connection.run(
  `COPY (${rows}) TO 'duckdb-v2-zstd.parquet' (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd)`,
);
await connection.run(`COPY (${rows}) TO 'duckdb-lz4.parquet' (FORMAT parquet, COMPRESSION lz4_raw)`);
connection.closeSync();
