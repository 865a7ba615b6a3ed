// Finds mistakes in a shell line of a page: a command, a script, an option or a file that does not exist.
import { run } from '../harness/command-line.ts';
import { isThere, list, read } from '../harness/source-text.ts';

const { scripts } = JSON.parse(read('package.json')) as { scripts: { readonly [name: string]: string } };
const ofNpm = ['ci', 'test', 'start', 'install', 'pack', 'run', 'ls'];
// Programs of the system that pages name; of their arguments, only our own files are checked.
const ofTheSystem = [
  'apt-get',
  'git',
  'cd',
  'sbatch',
  'bash',
  'kubectl',
  'duckdb',
  'g++',
  'compute-sanitizer',
  'xcode-select',
  'file',
];

const helps = new Map<string, Promise<string>>();
/** What `covarium <command> --help` prints; '' if there is no such command. */
function helpOf(command: string): Promise<string> {
  const known = helps.get(command);
  if (known !== undefined) return known;
  const help = run([command, '--help']).then(({ stdout }) => (stdout.includes(`covarium ${command}`) ? stdout : ''));
  helps.set(command, help);
  return help;
}

/** One sentence for each mistake in a line. */
export async function shellMistakes(line: string): Promise<string[]> {
  const commands = line
    .replace(/(^|\s)#.*$/, '')
    .split(/&&|\|/)
    .map((command) => command.trim().split(/\s+/).filter(Boolean));
  return (await Promise.all(commands.map(mistakesOf))).flat();
}

async function mistakesOf(words: string[]): Promise<string[]> {
  while (/^(sudo|npx|env)$|^[A-Za-z_]+=/.test(words[0] ?? '')) words.shift();
  const [program, ...rest] = words;
  if (program === undefined) return [];
  if (program === 'covarium') return covariumMistakes(rest);
  if (program === 'npm') return npmMistakes(rest);
  if (program === 'node') return nodeMistakes(rest);
  if (program.startsWith('./') || program.startsWith('test/')) return missing([program.replace('./', 'test/msl/')]);
  if (!ofTheSystem.includes(program)) return [`(${program}) is no program that a page may name`];
  return missing(rest);
}

/** Files of our rooms that do not exist; `test/msl/exhaustive` stands for its source. */
function missing(words: readonly string[]): string[] {
  return words
    .filter((word) => /^(lib|objc|msl|test|bench|examples|docs)\//.test(word))
    .filter((word) => !isThere(word) && !isThere(`${word}.cc`))
    .map((word) => `there is no file (${word})`);
}

async function covariumMistakes([command, ...rest]: readonly string[]): Promise<string[]> {
  const help = command === undefined ? '' : await helpOf(command);
  if (help === '') return [`covarium has no command (${command})`];
  const options = new Set(help.match(/--[a-z-]+/g));
  return rest
    .filter((word) => word.startsWith('--') && !options.has(word))
    .map((word) => `covarium ${command} has no option (${word})`);
}

async function npmMistakes([command, ...rest]: readonly string[]): Promise<string[]> {
  if (!ofNpm.includes(command ?? '')) return [`npm ${command} is no command that a page may name`];
  const parts = rest.includes('--') ? rest.slice(rest.indexOf('--') + 1) : [];
  const tests = list('test');
  if (command === 'test')
    return parts
      .filter((part) => !tests.some((path) => path.endsWith('.test.ts') && path.includes(part)))
      .map((part) => `npm test -- ${part} matches no test`);
  if (command !== 'run') return [];
  const [name] = rest;
  if (scripts[name!] === undefined) return [`there is no script (${name})`];
  if (name === 'bench') return covariumMistakes(['bench', ...parts]);
  if (name === 'example')
    return missing(parts.filter((part) => /^[a-z]/.test(part)).map((part) => `examples/${part}.ts`));
  return [];
}

function nodeMistakes(words: readonly string[]): string[] {
  const file = words.find((word) => /\.(ts|mjs|js)$/.test(word));
  if (file === undefined) return [`node is given no file (${words.join(' ')})`];
  // The reader's own program, or the output of tsc for ours.
  if (!file.includes('/')) return [];
  return missing([file.replace(/^dist\/(.*)\.js$/, '$1.ts')]);
}
