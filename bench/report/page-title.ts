import type { Results } from '../results.ts';

/** What was measured where and when: the title of the page. */
export function reportTitle({ machine, started }: Results): string {
  return `covarium ${machine.covarium} on ${machine.processor}, ${started.slice(0, 10)}`;
}
