import { wholeNumber } from '../check.ts';
import { printable } from '../covarium-error.ts';
import { standardOutput } from '../file/output.ts';
import { verified } from '../run/verify.ts';
import { wholeArgument } from '../typed-number.ts';
import { deviceArgument } from './arguments.ts';
import { givenModel, type ModelArguments } from './given-model.ts';

/** Options of `covarium verify`, as typed. */
interface VerifyArguments extends ModelArguments {
  readonly rows: string;
  readonly device?: string;
}

/** `covarium verify`: prints a line for each file that agrees with its manifest, its model and its seed. */
export async function verify(path: string, options: VerifyArguments, signal: AbortSignal): Promise<void> {
  const rows = wholeNumber('--rows', wholeArgument('--rows', options.rows), 1);
  const model = await givenModel(options);
  const kind = deviceArgument(options.device);
  const output = standardOutput();
  let isRead = true;
  for await (const file of verified(path, { model, rows, kind, signal })) {
    const { run, provenance } = file.manifest;
    const ulps = `within ${file.worstUlps.toPrecision(2)} ulps (${file.allowedUlps.toPrecision(2)} are allowed)`;
    const lines = [
      // One line, whatever line ends the name has: what follows them would pass for a line of ours.
      `${printable(file.path).replaceAll('\n', ' ')}: ${run.rows} rows from row ${run.firstRow}, seed ${run.seed}, stream ${run.stream}; model, size and SHA-256 agree.`,
      `  ${file.rows} rows, drawn on ${provenance.device.kind}, are drawn again on ${file.drawnOn} ${ulps};`,
      file.normalsOn.length > 1
        ? `  their normals have the same bits on ${file.normalsOn.join(', ')}.`
        : `  their normals were made on ${file.normalsOn[0]} alone: there is no other device to compare.`,
    ];
    if (!isRead) continue;
    await output.write(Buffer.from(`${lines.join('\n')}\n`)).catch((error: NodeJS.ErrnoException) => {
      // If the reader closes the output after the first line, the exit code still covers all files.
      if (error.code !== 'EPIPE') throw error;
      isRead = false;
    });
  }
}
