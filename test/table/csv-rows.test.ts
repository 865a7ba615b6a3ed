// Integers in CSV, by both readers of rows: the addon's and plain TypeScript.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeParser, openCsv, plainParser } from '../../lib/table/csv-reader.ts';
import type { ReadRequest } from '../../lib/table/table.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

for (const [where, parser] of [['TypeScript', plainParser] as const, ['addon', nativeParser()] as const]) {
  if (parser === undefined) continue;
  const read = async (text: string, request: Partial<ReadRequest> = {}) => {
    const reader = await openCsv(Buffer.from(text), { columns: undefined, missing: 'error', ...request }, parser);
    try {
      const rows: number[][] = [];
      const { columns } = reader.head;
      for await (const block of reader.blocks())
        for (let at = 0; at < block.length; at += columns) rows.push(Array.from(block.subarray(at, at + columns)));
      return { rows };
    } finally {
      await reader.close();
    }
  };
  const about = (sentence: string, check: () => Promise<void>) => test(`${sentence} (${where})`, check);

  about('A 64-bit integer that float64 does not hold is refused, but not the printed form of a float64.', async () => {
    const refused = ['9007199254740993', '10000000000000001', '1234567890123456789', '9223372036854775807'];
    for (const digits of [...refused, '18446744073709551615', '00010000000000000001'])
      for (const text of [digits, `-${digits}`, `+${digits}`, `"${digits}"`, ` ${digits} `])
        for (const missing of ['error', 'drop'] as const) {
          const code = 'ERR_OUT_OF_RANGE';
          const shown = `Field of column (b) has an integer that float64 does not hold (${text.replaceAll(/[" ]/g, '')})`;
          const error = await throwsCode(code, shown, () => read(`a,b\n1,2\n3,${text}\n`, { missing }));
          assert.equal([error.line, error.column], [3, 3]);
          assert.equal((await read(`a,b\n1,2\n3,${text}\n`, { columns: ['a'] })).rows, [[1], [3]]);
        }
    // Integers that float64 holds; numbers as String() prints them; numbers with a point, an exponent, or more than
    // 64 bits.
    const held = ['9007199254740992', '9007199254740994', '9223372036854775808', '18446744073709551616'];
    const printed = ['12345678901234567000', '9223372036854776000', '100000000000000000000', '123456789012345680000'];
    for (const text of [...held, ...printed, '10000000000000001.0', '10000000000000001e0', '36893488147419103233']) {
      assert.equal((await read(`a\n${text}\n-${text}\n`)).rows, [[Number(text)], [-Number(text)]], text);
    }
    const numbers = fc.double({ min: 2 ** 53, max: 1e21, noDefaultInfinity: true, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.array(numbers, { minLength: 1 }), async (all) => {
        const lines = all.flatMap((value) => [String(value), String(BigInt(value)), String(Math.fround(value))]);
        assert.equal(
          (await read(`a\n${lines.join('\n')}\n`)).rows,
          lines.map((text) => [Number(text)]),
        );
      }),
    );
  });

  about("Blanks around a number in quotes, as R's format() writes them, are ignored.", async () => {
    const text = '"","a","b"\n"1"," 1.5","\t-2 "\n"2","10.5"," NA"\n"3","   ","7"\n';
    const kept = await read(text, { columns: ['a', 'b'], missing: 'drop' });
    assert.equal(kept.rows, [[1.5, -2]]);
    await throwsCode('ERR_MALFORMED_CSV', 'column (b) is missing', () => read(text, { columns: ['b'] }));
    const bare = [
      [1.5, 20],
      [10.5, 3],
    ];
    assert.equal((await read('" 1.5","20"\n"10.5"," 3"\n')).rows, bare);
    for (const inner of ['1 5', '- 1'])
      await throwsCode('ERR_MALFORMED_CSV', `number (${inner})`, () => read(`a\n"${inner}"\n`));
  });
}

test.run();
