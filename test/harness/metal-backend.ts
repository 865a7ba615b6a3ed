import { loadAddon } from '../../lib/addon/native.ts';
import type { Backend } from '../../lib/backend.ts';

const { addon, reason } = loadAddon();
const candidate = addon?.candidates().find(({ kind }) => kind === 'metal');

/**
 * Why there is no metal device here; '' where there is one: on a Mac, or in an addon of `COVARIUM_ADDON` with a
 * stand-in.
 */
export const noMetal: string = candidate === undefined ? reason : candidate.reason;

/** The metal device below the face. */
export function openMetalBackend(): Backend {
  return addon!.openDevice('metal', { threads: 0 });
}
