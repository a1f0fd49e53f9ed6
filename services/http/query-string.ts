import type { TSchema } from 'typebox';
import { didYouMean } from '../shared/did-you-mean.js';
import { compileValidator, type FieldError } from '../shared/validation.js';

export type QueryParameters = Readonly<Record<string, string | string[] | undefined>>;

/** Parameter names that clients mistake for others, because these names are right on the command line. */
const MISTAKEN_NAMES: Readonly<Record<string, string>> = { preset: 'map', mapping: 'map' };

/**
 * Parses and validates query parameters. Text that is written like a JSON boolean or integer is converted if the schema has that type;
 * other text stays text, which validation rejects. Pointers are written `?required_credits`.
 */
export function readQuery(
  sent: QueryParameters,
  schema: TSchema | undefined,
): { query: Record<string, unknown>; errors: FieldError[] } {
  const { properties = {} } = (schema ?? {}) as {
    properties?: Record<string, { type?: string; default?: unknown }>;
  };
  const query: Record<string, unknown> = {};
  for (const [name, { default: value }] of Object.entries(properties)) {
    if (value !== undefined) query[name] = value;
  }
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(sent)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!property) {
      const meant = MISTAKEN_NAMES[name];
      const hint =
        meant !== undefined && Object.hasOwn(properties, meant)
          ? `Did you mean ${meant}?`
          : didYouMean(name, Object.keys(properties));
      errors.push({
        pointer: `?${name.slice(0, 128)}`,
        code: 'unknown_field',
        detail: `${name.slice(0, 128)} is not a query parameter of this operation. ${hint}`.trimEnd(),
      });
    } else if (Array.isArray(value)) {
      errors.push({ pointer: `?${name}`, code: 'repeated', detail: `${name} may be given once.` });
    } else if (value !== undefined) {
      // Empty values are converted too: `?dry_run` must not mean false (contract 1.4).
      query[name] = convert(value, property.type);
    }
  }
  const found = schema ? compileValidator(schema)(query) : [];
  for (const { pointer, code, detail } of found) {
    const name = pointer.slice(1);
    const written = code === 'invalid_type' ? WRITTEN_AS[properties[name]?.type ?? ''] : undefined;
    errors.push({ pointer: `?${name}`, code, detail: written ? `${name} must be ${written}.` : detail });
  }
  return { query, errors };
}

/** How a parameter must be written, by its type: every value in a URL is text. */
const WRITTEN_AS: Readonly<Record<string, string>> = {
  integer: 'an integer in plain digits, such as 5',
  boolean: 'true or false',
};

function convert(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
