import { type ChildProcess, spawn } from 'node:child_process';
import { platform } from 'node:os';
import { atTheEnd } from './at-the-end.ts';

/**
 * A reply of a peer's process, one JSON object per line. bench/peers/process-peer.ts says which fields a reply has,
 * but any of them may be missing or wrong.
 */
export interface Reply {
  readonly about?: unknown;
  readonly absent?: unknown;
  readonly dtype?: unknown;
  readonly dtypes?: unknown;
  readonly error?: unknown;
  readonly facts?: unknown;
  readonly length?: unknown;
  readonly nanoseconds?: unknown;
  readonly offered?: unknown;
  readonly offers?: unknown;
  readonly threads?: unknown;
}

/** A request to the process. */
export type Question = Readonly<Record<string, string | number | null>>;

/** How a process is started; without a shell. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** The working folder of the process. */
  readonly folder: string;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Thrown where a reply does not come in time; the process is killed then. */
export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';
}

// Longer than any reply: a process that writes an endless line is killed.
const longestLine = 2 ** 26;

/**
 * A process that answers requests, line by line, over its standard input and output. It is not trusted: if it ends,
 * writes anything but a JSON object, writes without a request, or is silent for too long, it is killed, and every
 * further request fails with that reason.
 */
export class Conversation {
  readonly #child: ChildProcess;
  /** Settles when the process is gone or could not be started. */
  readonly #gone: Promise<void>;
  #text = '';
  #complaints = '';
  #waiting: Waiting | undefined;
  #end: Error | undefined;
  #last: Promise<unknown> = Promise.resolve();
  // When this process ends, the peer's input ends too, but a stopped peer would not notice and would stay for ever.
  readonly #release: () => void = atTheEnd(() => this.#signal('SIGKILL'));

  constructor({ file, args, folder }: Command) {
    // In its own process group, so that its children are killed with it, and Ctrl-C at the terminal reaches only us.
    const detached = platform() !== 'win32';
    // The process is killed at the end. Temporary files that it would have removed itself, like R's folder, lie in
    // its working folder and are removed with that.
    const env = { ...process.env, TMPDIR: folder, TMP: folder, TEMP: folder };
    this.#child = spawn(file, args, { cwd: folder, env, detached, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
    const { stdin, stdout, stderr } = this.#child;
    this.#gone = new Promise((resolve) => {
      this.#child.on('exit', () => {
        this.#release();
        resolve();
      });
      this.#child.on('error', (error: NodeJS.ErrnoException) => {
        this.#fail(
          new Error(`${file} ${error.code === 'ENOENT' ? 'is not found' : `can't be started (${error.message})`}`),
        );
        this.#release();
        resolve();
      });
    });
    // At 'exit' the last output of the process may be still unread; at 'close' it has been read.
    this.#child.on('close', (code, signal) => {
      const how = signal === null ? `code (${code})` : `signal (${signal})`;
      const said = lastLine(this.#complaints);
      this.#fail(new Error(`The process ends with ${how}${said === '' ? '.' : `: ${said}`}`));
    });
    stdin!.on('error', () => {}); // It has ended: 'close' says how.
    stdout!.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk));
    stderr!.setEncoding('utf8').on('data', (chunk: string) => {
      this.#complaints = (this.#complaints + chunk).slice(-4000);
    });
  }

  /** Undefined if the process could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Why nothing more can be asked; undefined while it can. */
  get end(): Error | undefined {
    return this.#end;
  }

  /** The greeting: what the process says first, unasked. */
  async listen(seconds: number): Promise<Reply> {
    const greeting = await this.#next(seconds);
    this.#rest();
    return greeting;
  }

  /** Questions wait for one another. Rejects with the peer's own reason where it answers with an error. */
  ask(question: Question, seconds: number): Promise<Reply> {
    const answer = this.#last.then(async () => {
      this.#signal('SIGCONT');
      if (this.#end === undefined) this.#child.stdin!.write(`${JSON.stringify(question)}\n`);
      const reply = await this.#next(seconds);
      this.#rest();
      if (typeof reply.error === 'string') throw new Error(reply.error);
      return reply;
    });
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** Kills the process; settles when it is gone. */
  async close(): Promise<void> {
    this.#fail(new Error('The peer is closed.'));
    await this.#gone;
  }

  #next(seconds: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end);
      const timer = setTimeout(
        () => this.#fail(new NoAnswer(`The process gives no answer within (${seconds}) s.`)),
        seconds * 1000,
      );
      this.#waiting = { resolve, reject, timer };
    });
  }

  #read(chunk: string): void {
    const lines = chunk.split('\n');
    lines[0] = this.#text + lines[0];
    this.#text = lines.pop()!;
    for (const line of lines) this.#hear(line);
    if (this.#text.length > longestLine)
      this.#fail(new Error(`The process writes a line without end (${shown(this.#text)}).`));
  }

  #hear(line: string): void {
    if (this.#end !== undefined) return;
    const reply = parsed(line);
    if (reply === undefined) {
      this.#fail(new Error(`The process says what is no reply (${shown(line)}).`));
      return;
    }
    if (this.#waiting === undefined) {
      this.#fail(new Error(`The process speaks unasked (${shown(line)}).`));
      return;
    }
    const { resolve, timer } = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(timer);
    resolve(reply);
  }

  #fail(error: Error): void {
    if (this.#end !== undefined) return;
    this.#end = error;
    this.#text = '';
    this.#signal('SIGKILL');
    if (this.#waiting === undefined) return;
    clearTimeout(this.#waiting.timer);
    this.#waiting.reject(error);
    this.#waiting = undefined;
  }

  // Threads of BLAS and OpenMP libraries spin for a tenth of a second after their work, which would slow the next
  // contender down. So the process is stopped until the next request.
  #rest(): void {
    if (this.#end === undefined) this.#signal('SIGSTOP');
  }

  #signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      if (platform() !== 'win32') process.kill(-pid, name);
      else if (name === 'SIGKILL') this.#child.kill(name);
    } catch {
      // It is gone already.
    }
  }
}

function parsed(line: string): Reply | undefined {
  try {
    const reply: unknown = JSON.parse(line);
    return typeof reply === 'object' && reply !== null && !Array.isArray(reply) ? (reply as Reply) : undefined;
  } catch {
    return undefined;
  }
}

const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);

/** Interpreters write the reason of an error on the last line of their output. */
function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)!.trim();
}
