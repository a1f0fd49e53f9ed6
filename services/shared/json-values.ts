/** Maximum values of one request or record (contract 1.10). `JSON.parse` of more may block the event loop for over 10 ms. */
export const MAX_VALUES = 20_000;
/** Maximum levels of arrays and objects in an ingested record (contract 1.10). Recursive code could overflow the stack on more. */
export const MAX_DEPTH = 200;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;

/**
 * Whether UTF-8 text has more than `limit` of the characters `[`, `{`, `,` and `:` outside strings. The cost of parsing depends on their
 * number rather than on bytes. Works for any text, valid JSON or not.
 */
export function hasTooManyValues(json: Uint8Array, limit = MAX_VALUES): boolean {
  if (json.length <= limit) return false;
  let values = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index];
    if (byte === QUOTE) {
      for (index++; index < json.length && json[index] !== QUOTE; index++) {
        if (json[index] === BACKSLASH) index++;
      }
    } else if (byte === COMMA || byte === COLON || byte === BRACKET || byte === BRACE) {
      if (++values > limit) return true;
    }
  }
  return false;
}

/** Whether arrays and objects in UTF-8 text are nested in more than `limit` levels. Works for any text, valid JSON or not. */
export function isTooDeep(json: Uint8Array, limit = MAX_DEPTH): boolean {
  if (!hasMore(json, limit)) return false;
  let depth = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index];
    if (byte === QUOTE) {
      for (index++; index < json.length && json[index] !== QUOTE; index++) {
        if (json[index] === BACKSLASH) index++;
      }
    } else if (byte === BRACKET || byte === BRACE) {
      if (++depth > limit) return true;
    } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) depth--;
  }
  return false;
}

/**
 * Whether text has more than `limit` opening brackets and braces, counting those inside strings too. This native search is far cheaper than
 * a loop.
 */
function hasMore(json: Uint8Array, limit: number): boolean {
  if (json.length <= limit) return false;
  let found = 0;
  for (const opening of [BRACKET, BRACE]) {
    for (let at = json.indexOf(opening); at !== -1; at = json.indexOf(opening, at + 1)) {
      if (++found > limit) return true;
    }
  }
  return false;
}
