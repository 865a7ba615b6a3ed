/**
 * Thrown by a contender that could do a problem, but not in the time that a run of the benchmark has. The problem is
 * recorded as left out, with the message as its reason; nothing failed.
 */
export class LeftOut extends Error {
  override readonly name: string = 'LeftOut';
}
