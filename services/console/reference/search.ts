/** The filter over operations and fields: every word must occur, in a title first, and fields come last. */
import { flatten, kindsOf, objectOf, type Reference, refName, type Schema } from './open-api.js';

export interface Entry {
  title: string;
  /** What it belongs to. */
  context: string;
  /** Below /docs/api. */
  to: string;
  text: string;
  isField?: true;
}

const MAX_DEPTH = 4;
const MAX_RESULTS = 50;

function* fieldEntries(schema: Schema, context: string, to: string, path = '', depth = 0): Generator<Entry> {
  const object = objectOf(schema);
  if (!object || depth > MAX_DEPTH) return;
  for (const [name, field] of Object.entries(object.properties ?? {})) {
    const title = path + name;
    // Nested fields lead to the field of the body that holds them.
    const target = depth === 0 && to.includes('#') ? `${to}-${name}` : to;
    const text = field.description ?? flatten(field).description ?? '';
    yield { title, context, to: target, text, isField: true };
    yield* fieldEntries(field, context, target, `${title}.`, depth + 1);
  }
}

function* referenceEntries({ operations }: Reference): Generator<Entry> {
  for (const { id, summary, method, path, description, parameters, body, responses } of operations) {
    yield { title: summary, context: `${method} ${path}`, to: id, text: description };
    for (const { name, in: place, description: text = '' } of parameters)
      yield { title: name, context: `${summary}, ${place}`, to: `${id}#parameter-${name}`, text };
    const sent = body?.content.schema;
    if (sent) {
      const kinds = kindsOf(sent);
      if (!kinds) yield* fieldEntries(sent, `${summary}, request`, `${id}#request`);
      for (const kind of kinds ?? [])
        yield* fieldEntries(kind, refName(kind), `${id}#record-${refName(kind)}`, '', 1);
    }
    const [, success] = responses.find(([status]) => status === '200') ?? [];
    const [content] = Object.values(success?.content ?? {});
    if (content?.schema) yield* fieldEntries(content.schema, `${summary}, answer`, `${id}#answer`);
  }
}

let indexed: { of: Reference | null; entries: (Entry & { lower: string })[] } | undefined;

/** The best entries for what was typed; none for nothing. */
export function search(typed: string, reference: Reference | null): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  if (indexed?.of !== reference) {
    const all = reference ? [...referenceEntries(reference)] : [];
    indexed = {
      of: reference,
      entries: all.map((entry) => ({
        ...entry,
        lower: `${entry.title} ${entry.context} ${entry.text}`.toLowerCase(),
      })),
    };
  }
  const rank = ({ title, isField }: Entry) => {
    const lower = title.toLowerCase();
    if (lower === words.join(' ')) return 0;
    return (words.every((word) => lower.includes(word)) ? 1 : 2) + (isField ? 2 : 0);
  };
  return indexed.entries
    .filter(({ lower }) => words.every((word) => lower.includes(word)))
    .map((entry) => ({ entry, rank: rank(entry) }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_RESULTS)
    .map(({ entry }) => entry);
}
