import { expect } from 'chai';
import { companyId, newId } from '../../services/shared/ids.js';

describe('ids', () => {
  it('sort by creation time', () => {
    const times = [0, 1, 255, 256, 1e12, 1.7e12, 1.7e12 + 1, 2 ** 47];
    const ids = times.map((time) => newId('con', time));
    expect([...ids].sort()).to.deep.equal(ids);
    for (const id of ids) expect(id).to.match(/^con_[0-9a-z]{26}$/);
  });

  it('are unique', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('aud', 1));
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('of companies are equal for equal domain and organization', () => {
    expect(companyId('org_a', 'x.example')).to.equal(companyId('org_a', 'x.example'));
    expect(companyId('org_a', 'x.example')).to.not.equal(companyId('org_b', 'x.example'));
    expect(companyId('org_a', 'x.example')).to.not.equal(companyId('org_a', 'y.example'));
    expect(companyId('org_congress', 'senate.gov')).to.equal('com_1mt3q89a5e102zkms3jyagxv5r');
  });
});
