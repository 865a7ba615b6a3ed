#!/usr/bin/env node
import { Command, Option } from 'commander';
import colors from 'picocolors';
import { CovariumError } from '../covarium-error.ts';
import { devices } from './devices.ts';
import { fit } from './fit.ts';
import { sample } from './sample.ts';
import { versions } from './versions.ts';

const interruption = new AbortController();
// A second Ctrl-C ends the process at once, as it does without us.
process.once('SIGINT', () => interruption.abort(new Error('SIGINT')));
process.once('SIGTERM', () => interruption.abort(new Error('SIGTERM')));

/** Exit codes: 0, 1 for bad input, 128 + the number of the signal that interrupts (130: Ctrl-C). */
async function main(): Promise<void> {
  const program = new Command('covarium')
    .description('Multivariate normals on Apple GPUs, BLAS, or plain TypeScript.')
    .version(versions().covarium);
  const device = () => new Option('--device <kind>', 'metal, cpu or reference; the best that works by default');
  program
    .command('devices')
    .description('what is here, what was chosen and why')
    .option('--json', 'as JSON')
    .action((options) => devices(options));
  program
    .command('fit')
    .description('fit a normal to rows of numbers')
    .argument('<data.csv>', 'numbers, with an optional header row')
    .requiredOption('--output <model.json>', 'the model file')
    .option('--ddof <n>', 'degrees of freedom taken from the divisor of the covariance', '1')
    .option('--dtype <type>', 'float32 or float64: the type to sample in by default', 'float32')
    .addOption(device())
    .action((path, options) => fit(path, options, interruption.signal));
  program
    .command('sample')
    .description('draw rows from a normal')
    .option('--model <model.json>', 'what `covarium fit` wrote')
    .option('--mean <m.csv>', 'one row of numbers; zeros by default')
    .option('--covariance <c.csv>', 'n rows of n numbers')
    .requiredOption('--count <n>', 'rows to draw')
    .option('--seed <s>', 'a whole number below 2^64; random by default')
    .option('--stream <s>', 'a whole number below 2^64', '0')
    .option('--first-row <r>', 'the first row of the run to draw', '0')
    .option('--dtype <type>', 'float32 or float64; what the model says by default')
    .addOption(device())
    .requiredOption('--output <file>', 'a .npy or .csv file, or - for CSV on standard output')
    .action((options) => sample(options, interruption.signal));
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCode(error);
  }
}

function exitCode(error: unknown): number {
  if (interruption.signal.aborted) return (interruption.signal.reason as Error).message === 'SIGTERM' ? 143 : 130;
  // The reader of standard output has enough.
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 0;
  // Anything but a refusal is a defect, told with its stack.
  if (!(error instanceof CovariumError)) {
    console.error(error);
    return 1;
  }
  const { code, message } = error;
  process.stderr.write(`${colors.red('error:')} ${message.replaceAll('\n', ' ')} [${code}]\n`);
  return 1;
}

await main();
