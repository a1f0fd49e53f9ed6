import { expect } from 'chai';
import { makeKey } from '../../../services/accounts/keys.js';
import { flood, jsonText } from '../raw-connections.js';
import { DEMO_ORGANIZATION } from '../target.js';
import type { Attack } from './attack.js';

const WRONG_KEYS = 100_000;

/** Requests with keys whose checksum is right; anybody can make such keys. */
function* requests(): Generator<string> {
  const body = JSON.stringify({ organization_id: DEMO_ORGANIZATION });
  for (let index = 0; index < WRONG_KEYS; index++) {
    const { key } = makeKey({ organizationId: DEMO_ORGANIZATION, scopes: ['*'] });
    yield jsonText('/api/contacts/search', key, body);
  }
}

export const credentialAttacks: Attack[] = [
  {
    title: '100 000 well-formed keys are tried',
    nightly: true,
    async run({ url }) {
      const statuses = await flood(url, requests());
      expect([...statuses.keys()].sort()).to.deep.equal([401, 429]);
    },
  },
];
