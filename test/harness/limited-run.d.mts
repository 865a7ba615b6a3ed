/** See limited-run.mjs. */
export declare const hangs: number;
export declare function limitedRun(
  command: string,
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly seconds: number;
    readonly write: (text: string) => void;
    readonly stopping?: Set<() => void>;
  },
): Promise<number>;
