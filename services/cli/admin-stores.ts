import type { CreditStore } from '../accounts/credit-store.js';
import type { KeyStore } from '../accounts/key-store.js';
import type { AudienceStore } from '../audiences/audience-store.js';
import { loadConfig } from '../shared/config.js';
import { ID_PATTERN } from '../shared/ids.js';
import type { Refreshable } from '../stores/common/search-store.js';
import { loadSqlite } from '../stores/sqlite/load.js';
import { UsageError } from './errors.js';
import type { Io } from './io.js';

export type Accounts = KeyStore & CreditStore & AudienceStore & Refreshable & { close(): Promise<void> };

/** Opens keys, credits and audiences for as long as the work takes. Servers may have the store open meanwhile. */
export async function withAccounts<T>(io: Io, work: (accounts: Accounts) => Promise<T>): Promise<T> {
  const config = loadConfig(io.env);
  const accounts: Accounts = config.elasticsearch
    ? await (await import('../stores/elasticsearch/store.js')).openElasticsearchStore(config.elasticsearch)
    : await (await loadSqlite()).openSqliteAccounts(config);
  try {
    return await work(accounts);
  } finally {
    await accounts.close();
  }
}

const id = new RegExp(ID_PATTERN);

export function requireId(option: string, value: string): void {
  if (!id.test(value)) {
    throw new UsageError(
      `${option} is ${JSON.stringify(value)}, but an identifier has 1 to 128 characters of A-Z a-z 0-9 . _ : -`,
    );
  }
}
