// The only file that knows the plotting libraries. Both are development dependencies: build.mjs puts them into the one file that
// dist/ has of this one, so that who installs covarium installs neither.
export * as Plot from '@observablehq/plot';
export { parseHTML } from 'linkedom';
