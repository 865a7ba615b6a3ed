import { join, resolve } from 'node:path';
import { buildAddon } from '../addon/build.ts';
import { packageFolder, prebuiltAddon } from '../addon/file.ts';
import { CovariumError } from '../covarium-error.ts';

/** `covarium build-native`: the addon from the package's sources, where no prebuilt one is for this platform. */
export async function buildNative(options: { readonly output?: string }, signal: AbortSignal): Promise<void> {
  const ownPlace = join(packageFolder(), 'build', 'Release', 'covarium.node');
  const output = options.output === undefined ? ownPlace : resolve(options.output);
  // Node would read any other file as JavaScript.
  if (!output.endsWith('.node'))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Option --output is to end in .node (${options.output}).`);
  const prebuilt = prebuiltAddon();
  const say = (line: string) => process.stderr.write(`${line}\n`);
  if (prebuilt !== '' && output === ownPlace)
    say(`A prebuilt addon is here (${prebuilt}); the one to be built is taken in its place.`);
  say('Building the native addon (about half a minute) ...');
  try {
    await buildAddon({ output, signal, onFailure: (text) => process.stderr.write(text) });
  } catch (error) {
    const { code, path } = error as Partial<CovariumError>;
    if (code === 'ERR_FILE_UNWRITABLE' && path === ownPlace)
      say('Option --output takes another place, from where COVARIUM_ADDON loads the addon.');
    throw error;
  }
  say(output === ownPlace ? `Built: ${output}` : `Built: ${output}. It is loaded where COVARIUM_ADDON names it.`);
}
