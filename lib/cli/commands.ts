import { Command, Option } from 'commander';
import colors from 'picocolors';
import { CovariumError, loading, printable } from '../covarium-error.ts';
import { tableFormats } from '../table/format.ts';
import { versions } from '../versions.ts';
import { bench } from './bench.ts';
import { buildNative } from './build-native.ts';
import { commandWords } from './command-words.ts';
import { compareResults } from './compare.ts';
import { devices } from './devices.ts';
import { fit } from './fit.ts';
import { interruptedCode, interruption, tidily } from './interruption.ts';
import { merge } from './merge.ts';
import { sample } from './sample.ts';
import { verify } from './verify.ts';

export { interruptible } from './interruption.ts';

/**
 * Obeys the words of a command. Exit codes: 0, 1 for bad input, 128 + the number of the signal that interrupts (130:
 * Ctrl-C).
 */
export async function command(words: readonly string[]): Promise<void> {
  const program = new Command('covarium')
    .description('Multivariate normals on Apple and NVIDIA GPUs and the CPU.')
    .version(versions().covarium)
    .addHelpText(
      'after',
      examples(
        'covarium fit data.csv --output model.json',
        'covarium sample --model model.json --count 1e6 --output draws.npy',
        'covarium help sample',
      ),
    )
    .configureOutput({
      writeErr: (text) => process.stderr.write(printable(text)),
      outputError: (text) => process.stderr.write(printable(text).replace(/^error:/, colors.red('error:'))),
    });
  const formats = tableFormats.join(', ');
  const files = `.${tableFormats.join(', .')}`.replace(/, (\S+)$/, ' or $1');
  const device = () => new Option('--device <kind>', 'metal, cuda, cpu or reference; the best that works by default');
  const ddof = () =>
    new Option('--ddof <n>', "degrees of freedom taken from the covariance's divisor; 1, or 0 with a fixed mean");
  const shrinkage = () =>
    new Option('--shrinkage <share>', 'none, ledoit-wolf or a number from 0 to 1; none by default');
  const fixedMean = () => new Option('--fixed-mean <m.csv>', 'one row of numbers that stands for the mean of the data');
  const semidefinite = () =>
    new Option('--singular', 'the covariance may be singular; `covarium sample --singular` draws from such a model');
  const jitter = () =>
    new Option(
      '--jitter [share]',
      'add to each variance, by this share of the largest, until the covariance is positive definite',
    );
  const dtype = () =>
    new Option(
      '--dtype <type>',
      'float32 or float64: the type to sample in; by default float32, or float64 where float32 is too coarse',
    );
  const missing = () =>
    new Option('--missing <what>', 'error or drop: what becomes of a row with a missing value').default('error');
  const header = () => new Option('--header', 'of CSV: the first row names the columns; by default the file tells');
  const noHeader = () => new Option('--no-header', 'of CSV: the first row has numbers');
  const delimiter = () =>
    new Option('--delimiter <letter>', "of CSV: what parts fields: , or ; or tab or ' ', as the file tells");
  const comment = () => new Option('--comment <letter>', 'of CSV: lines that begin with it are skipped, as #');
  program
    .command('devices')
    .description('what is here, what was chosen and why')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('covarium devices', 'COVARIUM_THREADS=4 covarium devices --json'))
    .action((options) => devices(options));
  program
    .command('fit')
    .description('fit a normal to rows of numbers')
    .argument('<data...>', `${files} files of numbers, or - for standard input`)
    .option('--format <format>', `${formats}; by default what the ending says, csv for -`)
    .option('--columns <a,b>', 'the columns to fit to, by name; all by default')
    .addOption(missing())
    .addOption(header())
    .addOption(noHeader())
    .addOption(delimiter())
    .addOption(comment())
    .option('--member <name>', 'the array of a .npz file to fit to; needed where it holds several')
    .option('--weights <column>', 'how much each row says')
    .option('--frequencies <column>', 'how often each row was observed')
    .option('--output <model.json>', 'the model file, or - for standard output')
    .option(
      '--partial <partial.json>',
      'in place of a model: a part of a fit, for `covarium merge`; - for standard output',
    )
    .option(
      '--shard [i/n]',
      'the i-th of n shares of the files, or of the rows; what a Slurm or Kubernetes job says by default',
    )
    .option('--shards <n>', 'how many shards there are, where the job does not say')
    .addOption(ddof())
    .addOption(shrinkage())
    .addOption(fixedMean())
    .addOption(semidefinite())
    .addOption(jitter())
    .addOption(dtype())
    .addOption(device())
    .addHelpText(
      'after',
      examples(
        'covarium fit data.csv --output model.json',
        'covarium fit data.parquet --columns a,b --missing drop --output model.json',
      ),
    )
    .action((paths, options) => fit(paths, options, interruption));
  program
    .command('merge')
    .description('the model of all parts of a fit')
    .argument('<partial.json...>', 'what `covarium fit --partial` wrote, or - for standard input')
    .option('--output <model.json>', 'the model file, or - for standard output')
    .option('--partial <partial.json>', 'in place of a model: a larger part, or - for standard output')
    .addOption(ddof())
    .addOption(shrinkage())
    .addOption(fixedMean())
    .addOption(semidefinite())
    .addOption(jitter())
    .addOption(dtype())
    .addHelpText('after', examples('covarium merge monday.json tuesday.json --output model.json'))
    .action((paths, options) => merge(paths, options, interruption));
  program
    .command('sample')
    .description('draw rows from a normal, or a Student-t')
    .option('--model <model.json>', 'what `covarium fit` wrote, or - for standard input')
    .option('--mean <m.csv>', 'one row of numbers; zeros by default')
    .option('--covariance <c.csv>', 'n rows of n numbers')
    .option('--degrees-of-freedom <nu>', 'a Student-t, whose scale is what --covariance says')
    .option('--singular', 'the covariance may be singular: draws lie on its support')
    .addOption(header())
    .addOption(noHeader())
    .addOption(delimiter())
    .addOption(comment())
    .requiredOption('--count <n>', 'rows to draw, as 1000000 or 1e6')
    .option('--seed <s>', 'a whole number below 2^64; random by default')
    .option('--stream <s>', 'a whole number below 2^64', '0')
    .option('--first-row <r>', 'the first row of the run to draw', '0')
    .option('--dtype <type>', 'float32 or float64; what the model says by default')
    .addOption(device())
    .option('--gpus <list>', 'all, or GPUs as 0,1: they share the rows, by blocks; the rows stay the same')
    .requiredOption('--output <file>', `a ${files} file, - for standard output, or a folder/ for parts`)
    .option('--format <format>', `${formats}; by default what the ending says, csv for -, npy for parts`)
    .option('--empirical', 'a sample whose own mean and covariance are exactly those of the normal')
    .option('--no-manifest', 'without the manifest beside the file, by which `covarium verify` checks it')
    .option('--rows-per-part <n>', 'rows of a part; by default what fills about 256 MiB')
    .option('--shard <i/n>', 'draw the parts of shard i of n, from 1; by default what Slurm or Kubernetes says')
    .option('--shards <n>', 'how many shards there are, where the environment says only which this is')
    .option('--check-parts', 'read the parts that are there, and compare them with their manifests')
    .addHelpText(
      'after',
      examples(
        'covarium sample --model model.json --count 1e6 --seed 42 --output draws.npy',
        'covarium sample --covariance c.csv --count 5 --output -',
      ),
    )
    .action((options) => sample(options, interruption));
  program
    .command('verify')
    .description('check draws against their manifest and their model, and draw rows of them again on another device')
    .argument('<path>', 'what `covarium sample` wrote: a file, or the folder of a run')
    .option('--model <model.json>', 'the model')
    .option('--mean <m.csv>', 'one row of numbers; zeros by default')
    .option('--covariance <c.csv>', 'n rows of n numbers')
    .option('--degrees-of-freedom <nu>', 'a Student-t, whose scale is what --covariance says')
    .option('--singular', 'the covariance may be singular: draws lie on its support')
    .addOption(header())
    .addOption(noHeader())
    .addOption(delimiter())
    .addOption(comment())
    .option('--rows <k>', 'rows of each file to draw again, the first and the last among them', '16')
    .option('--device <kind>', 'where to draw them; by default on another kind of device than the one that drew')
    .addHelpText(
      'after',
      examples(
        'covarium verify draws.npy --model model.json',
        'covarium verify run/ --model model.json --device reference',
      ),
    )
    .action((path, options) => verify(path, options, interruption));
  program
    .command('bench')
    .description("measure this machine's devices, and write results and a report")
    .argument(
      '[suites...]',
      'by default all but kernels, batches, functions, calls, subnormal and triangular; an unknown one is answered with their names',
    )
    .option('--dimensions <list>', 'with commas; 64,256,1000,2048 by default')
    .option('--counts <list>', 'rows to draw, with commas; 1,100,10000 by default')
    .option('--dtypes <list>', 'float32,float64 by default')
    .option(
      '--devices <list>',
      'metal, cuda, cpu, cpu-1 (one thread), cpu-blas (products of the BLAS here), reference, softmetal; metal,cuda,cpu,reference by default',
    )
    .option('--no-peers', 'without the other libraries that are found here')
    .option('--quick', 'small sizes and few runs: under a minute')
    .option('--rounds <n>', 'rounds in which all take turns, 2 or more; 5 by default')
    .option('--time <ms>', 'measuring time of each in a case, all rounds together; 350 by default')
    .option('--output <folder>', 'where results.json and the report go', 'report')
    .addHelpText(
      'after',
      examples('covarium bench --quick', 'covarium bench sampling --dimensions 2,100 --devices cpu'),
    )
    .action((suites, options) => tidily(() => bench(suites, options, interruption)));
  program
    .command('compare')
    .description('compare runs of the benchmark, or contenders in them')
    .argument('<results.json...>', 'what `covarium bench` wrote; a folder stands for the results.json in it')
    .option('--contenders <names>', 'compare these, as cpu,metal; each with itself by default')
    .option('--fail-over <ratio>', 'exit with 1 where one is slower than the first by more, beyond the noise: 1.10')
    .option('--markdown <file>', 'write the tables as Markdown too')
    .option('--html <file>', 'write them as a page too')
    .addHelpText(
      'after',
      examples(
        'covarium compare before/ after/ --fail-over 1.10',
        'covarium compare report/ --contenders numpy,cpu --markdown table.md',
      ),
    )
    .action((paths, options) => compareResults(paths, options));
  program
    .command('plot')
    .description('draw a model with draws and data, a panel for each pair of columns')
    .requiredOption('--model <model.json>', 'what `covarium fit` wrote')
    .requiredOption('--draws <file>', 'a file as `covarium sample` writes it')
    .option('--data <file>', `a ${files} file`)
    .addOption(header())
    .addOption(noHeader())
    .addOption(delimiter())
    .addOption(comment())
    .addOption(missing())
    .option('--columns <a,b>', 'the columns to show, up to 8; all by default (x1, x2, ... where the model names none)')
    .option('--title <text>', 'what stands above the picture; the names of the files by default')
    .requiredOption(
      '--output <file>',
      'a .svg file, a .png file (needs npm install @resvg/resvg-js), or - for SVG on standard output',
    )
    .addHelpText('after', examples('covarium plot --model model.json --draws draws.npy --output pairs.svg'))
    .action(async (options) => {
      // The plotting library takes longer to load than the other commands to run.
      const { plot } = await loading(import('./plot.ts'));
      await plot(options, interruption);
    });
  program
    .command('build-native')
    .description('build the native addon on this machine, where no prebuilt one is for its platform')
    .option('--output <file.node>', 'where to put it, for COVARIUM_ADDON to name; in the package by default')
    .addHelpText('after', examples('covarium build-native'))
    .action((options) => tidily(() => buildNative(options, interruption)));
  try {
    // Of an unknown command, `help` would print the help of all, and no line that says so.
    const isKnown = ([first, name]: readonly string[]) =>
      first !== 'help' || name === undefined || program.commands.some((each) => each.name() === name);
    await program.parseAsync(isKnown(words) ? words : words.slice(1), { from: 'user' });
  } catch (error) {
    const given = program.commands.find((each) => each.name() === program.args[0]);
    const typed = (name: string) => given?.getOptionValueSource(name) === 'cli';
    // A model has these too, under their own names.
    const isOfModel = ({ long }: Option) => ['--mean', '--covariance'].includes(long!);
    const options = given?.options.filter((each) => typed(each.attributeName()) || !isOfModel(each)) ?? [];
    process.exitCode = exitCode(
      error,
      options.map(({ long }) => long!),
      typed('model') ? given!.getOptionValue('model') : undefined,
    );
  }
}

function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function exitCode(error: unknown, options: readonly string[], model?: string): number {
  const interrupted = interruptedCode();
  if (interrupted !== undefined) return interrupted;
  // The reader of standard output has closed it.
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 0;
  // Any other error is a defect, printed with its stack.
  if (!(error instanceof CovariumError)) {
    console.error(error);
    return 1;
  }
  // In one line, without control characters for a terminal: a message may quote the content of a file.
  const { code } = error;
  const ofModel = (_: string, name: string) => `${name === 'mean' ? 'Mean' : 'Covariance'} of (${model})`;
  const told = model === undefined ? error.message : error.message.replace(/^`(mean|covariance)`/, ofModel);
  const message = commandWords(told, options);
  process.stderr.write(`${colors.red('error:')} ${message.replace(/\p{Cc}+/gu, ' ')} [${code}]\n`);
  return 1;
}
