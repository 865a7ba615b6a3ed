// npm run example -- name [options]
//
// Runs one example. Each takes --device (metal or cpu; by default the best that works here) and checks its own result.
import { readdirSync } from 'node:fs';
import { CovariumError } from '../lib/index.ts';

// Each has a page.
const names = readdirSync(new URL('../docs/examples/', import.meta.url))
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.replace('.md', ''));

const [name, ...options] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`There is no example of this name (${name}).`);
  console.error(`npm run example -- name [--device cpu]: name is one of ${names.join(', ')}.`);
  process.exitCode = 1;
} else {
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...options);
  try {
    await import(`./${name}.ts`);
  } catch (error) {
    if (!(error instanceof CovariumError) && !(error instanceof TypeError && 'code' in error)) throw error;
    console.error(`${error.message} [${error.code}]`);
    process.exitCode = 1;
  }
}
