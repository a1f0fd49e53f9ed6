import { expect } from 'chai';
import { parseKey } from '../../services/accounts/keys.js';

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
