import { runSliced } from '../../work.ts';
import { Contradiction, NotTaken } from '../contradiction.ts';
import { FlatReader } from './flat-reader.ts';
import { type Body, bodyInMemory, type MessageBytes } from './message-bytes.ts';
import { schemaText } from './schema.ts';

/** A message of Arrow's IPC format. */
export interface ArrowMessage {
  readonly type: 'schema' | 'dictionary batch' | 'record batch';
  readonly flat: FlatReader;
  /** Of its header, a table of the type. */
  readonly header: number;
  readonly version: number;
  /** Whether it has metadata of its writer's own, which are not read. */
  readonly hasMore: boolean;
  readonly body: Body;
}

const magic = 'ARROW1';
const types = [undefined, 'schema', 'dictionary batch', 'record batch'] as const;
// A schema of a million columns takes less.
const largestMetadata = 256 << 20;

/** Where a message lies in a file, as its footer lists it. */
interface Listed {
  readonly offset: number;
  readonly metadataBytes: number;
  readonly bodyBytes: number;
}

/**
 * The messages of a file or a stream in order; the first bytes tell which of the two it is. The messages of a file are
 * read as those of the stream that it holds, so that it may come from a pipe, and are held against its footer at the
 * end. Throws a {@link Contradiction}. https://arrow.apache.org/docs/format/Columnar.html
 */
export class ArrowMessages {
  readonly #bytes: MessageBytes;
  readonly #batches: Listed[] = [];
  readonly #dictionaries: Listed[] = [];
  #isFile = false;
  #isBegun = false;
  // As text, to be held against the footer's.
  #schema = '';

  constructor(bytes: MessageBytes) {
    this.#bytes = bytes;
  }

  get isFile(): boolean {
    return this.#isFile;
  }

  /** The next message; undefined once, at the end. */
  async next(): Promise<ArrowMessage | undefined> {
    if (!this.#isBegun) await this.#begin();
    const offset = this.#bytes.offset;
    let word = await this.#bytes.take(4);
    // A stream may end without saying so, a file may not.
    if (word.length === 0 && !this.#isFile) return undefined;
    // Writers before Arrow 0.15 leave the continuation word out.
    const isContinued = word.length === 4 && int32(word) === -1;
    if (isContinued) word = await this.#bytes.take(4);
    if (word.length < 4) throw new Contradiction('it ends where a message begins');
    const length = int32(word);
    if (length === 0) {
      if (this.#isFile && this.#schema === '') return this.#schemaOfFooter(offset);
      if (this.#isFile) await this.#readFooter();
      else if ((await this.#bytes.take(1)).length > 0) throw new Contradiction('bytes follow the end of its stream');
      return undefined;
    }
    if (this.#isFile && this.#schema === '' && length < 16) return this.#schemaOfFooter();
    if (length < 16 || length > largestMetadata)
      throw new Contradiction(`the metadata of a message take (${length}) bytes`);
    if (isContinued && length % 8 !== 0)
      throw new Contradiction(`the metadata of a message take (${length}) bytes, which are not a multiple of 8`);
    const metadata = await this.#bytes.take(length);
    if (metadata.length < length) throw new Contradiction('it ends within the metadata of a message');
    const flat = new FlatReader(metadata);
    const message = flat.root();
    const version = flat.int16(message, 0);
    if (version < 3 || version > 4) throw new NotTaken(`a message is of version (${version + 1})`);
    const type = types[flat.uint8(message, 1)];
    const header = flat.child(message, 2);
    // apache-arrow for JavaScript leaves the schema's message out of files.
    if (this.#isFile && this.#schema === '' && type?.endsWith('batch')) return this.#schemaOfFooter(offset);
    if (type === undefined || header === undefined)
      throw new Contradiction(`a message is of an unknown kind (${flat.uint8(message, 1)})`);
    const bodyBytes = flat.int64(message, 3);
    if (!(Number.isSafeInteger(bodyBytes) && bodyBytes >= 0))
      throw new Contradiction(`the body of a message has (${bodyBytes}) bytes`);
    if (type === 'schema' && this.#isFile) this.#schema ||= await textOf(flat, header, version);
    const metadataBytes = this.#bytes.offset - offset;
    const body = await this.#bytes.body(bodyBytes);
    if (body === undefined) throw new Contradiction(`it ends within the (${bodyBytes}) bytes of a message's body`);
    if (this.#isFile && type !== 'schema')
      (type === 'record batch' ? this.#batches : this.#dictionaries).push({ offset, metadataBytes, bodyBytes });
    return { type, flat, header, version, hasMore: flat.child(message, 4) !== undefined, body };
  }

  async #begin(): Promise<void> {
    this.#isBegun = true;
    const first = text(await this.#bytes.peek(magic.length));
    if (first === '') throw new Contradiction('it is empty');
    if (first.startsWith('FEA1')) throw new NotTaken('it is Feather of version 1, which is not Arrow; write version 2');
    if (first !== magic) return;
    await this.#bytes.take(8);
    this.#isFile = true;
  }

  // The schema of a file that does not begin with a message of it, which readers that begin with the footer do not
  // notice. The next message is at `next`; without it, at the first place that the footer lists, because Polars writes
  // a schema at the start, but not as a message.
  async #schemaOfFooter(next?: number): Promise<ArrowMessage> {
    const { file } = this.#bytes;
    if (file === undefined)
      throw new NotTaken(
        'it does not begin with a schema, as Polars and apache-arrow write it: read it as a file, not from a pipe',
      );
    const flat = footerOf(await file.last(largestMetadata));
    const footer = flat.root();
    const header = flat.child(footer, 1);
    if (header === undefined) throw new Contradiction('its footer has no schema');
    const version = flat.int16(footer, 0);
    this.#schema = await textOf(flat, header, version);
    file.skipTo(next ?? this.#firstListed(flat, footer, file.byteLength));
    return { type: 'schema', flat, header, version, hasMore: true, body: bodyInMemory(new Uint8Array(0)) };
  }

  #firstListed(flat: FlatReader, footer: number, byteLength: number): number {
    const offsets = [...listed(flat, footer, 2), ...listed(flat, footer, 3)].map(({ offset }) => offset);
    if (offsets.length === 0) throw new NotTaken('it has no batches, and does not begin with a schema');
    const start = offsets.reduce((least, offset) => Math.min(least, offset));
    if (!(start >= this.#bytes.offset && start % 8 === 0 && start < byteLength))
      throw new Contradiction(`its first batch begins at (${start})`);
    return start;
  }

  // Between the end of the stream and the last word: the footer and its length.
  async #readFooter(): Promise<void> {
    const flat = footerOf(await this.#bytes.take(largestMetadata));
    const footer = flat.root();
    const schema = flat.child(footer, 1);
    if (schema === undefined || (await textOf(flat, schema, flat.int16(footer, 0))) !== this.#schema)
      throw new Contradiction('its footer has another schema than its first message');
    this.#compare('dictionaries', this.#dictionaries, listed(flat, footer, 2));
    this.#compare('batches', this.#batches, listed(flat, footer, 3));
  }

  #compare(what: string, found: readonly Listed[], stated: readonly Listed[]): void {
    if (found.length !== stated.length)
      throw new Contradiction(`its footer lists (${stated.length}) ${what}, and (${found.length}) are there`);
    found.forEach(({ offset, metadataBytes, bodyBytes }, index) => {
      const other = stated[index]!;
      if (offset !== other.offset || metadataBytes !== other.metadataBytes || bodyBytes !== other.bodyBytes)
        throw new Contradiction(`its footer does not list ${what} where they are: (${other.offset}) for (${offset})`);
    });
  }
}

function textOf(flat: FlatReader, schema: number, version: number): Promise<string> {
  return runSliced(schemaText(flat, schema, version), undefined);
}

/** The footer in the last bytes of a file. */
function footerOf(rest: Uint8Array): FlatReader {
  const end = rest.length - magic.length - 4;
  if (text(rest.subarray(-magic.length)) !== magic)
    throw new Contradiction(`it does not end in (${magic}), so it is cut short`);
  const length = end < 0 ? -1 : int32(rest.subarray(end, end + 4));
  if (!(length > 0 && length <= end)) throw new Contradiction(`its footer has (${length}) bytes of (${end})`);
  return new FlatReader(rest.subarray(end - length, end));
}

// Structs of 24 bytes: 64 bits, 32 and as many of padding, 64.
function listed(flat: FlatReader, footer: number, field: number): Listed[] {
  const { start, length } = flat.vector(footer, field, 24);
  return Array.from({ length }, (_, index) => ({
    offset: flat.int64At(start + 24 * index),
    metadataBytes: flat.int32At(start + 24 * index + 8),
    bodyBytes: flat.int64At(start + 24 * index + 16),
  }));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

function int32(word: Uint8Array): number {
  return new DataView(word.buffer, word.byteOffset).getInt32(0, true);
}
