import { isUtf8 } from 'node:buffer';
import { hasTooManyValues, isTooDeep, MAX_DEPTH, MAX_VALUES } from '../../services/shared/json-values.js';
import { type DeadLetter, deadLetter } from './outcome.js';

/** Parses the text of a record, after `prepare` has changed the text. Has no side effects. */
export function parseJson(
  bytes: Buffer,
  prepare?: (text: string) => string,
): { value: unknown } | DeadLetter {
  if (!isUtf8(bytes)) return deadLetter('invalid_utf8', '', 'The record is not valid UTF-8.');
  if (hasTooManyValues(bytes)) {
    return deadLetter('too_many_values', '', `A record may have at most ${MAX_VALUES} values.`);
  }
  if (isTooDeep(bytes)) return deadLetter('too_deep', '', `A record may have at most ${MAX_DEPTH} levels.`);
  const text = bytes.toString('utf8');
  try {
    return { value: JSON.parse(prepare ? prepare(text) : text) };
  } catch (error) {
    return deadLetter('invalid_json', '', `The record is not valid JSON${position(error)}.`);
  }
}

/** The position of an error. V8's message quotes the record, so only the position is taken from the message. */
function position(error: unknown): string {
  const message = (error as Error).message;
  const offset = /position (\d+)/.exec(message)?.[1];
  if (offset !== undefined) return ` at character ${Number(offset) + 1}`;
  return message.includes('end of JSON') ? ': it ends too early' : '';
}
