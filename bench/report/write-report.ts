import { join } from 'node:path';
import { cannotWrite } from '../../lib/file/error.ts';
import { makeFolder } from '../../lib/file/folder.ts';
import { writeTextFile } from '../../lib/file/output.ts';
import { svgFile } from '../../lib/plot/svg.ts';
import type { Results } from '../results.ts';
import { benchmarkRounds } from './benchmark-lines.ts';
import { pictureOptions } from './chart.ts';
import { chartsOf } from './charts.ts';
import { html } from './html.ts';
import { markdown } from './markdown.ts';
import { reportTitle } from './page-title.ts';
import { report } from './report.ts';

/**
 * Writes report.md, report.html, benchmark.txt and the pictures into a folder, which is created if needed; returns
 * the names of the files. Throws `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`.
 */
export async function writeReport(results: Results, folder: string): Promise<string[]> {
  const charts = chartsOf(results);
  const blocks = report(results, charts);
  const files = new Map([
    ['report.md', markdown(blocks)],
    ['report.html', html(reportTitle(results), blocks)],
    ['benchmark.txt', `${benchmarkRounds(results)}\n`],
    ...charts.map((chart) => [`${chart.name}.svg`, svgFile(pictureOptions(chart, 'file'))] as const),
  ]);
  try {
    makeFolder(folder);
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  for (const [name, text] of files) await writeTextFile(join(folder, name), text);
  return [...files.keys()];
}
