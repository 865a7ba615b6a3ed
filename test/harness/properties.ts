// fast-check for property tests. Each run tries the same cases, so that a failure is due to a change of the code.
// COVARIUM_PROPERTY_SEED sets another seed, or `random`, to look for new failures.
import fc from 'fast-check';

const { COVARIUM_PROPERTY_SEED: asked = '1' } = process.env;
/** The seed of all random cases; 1 by default. */
export const propertySeed: number = asked === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(asked);
if (!Number.isInteger(propertySeed))
  throw new Error(`COVARIUM_PROPERTY_SEED is a whole number, or random, not (${asked}).`);
if (asked === 'random') console.log(`COVARIUM_PROPERTY_SEED=${propertySeed}`);
fc.configureGlobal({ seed: propertySeed });

/** Sizes from 1 to `max`; often the largest, or one around the borders of the kernels' tiles, panels and groups. */
export function sizeTo(max: number): fc.Arbitrary<number> {
  const borders = [4, 13, 16, 32, 64, 92, 96, 112, 128, 256].filter((border) => border <= max);
  const around = fc.tuple(fc.constantFrom(...borders), fc.constantFrom(-1, 0, 1));
  return fc.oneof(
    fc.integer({ min: 1, max }),
    around.map(([border, by]) => Math.min(border + by, max)),
    fc.constant(max),
  );
}

export default fc;
