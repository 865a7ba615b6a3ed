import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** The folder of package.json: the same for lib/ in a clone and for dist/lib/ in an installed package. */
export function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('covarium/package.json'));
}
