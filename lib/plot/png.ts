import { CovariumError, loading } from '../covarium-error.ts';
import { lightColours } from './svg.ts';

/** Image pixels for each pixel of the picture, by default: as many as a high-resolution screen has. */
const pngScale = 2;

/**
 * An SVG file of this room (`svgFileOf`) as a PNG file, in the light colours. It needs the package `@resvg/resvg-js`,
 * an optional peer dependency: throws `ERR_UNSUPPORTED` if that is not installed, or if the system has no font.
 */
export async function pngFile(svg: string, scale: number = pngScale): Promise<Uint8Array> {
  const { Resvg } = await renderer();
  requireFont(new Resvg('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">x</text></svg>'));
  const colours = lightColours();
  // The renderer supports neither custom properties nor media queries.
  const flat = svg
    .replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '')
    .replace(/var\(--([\w-]+)\)/g, (_, name: string) => colours.get(name)!);
  const options = { fitTo: { mode: 'zoom', value: scale }, background: colours.get('ground')! } as const;
  return new Resvg(flat, options).render().asPng();
}

async function renderer(): Promise<typeof import('@resvg/resvg-js')> {
  const library = import('@resvg/resvg-js');
  try {
    return await library;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return loading(library);
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      'A .png picture needs the package (@resvg/resvg-js): install it with `npm install @resvg/resvg-js`, or write a .svg file.',
      { cause },
    );
  }
}

/** Without any font the renderer silently leaves texts out. */
function requireFont(word: { getBBox(): unknown }): void {
  if (word.getBBox() !== undefined) return;
  throw new CovariumError(
    'ERR_UNSUPPORTED',
    'A .png picture needs a font, and the system has (0): install one, as (fonts-dejavu-core) of Debian, or write a .svg file.',
  );
}
