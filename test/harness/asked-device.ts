const env: NodeJS.ProcessEnv & { COVARIUM_TEST_DEVICES?: string } = process.env;
const { COVARIUM_TEST_DEVICES: asked } = env;

/** Whether tests of this kind of device are wanted: all are, unless `COVARIUM_TEST_DEVICES` names some, with commas. */
export function isAsked(kind: string): boolean {
  return asked === undefined || asked.split(',').includes(kind);
}
