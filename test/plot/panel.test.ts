import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseHTML } from '../../lib/plot/library.ts';
import { dots, panel } from '../../lib/plot/panel.ts';

test('Few dots are larger and not transparent: a pale one would be overlooked.', () => {
  const dotsOf = (rows: number) => {
    const values = Array.from({ length: 2 * rows }, (_, i) => i / (2 * rows));
    const marks = [
      dots({ values, rows }, 2, [0, 1], 1500, { colour: 'red', sizePixels: 2, opacity: 0.4, shape: 'round' }),
    ];
    const text = panel({ left: 0, top: 0, side: 100, x: [0, 1], y: [0, 1], xTicks: [], yTicks: [], marks });
    const path = parseHTML(`<svg>${text}</svg>`).document.querySelector('path[stroke=red]')!;
    return [path.getAttribute('stroke-width'), path.getAttribute('stroke-opacity')];
  };
  assert.equal(dotsOf(1), ['4', '1']);
  assert.equal(dotsOf(100), ['4', '1']);
  assert.equal(dotsOf(101), ['2', '0.4']);
});

test.run();
