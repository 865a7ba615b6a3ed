import { readFileSync } from 'node:fs';

/** Rows, and the results of numpy.cov and scikit-learn for them (test/answers/moments.py). */
interface MomentCase {
  readonly name: string;
  readonly rows: number[][];
  readonly ddof: number;
  readonly weights?: number[];
  readonly frequencies?: number[];
  readonly fixedMean?: number[];
  readonly mean: number[];
  readonly covariance: number[][];
  readonly ledoitWolf: number;
}

const answers: { readonly cases: MomentCase[] } = JSON.parse(
  readFileSync(new URL('../answers/moments.json', import.meta.url), 'utf8'),
);

export const cases: MomentCase[] = answers.cases;
