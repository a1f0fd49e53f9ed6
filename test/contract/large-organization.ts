/** Records of an organization that has ten thousand of everything. */
import type { StoredKey } from '../../services/accounts/key-store.js';
import { type Rejection, rejectionId } from '../../services/rejections/rejection-store.js';
import { T0 } from './record-store-support.js';

export const COUNT = 10_000;
export const ORGANIZATION = 'org_large';
export const numbers = Array.from({ length: COUNT }, (_, index) => index);

export const iso = (index: number) => new Date(T0 + index).toISOString();

export const keyAt = (index: number): StoredKey => ({
  id: `key${index}`,
  secret_hash: '0'.repeat(64),
  organization_id: ORGANIZATION,
  name: null,
  scopes: ['keys:write'],
  created_at: iso(index),
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  // One root with all the others below it.
  ancestors: index === 0 ? [] : ['key0'],
});
export const rejectionAt = (index: number): Rejection => ({
  id: rejectionId(T0 + index, index),
  organization_id: ORGANIZATION,
  stream: index % 100 === 0 ? 'audiences' : 'contacts',
  line: index + 1,
  code: 'invalid_type',
  pointer: '/age',
  rejected_at: iso(index),
  sequence: index,
  record_id: null,
});

/** A search for a page of one contact. */
export const search = { organizationId: ORGANIZATION, limit: 1 };
/** Cursor of a page that continues from the middle of a list. */
export const middle = { rank: 0, createdAt: T0 + COUNT / 2, id: '~' };
