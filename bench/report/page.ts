import { createHash } from 'node:crypto';
import { escapeMarkup, pictureStyle } from '../../lib/plot/svg.ts';
import { pageStyle } from './page-style.ts';

/**
 * A whole page around `main`, which is HTML. Its content security policy forbids every request, and every script
 * except `script` ('' for none).
 */
export function page(title: string, main: string, script: string): string {
  const hash = createHash('sha256').update(script).digest('base64');
  const scripts = script === '' ? '' : ` script-src 'sha256-${hash}';`;
  const policy = `default-src 'none'; img-src data:; style-src 'unsafe-inline';${scripts} base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeMarkup(title)}</title>
<link rel="icon" href="data:,">
<style>${pictureStyle(':root')}${pageStyle}</style>
</head>
<body>
<main>
${main}
</main>
${script === '' ? '' : `<script>${script}</script>\n`}</body>
</html>
`;
}
