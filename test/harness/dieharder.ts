// Feeds the normal stream to dieharder (Debian: dieharder) and prints its table. It is not a test: it runs for
// minutes, and one in a hundred p-values is expected below 0.01.
//
//   node --import tsx test/harness/dieharder.ts                          the tests named below
//   node --import tsx test/harness/dieharder.ts -a                       all of dieharder: hours
//   node --import tsx test/harness/dieharder.ts -d 0 --seed 7 --float64  one test, another seed, the float64 map
//
// Two consecutive normals make one 32-bit word: the upper 16 bits of each uniform Phi(z), the first normal's on top.
// A defect in the words, the map or the order of the normals shows in it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { normalCounter } from '../../lib/stream/counter.ts';
import { noCpu, openCpuBackend } from './cpu-backend.ts';
import { EqualCells } from './equal-cells.ts';

// One of each family, without the slowest and those that dieharder itself calls suspect (5, 6, 7) or broken (14).
const subset = '0 1 2 3 4 8 9 10 11 12 13 15 16 17 100 101 102 202 204 205 206 207 208 209'.split(' ');
const wordsAtOnce = 1 << 18;

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean', short: 'a', default: false },
    test: { type: 'string', short: 'd', multiple: true, default: subset },
    seed: { type: 'string', default: '1' },
    float64: { type: 'boolean', default: false },
  },
});

if (noCpu !== '') throw new Error(`dieharder wants some 10^10 normals, and the cpu device is not available: ${noCpu}`);
const backend = openCpuBackend(1);
const cells = new EqualCells(2 ** 16);
const normals = options.float64 ? new Float64Array(2 * wordsAtOnce) : new Float32Array(2 * wordsAtOnce);

// The words continue from test to test, as dieharder does with its own generators.
let first = 0;
function nextWords(): Uint32Array {
  const encoder = backend.encoder();
  encoder.fillNormal(normals, normalCounter(BigInt(options.seed), 0, first));
  encoder.commitSync();
  first += normals.length;
  const words = new Uint32Array(wordsAtOnce);
  for (let i = 0; i < wordsAtOnce; i++) words[i] = (cells.of(normals[2 * i]!) << 16) | cells.of(normals[2 * i + 1]!);
  return words;
}

async function feed(child: ChildProcess): Promise<void> {
  const input = child.stdin!;
  // dieharder has read enough when it closes the pipe.
  input.on('error', () => {});
  const ended = once(child, 'close');
  while (child.exitCode === null && !input.destroyed) {
    const { buffer } = nextWords();
    if (!input.write(new Uint8Array(buffer))) await Promise.race([once(input, 'drain').catch(() => {}), ended]);
  }
  await ended;
}

console.log(`# seed ${options.seed}, ${options.float64 ? 'float64' : 'float32'}`);
const runs = options.all ? [['-a']] : options.test.map((number) => ['-d', number]);
console.log('test_name           |ntup| tsamples |psamples|  p-value |Assessment');
for (const run of runs) {
  const child = spawn('dieharder', ['-g', '200', ...run], { stdio: ['pipe', 'pipe', 'inherit'] });
  // Without this filter, each run would repeat the banner and the headings.
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (/\|(PASSED|WEAK|FAILED)/.test(line.replaceAll(' ', ''))) console.log(line.replace('\t', ' '));
  });
  await feed(child);
}
console.log(`# ${(first / 1e9).toFixed(2)} thousand million normals`);
backend.close();
