/** The filter over operations, fields, errors and guides: every word must occur, in a title first, and fields come last. */
import { GUIDES, guideTexts } from './guides.js';
import { flatten, kindsOf, objectOf, type Reference, refName, type Schema } from './open-api.js';

export interface Entry {
  title: string;
  /** What it belongs to. */
  context: string;
  /** Below /docs. */
  to: string;
  text: string;
  isField?: true;
}

const MAX_DEPTH = 4;
const MAX_RESULTS = 50;

function* guideEntries(): Generator<Entry> {
  for (const { name, title, group } of GUIDES) {
    let entry: Entry = { title, context: group, to: name, text: '' };
    const { body } = new DOMParser().parseFromString(guideTexts.value?.[name] ?? '', 'text/html');
    for (const { tagName, id, textContent } of body.children) {
      if (/^H[2-6]$/.test(tagName)) {
        yield entry;
        entry = { title: textContent, context: title, to: `${name}#${id}`, text: '' };
      } else entry.text += ` ${textContent}`;
    }
    yield entry;
  }
}

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

let indexed: { of: unknown[]; entries: (Entry & { lower: string })[] } | undefined;

/** The best entries for what was typed; none for nothing. */
export function search(typed: string, reference: Reference | null): Entry[] {
  // The type of a problem finds its code.
  const words = typed.toLowerCase().replace('urn:reachline:problem:', '').split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const of = [reference, guideTexts.value];
  if (!indexed?.of.every((each, index) => each === of[index])) {
    const all = [...guideEntries(), ...(reference ? referenceEntries(reference) : [])];
    indexed = {
      of,
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
