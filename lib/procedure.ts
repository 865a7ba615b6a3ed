import { run, runSync, type Task } from './task.ts';

/** Work of several commits with the host's own between them: it yields tasks, and each comes back when it has run. */
export type Procedure<Result> = Generator<Task<unknown>, Result, void>;

/** Follows a procedure without blocking; rejects with a CovariumError. A refusal is thrown into the procedure, where `finally` tidies up. */
export async function follow<Result>(procedure: Procedure<Result>, signal?: AbortSignal): Promise<Result> {
  let step = procedure.next();
  while (!step.done) {
    try {
      await run(step.value, signal);
    } catch (error) {
      step = procedure.throw(error);
      continue;
    }
    step = procedure.next();
  }
  return step.value;
}

/** Follows a procedure before it returns; throws a CovariumError. */
export function followSync<Result>(procedure: Procedure<Result>): Result {
  let step = procedure.next();
  while (!step.done) {
    try {
      runSync(step.value);
    } catch (error) {
      step = procedure.throw(error);
      continue;
    }
    step = procedure.next();
  }
  return step.value;
}

/** Runs the task of one commit as a step of a procedure. */
export function* step<Result>(task: Task<Result>): Procedure<Result> {
  yield task;
  return task.result;
}
