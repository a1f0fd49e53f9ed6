import { errors, Serializer } from '@elastic/elasticsearch';

const CONTACT = '"_source":{"contact":';
/** Both are written by `contactDocument`, and Elasticsearch keeps the order of fields. */
const LAST_FIELD = ',"updated_at":"';
const LAST_FIELD_CHARACTERS = `${LAST_FIELD}2026-01-01T00:00:00.000Z"}`.length;

/** Elasticsearch writes characters beyond the basic plane as escapes of their surrogates. */
const unescaped = (contact: string): string =>
  contact.includes('\\u') ? JSON.stringify(JSON.parse(contact)) : contact;

interface StoredDocument {
  _source?: { contact?: unknown };
}

/**
 * Parses a response, and leaves each contact as text, which is most of a page and reaches the answer as it is. Inside a string quotes
 * are escaped, so that only fields match.
 */
export function parseResponse(json: string): unknown {
  const contacts: string[] = [];
  let others = '';
  let end = 0;
  for (;;) {
    const field = json.indexOf(CONTACT, end);
    if (field < 0) break;
    const start = field + CONTACT.length;
    const last = json[start] === '{' ? json.indexOf(LAST_FIELD, start) : -1;
    if (last < 0) return JSON.parse(json);
    others += `${json.slice(end, start)}${contacts.length}`;
    end = last + LAST_FIELD_CHARACTERS;
    contacts.push(unescaped(json.slice(start, end)));
  }
  if (contacts.length === 0) return JSON.parse(json);
  const response = JSON.parse(others + json.slice(end));
  let found = 0;
  for (const { _source } of documentsOf(response)) {
    if (typeof _source?.contact !== 'number') continue;
    _source.contact = contacts[_source.contact];
    found++;
  }
  // A record that was rejected may have such a field too.
  return found === contacts.length ? response : JSON.parse(json);
}

function documentsOf(response: {
  hits?: { hits: StoredDocument[] };
  docs?: StoredDocument[];
}): readonly StoredDocument[] {
  return response.hits?.hits ?? response.docs ?? [response as StoredDocument];
}

export class ResponseParser extends Serializer {
  override deserialize<T>(json: string): T {
    try {
      return parseResponse(json) as T;
    } catch (error) {
      throw new errors.DeserializationError((error as Error).message, json);
    }
  }
}
