import { quoted, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { Source } from './declarations.ts';
import { type Layout, Layouts } from './layout.ts';
import type { Signature } from './signature.ts';
import { tokensOf } from './tokens.ts';

/** Fields of structs with Metal's names of their types, by argument. */
export type GivenLayouts = { readonly [argument: string]: { readonly [field: string]: string } };

/** A signature with the user's layouts in place of those read from the text. Throws `ERR_INVALID_ARGUMENT`. */
export function withLayouts(signature: Signature, given: GivenLayouts): Signature {
  const names = signature.parameters
    .filter(({ kind }) => kind !== 'place' && kind !== 'absent')
    .map(({ name }) => name);
  for (const name of Object.keys(given))
    if (!names.includes(name))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`layouts\` has (${name}), but kernel (${signature.name}) takes (${names.join(', ')}).`,
      );
  const parameters = signature.parameters.map((parameter) => {
    const fields = Object.hasOwn(given, parameter.name) ? given[parameter.name] : undefined;
    return fields === undefined
      ? parameter
      : { ...parameter, layout: layoutOf(parameter.name, parameter.type, fields) };
  });
  return { ...signature, parameters };
}

function layoutOf(argument: string, type: string, fields: { readonly [field: string]: string }): Layout {
  if (typeof fields !== 'object' || fields === null)
    throw wrongArgument(`\`layouts.${argument}\``, fields, 'an object of fields');
  const members = Object.entries(fields).map(([name, what]) => {
    const [, word, brackets] = /^(\w+)((?:\[\d+\])*)$/.exec(String(what)) ?? [];
    if (word !== undefined && /^[A-Za-z_]\w*$/.test(name)) return `${word} ${name}${brackets};`;
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`layouts.${argument}\` has a field (${name}) that is not a number, a vector or an array of them (${quoted(what)}).`,
    );
  });
  const layout = new Layouts(new Source(tokensOf(`struct Given { ${members.join(' ')} };`, ''))).of('Given');
  if (layout !== undefined) return { ...layout, type };
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `\`layouts.${argument}\` has types that are not Metal's (${Object.values(fields).join(', ')}).`,
  );
}
