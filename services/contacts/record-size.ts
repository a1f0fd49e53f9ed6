import type { FieldError } from '../shared/validation.js';

/** Maximum size of a contact as JSON, without its audiences, in bytes (contract 3.2). */
const MAX_CONTACT_BYTES = 32 * 1024;

/** Maximum bytes of a character in JSON: a control character becomes `\u0001`, which has six bytes. */
const MAX_JSON_BYTES_PER_CHARACTER = 6;
/** Upper bound of the bytes of a name with quotes, colon and comma, or of a number. */
const FIELD_BYTES = 64;

/** An error if the fields of a contact, from a request or a record, take more than 32 KiB as JSON; null if they fit. */
export function contactTooLarge(fields: Record<string, unknown>): FieldError | null {
  if (mostBytes(fields) <= MAX_CONTACT_BYTES) return null;
  const bytes = Buffer.byteLength(JSON.stringify({ ...fields, audience_ids: undefined }));
  if (bytes <= MAX_CONTACT_BYTES) return null;
  return {
    pointer: '',
    code: 'record_too_large',
    detail: `The contact has ${bytes} bytes as JSON; at most ${MAX_CONTACT_BYTES} are allowed.`,
  };
}

/**
 * An upper bound for the JSON bytes of the fields. Computing the bound costs a fraction of making the JSON, which is made only for large
 * contacts.
 */
function mostBytes(fields: Record<string, unknown>): number {
  let bytes = 0;
  for (const name in fields) {
    const value = fields[name];
    bytes += FIELD_BYTES;
    if (typeof value === 'string') bytes += value.length * MAX_JSON_BYTES_PER_CHARACTER;
    else if (Array.isArray(value) && name !== 'audience_ids') {
      for (const item of value as string[]) bytes += item.length * MAX_JSON_BYTES_PER_CHARACTER + FIELD_BYTES;
    }
  }
  return bytes;
}
