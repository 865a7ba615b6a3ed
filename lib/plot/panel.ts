import type { Markish, PlotOptions, RenderFunction } from '@observablehq/plot';
import * as Plot from './library.ts';
import { parseHTML } from './library.ts';
import { evenRows, type Points } from './points.ts';
import type { Tick } from './ticks.ts';

/**
 * A panel of a larger picture, without margins: its ticks and labels are outside of it, to the left, below, and to the
 * right.
 */
interface PanelOptions {
  readonly left: number;
  readonly top: number;
  /** Width and height. */
  readonly side: number;
  readonly x: readonly [low: number, high: number];
  readonly y: readonly [low: number, high: number];
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
  /** Vertical ticks at the right, for an axis that no other panel of the row shares. */
  readonly rightTicks?: readonly Tick[];
  readonly marks: readonly Markish[];
}

/** A panel as a `<g>` element. */
export function panel({ left, top, side, x, y, xTicks, yTicks, rightTicks = [], marks }: PanelOptions): string {
  const { document } = parseHTML('<html></html>');
  const options: PlotOptions = {
    document,
    width: side,
    height: side,
    margin: 0,
    inset: 4,
    x: { domain: [...x], axis: null },
    y: { domain: [...y], axis: null },
    marks: [
      ...marks,
      Plot.frame({ strokeOpacity: 0.35 }),
      Plot.axisX(xTicks.map(placeOf), { text: textOf(xTicks), label: null }),
      Plot.axisY(yTicks.map(placeOf), { text: textOf(yTicks), label: null }),
      Plot.axisY(rightTicks.map(placeOf), { anchor: 'right', text: textOf(rightTicks), label: null }),
    ],
  };
  const svg = Plot.plot(options);
  // Plot's own style sheet is for a picture that stands alone.
  svg.getElementsByTagName('style')[0]!.remove();
  // Plot writes thousandths of a pixel, which are not needed.
  for (const path of svg.getElementsByTagName('path')) {
    const shape = path.getAttribute('d')!;
    path.setAttribute(
      'd',
      shape.replace(/\d+\.\d+/g, (number: string) => String(tenths(Number(number)))),
    );
  }
  return `<g transform="translate(${left},${top})">${svg.innerHTML}</g>`;
}

function placeOf({ value }: Tick): number {
  return value;
}

function textOf(ticks: readonly Tick[]): (value: number) => string {
  const texts = new Map(ticks.map(({ value, text }) => [value, text]));
  return (value) => texts.get(value)!;
}

/** The look of dots: the ends of the path that draws them all are round or square. */
export interface DotStyle {
  readonly colour: string;
  readonly sizePixels: number;
  readonly opacity: number;
  readonly shape: 'round' | 'square';
}

// So few dots do not cover each other; thin and pale ones would be overlooked.
const fewDots = 100;

/**
 * At most `limit` rows as dots, all in one path: a line of length zero shows only its two ends. An element for each dot
 * would make the file five times as large.
 */
export function dots(
  points: Points,
  n: number,
  [i, j]: readonly [number, number],
  limit: number,
  style: DotStyle,
): RenderFunction {
  const chosen = evenRows(points.rows, limit);
  const few = chosen.length <= fewDots;
  return (_index, { x, y }, _values, _dimensions, { document }) => {
    const place = (row: number) =>
      `M${tenths(x!(points.values[row * n + i]!))} ${tenths(y!(points.values[row * n + j]!))}h0`;
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', chosen.map(place).join(''));
    path.setAttribute('fill', 'none');
    path.setAttribute('stroke', style.colour);
    path.setAttribute('stroke-width', String(few ? 2 * style.sizePixels : style.sizePixels));
    path.setAttribute('stroke-opacity', String(few ? 1 : style.opacity));
    path.setAttribute('stroke-linecap', style.shape);
    return path;
  };
}

function tenths(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
