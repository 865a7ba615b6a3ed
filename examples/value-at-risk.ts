// What a portfolio may lose in a month: normal and Student-t returns of five stocks, fitted to their monthly prices of
// 2004 to 2010 (as vega-datasets carries them), drawn a million times, and compared with what history and the closed
// form say.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { MultivariateNormal, MultivariateStudentT } from '../lib/index.ts';
import { askedDevice, exampleOptions } from './example-options.ts';
import { tellWithin } from './verdict.ts';

const { device: kind, count, percent } = exampleOptions({ count: 1_000_000, percent: 99 });
const seed = 2010;
// As heavy as monthly returns of stocks commonly are found to be.
const degreesOfFreedom = 4;

using device = askedDevice(kind);
const { symbols, rows } = monthlyReturns();
const weight = 1 / symbols.length;
console.log(`data     ${rows.length} months of ${symbols.join(', ')}; as much of each`);

using normal = await MultivariateNormal.fit({ device, rows });
// The same mean and covariance: a Student-t's covariance is its scale times df / (df - 2).
const scale = (await normal.covariance())
  .toArray()
  .map((row) => row.map((entry) => (entry * (degreesOfFreedom - 2)) / degreesOfFreedom));
using heavy = await MultivariateStudentT.fromScale({ device, location: normal.mean, scale, degreesOfFreedom });

// Of the sum of returns, which is normal itself: mean and standard deviation in closed form.
using portfolio = await normal.affine({ matrix: [symbols.map(() => weight)] });
const [mean, deviation] = [portfolio.mean.data[0]!, Math.sqrt((await portfolio.covariance()).data[0]!)];

tell('history', lossesOf(rows));
const losses = lossesOf((await normal.sample(count, { seed })).toArray());
tell('normal', losses);
tell(`Student-t, ${degreesOfFreedom} degrees`, lossesOf((await heavy.sample(count, { seed })).toArray()));

const z = standardQuantile(percent / 100);
const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI) / deviation;
const error = Math.sqrt(((percent / 100) * (1 - percent / 100)) / count) / density;
tellWithin('closed form', quantile(losses, percent / 100), deviation * z - mean, 5 * error);

/** Logarithms of month over month, where all have a price. */
function monthlyReturns(): { symbols: string[]; rows: number[][] } {
  const path = createRequire(import.meta.url).resolve('vega-datasets');
  const text = readFileSync(new URL('../data/stocks.csv', `file://${path}`), 'utf8');
  const prices = new Map<string, Map<string, number>>();
  // symbol,date,price: none of them is quoted.
  for (const line of text.trim().split(/\r?\n/).slice(1)) {
    const [symbol, date, price] = line.split(',');
    const month = prices.get(date!) ?? new Map<string, number>();
    prices.set(date!, month.set(symbol!, Number(price)));
  }
  const symbols = [...new Set([...prices.values()].flatMap((month) => [...month.keys()]))].sort();
  const months = [...prices.values()].filter((month) => month.size === symbols.length);
  const rows = months
    .slice(1)
    .map((month, i) => symbols.map((symbol) => Math.log(month.get(symbol)! / months[i]!.get(symbol)!)));
  return { symbols, rows };
}

function lossesOf(returns: readonly (readonly number[])[]): Float64Array {
  return Float64Array.from(returns, (row) => -weight * row.reduce((sum, each) => sum + each, 0)).sort();
}

/**
 * Value at risk: the loss that is not exceeded in so many percent of months. Expected shortfall: the mean of what is
 * beyond.
 */
function tell(name: string, sorted: Float64Array): void {
  const risk = quantile(sorted, percent / 100);
  const beyond = sorted.filter((loss) => loss >= risk);
  const shortfall = beyond.reduce((sum, each) => sum + each, 0) / beyond.length;
  const [a, b] = [risk, shortfall].map((value) => `${(100 * value).toFixed(2)}%`.padStart(7));
  console.log(`${name.padEnd(23)} value at risk (${percent}%) ${a}, expected shortfall ${b}`);
}

function quantile(sorted: Float64Array, p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]!;
}

/** Of the standard normal distribution, by bisection of the portfolio's own. */
function standardQuantile(p: number): number {
  using standard = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1]] });
  return standard.quantileSync([p]).data[0]!;
}
