const env: NodeJS.ProcessEnv & { COVARIUM_TEST_DEVICE?: string } = process.env;

/** Whether tests of this kind of device are wanted: all are, unless test/run.ts asks for one in a process of its own. */
export function isAsked(kind: string): boolean {
  return env.COVARIUM_TEST_DEVICE === undefined || env.COVARIUM_TEST_DEVICE === kind;
}
