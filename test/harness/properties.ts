// fast-check for tests with properties. They are tried with the same cases each time, so that a change that fails is to
// blame for it. COVARIUM_PROPERTY_SEED is another number, or `random`, for those who look for what nobody has thought
// of.
import fc from 'fast-check';

const { COVARIUM_PROPERTY_SEED: asked = '1' } = process.env;
const seed = asked === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(asked);
if (!Number.isInteger(seed)) throw new Error(`COVARIUM_PROPERTY_SEED is a whole number, or random, not (${asked}).`);
if (asked === 'random') console.log(`COVARIUM_PROPERTY_SEED=${seed}`);
fc.configureGlobal({ seed });

export default fc;
