import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseHTML } from '../../lib/plot/library.ts';
import { pairsPlot } from '../../lib/plot/pairs.ts';

test('A picture has a name for screen readers, even where its title is blank.', () => {
  const nameOf = (title: string) => {
    const draws = { values: [1, 2], rows: 2 };
    const text = pairsPlot({ title, columns: ['a'], mean: [0], covariance: [[1]], draws });
    return parseHTML(text).document.querySelector('svg')!.getAttribute('aria-label');
  };
  assert.is(nameOf('Lengths'), 'Lengths');
  for (const blank of ['', '  ']) assert.is(nameOf(blank), 'Draws and the model that they come from');
});

test.run();
