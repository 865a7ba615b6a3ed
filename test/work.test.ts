import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sliceMs, turn } from '../lib/work.ts';

/** Calls of `work`, each once the event loop has turned: in which order they ran, and in which turn each. */
async function afterTurns(calls: number, work: () => void): Promise<{ order: number[]; turns: number[] }> {
  const [order, turns]: number[][] = [[], []];
  let [turned, isOver] = [0, false];
  const count = () => {
    turned++;
    if (!isOver) setImmediate(count);
  };
  count();
  await Promise.all(
    Array.from({ length: calls }, async (_, call) => {
      await turn();
      order!.push(call);
      turns!.push(turned);
      work();
    }),
  );
  isOver = true;
  return { order: order!, turns: turns! };
}

test('Calls that wait for a turn share the time of a slice in it.', async () => {
  const { order, turns } = await afterTurns(10, () => {
    for (const end = performance.now() + sliceMs; performance.now() < end; );
  });
  assert.equal(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.is(new Set(turns).size, 10, `turns ${turns}`);
});

test('Any number of calls goes on, in order.', async () => {
  const { order } = await afterTurns(5000, () => {});
  assert.equal(
    order,
    order.map((_, at) => at),
  );
  assert.is(order.length, 5000);
});

test.run();
