/** A user's program, only for tsc: it uses most exports, and shows what the types refuse. */
export const typedProgram: string = `
import {
  type BlockOptions, type CommandBuffer, type CovarianceOptions, CovariumError, type Device, type DeviceKind, type DeviceReport,
  type ErrorCode, type Kernel, listDevices, Matrix, MultivariateNormal, openDevice, type Real, type SampleOptions, type Timings, Vector,
  Volume,
} from 'covarium';

const kinds: DeviceKind[] = listDevices().map((report: DeviceReport) => report.kind);
const device: Device = openDevice(kinds[0], { threads: 2 });
const options: CovarianceOptions = { device, mean: [0, 1], covariance: [[2, 0.5], [0.5, 1]], dtype: 'float64' };
const normal: MultivariateNormal = await MultivariateNormal.fromCovariance(options);
const how: SampleOptions = { seed: 42n, stream: 1 };
const draws: Matrix = await normal.sample(10, how);
const numbers: Real = draws.data as Real;
const densities: Vector = normal.logPdfSync(draws);
const blocks: BlockOptions = { rowsPerBlock: 5 };
for await (const block of normal.blocks(10, blocks)) block.close();
const fitted: MultivariateNormal = MultivariateNormal.fitSync({ device, rows: draws });
const commands: CommandBuffer = device.commandBuffer().fillNormal(device.matrix(2, 2), { seed: 1 });
const timings: Timings = await commands.commit();
const kernel: Kernel = await device.kernel('kernel void nothing() {}', { check: true });
const ran: Timings = await kernel.run({ grid: [4, 4], arguments: { out: new Float32Array(16), image: Volume.from(new Float32Array(8), { width: 2, height: 2, depth: 2 }) } });
try {
  device.vector(-1);
} catch (error) {
  if (!(error instanceof CovariumError)) throw error;
  const code: ErrorCode = error.code;
  console.log(code, error.pivot);
}
{
  const owned = device.vector(3);
  owned[Symbol.dispose]();
}
console.log(numbers.length, densities.length, fitted.dimension, timings.wallMs + ran.deviceMs);

// @ts-expect-error: no such device
openDevice('abacus');
// @ts-expect-error: a device has no such method
device.draw();
// @ts-expect-error: a seed is no string
normal.sampleSync(1, { seed: '42' });
`;
