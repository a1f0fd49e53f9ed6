import type { Context } from 'koa';
import type { TSchema } from 'typebox';
import { didYouMean } from '../shared/did-you-mean.js';
import type { FieldError, Validator } from '../shared/validation.js';

type Properties = Record<string, { type?: string; default?: unknown }>;

/**
 * Query parameters by their schema. A query string only has text, so `true` and whole numbers are read where the schema
 * asks for them; anything else stays text and is an error. Pointers read `?required_credits`.
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
      // Also where it is empty: `?dry_run` must not be taken for no dry run (contract 1.4).
      query[name] = read(value.trim(), property.type);
    }
  }
  if (validate)
    errors.push(...validate(query).map((error) => ({ ...error, pointer: `?${error.pointer.slice(1)}` })));
  return { query, errors };
}

function read(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
