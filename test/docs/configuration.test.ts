import { expect } from 'chai';
import { configurationPage } from './configuration.js';
import { readDoc } from './support.js';

describe('docs/operating/configuration.md', () => {
  it('lists every setting as services/shared/settings.ts declares it (npm run docs writes it anew)', () => {
    expect(readDoc('docs/operating/configuration.md')).to.equal(configurationPage());
  });
});
