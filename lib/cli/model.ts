import { inputName, readText } from '../file/input.ts';
import { parseJson, whyNotJson } from '../file/json.ts';
import { writeTextFile } from '../file/output.ts';
import { malformedModel, type NormalJson, normalFromJson } from '../normal/json.ts';

/**
 * Reads a model file, `-` standard input. Throws `ERR_MALFORMED_MODEL`, `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`.
 */
export async function readModel(path: string): Promise<NormalJson> {
  const name = inputName(path);
  const text = await readText(path);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw malformedModel(whyNotJson(error), name, error);
  }
  if (typeof value === 'object' && value !== null && 'covariumPartial' in value)
    throw malformedModel('it is a part of a fit, of which `covarium merge` makes a model', name);
  return normalFromJson(value, name);
}

/** Writes a model file, `-` standard output. Throws `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`. */
export async function writeModel(path: string, { covariance, ...rest }: NormalJson): Promise<void> {
  const rows = covariance.map((row) => `    ${JSON.stringify(row)}`).join(',\n');
  const fields = Object.entries(rest).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  await writeTextFile(path, `{\n${fields.join('')}  "covariance": [\n${rows}\n  ]\n}\n`);
}
