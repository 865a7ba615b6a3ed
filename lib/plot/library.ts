// The only file that imports the plotting libraries. Both are development dependencies: build.mjs bundles them into
// dist/, so that installing covarium does not install them.
export * as Plot from '@observablehq/plot';
export { parseHTML } from 'linkedom';
