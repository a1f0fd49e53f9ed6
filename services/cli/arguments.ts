import { ID_PATTERN } from '../shared/ids.js';
import { UsageError } from './errors.js';

const id = new RegExp(ID_PATTERN);

/** Throws UsageError. */
export function requireId(option: string, value: string): void {
  if (!id.test(value)) {
    throw new UsageError(
      `${option} is ${JSON.stringify(value)}, but an identifier has 1 to 128 characters of A-Z a-z 0-9 . _ : -`,
    );
  }
}
