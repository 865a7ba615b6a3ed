// Writes the files of this folder that apache-arrow for JavaScript writes: node make-apache-arrow.mjs
import { writeFileSync } from 'node:fs';
import {
  Bool,
  Dictionary,
  Float32,
  Float64,
  Int8,
  Int32,
  Table,
  tableToIPC,
  Uint8,
  vectorFromArray,
} from 'apache-arrow';

const rows = Array.from({ length: 600 }, (_, i) => i);
const column = (type, number) => vectorFromArray(rows.map(number), type);
const table = new Table({
  d: column(new Float64(), (i) => Math.sin(i) * 1000),
  f: column(new Float32(), (i) => i / 7),
  i: column(new Int32(), (i) => ((i * i) % 1009) - 500),
  u: column(new Uint8(), (i) => i % 200),
  c: column(new Dictionary(new Float64(), new Int8()), (i) => (i % 3 === 0 ? 0.25 : 1.5)),
  n: column(new Float64(), (i) => (i % 10 === 4 ? null : i / 8)),
});
const booleans = new Table({
  f: column(new Bool(), (i) => i >= 100),
  g: column(new Bool(), (i) => i % 3 === 0),
  n: column(new Bool(), (i) => (i % 10 === 4 ? null : i % 7 < 3)),
});
// Two record batches. The first has the bits of all rows, of validity and of booleans.
const write = (name, table) => writeFileSync(name, tableToIPC(table.slice(0, 250).concat(table.slice(250)), 'file'));
write('apache-arrow.arrow', table);
write('apache-arrow-booleans.arrow', booleans);
