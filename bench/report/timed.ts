import type { Measurement, Time } from '../results.ts';

/** A measurement that has a time. */
export type Timed = Measurement & { readonly time: Time };

export function isTimed(measurement: Measurement): measurement is Timed {
  return measurement.state === 'timed' && measurement.time !== null;
}
