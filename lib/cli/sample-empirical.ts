import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import { openOutput } from '../file/output.ts';
import { openQuietly } from '../open-device.ts';
import { refuseManifest } from '../run/manifest.ts';
import type { RunModel } from '../run/model.ts';
import { openNormal } from '../run/model.ts';
import { writeRows } from '../run/parts.ts';
import type { Run } from '../run/run.ts';
import { deviceArgument } from './arguments.ts';
import { tellPassedOver } from './passed-over.ts';

/** The options of `covarium sample` that matter here, as typed. */
interface EmpiricalArguments {
  readonly output: string;
  readonly device?: string;
}

/**
 * Draws an empirical sample as a whole into a file or to standard output. It has no manifest, because a manifest says
 * how to draw any row again, and here each row depends on all. Throws `ERR_INVALID_ARGUMENT` for a Student-t or a first
 * row, `ERR_FILE_UNWRITABLE` if a manifest of other draws lies beside the output.
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
      `An empirical sample (--empirical) cannot begin at a row (${run.firstRow}): leave --first-row out.`,
    );
  if (path !== '-') await refuseManifest(path, 'an empirical sample has none');
  using device = openQuietly(deviceArgument(kind));
  tellPassedOver(device.kind, deviceArgument(kind));
  const { rows: count, dtype } = run;
  using normal = await openNormal(device, model, dtype);
  const which = { seed: BigInt(run.seed), stream: BigInt(run.stream), empirical: true, signal };
  using draws = await normal.sample(count, which);
  const output = await openOutput(path);
  async function* rows(): AsyncGenerator<Real, void, undefined> {
    yield draws.data as Real;
  }
  // A file format that stores the run must not claim that its rows can be drawn separately.
  const told: Run & { readonly empirical: true } = { ...run, empirical: true };
  await writeRows(output, told, { rows }, signal, () => {});
}
