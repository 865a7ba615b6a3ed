// node test/harness/forgotten-samples.mjs [samples]
//
// The most memory of a process (VmHWM, on Linux) that draws samples of 400 MB in a synchronous loop and closes none.
import { readFileSync } from 'node:fs';
import { MultivariateNormal, openDevice } from '../../dist/lib/index.js';

const [samples = '40'] = process.argv.slice(2);
const normal = MultivariateNormal.fromDiagonalSync({ device: openDevice('cpu'), variances: new Array(100).fill(1) });
for (let seed = 0; seed < Number(samples); seed++) normal.sampleSync(1_000_000, { seed });
const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
console.log(`${samples} samples of 400 MB, Node ${process.version}: ${(kilobytes / 2 ** 20).toFixed(2)} GiB at most`);
