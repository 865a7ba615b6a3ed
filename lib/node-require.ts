/**
 * Node's own `require`, taken from Node as the program runs: where webpack and Turbopack see `createRequire`, they put
 * their own in its place, which knows no file outside the bundle. In CommonJS, esbuild leaves a module without its URL.
 */
export function nodeRequire(): NodeJS.Require {
  return process.getBuiltinModule('node:module').createRequire(import.meta.url ?? __filename);
}
