// The website of docs/: `npm ci && npm run build` in docs/site writes .vitepress/dist. The sidebar is read from
// docs/README.md, so that a page is listed once.
import { copyFileSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const docs = fileURLToPath(new URL('../..', import.meta.url));
const root = dirname(resolve(docs));
// On GitHub's machines these name the repository; elsewhere links to its files are left out.
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, SITE_BASE } = process.env;
const source = server && repository ? `${server}/${repository}` : undefined;

/** The pages that docs/README.md lists, by its headings of the second level. */
function sidebar() {
  const text = readFileSync(join(docs, 'README.md'), 'utf8');
  const groups = text.split(/^## /m).slice(1);
  return groups.map((group) => {
    const links = [...group.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].filter(([, , to]) => !to.startsWith('..'));
    const item = ([, words, to]) => ({ text: words[0].toUpperCase() + words.slice(1), link: `/${route(to)}` });
    const [examples, pages] = [links.filter(isExample), links.filter((link) => !isExample(link))];
    const items = pages.map(item).map((each) => (each.link === '/api/' ? { ...each, ...apiItems() } : each));
    if (examples.length > 0) items.push({ text: 'Examples', collapsed: true, items: examples.map(item) });
    return { text: group.split('\n', 1)[0], items };
  });
}

const isExample = ([, , to]) => to.startsWith('examples/');
const route = (path) => path.replace(/README\.md$/, '').replace(/\.md$/, '');

function apiItems() {
  const index = readFileSync(join(docs, 'api/README.md'), 'utf8');
  const items = [...index.matchAll(/^- \[(\w+)\]\((classes\/\w+)\.md\)/gm)];
  return { collapsed: true, items: items.map(([, name, to]) => ({ text: name, link: `/api/${to}` })) };
}

/** Files that are copied as they are: the benchmark's report and its numbers. */
const copied = ['example-report/report.html', 'example-report/results.json'];

/** Links to files outside of docs/ lead to the repository. Where none is named, their words are left. */
function repositoryLinks(markdown) {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isLeftOut = false;
      for (const token of children ?? []) {
        const to = token.type === 'link_open' ? token.attrGet('href') : null;
        const path = to === null || /^([a-z]+:|#)/.test(to) ? undefined : pathOf(env.relativePath ?? '', to);
        if (path !== undefined && copied.includes(relative('docs', path))) token.attrSet('target', '_self');
        const isAway = path !== undefined && !path.startsWith('docs/');
        if (isAway && source !== undefined) token.attrSet('href', `${source}/blob/main/${path}`);
        else if (isAway || (isLeftOut && token.type === 'link_close')) {
          isLeftOut = isAway;
          Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '', attrs: null });
        }
      }
    }
  });
}

/** Code that is indented, not fenced, is commands of a shell on our pages. */
function shellBlocks(markdown) {
  markdown.core.ruler.push('shell-blocks', ({ tokens }) => {
    for (const token of tokens) if (token.type === 'code_block') Object.assign(token, { type: 'fence', info: 'sh' });
  });
}

/** Where a page's link leads, relative to the repository. */
const pathOf = (page, to) => relative(root, resolve(docs, dirname(page), to.split('#')[0]));

/** The pages lie outside of this folder, and do not find its packages: these are loaded when the pages are rendered. */
const vueOfThisFolder = {
  name: 'vue-of-this-folder',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) =>
    ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : undefined,
};

/** The ellipses of a normal. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 -16 32 32" fill="none" stroke="#3451b2" \
stroke-width="3"><g transform="rotate(-35)"><ellipse rx="14" ry="8"/><ellipse rx="6" ry="3"/></g></svg>`;

export default defineConfig({
  title: 'covarium',
  description: 'Sample multivariate normals and run Metal kernels from Node, on the GPU or the CPU',
  lang: 'en',
  base: SITE_BASE ?? '/',
  srcDir: '..',
  srcExclude: ['site/**'],
  rewrites: {
    'README.md': 'index.md',
    'api/README.md': 'api/index.md',
    'example-report/report.md': 'example-report/index.md',
  },
  cleanUrls: false,
  lastUpdated: false,
  head: [
    // VitePress's own colour is too pale to read.
    ['style', {}, ':root{--vp-code-lang-color:var(--vp-c-text-2)}'],
    // In the page itself: without one, browsers ask for /favicon.ico at the root of the server.
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
  ],
  markdown: {
    config: (markdown) => markdown.use(repositoryLinks).use(shellBlocks),
    languageAlias: { metal: 'cpp' },
    // Comments and keywords of the default themes are too pale to read.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  buildEnd({ outDir }) {
    for (const path of copied) copyFileSync(join(docs, path), join(outDir, path));
  },
  vite: { plugins: [vueOfThisFolder] },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Guides', link: '/ways-in' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: sidebar(),
    ...(source !== undefined && { socialLinks: [{ icon: 'github', link: source }] }),
  },
});
