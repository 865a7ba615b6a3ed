// The API reference: `npm run docs` writes docs/api from the docstrings of what lib/index.ts exports. Each class has a
// page; functions and types share docs/api/README.md. Nothing in it depends on the machine or the checkout: no paths,
// no line numbers, no commit.
import { ReflectionKind } from 'typedoc';

/** The classes in the order of the index: what most programs begin with comes first. */
const classes = [
  'MultivariateNormal',
  'MultivariateStudentT',
  'MultivariateNormalBatch',
  'MultivariateStudentTBatch',
  'MultivariateNormalMixture',
  'Distribution',
  'Moments',
  'Device',
  'Matrix',
  'Vector',
  'Volume',
  'CommandBuffer',
  'Kernel',
  'CovariumError',
];

/** Leaves out the sections that say no more than the signature above them, and puts a list of contents on top. */
function compact(application) {
  application.renderer.on('endPage', (page) => {
    const contents = page.contents
      .split(/^(?=#+ |\*\*\*$)/m)
      .filter((section) => !/^#+ (Returns|Overrides|Extends|Extended by|Inherited from)$/m.test(section))
      .filter((section) => !/^#+ Parameters\n/.test(section) || section.includes('| Description |'))
      .join('')
      .replace(/^#+ Get Signature\n\n/gm, '')
      .replace(/(?:^- \[\w+\]\(classes\/.*\n)+/m, () => classList(page.model))
      .replace(/\n{3,}/g, '\n\n')
      .replace(/[ \t]+$/gm, '');
    const first = contents.indexOf('\n## ');
    page.contents = `${contents.slice(0, first)}\n${headingList(contents)}${contents.slice(first)}`;
  });
}

/** A line for each class, with the first sentence of its description. */
function classList({ children }) {
  const place = ({ name }) => (classes.includes(name) ? classes.indexOf(name) : classes.length);
  const found = children.filter(({ kind }) => kind === ReflectionKind.Class).sort((a, b) => place(a) - place(b));
  const first = ({ comment }) => /^.*?[.:](?=\s|$)/s.exec(comment.summary.map(({ text }) => text).join(''))[0];
  const sentence = (each) => first(each).replace(/\s+/g, ' ').replace(/:$/, '.');
  return found.map((each) => `- [${each.name}](classes/${each.name}.md): ${sentence(each)}\n`).join('');
}

/** A line for each heading of the second level, with links to the headings of the third below it. */
function headingList(contents) {
  const times = new Map();
  const lines = [];
  for (const [, marks, title] of contents.matchAll(/^(#+) (.*)$/gm)) {
    const slug = title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-');
    const before = times.get(slug) ?? 0;
    times.set(slug, before + 1);
    if (marks === '##') lines.push([title]);
    const name = title.replace(/[()\\]|`abstract` /g, '').replace('[dispose]', '\\[dispose\\]');
    // Of methods with one name, the first is linked.
    if (marks === '###' && before === 0) lines.at(-1).push(`[${name}](#${slug})`);
  }
  const listed = lines.filter((line) => line.length > 1);
  return listed.map(([title, ...links]) => `- **${title}**: ${links.join(', ')}\n`).join('');
}

export default {
  plugin: ['typedoc-plugin-markdown', compact],
  entryPoints: ['lib/index.ts'],
  tsconfig: 'tsconfig.build.json',
  // build.mjs has tsc check the types of the same files.
  skipErrorChecking: true,
  out: 'docs/api',
  name: 'covarium: API reference',
  readme: 'none',
  router: 'member',
  membersWithOwnFile: ['Class'],
  entryFileName: 'README',
  // What is not exported can't be documented by accident, and what is must be: test/repo/api-docs.test.ts.
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  disableGit: true,
  hideGenerator: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  pageTitleTemplates: { member: '{name}' },
  sort: ['static-first', 'source-order'],
  kindSortOrder: [
    'Function',
    'Class',
    'Interface',
    'TypeAlias',
    'Variable',
    'Constructor',
    'Property',
    'Accessor',
    'Method',
  ],
  groupOrder: [
    'Classes',
    'Functions',
    'Interfaces',
    'Type Aliases',
    'Constructors',
    'Properties',
    'Accessors',
    'Methods',
    '*',
  ],
  useCodeBlocks: true,
  expandObjects: true,
  expandParameters: true,
  formatWithPrettier: false,
  classPropertiesFormat: 'table',
  interfacePropertiesFormat: 'table',
  parametersFormat: 'table',
  tableColumnSettings: {
    hideDefaults: true,
    hideInherited: true,
    hideModifiers: true,
    hideOverrides: true,
    hideSources: true,
  },
  validation: { notExported: true, invalidLink: true, notDocumented: false },
  // Parts of the types that element types are inferred by.
  intentionallyNotExported: ['PlainIs', 'Followed', 'OptionTypes', 'TypedArrays', 'IsAmong', 'MayBeAmong'],
};
