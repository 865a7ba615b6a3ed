import { Storage } from '../array/storage.ts';
import type { Encoder, Timings } from '../backend.ts';
import { commit, type OpenBackend, recorded, runCommands } from '../backend-handle.ts';
import { refuseAborted } from '../check.ts';
import type { CovariumError } from '../covarium-error.ts';
import type { Real, RealDtype, Values } from '../dtype.ts';
import { type IsClosed, Turns } from '../work.ts';
import { Scratch } from './scratch.ts';

/**
 * The work of one commit, checked but not begun. A method and its synchronous twin share it, and differ only in how
 * they wait.
 */
export interface Task<Result> {
  readonly device: OpenBackend;
  readonly encode: (encoder: Encoder, scratch: Scratch) => void;
  /** What the commands write and the caller can reach meanwhile; the scratch has what they read. */
  readonly reachable: readonly Values[];
  readonly result: Result;
  /** The result's storage, which gets the timings of the commit. */
  readonly written: Storage;
  /** Storage allocated for this task; closed if the task fails. */
  readonly fresh: readonly Storage[];
  /**
   * Commits that depend on the numbers computed; they may change them. A function that calls a generator of the module:
   * the first call of a generator that was made for this task takes V8 1.5 us.
   */
  readonly again: (() => Tasks<void>) | undefined;
  /** Work of the host once all numbers are computed. */
  readonly after: (() => void) | undefined;
  /** Rewords a device's error in terms of the caller's input. */
  readonly explain: ((error: CovariumError) => CovariumError) | undefined;
}

type TaskParts<Result> = Pick<Task<Result>, 'device' | 'encode' | 'result' | 'written'> & Partial<Task<Result>>;

/**
 * A task of these parts; by default nothing is reachable or fresh. It has every field, if only as undefined: to replace
 * one in a copy (`{ ...task, after }`) costs next to nothing, to add one takes V8 0.7 us.
 */
export function taskOf<Result>(parts: TaskParts<Result>): Task<Result> {
  const { device, encode, reachable = [], result, written, fresh = [], again, after, explain } = parts;
  return { device, encode, reachable, result, written, fresh, again, after, explain };
}

/**
 * A task with a new result: `encode` writes `length` numbers of `dtype`, and `wrap` makes the result that holds them.
 */
export function resultTask<Result, D extends RealDtype>(
  { device, dtype }: { readonly device: OpenBackend; readonly dtype: D },
  length: number,
  wrap: (written: Storage<D>) => Result,
  encode: (encoder: Encoder, out: Real, scratch: Scratch) => void,
): Task<Result> {
  const written = Storage.forResult(device, dtype, length);
  const out = written.values as Values as Real;
  return taskOf({
    device,
    encode: (encoder, scratch) => encode(encoder, out, scratch),
    result: wrap(written),
    written,
    fresh: [written],
  });
}

/** Runs a task without blocking; rejects with a CovariumError. */
export async function run<Result>(task: Task<Result>, signal?: AbortSignal | undefined): Promise<Result> {
  const scratch = new Scratch(task.device);
  try {
    // Checked before anything is recorded: commands that are never committed hold their memory until they are
    // collected.
    refuseAborted(signal);
    const encoder = recorded(task.device, (each) => task.encode(each, scratch));
    finish(task, await commit(encoder, [...task.reachable, ...scratch.reachable], signal), scratch);
    if (task.again !== undefined) await runAll(task.again(), signal);
    task.after?.();
    return task.result;
  } catch (error) {
    throw undo(task, error);
  } finally {
    scratch.close();
  }
}

/** Runs a task before it returns; throws a CovariumError. */
export function runSync<Result>(task: Task<Result>): Result {
  const scratch = new Scratch(task.device);
  try {
    const timings = runCommands(task.device, (encoder) => task.encode(encoder, scratch));
    finish(task, timings, scratch);
    if (task.again !== undefined) runAllSync(task.again());
    task.after?.();
    return task.result;
  } catch (error) {
    throw undo(task, error);
  } finally {
    scratch.close();
  }
}

function finish({ written }: Task<unknown>, timings: Timings, scratch: Scratch): void {
  written.timings = timings;
  scratch.finish();
}

// Both parts of a task throw only CovariumErrors.
function undo(task: Task<unknown>, error: unknown): unknown {
  for (const storage of task.fresh) storage.close();
  return task.explain === undefined ? error : task.explain(error as CovariumError);
}

/**
 * Work of several commits with the host's own work between them: it yields tasks, and continues when each has run.
 * Within long work of the host it yields nothing, as {@link Work} does, so that the event loop can turn.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: it contains Work, which yields nothing.
export type Tasks<Result> = Generator<Task<unknown> | void, Result, void>;

/**
 * Runs tasks one after the other without blocking; rejects with a CovariumError. An error is thrown into the generator,
 * where `finally` cleans up.
 */
export async function runAll<Result>(tasks: Tasks<Result>, signal?: AbortSignal, isClosed?: IsClosed): Promise<Result> {
  const turns = new Turns(signal, isClosed);
  let step = tasks.next();
  while (!step.done) {
    try {
      if (step.value === undefined) {
        if (turns.isDue) await turns.take();
      } else {
        await run(step.value, signal);
        turns.begin();
      }
    } catch (error) {
      step = tasks.throw(error);
      continue;
    }
    step = tasks.next();
  }
  return step.value;
}

/** Runs tasks one after the other before it returns; throws a CovariumError. */
export function runAllSync<Result>(tasks: Tasks<Result>): Result {
  let step = tasks.next();
  while (!step.done) {
    try {
      if (step.value !== undefined) runSync(step.value);
    } catch (error) {
      step = tasks.throw(error);
      continue;
    }
    step = tasks.next();
  }
  return step.value;
}

/** Runs the task of one commit as one step of several. */
export function* step<Result>(task: Task<Result>): Tasks<Result> {
  yield task;
  return task.result;
}
