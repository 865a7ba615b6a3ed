import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandWords } from '../../lib/cli/command-words.ts';

const options = ['--ddof', '--fixed-mean', '--degrees-of-freedom', '--header', '--no-header'];

test('Messages name what is typed in place of what a program passes.', () => {
  const cases = [
    ['`ddof` is (3), but there are (3) rows.', '--ddof is (3), but there are (3) rows.'],
    ['`degreesOfFreedom` is (-1).', '--degrees-of-freedom is (-1).'],
    ['`mean` has (3) entries.', '--fixed-mean has (3) entries.'],
    ['Option (fixedMean) is for the model.', 'Option (--fixed-mean) is for the model.'],
    ['`moments` has (2) rows.', 'Data has (2) rows.'],
    ['Pass `header` true (--header) if it has names.', 'Pass --header if it has names.'],
    ["Pass `format` 'npy' (--format npy).", 'Pass --format npy.'],
    ["pass `delimiter` (--delimiter ';') to choose.", "pass --delimiter ';' to choose."],
    ["is empty (missing: 'drop', or --missing drop, leaves it out)", 'is empty (--missing drop leaves it out)'],
    // What is not an option stays.
    ['`covariance` is not square.', '`covariance` is not square.'],
    ['File (`ddof is.csv) has `no` header (a, b).', 'File (`ddof is.csv) has `no` header (a, b).'],
  ] as const;
  for (const [message, words] of cases) assert.is(commandWords(message, options), words);
});

test.run();
