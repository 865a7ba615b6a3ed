// The API reference is made from docstrings: docs/api is current, and every export documents what users must know.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Application,
  type Comment,
  type DeclarationReflection,
  ReflectionKind,
  type SignatureReflection,
  TSConfigReader,
  TypeDocReader,
} from 'typedoc';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  CovariumError,
  f32,
  listDevices,
  Matrix,
  Moments,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateNormalMixture,
  MultivariateStudentT,
  MultivariateStudentTBatch,
  openDevice,
  Vector,
  Volume,
} from '../../lib/index.ts';
import { list, none, read, sources } from '../harness/source-text.ts';

const config = fileURLToPath(new URL('../../typedoc.config.mjs', import.meta.url));
const app = await Application.bootstrapWithPlugins({ options: config, logLevel: 'Warn' }, [
  new TypeDocReader(),
  new TSConfigReader(),
]);
const project = (await app.convert())!;
app.validate(project);

/** What a user can name or reach: exports, their members, and each signature. */
interface Entry {
  readonly name: string;
  /** The class, interface or module around it. */
  readonly parent: string;
  readonly declaration: DeclarationReflection;
  readonly signature: SignatureReflection | undefined;
  readonly words: string;
}

const entries = (project.children ?? []).flatMap((each) => [
  ...entriesOf(each, ''),
  ...(each.children ?? []).flatMap((member) => entriesOf(member, each.name)),
]);

function entriesOf(declaration: DeclarationReflection, parent: string): Entry[] {
  const signatures = [...(declaration.signatures ?? []), declaration.getSignature].filter((each) => each !== undefined);
  const entry = (signature: SignatureReflection | undefined, comment: Comment | undefined) => ({
    name: parent === '' ? declaration.name : `${parent}.${declaration.name}`,
    parent,
    declaration,
    signature,
    words: wordsOf(comment),
  });
  if (signatures.length === 0) return [entry(undefined, declaration.comment)];
  // The docstring of an overloaded function stands before its first signature.
  return signatures.map((each) => entry(each, each.comment ?? signatures[0]!.comment));
}

function wordsOf(comment: Comment | undefined): string {
  const parts = [...(comment?.summary ?? []), ...(comment?.blockTags ?? []).flatMap((tag) => tag.content)];
  return parts.map((part) => ('tag' in part ? `{${part.tag} ${part.text}}` : part.text)).join('');
}

/** True if an entry says something itself, or refers to another entry that says it. */
function says(entry: Entry, what: RegExp, seen: readonly Entry[] = []): boolean {
  if (what.test(entry.words)) return true;
  const others = [...entry.words.matchAll(/\b(?:like|twin of(?: the static)?) \{@link (\w+)\}/g)].map(
    ([, name]) => name,
  );
  return entries
    .filter(({ parent, declaration }) => parent === entry.parent && others.includes(declaration.name))
    .some((other) => !seen.includes(other) && says(other, what, [...seen, entry]));
}

const names = (wrong: readonly Entry[]) => [...new Set(wrong.map(({ name }) => name))];

test('docs/api is what `npm run docs` makes from the docstrings.', async () => {
  assert.not(
    app.logger.hasWarnings(),
    'typedoc has no warning: links have targets, and names in signatures are exported',
  );
  const out = mkdtempSync(join(tmpdir(), 'covarium-docs-'));
  try {
    app.options.setValue('out', out);
    await app.generateOutputs(project);
    const made = (path: string) => readFileSync(join(out, path.slice('docs/api/'.length)), 'utf8');
    const pages = readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join('docs/api', relative(out, join(entry.parentPath, entry.name))))
      .sort();
    assert.ok(pages.includes('docs/api/classes/MultivariateNormal.md'), 'each class has a page');
    assert.equal(list('docs/api'), pages, 'docs/api has pages of another version: npm run docs');
    // The compiler chooses the order of the types in a union, which changes with unrelated files.
    const words = (text: string) =>
      text.split('\n').map((line) =>
        line
          .split(/[\s()|]+/)
          .sort()
          .join(' '),
      );
    for (const page of pages) {
      assert.equal(words(read(page)), words(made(page)), `${page} is of another version: npm run docs`);
      assert.not.match(made(page), /\]\(#undefined\)|\/home\/|\/Users\//, 'it has no path of this machine');
    }
  } finally {
    rmSync(out, { recursive: true });
  }
});

test('Everything that is exported, and each of its members, is documented.', () => {
  assert.ok(entries.length > 150, `entries are found (${entries.length})`);
  none(names(entries.filter(({ words }) => words.trim().length < 5)), 'no docstring');
});

// Members that refuse nothing in any state; the test below calls each. It runs without the addon.
const env: NodeJS.ProcessEnv & { COVARIUM_ADDON?: string } = process.env;
env.COVARIUM_ADDON = 'none.node';
const device = openDevice('reference');
const matrix = Matrix.from([[1]]);
const vector = Vector.from([1]);
const volume = Volume.from([1], { width: 1 });
const moments = new Moments(1);
const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1]] });
const batch = MultivariateNormalBatch.fromCovarianceSync({ device, covariances: [[[1]]] });
const mixture = MultivariateNormalMixture.fromCovarianceSync({ device, weights: [1], covariances: [[[1]]] });
const students = MultivariateStudentTBatch.fromScaleSync({ device, scales: [[[1]]], degreesOfFreedom: 3 });
const student = MultivariateStudentT.fromScaleSync({ device, scale: [[1]], degreesOfFreedom: 3 });
const refusesNothing: { readonly [name: string]: () => unknown } = {
  listDevices,
  'CovariumError.constructor': () => new CovariumError('ERR_INTERNAL', 'It fails.'),
  'OpenBackend.closed': () => device.closed,
  'OpenBackend.close': () => device.close(),
  'Device.closed': () => device.closed,
  'Device.close': () => device.close(),
  'Matrix.shape': () => matrix.shape,
  'Matrix.strides': () => matrix.strides,
  'Matrix.offset': () => matrix.offset,
  'Matrix.rows': () => matrix.rows,
  'Matrix.columns': () => matrix.columns,
  'Matrix.dtype': () => matrix.dtype,
  'Matrix.timings': () => matrix.timings,
  'Matrix.closed': () => matrix.closed,
  'Matrix.close': () => matrix.close(),
  'Vector.shape': () => vector.shape,
  'Vector.strides': () => vector.strides,
  'Vector.offset': () => vector.offset,
  'Vector.length': () => vector.length,
  'Vector.dtype': () => vector.dtype,
  'Vector.timings': () => vector.timings,
  'Vector.closed': () => vector.closed,
  'Vector.close': () => vector.close(),
  'Volume.shape': () => volume.shape,
  'Volume.width': () => volume.width,
  'Volume.height': () => volume.height,
  'Volume.depth': () => volume.depth,
  'Volume.size': () => volume.size,
  'Volume.dtype': () => volume.dtype,
  'Volume.closed': () => volume.closed,
  'Volume.close': () => volume.close(),
  'Moments.count': () => moments.count,
  'Moments.dropped': () => moments.dropped,
  'Moments.weightSum': () => moments.weightSum,
  'Moments.squaredWeightSum': () => moments.squaredWeightSum,
  'Moments.toJSON': () => moments.toJSON(),
  'MultivariateNormal.timings': () => normal.timings,
  'MultivariateNormal.entropy': () => normal.entropy,
  'MultivariateNormal.rank': () => normal.rank,
  'MultivariateNormal.jitter': () => normal.jitter,
  Scalar: () => f32(Number.NaN),
  'Distribution.closed': () => normal.closed,
  'Distribution.close': () => normal.close(),
  'MultivariateNormal.closed': () => normal.closed,
  'MultivariateNormal.close': () => normal.close(),
  'MultivariateNormalBatch.closed': () => batch.closed,
  'MultivariateNormalBatch.close': () => batch.close(),
  'MultivariateNormalMixture.weights': () => mixture.weights,
  'MultivariateNormalMixture.closed': () => mixture.closed,
  'MultivariateNormalMixture.close': () => mixture.close(),
  'MultivariateStudentTBatch.closed': () => students.closed,
  'MultivariateStudentTBatch.close': () => students.close(),
  'MultivariateStudentT.timings': () => student.timings,
  'MultivariateStudentT.rank': () => student.rank,
  'MultivariateStudentT.jitter': () => student.jitter,
  'MultivariateStudentT.closed': () => student.closed,
  'MultivariateStudentT.close': () => student.close(),
};

test('Everything that can refuse says with which code.', () => {
  const code = /`ERR_[A-Z_]+`/;
  // A command of a command buffer returns the buffer; the docstring of the class holds for all of them.
  const isVerb = ({ signature }: Entry) => signature?.type?.toString() === 'this';
  const aboutVerbs = entries.find(({ name }) => name === 'CommandBuffer')!;
  assert.match(aboutVerbs.words, code);
  const callable = entries.filter(({ signature }) => signature !== undefined);
  assert.ok(callable.length > 60, `what can be called is found (${callable.length})`);
  // `using` calls it: it is close().
  const isDispose = ({ name }: Entry) => name.endsWith('.[dispose]');
  const silent = callable.filter((entry) => !says(entry, code) && !isVerb(entry) && !isDispose(entry));
  none(names(silent.filter(({ name }) => !(name in refusesNothing))), 'it names no code');
  none(
    Object.keys(refusesNothing).filter((name) => !silent.some((entry) => entry.name === name)),
    'a member that is gone, or that names a code',
  );
  const closing = [matrix, vector, volume, normal, batch, mixture, students, student, device];
  for (const thing of closing) thing.close();
  for (const thing of closing) thing[Symbol.dispose]();
  for (const call of Object.values(refusesNothing)) call();
});

test('Every code is explained in the table of codes, and no docstring and no native source names another.', () => {
  const known = [...read('lib/covarium-error.ts').matchAll(/^ {2}\| '(ERR_\w+)'/gm)].map(([, code]) => code!);
  assert.ok(known.includes('ERR_SHAPE') && known.length > 20);
  const { words } = entries.find(({ name }) => name === 'ErrorCode')!;
  none(
    known.filter((code) => !new RegExp(`^\\|.*\`${code}\`.*\\|.+\\|.*\\|$`, 'm').test(words)),
    'a code without a row in the table',
  );
  const named = (text: string) => text.match(/\bERR_[A-Z]\w+/g) ?? [];
  none(
    [...entries.flatMap((entry) => named(entry.words)), ...sources.flatMap((path) => named(read(path)))].filter(
      (code) => !known.includes(code),
    ),
    'no such code',
  );
});

// Types whose numbers have a shape.
const shaped = /\b(Matrix|Vector|Volume|MatrixInput|VectorInput|RowsInput|RowList|Operand|SampleOut)\b/;

test('Everything that takes or returns numbers in a shape says which shape.', () => {
  const shape = /\b(\w+|\)) x (\w+|\()|\bn\b|\w\[\w\]|\brows of\b|\bof `?length`?\b|\bshape\b|\bof count\b/;
  const types = ({ declaration, signature }: Entry) =>
    signature === undefined
      ? `${declaration.type}`
      : [...(signature.parameters ?? []), signature].map(({ type }) => `${type}`).join(' ');
  const isShaped = (entry: Entry) => entry.parent !== '' && shaped.test(types(entry));
  assert.ok(entries.filter(isShaped).length > 50);
  none(names(entries.filter((entry) => isShaped(entry) && !says(entry, shape))), 'no shape');
});

test('A number with a unit in its name has it in its docstring too.', () => {
  const units: readonly (readonly [RegExp, RegExp])[] = [
    [/Ms$/, /millisecond/],
    [/Bytes$/, /\bbytes\b/i],
  ];
  const wordsAround = ({ parent, words }: Entry) => words + entries.find(({ name }) => name === parent)?.words;
  const wrong = units.flatMap(([name, words]) => {
    const all = entries.filter(({ declaration }) => name.test(declaration.name));
    assert.ok(all.length > 0, `${name}`);
    return all.filter((entry) => !words.test(wordsAround(entry)));
  });
  none(names(wrong), 'no unit');
});

test('An option that may be omitted says its default.', () => {
  const options = entries.filter(
    ({ parent, declaration: { flags, kind, type } }) =>
      /(Options|Elements)$/.test(parent) &&
      kind === ReflectionKind.Property &&
      flags.isOptional &&
      !/^(AbortSignal|SampleOut)\b/.test(`${type}`),
  );
  assert.ok(options.length > 20, `options are found (${options.length})`);
  none(names(options.filter(({ words }) => !/default|omitted/.test(words))), 'no default');
});

test.run();
