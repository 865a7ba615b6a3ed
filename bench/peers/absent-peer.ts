import type { Contender } from '../contender.ts';

/** A peer that is not available here; the results give the reason. */
export function absentPeer(name: string, reason: string): Contender {
  return {
    facts: {
      name,
      kind: 'peer',
      available: false,
      about: '',
      reason: reason.replace(/\s+/g, ' ').trim(),
      threads: null,
      facts: {},
      measuresSpeed: true,
    },
    prepare: async () => undefined,
    close: async () => {},
  };
}
