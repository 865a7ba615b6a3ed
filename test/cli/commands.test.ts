import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { modulePath, nodeOptions, runNode } from '../harness/child.ts';

test('Errors about words are red like errors about files.', async () => {
  const env = { ...process.env, FORCE_COLOR: '1', NO_COLOR: undefined };
  const main = modulePath('lib/cli/main.ts');
  for (const words of [['smaple'], ['fit', '--nonsense'], ['fit', 'no-such-file.csv', '--output', 'model.json']]) {
    const { stderr } = await runNode([...nodeOptions, main, ...words], env);
    assert.ok(stderr.startsWith('\x1b[31merror:\x1b[39m '), stderr);
  }
});

test.run();
