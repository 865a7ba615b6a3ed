import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Moments, MultivariateNormal, nearestPositiveDefinite, openDevice, readTable } from '../lib/index.ts';

test('the stack of an error names the function that called, though many of covarium lie between.', async () => {
  using device = openDevice('reference');
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1, 2] });
  const moments = new Moments(2);
  const calls: { readonly [name: string]: () => unknown } = {
    logPdf: () => normal.logPdf([[1]]),
    'logPdf of objects': () => normal.logPdf([[1, 'x']] as unknown as number[][]),
    logPdfSync: () => normal.logPdfSync([[1]]),
    quantile: () => normal.quantile([[2, 0.5]]),
    boxProbability: () => normal.boxProbability({ lower: [1] }),
    conditional: () => normal.conditional({ given: [5], values: [1] }),
    summarize: () => normal.summarize(1, { quantiles: [2] }),
    fit: () => MultivariateNormal.fit({ device, rows: 'x' as unknown as number[][] }),
    'Moments.add': () => moments.add([[1, 2, 3]]),
    nearestPositiveDefinite: () => nearestPositiveDefinite([[1, Number.NaN], [Number.NaN, 1]]), // biome-ignore format: short
    readTable: () => readTable('/there/is/none.csv'),
  };
  const limit = Error.stackTraceLimit;
  for (const [name, call] of Object.entries(calls)) {
    async function theCaller() {
      await call();
    }
    const error = await theCaller().then(
      () => undefined,
      (reason: Error) => reason,
    );
    assert.match(`${error?.stack}`, /CovariumError[\s\S]*theCaller/, name);
    assert.is(Error.stackTraceLimit, limit);
  }
});

test('a stack stays as short as the program wants it, and the limit need not be writable.', () => {
  const own = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!;
  const lines = () => {
    try {
      openDevice('none' as 'cpu');
    } catch (error) {
      return (error as Error).stack!.split('\n    at ').length - 1;
    }
    return undefined;
  };
  try {
    Error.stackTraceLimit = 1;
    assert.is(lines(), 1);
    Object.defineProperty(Error, 'stackTraceLimit', { value: 2, writable: false });
    assert.is(lines(), 2);
  } finally {
    Object.defineProperty(Error, 'stackTraceLimit', own);
  }
});

test.run();
