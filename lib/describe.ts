/** A value as a message shows it: short whatever it is, numbers and strings in full where they fit. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `${value.slice(0, 57)}...` : value;
  if (typeof value === 'symbol') return value.toString();
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `array of ${value.length}`;
  const name = Object.getPrototypeOf(value)?.constructor?.name ?? 'object';
  return ArrayBuffer.isView(value) && 'length' in value ? `${name} of ${value.length}` : name;
}
