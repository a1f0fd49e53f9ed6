import { expect } from 'chai';
import { makeKey } from '../../services/accounts/keys.js';
import { createAuthenticate } from '../../services/sql-endpoint/authenticate.js';

describe('The sign-in of the SQL endpoint', () => {
  it('looks at no more than 100 wrong secrets of a key at once and one a second, and at right ones always before', async () => {
    let now = 0;
    const { key, stored } = makeKey({ organizationId: 'org' });
    const other = { ...stored, secret_hash: makeKey({ organizationId: 'org' }).stored.secret_hash };
    let found = stored;
    const authenticate = createAuthenticate(
      { findKey: async () => found, recordKeyUse: async () => undefined },
      () => now,
    );
    const attempt = (isRight: boolean) => {
      found = isRight ? stored : other;
      return authenticate({ user: 'default', password: key }).catch((error: Error) => error.message);
    };
    for (let index = 0; index < 200; index++) expect(await attempt(true)).to.equal('org');
    for (let index = 0; index < 100; index++) expect(await attempt(false)).to.match(/incorrect/);
    expect(await attempt(false)).to.match(/Too many wrong passwords/);
    expect(await attempt(true)).to.match(/Too many wrong passwords/);
    now = 1000;
    expect(await attempt(true)).to.equal('org');
    expect(await attempt(false)).to.match(/incorrect/);
    expect(await attempt(false)).to.match(/Too many/);
  });
});
