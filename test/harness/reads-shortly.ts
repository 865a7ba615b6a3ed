import { createReadStream, readFileSync } from 'node:fs';
import { readTable } from '../../lib/index.ts';
import { openTable } from '../../lib/table/read-table.ts';
import { holdsShortly } from './holds.ts';

async function readBlocks(path: string): Promise<void> {
  const table = await openTable(path, { missing: 'drop' });
  for await (const _ of table.blocks());
  await table.close();
}

/** Reading a file from its name, memory, a stream and in blocks holds the thread for at most `allowed` ms. */
export async function readsShortly(path: string, allowed: number): Promise<void> {
  const bytes = readFileSync(path);
  const options = { missing: 'drop', warn: () => {} } as const;
  const holds = (what: string, work: () => Promise<unknown>) => holdsShortly(`Reading ${what}`, allowed, work);
  await holds(path, () => readTable(path, options));
  await holds(`${path} from memory`, () => readTable(bytes, options));
  await holds(`${path} from a stream`, () => readTable(createReadStream(path), options));
  await holds(`blocks of ${path}`, () => readBlocks(path));
}
