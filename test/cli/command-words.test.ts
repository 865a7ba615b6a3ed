import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandWords } from '../../lib/cli/command-words.ts';

const options = '--ddof --fixed-mean --degrees-of-freedom --header --no-header --delimiter --missing --format'.split(
  ' ',
);

test('Messages name what a user types in place of what a program passes.', () => {
  const cases = [
    ['`ddof` is (3), but there are (3) rows.', '--ddof is (3), but there are (3) rows.'],
    ['`degreesOfFreedom` is (-1).', '--degrees-of-freedom is (-1).'],
    ['`mean` has (3) entries.', '--fixed-mean has (3) entries.'],
    ['`degreesOfFreedom[3]` is (-1).', '--degrees-of-freedom entry (3) is (-1).'],
    ['Option (fixedMean) is for the model.', 'Option (--fixed-mean) is for the model.'],
    ['`moments` has (2) rows.', 'Data has (2) rows.'],
    ['Pass `header` true (--header) if it has names.', 'Pass --header if it has names.'],
    ["Pass `format` 'npy' (--format npy).", 'Pass --format npy.'],
    ["pass `delimiter` (--delimiter ';') to choose.", "pass --delimiter ';' to choose."],
    ["is empty (missing: 'drop', or --missing drop, leaves it out)", 'is empty (--missing drop leaves it out)'],
    ["is 'x'; pass `delimiter` (--delimiter) if tabs separate its fields: line 2", "is 'x'; pass --delimiter if tabs separate its fields: line 2"], // biome-ignore format: a case a line
    // A hint to something that the command lacks is left out.
    ['is (x); pass the other `columns` (--columns) if the first has names: line 2.', 'is (x): line 2.'],
    ['is the index; pass the other `columns` (--columns) to leave it out.', 'is the index.'],
    ["Pass `dtype: 'float64'`, or another unit.", "Pass `dtype: 'float64'`, or another unit."],
    // Text that is not an option stays.
    ['`covariance` is not square.', '`covariance` is not square.'],
    ['File (`ddof is.csv) has `no` header (a, b).', 'File (`ddof is.csv) has `no` header (a, b).'],
  ] as const;
  for (const [message, words] of cases) assert.is(commandWords(message, options), words);
  const without = commandWords("is empty (missing: 'drop', or --missing drop, leaves it out): line 2", ['--dtype']);
  assert.is(without, 'is empty: line 2');
  assert.is(commandWords("Pass `dtype: 'float64'`.", ['--dtype']), 'Pass --dtype float64.');
});

test.run();
