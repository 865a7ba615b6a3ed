// The website that docs/site makes from docs/, built and opened in Chromium: pages, search, light and dark, a phone.
//
// Nothing native runs here.
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { list } from '../harness/source-text.ts';

const folder = fileURLToPath(new URL('../../docs/site/', import.meta.url));
const dist = join(folder, '.vitepress/dist');

function onPath(name: string): string | undefined {
  const { PATH = '' } = process.env;
  return PATH.split(delimiter)
    .map((each) => join(each, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

const executablePath = onPath('chromium');
const vitepress = join(folder, 'node_modules/vitepress/bin/vitepress.js');
const test = suite('site');
let server: Server;
let browser: Browser;
let address = '';

const types: { readonly [ending: string]: string } = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
};

test.before(async () => {
  // Without these variables, so that a plain clone and a GitHub runner give the same pages.
  const { GITHUB_REPOSITORY: _, SITE_BASE: __, ...env } = process.env;
  execFileSync(process.execPath, [vitepress, 'build'], { cwd: folder, stdio: 'pipe', env });
  server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://site').pathname);
    const file = join(dist, path.endsWith('/') ? `${path}index.html` : path);
    if (!existsSync(file)) return response.writeHead(404).end();
    return response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox', '--disable-gpu'] });
});

test.after(async () => {
  await browser?.close();
  server?.close();
});

/** A page, and its errors: script errors and missing files. */
async function open(path: string, options: Parameters<Browser['newPage']>[0] = {}) {
  const page = await browser.newPage(options);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(`${address}${path}`, { waitUntil: 'networkidle' });
  return { page, faults };
}

const ground = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');

test('Every page of docs/ is on the site, and the first page links to them.', async () => {
  const pages = list('docs').filter((path) => path.endsWith('.md') && !path.startsWith('docs/site/'));
  for (const path of pages) {
    const made = path
      .slice('docs/'.length)
      .replace(/(README|example-report\/report)\.md$/, (name) => name.replace(/README\.md|report\.md$/, 'index.md'));
    assert.ok(existsSync(join(dist, made.replace(/\.md$/, '.html'))), path);
  }
  const { page, faults } = await open('/');
  assert.match(await page.title(), 'covarium');
  // Without one, browsers ask for /favicon.ico, which the site does not have.
  assert.match((await page.locator('link[rel=icon]').getAttribute('href'))!, /^data:image\/svg/);
  const links = await page.locator('.VPSidebar a').allTextContents();
  for (const words of ['Tutorial', 'Making a normal', 'API', 'MultivariateNormal', 'Numerics'])
    assert.ok(links.includes(words), words);
  await page.locator('.VPSidebar a', { hasText: 'Questions to a normal' }).click();
  await page.locator('h1', { hasText: 'What can I ask a normal?' }).waitFor();
  await page.locator('img[alt*="ellipses"]').scrollIntoViewIfNeeded();
  assert.ok((await page.evaluate<number>('document.querySelector("img[alt*=ellipses]").naturalWidth')) > 0);
  assert.equal(faults, []);
  await page.close();
});

test('Search finds a method on its page.', async () => {
  const { page, faults } = await open('/');
  await page.keyboard.press('Control+k');
  await page.locator('.VPLocalSearchBox input').fill('conditionalMeans');
  const result = page.locator('.VPLocalSearchBox .result', { hasText: 'conditionalMeans' }).first();
  await result.click();
  await page.locator('h1', { hasText: /Multivariate/ }).waitFor();
  assert.equal(faults, []);
  await page.close();
});

test('The site is dark if the reader chooses it, in the system or by the switch.', async () => {
  const light = await open('/tutorial.html', { colorScheme: 'light' });
  const dark = await open('/tutorial.html', { colorScheme: 'dark' });
  const [white, black] = [await ground(light.page), await ground(dark.page)];
  assert.is(white, 'rgb(255, 255, 255)');
  assert.is.not(black, white);
  await light.page.locator('.VPNavBar .VPSwitchAppearance').first().click();
  await light.page.waitForFunction('document.documentElement.classList.contains("dark")');
  assert.is(await ground(light.page), black);
  assert.equal([...light.faults, ...dark.faults], []);
  await light.page.close();
  await dark.page.close();
});

/** The least contrast of the words in blocks of code with their ground, as WCAG defines it. */
const leastContrast = `(() => {
  const shine = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrasts = [...document.querySelectorAll('.vp-doc div[class*=language-]')].flatMap((block) => {
    const ground = getComputedStyle(block).backgroundColor;
    return [...block.querySelectorAll('span')].map((word) => {
      const [dark, bright] = [shine(getComputedStyle(word).color), shine(ground)].sort((a, b) => a - b);
      return (bright + 0.05) / (dark + 0.05);
    });
  });
  return Math.min(...contrasts);
})()`;

test('Code can be read, with the contrast of level AA, in light and in dark.', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await open('/kernels.html', { colorScheme });
    for (const path of ['/kernels.html', '/tutorial.html', '/api/classes/Matrix.html']) {
      await page.goto(`${address}${path}`, { waitUntil: 'networkidle' });
      const contrast = await page.evaluate<number>(leastContrast);
      assert.ok(Number.isFinite(contrast) && contrast >= 4.5, `${path}, ${colorScheme}: ${contrast}`);
    }
    await page.close();
  }
});

test('No page is wider than a phone.', async () => {
  const { page } = await open('/', { viewport: { width: 390, height: 800 } });
  for (const path of [
    '/',
    '/tutorial.html',
    '/performance.html',
    '/api/classes/MultivariateNormal.html',
    '/metal.html',
  ]) {
    await page.goto(`${address}${path}`, { waitUntil: 'networkidle' });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 390, `${path} is ${width} wide`);
  }
  await page.close();
});

const missing =
  executablePath === undefined
    ? 'there is no chromium on PATH (Debian or Ubuntu: apt-get install chromium)'
    : existsSync(vitepress)
      ? ''
      : 'its generator is not installed (npm ci --prefix docs/site)';
if (missing === '') test.run();
else console.log(`skipped  the website in a browser: ${missing}`);
