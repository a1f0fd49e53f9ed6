import { createHash } from 'node:crypto';
import type { Numbering } from '../../contacts/change-feed.js';

/** The numbering of changes that belongs to ids that only the store knows. */
export function numberingOf(ids: readonly string[]): Numbering {
  const digest = createHash('sha256').update(JSON.stringify(ids)).digest('hex');
  return { epoch: digest.slice(0, 16), secret: digest.slice(16) };
}
