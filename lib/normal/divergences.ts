import { finiteNumber } from '../array/operand.ts';
import type { AbortOptions } from '../check.ts';
import { runAlone } from '../command/abort.ts';
import { runAllSync, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { normalEntropy } from './density.ts';
import { type MultivariateNormal, parametersOf } from './multivariate-normal.ts';
import type { NormalParameters } from './parameters.ts';
import { hellingerOf, renyi } from './renyi-divergence.ts';
import { wassersteinOf } from './wasserstein.ts';

/**
 * The Kullback-Leibler divergence of p from q, in nats: the mean of log p(x) - log q(x) over draws x of p. It takes two
 * normals of the same dimension, on any devices and of any types, and computes in float64; so do {@link crossEntropy},
 * {@link renyiDivergence}, {@link bhattacharyya}, {@link hellinger} and {@link wasserstein}. It is never negative, and
 * 0 for a normal and itself. It is Infinity if it overflows, and may be if standard deviations of p are smaller than
 * those of q by more than 307 powers of ten. Rejects with `ERR_SHAPE`, `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`,
 * `ERR_NOT_POSITIVE_DEFINITE` (a singular normal).
 */
export async function klDivergence(
  p: MultivariateNormal,
  q: MultivariateNormal,
  options: AbortOptions = {},
): Promise<number> {
  return runAlone(options, () => renyi(...pair(p, q), 1));
}

/** Synchronous twin of {@link klDivergence}. */
export function klDivergenceSync(p: MultivariateNormal, q: MultivariateNormal): number {
  return runAllSync(renyi(...pair(p, q), 1));
}

/**
 * The cross-entropy of p and q, in nats: the mean of -log q(x) over draws x of p. Rejects like {@link klDivergence}.
 */
export async function crossEntropy(
  p: MultivariateNormal,
  q: MultivariateNormal,
  options: AbortOptions = {},
): Promise<number> {
  return runAlone(options, () => crossed(...pair(p, q)));
}

/** Synchronous twin of {@link crossEntropy}. */
export function crossEntropySync(p: MultivariateNormal, q: MultivariateNormal): number {
  return runAllSync(crossed(...pair(p, q)));
}

/**
 * The Renyi divergence of order alpha of p from q, in nats: the logarithm of the mean of (p(x) / q(x))^(alpha - 1) over
 * draws x of p, divided by alpha - 1. Order 1 is {@link klDivergence}, and order 0 gives 0. Above 1 the divergence may
 * be infinite; the result may also be Infinity if standard deviations differ by more than 150 powers of ten. Rejects
 * like {@link klDivergence}, and with `ERR_OUT_OF_RANGE` if alpha is negative or not finite.
 */
export async function renyiDivergence(
  p: MultivariateNormal,
  q: MultivariateNormal,
  alpha: number,
  options: AbortOptions = {},
): Promise<number> {
  return runAlone(options, () => renyi(...pair(p, q), finiteNumber('alpha', alpha, 0)));
}

/** Synchronous twin of {@link renyiDivergence}. */
export function renyiDivergenceSync(p: MultivariateNormal, q: MultivariateNormal, alpha: number): number {
  return runAllSync(renyi(...pair(p, q), finiteNumber('alpha', alpha, 0)));
}

/**
 * The Bhattacharyya distance, in nats: minus the logarithm of the integral of sqrt(p(x) q(x)); half the Renyi
 * divergence of order 1/2. Symmetric. Rejects like {@link klDivergence}.
 */
export async function bhattacharyya(
  p: MultivariateNormal,
  q: MultivariateNormal,
  options: AbortOptions = {},
): Promise<number> {
  return (await renyiDivergence(p, q, 0.5, options)) / 2;
}

/** Synchronous twin of {@link bhattacharyya}. */
export function bhattacharyyaSync(p: MultivariateNormal, q: MultivariateNormal): number {
  return renyiDivergenceSync(p, q, 0.5) / 2;
}

/**
 * The Hellinger distance, from 0 to 1: the square root of 1 minus the integral of sqrt(p(x) q(x)). Symmetric.
 * Rejects like {@link klDivergence}.
 */
export async function hellinger(
  p: MultivariateNormal,
  q: MultivariateNormal,
  options: AbortOptions = {},
): Promise<number> {
  return runAlone(options, () => hellingerOf(...pair(p, q)));
}

/** Synchronous twin of {@link hellinger}. */
export function hellingerSync(p: MultivariateNormal, q: MultivariateNormal): number {
  return runAllSync(hellingerOf(...pair(p, q)));
}

/**
 * The 2-Wasserstein distance, in the unit of the draws: the square root of the least mean of |x - y|^2 over all joint
 * distributions of x from p and y from q. Symmetric; singular normals are allowed. It has 12 digits, unless the two are
 * nearly alike: then its error is rounding of their deviations. Rejects with `ERR_SHAPE`, `ERR_INVALID_ARGUMENT`,
 * `ERR_CLOSED`.
 */
export async function wasserstein(
  p: MultivariateNormal,
  q: MultivariateNormal,
  options: AbortOptions = {},
): Promise<number> {
  return runAlone(options, () => wassersteinOf(...pair(p, q)));
}

/** Synchronous twin of {@link wasserstein}. */
export function wassersteinSync(p: MultivariateNormal, q: MultivariateNormal): number {
  return runAllSync(wassersteinOf(...pair(p, q)));
}

function pair(p: MultivariateNormal, q: MultivariateNormal): [NormalParameters, NormalParameters] {
  const both: [NormalParameters, NormalParameters] = [parametersOf('`p`', p), parametersOf('`q`', q)];
  const [{ n }, { n: other }] = both;
  if (other === n) return both;
  throw new CovariumError('ERR_SHAPE', `\`q\` has dimension (${other}), but \`p\` has (${n}).`);
}

function* crossed(p: NormalParameters, q: NormalParameters): Tasks<number> {
  return normalEntropy(p.factor) + (yield* renyi(p, q, 1));
}
