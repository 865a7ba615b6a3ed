import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';
import type { Results } from '../results.ts';
import { useTexts } from './measurement-tables.ts';
import { panels, panelTitle, sizesOf } from './panel.ts';
import { numberText, timeText } from './quantity.ts';
import { isTimed } from './timed.ts';
import { warningsOf } from './warnings.ts';

/**
 * The end of a run for a terminal of `width` columns: one line per case at its largest size, with the medians of as
 * many contenders as fit, the fastest in green; then the warnings.
 */
export function terminalSummary(results: Results, width: number = process.stdout.columns || 100): string {
  const timed = new Set(results.measurements.filter(isTimed).map(({ contender }) => contender));
  const names = results.contenders.map(({ name }) => name).filter((name) => timed.has(name));
  const rows = panels(results).map((panel) => {
    const size = sizesOf(panel).at(-1) ?? null;
    const here = panel.measurements.filter((each) => each[panel.axis] === size);
    const best = Math.min(...here.map(({ time }) => time?.median ?? Number.POSITIVE_INFINITY));
    const cells = names.map((name) => {
      const found = here.find(({ contender }) => contender === name);
      if (found === undefined) return '';
      if (!isTimed(found)) return found.state === 'left out' ? '-' : pc.red(found.state);
      const text = timeText(found.time.median);
      return found.time.median === best ? pc.green(text) : text;
    });
    return [shortened(panelTitle(panel), 48), size === null ? '' : numberText(size), ...cells];
  });
  const { lines, left } = table(['case', 'size', ...names.map((name) => shortened(name, 20))], rows, width);
  const watched = results.measurements.filter(({ use }) => use !== undefined);
  const uses = watched.map((each) => [shortened(`${each.suite}, ${each.case}`, 48), each.contender, ...useTexts(each)]);
  const useLines = uses.length === 0 ? [] : table(['one run', 'of', 'peak memory', 'longest hold'], uses, width).lines;
  const more = left > 0 ? [`More in report.md: ${names.slice(-left).map(plain).join(', ')}`] : [];
  const warnings = warningsOf(results).map((warning) => pc.yellow(plain(warning)));
  return [...lines, ...more, ...useLines, ...warnings].join('\n');
}

/** The text without control characters, which would change the terminal or break the line. */
function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}

function shortened(text: string, most: number): string {
  const letters = [...plain(text)];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : letters.join('');
}

/**
 * Columns side by side, as many as fit, the first aligned left and figures aligned right; `left` is how many do not
 * fit.
 */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): { lines: string[]; left: number } {
  const lengthOf = (cell: string) => [...stripVTControlCharacters(cell)].length;
  const widths = head.map((title, i) => Math.max(lengthOf(title), ...rows.map((row) => lengthOf(row[i]!))));
  let shown = 0;
  for (let total = 0; shown < widths.length; ++shown) {
    total += widths[shown]! + (shown === 0 ? 0 : 2);
    // The case, its size and one contender are the least that says anything.
    if (total > width && shown > 2) break;
  }
  const line = (cells: readonly string[]) =>
    cells
      .slice(0, shown)
      .map((cell, i) => {
        const space = ' '.repeat(widths[i]! - lengthOf(cell));
        return i === 0 ? cell + space : space + cell;
      })
      .join('  ')
      .trimEnd();
  return { lines: [pc.bold(line(head)), ...rows.map(line)], left: widths.length - shown };
}
