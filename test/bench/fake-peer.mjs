// A peer that misbehaves as its first argument says (test/bench/peers.test.ts); with any other argument, it
// multiplies matrices correctly.
import { appendFileSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';

const behaviour = process.argv[2];
const tell = (reply) => process.stdout.write(`${JSON.stringify(reply)}\n`);
const hang = () => setInterval(() => {}, 1000);
let ticked = () => {};

const read = (name) => {
  const bytes = readFileSync(name);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};

function product(id, n) {
  const [a, b] = [read(`${id}-a`), read(`${id}-b`)];
  return Float64Array.from({ length: n * n }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < n; ++k) sum += a[Math.floor(i / n) * n + k] * b[k * n + (i % n)];
    return sum;
  });
}

const results = new Map();
const verbs = {
  prepare({ id, suite, dimension }) {
    const isKnown = suite === 'matrix-product' || suite === 'normals';
    if (suite === 'matrix-product') results.set(id, product(id, dimension));
    if (suite === 'normals') results.set(id, new Float64Array(4096 * dimension).fill(0.5));
    tell({ offered: isKnown });
  },
  result({ id }) {
    const values = results.get(id);
    // It always gets a case of dimension 2 right.
    const is = (name) => behaviour === name && values.length > 4;
    if (is('crash')) {
      console.error('Traceback: ...\nMemoryError: no more');
      process.exit(3);
    }
    if (is('hang')) return hang();
    if (is('rubbish')) return console.log('Segmentation fault (core dumped)');
    if (is('array')) return console.log('[1, 2]');
    if (is('unasked')) tell({ length: 1, dtype: 'float64' });
    if (is('error')) return tell({ error: 'LinAlgError: not positive definite' });
    if (is('no file')) return tell({ length: values.length, dtype: 'float64' });
    if (is('nan')) values[7] = Number.NaN;
    const kept = is('cut file') || is('short') ? values.subarray(1) : values;
    writeFileSync(`${id}-result`, new Uint8Array(kept.slice().buffer));
    return tell({ length: is('short') ? kept.length : values.length, dtype: 'float64' });
  },
  measure() {
    const nanoseconds = behaviour === 'times' ? [5, -1] : behaviour === 'no times' ? [] : [1000, 2000];
    if (behaviour !== 'restless') return tell({ nanoseconds });
    // Replies after a tick: on a fast machine it would otherwise be stopped before the first tick.
    ticked = () => tell({ nanoseconds });
  },
  close: () => tell({ closed: true }),
};

if (behaviour === 'crash at start') throw new Error('no such library');
if (behaviour === 'hang at start') hang();
else if (behaviour === 'absent') tell({ absent: 'there is no\n  such package' });
else if (behaviour === 'bare greeting') tell({ hello: 'world' });
else
  tell({
    about: 'Fake 1.0',
    threads: 2,
    facts: { pid: process.pid, folder: process.cwd(), temporary: realpathSync(tmpdir()) },
    offers: { 'matrix-product': ['a', 'b'], normals: [] },
  });

if (behaviour === 'restless')
  setInterval(() => {
    appendFileSync('ticks', '.');
    ticked();
    ticked = () => {};
  }, 1);
// Some processes stay when their standard input ends.
if (behaviour === 'stay') hang();
createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  verbs[request.do](request);
});
