import { expect } from 'chai';
import { parseKey } from '../../services/accounts/keys.js';
import { newId } from '../../services/shared/ids.js';

describe('API keys', () => {
  it('are accepted only in the form of contract 2.2', () => {
    for (const text of [
      '',
      'rl_live_',
      'rl_test_aaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      `rl_live_aaaaaaaa_${'a'.repeat(32)}aaaaaa`,
      `rl_live_aaaaaaaa_${'a'.repeat(37)}`,
      `rl_live_aaaaaaaa_${'é'.repeat(38)}`,
    ]) {
      expect(parseKey(text), text).to.equal(null);
    }
  });
});

describe('Generated ids', () => {
  it('sort by creation time', () => {
    const moments = [0, 1, 1000, 1_700_000_000_000, 1_700_000_000_001, 4_000_000_000_000];
    const ids = moments.map((moment) => newId('con', moment));
    expect(ids).to.deep.equal([...ids].sort());
    for (const id of ids) expect(id).to.match(/^con_[0-9a-hjkmnp-tv-z]{26}$/);
  });

  it('are unique within one millisecond', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('con', 1_700_000_000_000));
    expect(new Set(ids).size).to.equal(ids.length);
  });
});
