// Lists every comment and every line of Markdown prose that is longer than 120 columns. Code is left to the formatters.
// Exempt is what cannot be wrapped: tables, headings, blocks of code, directives for tools, and a line without a space.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const limit = 120;
// Made by a program: docs/api from docstrings, docs/example-report by the benchmark, test/answers by other libraries.
const exempt = /^(docs\/(api|example-report)|test\/answers)\//;

const isDirective = (line) => /\b(biome-ignore|clang-format (on|off))\b/.test(line);
const canWrap = (text) => /^\s*\S+\s+\S/.test(text) && !/^\s*\|.*\|$/.test(text);

/** The comments of a file, by line: the text of each, or undefined where the line is code alone. */
function comments(path, lines) {
  const isScript = /\.(py|R|sh|ya?ml|gyp|supp)$|^\.ci\/run$/.test(path);
  const whole = isScript ? /^\s*#(.*)$/ : /^\s*(?:\/\/|\/\*\*?|\*(?!\/))(.*)$/;
  const after = isScript ? /\s# (.*)$/ : /\s\/\/ (.*)$/;
  return lines.map((line) => (whole.exec(line) ?? after.exec(line))?.[1]);
}

/** The prose of a page, by line: undefined where the line is code or a heading. */
function prose(lines) {
  let isFenced = false;
  let isIndented = false;
  return lines.map((line, i) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isFenced = !isFenced;
    isIndented = /^ {4}\S/.test(line) && (isIndented || i === 0 || lines[i - 1] === '');
    return isFenced || isFence || isIndented || line.startsWith('#') ? undefined : line;
  });
}

function longLines(path) {
  const lines = readFileSync(path, 'utf8').split('\n');
  if (!lines.some((line) => line.length > limit)) return [];
  const texts = path.endsWith('.md') ? prose(lines) : comments(path, lines);
  const isLong = (line, text) => line.length > limit && text !== undefined && canWrap(text) && !isDirective(line);
  return lines.flatMap((line, i) => (isLong(line, texts[i]) ? [`${path}:${i + 1} (${line.length} columns)`] : []));
}

const type = /\.(md|ts|mts|cts|mjs|cjs|cc|cu|h|inc|mm|metal|gyp|py|R|sh|ya?ml|supp)$|\/metal_stdlib$|^\.ci\/run$/;
const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => type.test(path) && !exempt.test(path) && existsSync(path));
const long = paths.flatMap(longLines);
for (const line of long) console.log(`Longer than ${limit} columns: ${line}`);
process.exitCode = long.length > 0 ? 1 : 0;
