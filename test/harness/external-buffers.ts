const env: NodeJS.ProcessEnv & { COVARIUM_NO_EXTERNAL_BUFFERS?: string } = process.env;

/**
 * Whether JavaScript sees the very bytes of a device. Where not, as in Electron, results are V8's own memory, which no
 * device counts.
 */
export const externalBuffers: boolean = env.COVARIUM_NO_EXTERNAL_BUFFERS !== '1';
