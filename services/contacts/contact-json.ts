/**
 * A contact as JSON, the form in which every store keeps a contact. This file loads no schema, because it is used whenever a data folder is
 * opened.
 */
import { titleClasses } from '../search/titles.js';
import { fromJson, type Json } from '../shared/json.js';
import { formatTimestamp } from '../shared/time.js';
import type { Contact } from './schema.js';
import type { StoredContact } from './stored-contact.js';

/** Converts a contact to JSON, the form in which every store keeps a contact, so that a page of contacts is never parsed. */
export function contactJson({ body, audienceIds, createdMs, updatedMs }: StoredContact): Json<Contact> {
  const fields = JSON.stringify(body).slice(0, -1);
  const { seniority, department } = titleClasses(body.job_title);
  const audiences = audienceIds.length === 0 ? '[]' : JSON.stringify(audienceIds);
  const createdAt = formatTimestamp(createdMs);
  const updatedAt = updatedMs === createdMs ? createdAt : formatTimestamp(updatedMs);
  return `${fields},"seniority":${quoted(seniority)},"department":${quoted(department)},"audience_ids":${audiences},"created_at":"${createdAt}","updated_at":"${updatedAt}"}`;
}

/** Quotes a name without escaping: names of classes need none in JSON. */
const quoted = (name: string | null) => (name === null ? 'null' : `"${name}"`);

/** The inverse of `contactJson`. */
export function parseContact(json: Json<Contact>, recordOrder: string | null): StoredContact {
  const {
    seniority: _,
    department: __,
    audience_ids: audienceIds,
    created_at,
    updated_at,
    ...body
  } = fromJson(json);
  return {
    createdMs: Date.parse(created_at),
    updatedMs: Date.parse(updated_at),
    recordOrder,
    audienceIds,
    body,
  };
}
