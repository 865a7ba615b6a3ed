/**
 * A command as it runs: it yields where it may be interrupted, after pieces of well under a millisecond, and between two
 * yields it uses no state that another command could have changed.
 */
export type Work<Result = void> = Generator<void, Result, void>;
