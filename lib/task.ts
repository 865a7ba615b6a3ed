import type { Encoder, Timings } from './backend.ts';
import { commit, refuseAborted } from './commit.ts';
import type { CovariumError } from './covarium-error.ts';
import { type Device, runCommands, withBackend } from './device.ts';
import type { Values } from './dtype.ts';
import type { Storage } from './storage.ts';

/** Work of one commit, checked but not begun, so that a method and its synchronous twin share all but the waiting. */
export interface Task<Result> {
  readonly device: Device;
  readonly encode: (encoder: Encoder) => void;
  /** What the commands read or write and the caller can reach meanwhile. */
  readonly reachable: readonly Values[];
  readonly result: Result;
  /** Takes the timings of the commit. */
  readonly written: Storage;
  /** Storage made for this task, given back where it fails. */
  readonly fresh: readonly Storage[];
  /** Says a device's refusal in the words of the caller's input. */
  readonly explain?: (error: CovariumError) => CovariumError;
}

/** Runs a task without blocking; rejects with a CovariumError. */
export async function run<Result>(task: Task<Result>, signal?: AbortSignal | undefined): Promise<Result> {
  try {
    // Before anything is recorded: commands that are never committed hold their memory until they are collected.
    refuseAborted(signal);
    return finish(task, await commit(encoded(task), task.reachable, signal));
  } catch (error) {
    throw undo(task, error);
  }
}

/** Runs a task before it returns; throws a CovariumError. */
export function runSync<Result>(task: Task<Result>): Result {
  try {
    return finish(task, runCommands(task.device, task.encode));
  } catch (error) {
    throw undo(task, error);
  }
}

function encoded({ device, encode }: Task<unknown>): Encoder {
  return withBackend(device, (backend) => {
    const encoder = backend.encoder();
    encode(encoder);
    return encoder;
  });
}

function finish<Result>({ result, written }: Task<Result>, timings: Timings): Result {
  written.timings = timings;
  return result;
}

// Both halves of a task throw CovariumErrors only.
function undo(task: Task<unknown>, error: unknown): unknown {
  for (const storage of task.fresh) storage.close();
  return task.explain === undefined ? error : task.explain(error as CovariumError);
}
