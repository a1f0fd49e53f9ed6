/** Contract 1.10: values of one request or record. `JSON.parse` of more of them may hold the event loop for over 10 ms. */
export const MAX_VALUES = 20_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

/**
 * Whether a text in UTF-8 has more than `limit` of `[`, `{`, `,` and `:` outside of strings: the cost of parsing it follows their number
 * rather than its bytes. Decides for any text, valid JSON or not.
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
