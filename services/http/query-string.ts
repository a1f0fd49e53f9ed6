import type { Context } from 'koa';
import type { TSchema } from 'typebox';
import { didYouMean } from '../shared/did-you-mean.js';
import type { FieldError, Validator } from '../shared/validation.js';

type Properties = Record<string, { type?: string; default?: unknown }>;

/**
 * Parses and validates query parameters. Booleans and integers are converted where the schema has them; any other text stays text,
 * which validation rejects. Pointers are written `?required_credits`.
 */
export function readQuery(
  ctx: Context,
  schema: TSchema | undefined,
  validate: Validator | undefined,
): { query: Record<string, unknown>; errors: FieldError[] } {
  const properties = ((schema as { properties?: Properties } | undefined)?.properties ??
    {}) satisfies Properties;
  const query: Record<string, unknown> = {};
  for (const [name, { default: value }] of Object.entries(properties)) {
    if (value !== undefined) query[name] = value;
  }
  const errors: FieldError[] = [];
  if (ctx.querystring === '') return { query, errors };
  for (const [name, value] of Object.entries(ctx.query)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!property) {
      const hint = didYouMean(name, Object.keys(properties));
      errors.push({
        pointer: `?${name.slice(0, 128)}`,
        code: 'unknown_field',
        detail: `${name.slice(0, 128)} is not a query parameter of this operation. ${hint}`.trimEnd(),
      });
    } else if (Array.isArray(value)) {
      errors.push({ pointer: `?${name}`, code: 'repeated', detail: `${name} may be given once.` });
    } else if (value !== undefined) {
      // Also when empty: `?dry_run` must not mean false (contract 1.4).
      query[name] = convert(value.trim(), property.type);
    }
  }
  if (validate)
    errors.push(...validate(query).map((error) => ({ ...error, pointer: `?${error.pointer.slice(1)}` })));
  return { query, errors };
}

function convert(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
