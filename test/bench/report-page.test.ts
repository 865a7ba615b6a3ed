// report.html in a real Chromium: it shows what results.json has, in both colour schemes, on a phone and on a wide
// screen, by pointer, by keyboard and on paper.
//
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { answers, comparisons } from '../../bench/report/answer.ts';
import { headline } from '../../bench/report/answer-words.ts';
import { panels, panelTitle, sizesOf } from '../../bench/report/panel.ts';
import { numberText, timesText, timeText } from '../../bench/report/quantity.ts';
import { isTimed, type Timed } from '../../bench/report/timed.ts';
import { writeReport } from '../../bench/report/write-report.ts';
import { madeResults } from './made-results.ts';

const results = madeResults();

/** The first of these programs that PATH has. */
function onPath(...names: string[]): string | undefined {
  const { PATH = '' } = process.env;
  return PATH.split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

interface Point {
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Its place in the picture, in the picture's units; empty for bars. */
  readonly place: readonly number[];
}

interface Picture {
  readonly label: string;
  readonly points: readonly Point[];
  readonly text: readonly string[];
  /** From the left edge of the 1× rule's picture; null without such a rule. */
  readonly rule: number | null;
  /** Texts that overlap, texts that the picture's edge cuts, and texts that a rule crosses. */
  readonly faults: readonly string[];
}

/** Runs in the page, for which no types are available here. */
const readPictures = `[...document.querySelectorAll('figure svg')].map((svg) => {
  const edge = svg.getBoundingClientRect();
  const points = [...svg.querySelectorAll('[tabindex]')].map((point) => {
    const at = point.getBoundingClientRect();
    const place = point.hasAttribute('cx') ? [point.getAttribute('cx'), point.getAttribute('cy')] : ((point.getAttribute('transform') ?? '').match(/[\\d.]+/g) ?? []);
    return { label: point.getAttribute('aria-label'), place: place.map(Number), x: at.left + at.width / 2, y: at.top + at.height / 2, width: at.width };
  });
  const texts = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, at: text.getBoundingClientRect() }));
  const faults = [];
  const rules = [...svg.querySelectorAll('[aria-label="rule"] line')].map((line) => line.getBoundingClientRect()).filter((at) => at.width < 1);
  for (const rule of rules)
    for (const { text, at } of texts)
      if (at.left < rule.left && rule.left < at.right && at.top < rule.bottom - 1 && rule.top < at.bottom - 1) faults.push('through: ' + text);
  texts.forEach(({ text, at }, i) => {
    if (text.trim() === '') faults.push('a number is missing');
    if (at.left < edge.left - 1 || at.right > edge.right + 1 || at.top < edge.top - 1 || at.bottom > edge.bottom + 1) faults.push('cut: ' + text);
    for (const other of texts.slice(i + 1)) {
      const wide = Math.min(at.right, other.at.right) - Math.max(at.left, other.at.left);
      const high = Math.min(at.bottom, other.at.bottom) - Math.max(at.top, other.at.top);
      if (wide > 1 && high > 3) faults.push('over each other: ' + text + ' and ' + other.text);
    }
  });
  return { label: svg.getAttribute('aria-label'), points, rule: rules.length === 1 ? rules[0].left : null, text: texts.map(({ text }) => text), faults };
})`;

/**
 * The least and the greatest contrast of a text with its background, by WCAG 2.1, including texts in pictures; and
 * these texts.
 */
const contrasts = `(() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const part = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    if (!own || element.closest('script, style, title, #value')) continue;
    const style = getComputedStyle(element);
    const behind = ground(element);
    let colour = parse(style.color);
    if (element.closest('svg')) {
      const opacity = Number(style.fillOpacity);
      colour = parse(style.fill).map((part, i) => opacity * part + (1 - opacity) * behind[i]);
      // A letter in a bar has the colour of the ground, with which test/plot/svg.test.ts compares the bars' colours.
      if (String(colour) === String(behind)) continue;
    }
    const [a, b] = [luminance(colour), luminance(behind)];
    found.push({ contrast: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text: element.tagName + ' ' + element.textContent });
  }
  found.sort((a, b) => a.contrast - b.contrast);
  return [found[0], found.at(-1)];
})()`;

const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
const unfold = `document.querySelectorAll('details').forEach((fold) => { fold.open = true; })`;
const shownValue = `(() => { const box = document.querySelector('#value'); return box.hidden ? '' : box.textContent; })()`;

const executablePath = onPath('chromium', 'chromium-browser', 'google-chrome');
const browserTest = suite();
let browser: Browser;
let folder: string;

browserTest.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'covarium-page-'));
  await writeReport(results, folder);
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
  browser = await chromium.launch({ executablePath: executablePath!, args });
});

browserTest.after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The loaded report with everything unfolded, and with every error and request. */
async function open(width: number, colorScheme: 'light' | 'dark'): Promise<{ page: Page; faults: string[] }> {
  const opened = await load(width, colorScheme);
  await opened.page.evaluate(unfold);
  return opened;
}

async function load(width: number, colorScheme: 'light' | 'dark'): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
  const faults: string[] = [];
  const address = pathToFileURL(join(folder, 'report.html')).href;
  page.on('console', (message) => faults.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url() !== address && request.url() !== 'data:,') faults.push(`request: ${request.url()}`);
  });
  await page.goto(address, { waitUntil: 'load' });
  return { page, faults };
}

const labelOf = (contender: string) => (contender === 'softmetal' ? 'softmetal (no measure of speed)' : contender);
const timed = (measurements: readonly unknown[]) => (measurements as Timed[]).filter(isTimed);

for (const width of [390, 1400])
  for (const scheme of ['light', 'dark'] as const)
    browserTest(
      `At ${width} pixels, ${scheme}: there is no error, no request, no cut text and no faint text.`,
      async () => {
        const { page, faults } = await open(width, scheme);
        const pictures = (await page.evaluate(readPictures)) as Picture[];
        assert.ok(pictures.length >= 20);
        assert.equal(
          pictures.flatMap(({ label, faults }) => faults.map((fault) => `${label}: ${fault}`)),
          [],
        );
        assert.is(await page.evaluate(isWide), false, 'the page does not scroll sideways');
        const [least, greatest] = (await page.evaluate(contrasts)) as { contrast: number; text: string }[];
        assert.ok(least!.contrast >= 4.5, `${least!.contrast}: ${least!.text}`);
        // White on black glares; black on white does not.
        if (scheme === 'dark') assert.ok(greatest!.contrast <= 13, `${greatest!.contrast}: ${greatest!.text}`);
        const ground = (await page.evaluate('getComputedStyle(document.body).backgroundColor')) as string;
        assert.is(ground, scheme === 'dark' ? 'rgb(23, 25, 28)' : 'rgb(255, 255, 255)');
        assert.equal(faults, []);
        await page.close();
      },
    );

browserTest('Pictures of time have a point for each measurement, in the right place.', async () => {
  const { page } = await open(1400, 'light');
  const pictures = (await page.evaluate(readPictures)) as Picture[];
  let points = 0;
  for (const panel of panels(results)) {
    const picture = pictures.find(
      ({ label }) => label === `Time of one run against ${panel.axis}: ${panelTitle(panel)}`,
    );
    const expected = timed(panel.measurements);
    if (sizesOf(panel).length < 2) {
      assert.is(picture, undefined);
      continue;
    }
    assert.is(picture!.points.length, expected.length);
    const found = expected.map((each) => {
      const start = `${labelOf(each.contender)}, ${panel.axis} ${numberText(each[panel.axis]!)}: ${timeText(each.time.median)} (`;
      const [point, ...others] = picture!.points.filter(({ label }) => label.startsWith(start));
      assert.ok(point !== undefined && others.length === 0, start);
      const [x, y] = point!.place as [number, number];
      return { x, y, size: Math.log(each[panel.axis]!), time: Math.log(each.time.median) };
    });
    // On log axes pixels grow with the logarithm: the line through the outermost points goes through all.
    const line = (from: 'size' | 'time', to: 'x' | 'y') => {
      const sorted = [...found].sort((a, b) => a[from] - b[from]);
      const [low, high] = [sorted[0]!, sorted.at(-1)!];
      const slope = (high[to] - low[to]) / (high[from] - low[from]);
      for (const each of found) {
        const away = low[to] + slope * (each[from] - low[from]) - each[to];
        assert.ok(Math.abs(away) < 0.01, `${panelTitle(panel)}: ${away}`);
      }
      return slope;
    };
    assert.ok(line('size', 'x') > 20);
    assert.ok(line('time', 'y') < -5, 'longer is higher');
    points += found.length;
  }
  // Of 48 draws, 6 are in float64 on metal, which lacks it.
  assert.is(points, 33 + 42 + 6);
  await page.close();
});

browserTest('Pictures of parts of the time show the parts in the results.', async () => {
  const { page } = await open(1400, 'light');
  const pictures = (await page.evaluate(readPictures)) as Picture[];
  const labelled = (start: string) => pictures.filter(({ label }) => label.startsWith(start));
  for (const picture of labelled('What the time is spent on: ')) {
    const panel = panels(results).find((each) => picture.label.endsWith(`: ${panelTitle(each)}`))!;
    const splits = timed(panel.measurements).flatMap(({ split }) => (split === null ? [] : [split]));
    const parts = splits.flatMap(({ encode, device, readBack, rest }) => [encode, device, readBack, rest]);
    assert.is(picture.points.length, parts.filter((part) => part > 0).length, picture.label);
    const whole = picture.points.reduce((sum, { width }) => sum + width, 0) / splits.length;
    const devices = picture.points
      .filter(({ label }) => label.includes(': device '))
      .reduce((sum, { width }) => sum + width, 0);
    const share = splits.reduce((sum, { encode, device, rest }) => sum + device / (encode + device + rest), 0);
    assert.ok(Math.abs(devices / whole - share) < 0.03 * share, 'widths are shares');
    // Nothing is read back in the made run.
    assert.not(
      picture.text.some((text) => text.includes('read back')),
      'the legend has only what is drawn',
    );
    assert.ok(picture.text.includes('E encode'));
  }
  assert.is(labelled('What the time is spent on: ').length, 8);
  await page.close();
});

browserTest('Pictures of speed-ups have a dot for each pair and size, on the correct side of 1×.', async () => {
  const { page } = await open(1400, 'light');
  const pictures = (await page.evaluate(readPictures)) as Picture[];
  const all = answers(results);
  assert.is(all.length, 8);
  for (const answer of all) {
    const label = `How many times as fast ${answer.leader.contender} is: ${panelTitle(answer.panel)}`;
    const picture = pictures.find((each) => each.label === label)!;
    const expected = comparisons(results, answer);
    assert.is(picture.points.length, expected.length, label);
    assert.not(picture.points.some((point) => point.label.includes('softmetal')));
    const found = expected.map(({ other, ratio }) => {
      const where = [
        other.dimension === null ? '' : `, dimension ${numberText(other.dimension)}`,
        other.count === null ? '' : `, count ${numberText(other.count)}`,
      ].join('');
      const start = `${answer.leader.contender} is ${timesText(ratio)} times as fast as ${other.contender}${where} (`;
      const point = picture.points.find(({ label }) => label.startsWith(start));
      assert.ok(point !== undefined, start);
      return { x: point!.x - picture.rule!, log: Math.log(ratio) };
    });
    const furthest = found.toSorted((a, b) => Math.abs(b.log) - Math.abs(a.log))[0]!;
    const slope = furthest.x / furthest.log;
    assert.ok(slope > 5, `${label}: ${slope}`);
    for (const { x, log } of found) assert.ok(Math.abs(x - slope * log) < 0.5, `${label}: ${x} of ${slope * log}`);
  }
  await page.close();
});

browserTest('The page opens with its answer, is short, and folds method and data away.', async () => {
  for (const [width, most] of [
    [390, 9000],
    [1400, 5500],
  ] as const) {
    const { page } = await load(width, 'light');
    assert.is(await page.evaluate(`document.querySelector('h1').textContent`), headline(results));
    assert.ok(((await page.evaluate(`document.querySelector('.tiles').getBoundingClientRect().top`)) as number) < 800);
    assert.ok(((await page.evaluate('document.documentElement.scrollHeight')) as number) < most);
    assert.ok(
      ((await page.evaluate(`document.querySelectorAll('nav a').length`)) as number) <= 5,
      'a link for each suite and dtype',
    );
    const unfolded = `[...document.querySelectorAll('table')].filter((each) => each.checkVisibility()).length`;
    assert.is(await page.evaluate(unfolded), 0);
    const pictures = `[...document.querySelectorAll('figure')].filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect().right)`;
    const rights = (await page.evaluate(pictures)) as number[];
    assert.ok(rights.length >= 14);
    assert.ok(Math.max(...rights) > 0.9 * width, 'the width is used');
    await page.close();
  }
});

browserTest('Values show on hover and on focus; arrow keys go through a picture, Tab leaves it.', async () => {
  const { page, faults } = await open(1400, 'dark');
  const [first] = (await page.evaluate(readPictures)) as Picture[];
  for (let i = 0; i < 20 && (await page.evaluate(shownValue)) === ''; ++i) await page.keyboard.press('Tab');
  assert.is(await page.evaluate(shownValue), first!.points[0]!.label);
  await page.keyboard.press('ArrowRight');
  assert.is(await page.evaluate(shownValue), first!.points[1]!.label);
  await page.keyboard.press('End');
  assert.is(await page.evaluate(shownValue), first!.points.at(-1)!.label);
  await page.keyboard.press('Escape');
  assert.is(await page.evaluate(shownValue), '');
  await page.keyboard.press('Tab');
  const [, second] = (await page.evaluate(readPictures)) as Picture[];
  assert.is(await page.evaluate(shownValue), second!.points[0]!.label);
  const { x, y, label } = second!.points[7]!;
  await page.mouse.move(x + 2, y - 2);
  assert.is(await page.evaluate(shownValue), label);
  await page.mouse.move(2, 2);
  assert.is(await page.evaluate(shownValue), '');
  assert.equal(faults, []);
  await page.close();
});

browserTest('Wide tables scroll in their own box, and then a hint says so.', async () => {
  const scrolling: boolean[] = [];
  for (const width of [360, 1400]) {
    const { page } = await open(width, 'light');
    // The observer that shows the hints runs before the page is painted.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const boxes = `[...document.querySelectorAll('.wide')].map((box) => ({ scrolls: box.scrollWidth > box.clientWidth, hint: box.previousElementSibling.checkVisibility(), stops: box.tabIndex, label: box.getAttribute('aria-label') }))`;
    const wide = (await page.evaluate(boxes)) as { scrolls: boolean; hint: boolean; stops: number; label: string }[];
    for (const { scrolls, hint, label } of wide) assert.is(hint, scrolls, label);
    assert.ok(wide.every(({ stops, label }) => stops === 0 && label !== ''));
    scrolling.push(...wide.map(({ scrolls }) => scrolls));
    await page.close();
  }
  assert.equal(new Set(scrolling), new Set([true, false]));
});

browserTest('A value stays within a phone.', async () => {
  const { page } = await open(360, 'light');
  await page.locator('figure svg [tabindex]').last().focus();
  const box = (await page.locator('#value').boundingBox())!;
  assert.ok(box.x >= 0 && box.x + box.width <= 360, `${box.x} ${box.width}`);
  assert.is(await page.evaluate(isWide), false);
  await page.close();
});

browserTest('Headings go down one level at a time, and every picture and table has a name.', async () => {
  const { page } = await open(1400, 'light');
  const levels = (await page.evaluate(
    `[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((each) => Number(each.tagName[1]))`,
  )) as number[];
  assert.is(levels.filter((level) => level === 1).length, 1);
  assert.is(levels[0], 1);
  assert.ok(levels.slice(1).every((level, i) => level <= levels[i]! + 1));
  const nameless = `[...document.querySelectorAll('svg, table')].filter((each) => !(each.getAttribute('aria-label') || each.caption?.textContent)).length`;
  assert.is(await page.evaluate(nameless), 0);
  const broken = `[...document.querySelectorAll('nav a')].filter((each) => !document.querySelector(each.getAttribute('href'))).length`;
  assert.is(await page.evaluate(broken), 0);
  assert.match(await page.title(), /<script>alert\(1\)<\/script>/);
  await page.close();
});

browserTest('On paper the report is light and complete, including what is folded.', async () => {
  const { page, faults } = await load(1400, 'dark');
  const isOpen = `document.querySelector('details').open`;
  assert.is(await page.evaluate(isOpen), false);
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  assert.is(await page.evaluate(isOpen), true);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.setViewportSize({ width: 700, height: 990 });
  assert.is(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)');
  assert.is(await page.evaluate(`getComputedStyle(document.querySelector('nav')).display`), 'none');
  const beyond = `[...document.querySelectorAll('table, pre, svg')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.tagName + ' ' + each.textContent.slice(0, 60))`;
  assert.equal(await page.evaluate(beyond), []);
  assert.ok((await page.pdf({ format: 'A4' })).length > 10_000);
  assert.equal(faults, []);
  await page.close();
});

browserTest('Pictures as files are XML that a browser shows in both colour schemes.', async () => {
  const page = await browser.newPage({ colorScheme: 'dark' });
  const names = readdirSync(folder).filter((name) => name.endsWith('.svg'));
  assert.ok(names.length >= 20);
  const texts = names.map((name) => readFileSync(join(folder, name), 'utf8'));
  const parse = (texts: readonly string[]) =>
    `${JSON.stringify(texts)}.map((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')?.textContent ?? '').filter((each) => each !== '')`;
  assert.equal(await page.evaluate(parse(texts)), []);
  assert.is(((await page.evaluate(parse(['<svg a="<"/>']))) as string[]).length, 1, 'faults are seen');
  await page.goto(pathToFileURL(join(folder, names[0]!)).href);
  const ground = 'getComputedStyle(document.documentElement).backgroundColor';
  assert.is(await page.evaluate(ground), 'rgb(23, 25, 28)');
  await page.emulateMedia({ colorScheme: 'light' });
  assert.is(await page.evaluate(ground), 'rgb(255, 255, 255)');
  await page.close();
});

if (executablePath !== undefined) browserTest.run();
else {
  console.log(
    'skipped  report.html in a browser: there is no chromium on PATH (Debian or Ubuntu: apt-get install chromium)',
  );
  const absent = suite();
  absent.skip('report.html in a browser');
  absent.run();
}
