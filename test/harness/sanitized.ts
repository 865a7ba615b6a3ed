const env: NodeJS.ProcessEnv & { COVARIUM_SANITIZED?: string } = process.env;

/**
 * Whether the addon is built under a sanitizer (test/sanitize.mjs): kernels take twenty times as long, and freed memory
 * is held back.
 */
export const sanitized: boolean = env.COVARIUM_SANITIZED !== undefined;
