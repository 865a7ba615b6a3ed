// Thrift's compact protocol, and refusals. No native code runs here.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CompactThrift } from '../../../lib/table/compact-thrift.ts';
import { Contradiction } from '../../../lib/table/contradiction.ts';
import { ThriftReader } from '../../../lib/table/parquet/thrift.ts';

const refuses = (work: () => unknown, says: string) =>
  assert.throws(work, (error: unknown) => error instanceof Contradiction && error.message.includes(says), says);

test('Structs with unknown fields are read; a value longer than its bytes, nested too deeply or repeated is refused.', () => {
  const bytes = new CompactThrift()
    .int32(1, 7)
    .texts(2, ['a', 'b'])
    .struct(4, (inner) => inner.int64(1, 2 ** 40))
    .finish();
  const reader = new ThriftReader(bytes);
  const found: number[] = [];
  reader.struct((id) => {
    if (id === 1) found.push(reader.integer());
    else if (id === 4)
      return reader.child(() => {
        found.push(reader.integer());
        return true;
      });
    else return false;
    return true;
  });
  assert.equal([found, reader.at], [[7, 2 ** 40], bytes.length]);
  const skip = (...given: number[]) => new ThriftReader(Uint8Array.from(given)).struct(() => false);
  refuses(() => skip(0x15), 'does not end');
  refuses(() => skip(0x19, 0xf5, 0xff, 0xff, 0x7f), 'a list of (2097151)');
  refuses(() => skip(...new Array<number>(40).fill(0x1c)), 'nested more than');
  refuses(() => skip(0x15, 2, 0x05, 2, 2, 0), 'field (1) of a struct follows field (1)');
  refuses(() => skip(0x18, 100), '(100) bytes');
});

test.run();
