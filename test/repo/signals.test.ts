// Each public call that takes a signal is among those that test/command/abort.test.ts aborts, and the fuzz tests of
// test/contract call it.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDevice } from '../../lib/index.ts';
import { callsOf } from '../harness/abort-calls.ts';
import { none, read } from '../harness/source-text.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** `name` of each exported function and `Class.name` of each method, static ones included, that takes a signal. */
function callsWithSignal(): string[] {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const index = `${root}lib/index.ts`;
  const program = ts.createProgram([index], ts.parseJsonConfigFileContent(config, ts.sys, root).options);
  const checker = program.getTypeChecker();
  const takesSignal = (parameter: ts.Symbol) => {
    const type = checker.getTypeOfSymbol(parameter);
    const options = checker.getNonNullableType(checker.getBaseConstraintOfType(type) ?? type);
    return checker.getPropertyOfType(options, 'signal') !== undefined;
  };
  const takes = (each: ts.Symbol) =>
    checker
      .getTypeOfSymbol(each)
      .getCallSignatures()
      .some(({ parameters }) => parameters.some(takesSignal));
  const found: string[] = [];
  for (const exported of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(index)!)!)) {
    const each = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if (each.flags & ts.SymbolFlags.Function && takes(each)) found.push(each.name);
    if ((each.flags & ts.SymbolFlags.Class) === 0) continue;
    for (const type of [checker.getTypeOfSymbol(each), checker.getDeclaredTypeOfSymbol(each)])
      for (const member of checker.getPropertiesOfType(type))
        if (takes(member)) found.push(`${each.name}.${member.name}`);
  }
  return found;
}

const withSignal = callsWithSignal();

// Classes that nobody makes: the calls are those of the classes that extend them.
const bases = ['LinearAlgebra.', 'Distribution.'];
// What runs kernels, which not every device does: test/kernel and test/compute. What writes a file: test/table.
const elsewhere = [
  ...['Kernel.run', 'ComputeKernel.run', 'Elementwise.run', 'ReductionOfTexts.run', 'Reduction.run', 'Scan.run'],
  ...['Vectorized.run', 'writeTable'],
];

test('Each call that takes a signal is tested with one.', () => {
  const all = withSignal.filter((name) => !bases.some((base) => name.startsWith(base)));
  assert.ok(all.length > 100, `${all.length} calls`);
  using device = openDevice('reference');
  const { calls, close } = callsOf(device);
  close();
  const tested = new Set([...Object.keys(calls).map((name) => name.split(',')[0]!), ...elsewhere]);
  assert.equal(
    all.filter((name) => !tested.has(name)),
    [],
    'add it to test/harness/abort-calls.ts',
  );
  assert.equal(
    [...tested].filter((name) => !all.includes(name)),
    [],
    'no such call takes a signal',
  );
});

test('Each of these calls gets hostile values in the fuzz tests.', () => {
  const text = ['fuzz', 'hostile'].map((name) => read(`test/contract/${name}.test.ts`)).join('');
  const methods = withSignal.map((name) => name.split('.').at(-1)!);
  const others = ['run', 'writeTable'];
  none(
    methods.filter((name) => !others.includes(name) && !new RegExp(`\\b${name}\\(|'${name}'`).test(text)),
    'add it to test/contract/fuzz.test.ts',
  );
});

test.run();
