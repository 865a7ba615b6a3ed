import { CovariumError } from '../covarium-error.ts';
import { ByteSource, type InputSource, inputName } from '../file/input.ts';
import { type ArrowOutline, arrowOutline } from './arrow-outline.ts';

/** A message of Arrow's IPC format with the bytes before it and its body: what a decoder takes. */
export interface ArrowMessage {
  readonly type: ArrowOutline['type'];
  readonly bytes: Uint8Array;
}

const magic = 'ARROW1';

/**
 * The messages of a file or a stream in order; the first bytes tell which of the two it is. Of a file the messages are
 * read as those of the stream that it holds, so that it may come from a pipe.
 * https://arrow.apache.org/docs/format/Columnar.html
 */
export class ArrowMessages {
  readonly #name: string;
  readonly #source: ByteSource;
  #isFile = false;
  #isBegun = false;

  constructor(path: InputSource, signal?: AbortSignal) {
    this.#name = inputName(path);
    this.#source = new ByteSource(path, signal);
  }

  /** The next message; undefined once, at the end. Throws `ERR_MALFORMED_ARROW`. */
  async next(): Promise<ArrowMessage | undefined> {
    let word = await this.#source.take(4);
    if (!this.#isBegun) {
      this.#isBegun = true;
      if (word.length === 0) throw malformedArrow(this.#name, 'it is empty');
      if (Buffer.from(word).toString('latin1') === magic.slice(0, 4)) {
        const rest = Buffer.from(await this.#source.take(4)).toString('latin1');
        if (rest.slice(0, 2) !== magic.slice(4))
          throw malformedArrow(this.#name, 'it does not begin as Arrow files do');
        this.#isFile = true;
        word = await this.#source.take(4);
      }
    }
    // A stream may end without saying so, a file may not.
    if (word.length === 0 && !this.#isFile) return undefined;
    const prefix = [word];
    let length = int32(word);
    // Writers before Arrow 0.15 leave the continuation word out.
    if (length === -1) {
      word = await this.#source.take(4);
      prefix.push(word);
      length = int32(word);
    }
    if (length === 0) {
      if (this.#isFile) await this.#requireMagic();
      return undefined;
    }
    if (length === undefined || length < 16 || length > maximumMetadataBytes)
      throw malformedArrow(this.#name, this.#place(`a message's metadata takes (${length ?? 'no'}) bytes`));
    const metadata = await this.#source.take(length);
    if (metadata.length < length) throw this.#truncated();
    const { type, bodyBytes } = this.#outline(metadata);
    const body = await this.#source.take(bodyBytes);
    if (body.length < bodyBytes) throw this.#truncated();
    return { type, bytes: joined([...prefix, metadata, body]) };
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  #outline(metadata: Uint8Array): ArrowOutline {
    try {
      return arrowOutline(metadata);
    } catch (cause) {
      throw malformedArrow(this.#name, this.#place((cause as Error).message), cause);
    }
  }

  async #requireMagic(): Promise<void> {
    const last = await this.#source.takeLast(magic.length);
    if (Buffer.from(last).toString('latin1') !== magic)
      throw malformedArrow(this.#name, `it does not end in (${magic}), so it is cut short`);
  }

  #truncated(): CovariumError {
    return malformedArrow(this.#name, this.#place('it ends within a message'));
  }

  #place(why: string): string {
    return `${why} (byte ${this.#source.offset})`;
  }
}

// A schema of a million columns takes less.
const maximumMetadataBytes = 256 << 20;

/** The refusal of a file that is not Arrow's, or not of a kind that is read. */
export function malformedArrow(name: string, why: string, cause?: unknown): CovariumError {
  return new CovariumError('ERR_MALFORMED_ARROW', `Arrow file (${name}) is malformed: ${why}.`, { path: name, cause });
}

// In memory of its own: the numbers of a body, which are aligned in the message, are then aligned in memory.
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function int32(word: Uint8Array): number | undefined {
  return word.length < 4 ? undefined : new DataView(word.buffer, word.byteOffset).getInt32(0, true);
}
