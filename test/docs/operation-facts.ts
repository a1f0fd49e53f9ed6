/** Facts about operations that the client needs at run time (services/client/operation-facts.ts). */
import { join } from 'node:path';
import type { TObject } from 'typebox';
import { type ApiEndpoint, endpoints } from '../../services/gateway/api.js';
import { repetitionOf } from '../../services/http/idempotency.js';
import { packageRoot } from '../../services/shared/fs.js';

export const FACTS_FILE = join(packageRoot, 'services/client/operation-facts.ts');

/** The field of a response that holds the list of its page; undefined for an operation that lists nothing. */
export function listField({ path, list, response }: ApiEndpoint): string | undefined {
  if (!list) return undefined;
  const { properties } = response as TObject;
  const fields = Object.keys(properties).filter((name) => {
    const { type, items } = properties[name] as { type?: string; items?: { $id?: string } };
    return type === 'array' && isSame(items, list.item);
  });
  if (fields.length !== 1) throw new Error(`${path} answers ${fields.length} lists of what it lists`);
  return fields[0];
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const factsOf = (endpoint: ApiEndpoint): object | undefined => {
  const list = listField(endpoint);
  if (list !== undefined) return { list };
  return repetitionOf(endpoint) ? { writes: true } : undefined;
};

export function operationFacts(): string {
  const facts = endpoints.flatMap((endpoint) => {
    const each = factsOf(endpoint);
    if (!each) return [];
    const [[name, value]] = Object.entries(each) as [[string, unknown]];
    return [`  '${endpoint.path}': { ${name}: ${value === true ? value : `'${value}'`} },`];
  });
  return [
    '/** Facts about operations that list or write something. Written by `npm run docs` from their declarations. */',
    'export const OPERATION_FACTS = {',
    ...facts,
    '} as const;',
    '',
  ].join('\n');
}
