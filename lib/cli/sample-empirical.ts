import { stat } from 'node:fs/promises';
import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import { openOutput } from '../file/output.ts';
import { openDevice } from '../open-device.ts';
import { manifestPath } from '../run/manifest.ts';
import type { RunModel } from '../run/model.ts';
import { openNormal } from '../run/model.ts';
import { writeRows } from '../run/parts.ts';
import type { Run } from '../run/run.ts';
import { deviceArgument } from './arguments.ts';
import { tellPassedOver } from './passed-over.ts';

/** Those options of `covarium sample` that matter here, as typed. */
export interface EmpiricalArguments {
  readonly output: string;
  readonly device?: string;
}

/**
 * Draws an empirical sample into a file or to standard output, as a whole. It has no manifest, which tells how any row
 * is drawn again: here each depends on all. Throws `ERR_INVALID_ARGUMENT` for a Student-t or a first row,
 * `ERR_FILE_UNWRITABLE` where a manifest of other draws lies beside.
 */
export async function sampleEmpirical(
  { output: path, device: kind }: EmpiricalArguments,
  run: Run,
  model: RunModel,
  signal: AbortSignal,
): Promise<void> {
  if (model.degreesOfFreedom !== undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `An empirical sample (--empirical) is of a normal, not of a Student-t with (${model.degreesOfFreedom}) degrees of freedom.`,
    );
  if (run.firstRow !== '0')
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `An empirical sample (--empirical) is whole: it has no first row (${run.firstRow}).`,
    );
  if (path !== '-') await refuseManifest(path);
  using device = openDevice(deviceArgument(kind));
  tellPassedOver(device.kind, deviceArgument(kind));
  const { rows: count, dtype } = run;
  using normal = await openNormal(device, model, dtype);
  const which = { seed: BigInt(run.seed), stream: BigInt(run.stream), empirical: true, signal };
  using draws = await normal.sample(count, which);
  const output = await openOutput(path);
  async function* rows(): AsyncGenerator<Real, void, undefined> {
    yield draws.data as Real;
  }
  // Formats that carry a run in the file must not tell one whose rows could be drawn alone.
  const told: Run & { readonly empirical: true } = { ...run, empirical: true };
  await writeRows(output, told, { rows }, signal, () => {});
}

async function refuseManifest(path: string): Promise<void> {
  const beside = manifestPath(path);
  if ((await stat(beside).catch(() => undefined)) === undefined) return;
  throw new CovariumError(
    'ERR_FILE_UNWRITABLE',
    `File (${beside}) lies beside the output, and would be taken for its manifest: an empirical sample has none.`,
    { path: beside },
  );
}
