import { cannotWrite } from './file-error.ts';
import type { Output } from './output-file.ts';

const ignore = () => {};

/** Standard output. A reader that went away is an error with the code `EPIPE`, which ends the command in silence. */
export function standardOutput(): Output {
  // Each write's callback tells the same error; without a listener it would end the process.
  if (!process.stdout.listeners('error').includes(ignore)) process.stdout.on('error', ignore);
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        process.stdout.write(bytes, (error) => {
          if (!error) resolve();
          else
            reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? error : cannotWrite('standard output', error));
        });
      }),
    finish: async () => {},
    discard: async () => {},
  };
}
