import { expect } from 'chai';
import { createAuthenticate } from '../../services/sql-endpoint/authenticate.js';

describe('The sign-in of the SQL endpoint', () => {
  it('looks at no more than 100 wrong passwords at once and one a second, and at right ones always before', async () => {
    let now = 0;
    const authenticate = createAuthenticate('right', undefined, () => now);
    const attempt = (password: string) =>
      authenticate({ user: 'default', password }).catch((error: Error) => error.message);
    for (let index = 0; index < 200; index++) expect(await attempt('right')).to.equal(null);
    for (let index = 0; index < 100; index++) expect(await attempt(`wrong ${index}`)).to.match(/incorrect/);
    expect(await attempt('wrong')).to.match(/Too many wrong passwords/);
    expect(await attempt('right')).to.match(/Too many wrong passwords/);
    now = 1000;
    expect(await attempt('right')).to.equal(null);
    expect(await attempt('wrong')).to.match(/incorrect/);
    expect(await attempt('wrong')).to.match(/Too many/);
  });
});
