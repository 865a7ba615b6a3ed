// The API reference: `npm run docs` writes docs/api/README.md, one page, from the docstrings of what lib/index.ts
// exports. Nothing in it depends on the machine or the checkout: no paths, no line numbers, no commit.

/**
 * Leaves out the sections and lists that say no more than the signature above them: types without a word of
 * description.
 */
function compact(application) {
  application.renderer.on('endPage', (page) => {
    page.contents = page.contents
      .split(/^(?=#+ |\*\*\*$)/m)
      .filter((section) => !/^#+ (Returns|Overrides|Extended by)$/m.test(section))
      .filter((section) => !/^#+ Parameters\n/.test(section) || section.includes('| Description |'))
      .join('')
      .replace(/^#+ Get Signature\n\n/gm, '')
      .replace(/\n{3,}/g, '\n\n')
      .replace(/[ \t]+$/gm, '');
  });
}

export default {
  plugin: ['typedoc-plugin-markdown', compact],
  entryPoints: ['lib/index.ts'],
  tsconfig: 'tsconfig.build.json',
  out: 'docs/api',
  name: 'covarium: API reference',
  readme: 'none',
  router: 'module',
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
    'Functions',
    'Classes',
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
};
