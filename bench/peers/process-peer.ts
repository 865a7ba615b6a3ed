// A peer in its own process: a script in another language, which the benchmark asks over a line protocol. Each line
// is a JSON object.
//
//   the script, once it is ready   {"about", "threads", "facts", "dtypes", "offers": {suite: [input, ...]}}
//                                  or {"absent": why}
//   {"do": "prepare", "id", "suite", "case", "dtype", "dimension", "count"}   {"offered": true | false}
//   {"do": "result", "id", "rows"}                                            {"length", "dtype"}
//   {"do": "measure", "id", "milliseconds"}                                   {"nanoseconds": [...]}
//   {"do": "close", "id"}                                                     {"closed": true}
//
// The reply to any request may also be {"error": why}. "dtypes" lists the dtypes that the script computes in, float32
// or float64; without it, the script is asked for both. Inputs are files ID-NAME in the working folder, in the case's
// dtype. A result is the file ID-result of `length` numbers; if `rows` is not null, it has at most that many rows.
// All files are little-endian and row-major. The script times itself, so that the protocol's cost does not count.
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RealDtype } from '../../lib/dtype.ts';
import type { Contender, Prepared, Problem } from '../contender.ts';
import { LeftOut } from '../left-out.ts';
import type { ContenderFacts } from '../results.ts';
import { peakMemoryOf } from '../watched-run.ts';
import { absentPeer } from './absent-peer.ts';
import { atTheEnd } from './at-the-end.ts';
import { isForPeers, isRandom } from './cases.ts';
import { checkResult, rowsLookedAt } from './check-result.ts';
import { type Command, Conversation, NoAnswer, type Question, type Reply } from './conversation.ts';
import type { PeerLimits } from './peer-limits.ts';

/** How to start the process of a peer. */
interface Script {
  /** The peer's name. */
  readonly name: string;
  /**
   * Programs that may run it, tried in order: the first that exists and does not greet with `absent` is taken.
   */
  readonly programs: readonly string[];
  readonly args: readonly string[];
}

/** Starts a peer; if it is not available, the contender has the reason. */
export async function startProcessPeer({ name, programs, args }: Script, limits: PeerLimits): Promise<Contender> {
  const folder = await mkdtemp(join(tmpdir(), 'covarium-peer-')).catch((error: NodeJS.ErrnoException) => error);
  if (typeof folder !== 'string') return absentPeer(name, `no folder can be made in (${tmpdir()}): ${folder.code}`);
  const remove = { recursive: true, force: true, maxRetries: 3 };
  const release = atTheEnd(() => rmSync(folder, remove));
  const leave = async () => {
    release();
    await rm(folder, remove);
  };
  const reasons = new Set<string>();
  for (const file of programs) {
    const command: Command = { file, args, folder };
    const conversation = new Conversation(command);
    try {
      const greeting = await conversation.listen(limits.start);
      if (typeof greeting.absent !== 'string')
        return new ProcessPeer(name, command, limits, conversation, greeting, leave);
      reasons.add(greeting.absent);
    } catch (error) {
      const { message } = error as Error;
      reasons.add(message.startsWith(file) ? message : `${file}: ${message}`);
    }
    await conversation.close();
  }
  await leave();
  return absentPeer(name, [...reasons].join('; '));
}

const bothDtypes: readonly RealDtype[] = ['float32', 'float64'];

// After this many ends the process is not started again.
const mostEnds = 3;

class ProcessPeer implements Contender {
  readonly facts: ContenderFacts;
  readonly dtypes: readonly RealDtype[];
  readonly #command: Command;
  readonly #limits: PeerLimits;
  readonly #offers: Readonly<Record<string, readonly string[]>>;
  readonly #tooLong: Problem[] = [];
  readonly #leave: () => Promise<void>;
  #conversation: Conversation;
  #ends = 0;
  #isClosed = false;
  #lastId = 0;

  constructor(
    name: string,
    command: Command,
    limits: PeerLimits,
    conversation: Conversation,
    greeting: Reply,
    leave: () => Promise<void>,
  ) {
    const { about, threads, facts, dtypes, offers } = greeting;
    if (typeof about !== 'string' || typeof offers !== 'object' || offers === null)
      throw new Error('The greeting has no text "about", or no object "offers".');
    this.dtypes = bothDtypes.filter((dtype) => !Array.isArray(dtypes) || dtypes.includes(dtype));
    this.#command = command;
    this.#limits = limits;
    this.#leave = leave;
    this.#conversation = conversation;
    this.#offers = offers as Readonly<Record<string, readonly string[]>>;
    this.facts = {
      name,
      kind: 'peer',
      available: true,
      about,
      reason: '',
      threads: typeof threads === 'number' ? threads : null,
      facts: Object.fromEntries(Object.entries(facts ?? {}).map(([key, value]) => [key, String(value)])),
      measuresSpeed: true,
    };
  }

  async prepare(problem: Problem): Promise<Prepared | undefined> {
    const names = this.#offers[problem.suite];
    if (names === undefined || !isForPeers(problem)) return undefined;
    const smaller = this.#tooLong.find((known) => isAtLeast(problem, known));
    if (smaller !== undefined)
      throw new LeftOut(
        `A case of dimension (${smaller.dimension}) and count (${smaller.count}) took longer than (${this.#limits.run}) s.`,
      );
    await this.#revive();
    const id = `${++this.#lastId}`;
    const files = names.map((input) => join(this.#command.folder, `${id}-${input}`));
    const inputs = problem.inputs();
    for (const [i, input] of names.entries()) {
      const values = inputs[input];
      if (values === undefined) throw new Error(`The suite (${problem.suite}) gives no input (${input}).`);
      await writeFile(files[i]!, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    }
    const { suite, case: name, dtype, dimension, count } = problem;
    const question = { do: 'prepare', id, suite, case: name, dtype, dimension, count };
    try {
      const { offered } = await this.#conversation.ask(question, this.#limits.start + this.#limits.run);
      return offered === true ? this.#prepared(problem, id, this.#conversation) : undefined;
    } finally {
      for (const file of files) await rm(file, { force: true });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#conversation.close();
    await this.#leave();
  }

  #prepared(problem: Problem, id: string, conversation: Conversation): Prepared {
    const ask = async (question: Question, seconds: number): Promise<Reply> => {
      try {
        return await conversation.ask({ ...question, id }, seconds);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        this.#tooLong.push(problem);
        throw new LeftOut(error.message);
      }
    };
    return {
      result: async () => {
        const rows = isRandom(problem) ? rowsLookedAt : null;
        const told = await ask({ do: 'result', rows }, this.#limits.run);
        return checkResult(problem, await this.#readResult(id, told));
      },
      ...(problem.isWatched && {
        watch: async () => {
          const { pid } = conversation;
          if (pid === undefined) return undefined;
          const run = () => ask({ do: 'measure', milliseconds: 1 }, 3 * this.#limits.run);
          return { peakMemory: await peakMemoryOf(pid, run), longestHold: null };
        },
      }),
      measure: async (milliseconds) => {
        // A run to warm up, one to see how long it takes, and one that ends after the time asked for.
        const { nanoseconds } = await ask({ do: 'measure', milliseconds }, milliseconds / 1000 + 3 * this.#limits.run);
        if (!isTimes(nanoseconds)) throw new Error('The peer tells times that are not positive numbers.');
        return { nanoseconds };
      },
      close: async () => {
        // A process that is gone has nothing more to free.
        if (conversation.end === undefined)
          await conversation.ask({ do: 'close', id }, this.#limits.start).catch(() => {});
      },
    };
  }

  async #readResult(id: string, { length, dtype }: Reply): Promise<Float32Array | Float64Array> {
    const Values = dtype === 'float64' ? Float64Array : Float32Array;
    const path = join(this.#command.folder, `${id}-result`);
    const bytes = await readFile(path).catch(() => {
      throw new Error('The peer leaves no result.');
    });
    await rm(path);
    const size = Values.BYTES_PER_ELEMENT;
    if (typeof length !== 'number' || bytes.length !== length * size)
      throw new Error(
        `The result has (${bytes.length}) bytes, but the peer tells of (${length}) numbers of (${size}) bytes.`,
      );
    return new Values(new Uint8Array(bytes).buffer);
  }

  /** A process that ended with one case is started again for the next, but not for ever. */
  async #revive(): Promise<void> {
    if (this.#isClosed) throw new Error('The peer is closed.');
    const { end } = this.#conversation;
    if (end === undefined) return;
    if (++this.#ends >= mostEnds) throw new Error(`The peer has ended (${mostEnds}) times, at last so: ${end.message}`);
    this.#conversation = new Conversation(this.#command);
    await this.#conversation.listen(this.#limits.start);
  }
}

function isAtLeast(problem: Problem, known: Problem): boolean {
  return (
    problem.suite === known.suite &&
    problem.case === known.case &&
    problem.dtype === known.dtype &&
    (problem.dimension ?? 0) >= (known.dimension ?? 0) &&
    (problem.count ?? 0) >= (known.count ?? 0)
  );
}

function isTimes(times: unknown): times is readonly number[] {
  return Array.isArray(times) && times.length > 0 && times.every((time) => Number.isFinite(time) && time > 0);
}
