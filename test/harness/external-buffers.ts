const env: NodeJS.ProcessEnv & { COVARIUM_NO_EXTERNAL_BUFFERS?: string } = process.env;

/**
 * True if JavaScript sees the device's own bytes. Otherwise, as in Electron, results are in V8's own memory, which no
 * device counts.
 */
export const externalBuffers: boolean = env.COVARIUM_NO_EXTERNAL_BUFFERS !== '1';
