import type { ContenderFacts, Results } from './results.ts';

/** A fact that is not the same in all runs. */
export interface MachineDifference {
  readonly fact: string;
  /** The value in each run, in order; '' for a run without one. */
  readonly values: readonly string[];
}

/** What differs between the machines of runs, their devices and peers, and how they were measured. */
export function machineDifferences(runs: readonly Results[]): MachineDifference[] {
  const facts = runs.map(factsOf);
  const names = new Set(facts.flatMap((each) => [...each.keys()]));
  return [...names]
    .map((fact) => ({ fact, values: facts.map((each) => each.get(fact) ?? '') }))
    .filter(({ values }) => new Set(values).size > 1);
}

function factsOf({ machine, contenders, options, partial }: Results): Map<string, string> {
  const { environment, ...plain } = machine;
  return new Map([
    ...Object.entries(plain).map(([name, value]) => [name, `${value ?? ''}`] as const),
    ...Object.entries(environment),
    ['milliseconds per case', `${options.millisecondsPerCase}`],
    ['rounds', `${options.rounds}`],
    ['quick', options.quick ? 'yes' : 'no'],
    ['interrupted', partial ? 'yes' : 'no'],
    ...contenders.flatMap(contenderFacts),
  ]);
}

function contenderFacts({ name, available, about, reason, threads, facts }: ContenderFacts): [string, string][] {
  if (!available) return [[name, `not available: ${reason}`]];
  return [
    [name, about],
    [`${name}, threads`, `${threads ?? ''}`],
    ...Object.entries(facts).map(([fact, value]): [string, string] => [`${name}, ${fact}`, value]),
  ];
}
