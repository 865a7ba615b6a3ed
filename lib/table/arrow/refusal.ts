import { CovariumError } from '../../covarium-error.ts';
import { Contradiction, NotTaken } from '../contradiction.ts';
import type { MessageBytes } from './message-bytes.ts';

/** What a decoder finds, as the refusal of the file; another error as it is. */
export function refusal(name: string, error: unknown, bytes: MessageBytes | undefined, where?: string): unknown {
  const path = { path: name };
  const place = where === undefined ? '' : `${where}: `;
  const end = bytes === undefined ? '' : ` (byte ${bytes.offset})`;
  if (error instanceof Contradiction)
    return new CovariumError(
      'ERR_MALFORMED_ARROW',
      `Arrow file (${name}) is malformed: ${place}${error.message}${end}.`,
      {
        ...path,
        cause: error.cause,
      },
    );
  if (error instanceof NotTaken)
    return new CovariumError('ERR_UNSUPPORTED', `Arrow file (${name}) is not read: ${place}${error.message}.`, path);
  return error;
}
