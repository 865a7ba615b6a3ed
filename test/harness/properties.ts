// fast-check for tests with properties. They are tried with the same cases each time, so that a change that fails is to
// blame for it. COVARIUM_PROPERTY_SEED is another number, or `random`, for those who look for what nobody has thought
// of.
import fc from 'fast-check';

const { COVARIUM_PROPERTY_SEED: asked = '1' } = process.env;
/** The seed of all random cases; 1 by default. */
export const propertySeed: number = asked === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(asked);
if (!Number.isInteger(propertySeed))
  throw new Error(`COVARIUM_PROPERTY_SEED is a whole number, or random, not (${asked}).`);
if (asked === 'random') console.log(`COVARIUM_PROPERTY_SEED=${propertySeed}`);
fc.configureGlobal({ seed: propertySeed });

export default fc;
