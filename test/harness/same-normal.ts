// What a normal is compared with, whichever way it was made.
import { readFileSync } from 'node:fs';
import type { MultivariateNormal } from '../../lib/index.ts';
import { scattered } from './naive.ts';
import { near } from './near.ts';

/** Answers to 60 digits, by test/answers/ways-in.py. */
// biome-ignore lint/suspicious/noExplicitAny: answers are data of several shapes, each known to its test.
export const answers: any = JSON.parse(readFileSync(new URL('../answers/ways-in.json', import.meta.url), 'utf8'));

export interface Answer {
  readonly covariance: number[][];
  readonly x: number[];
  readonly logDeterminant: number;
  readonly mahalanobis: number;
  readonly logPdf: number;
}

/** Asserts that a normal gives the answers of 60 digits. */
export function answersAs(normal: MultivariateNormal, answer: Omit<Answer, 'covariance'>, tolerance: number): void {
  near([normal.logDeterminant], [answer.logDeterminant], tolerance, 'log determinant');
  near(normal.logPdfSync(answer.x).toArray(), [answer.logPdf], tolerance, 'log density');
  near(normal.mahalanobisSync(answer.x).toArray(), [answer.mahalanobis], tolerance, 'distance');
}

/** Asserts that two normals with the same covariance give the same draws, transforms and densities. */
export async function areAlike(one: MultivariateNormal, other: MultivariateNormal, tolerance: number): Promise<void> {
  const n = one.dimension;
  const rows = other.sampleSync(9, { seed: 5, stream: 2, firstRow: 3 });
  near((await one.sample(9, { seed: 5, stream: 2, firstRow: 3 })).toArray().flat(), rows.toArray().flat(), tolerance);
  const z = Array.from({ length: 3 }, (_, r) => Array.from(scattered(n, r)));
  near((await one.transform(z)).toArray().flat(), other.transformSync(z).toArray().flat(), tolerance);
  near((await one.logPdf(rows)).toArray(), other.logPdfSync(rows).toArray(), 10 * n * tolerance);
  near((await one.covariance()).toArray().flat(), other.covarianceSync().toArray().flat(), tolerance);
  near((await one.factor()).toArray().flat(), other.factorSync().toArray().flat(), tolerance);
  near([one.logDeterminant, one.entropy, one.rank], [other.logDeterminant, other.entropy, n], n * tolerance);
}

export const diagonalOf = (variances: readonly number[]): number[][] =>
  variances.map((v, i) => variances.map((_, j) => (i === j ? v : 0)));
