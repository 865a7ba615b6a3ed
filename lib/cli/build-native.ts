import { join, resolve } from 'node:path';
import { buildAddon } from '../addon/build.ts';
import { packageFolder, prebuiltAddon } from '../addon/file.ts';
import { CovariumError } from '../covarium-error.ts';

/** `covarium build-native`: builds the addon from the package's sources, for platforms without a prebuilt one. */
export async function buildNative(options: { readonly output?: string }, signal: AbortSignal): Promise<void> {
  const ownPlace = join(packageFolder(), 'build', 'Release', 'covarium.node');
  const output = options.output === undefined ? ownPlace : resolve(options.output);
  // Node would load any other file as JavaScript.
  if (!output.endsWith('.node'))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Option --output must end in .node (${options.output}).`);
  const prebuilt = prebuiltAddon();
  const say = (line: string) => process.stderr.write(`${line}\n`);
  if (prebuilt !== '' && output === ownPlace)
    say(`There is a prebuilt addon (${prebuilt}); the new one will be used instead.`);
  say('Building the native addon (a minute or two) ...');
  try {
    await buildAddon({ output, signal, onFailure: (text) => process.stderr.write(text) });
  } catch (error) {
    const { code, path } = error as Partial<CovariumError>;
    if (code === 'ERR_FILE_UNWRITABLE' && path === ownPlace)
      say('Pass another file to --output, and set COVARIUM_ADDON to it.');
    throw error;
  }
  say(output === ownPlace ? `Built: ${output}` : `Built: ${output}. Set COVARIUM_ADDON to load it.`);
}
