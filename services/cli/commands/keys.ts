import type { KeyStore, StoredKey } from '../../accounts/key-store.js';
import { issueKey, keyIsActive } from '../../accounts/keys.js';
import { DEFAULT_SCOPES, SCOPES } from '../../http/scopes.js';
import type { SortKey } from '../../search/query.js';
import { didYouMean } from '../../shared/did-you-mean.js';
import { withAdminStore } from '../admin-stores.js';
import { CommandError, UsageError } from '../errors.js';
import { confirm, type Io, printErr, printOut, printTable, truncate } from '../io.js';

export interface CreateKeyOptions {
  organization: string;
  name?: string;
  /** Scopes separated by commas. */
  scopes?: string;
  expires?: string;
}

/** Prints only the key, so that `KEY=$(reachline keys create …)` works. */
export async function createKey(io: Io, options: CreateKeyOptions): Promise<void> {
  const scopes = options.scopes === undefined ? undefined : parseScopes(options.scopes);
  const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires);
  const key = await withAdminStore(io, (store) =>
    issueKey(store, { organizationId: options.organization, name: options.name, scopes, expiresAt }),
  );
  printOut(io, key);
  printErr(io, 'Store this key: it is shown only once. Send it in the X-Api-Key header.');
}

function parseScopes(text: string): string[] {
  const scopes = text
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');
  if (scopes.length === 0)
    throw new UsageError(`--scopes is empty; the scopes are ${SCOPES.join(', ')} and *.`);
  for (const scope of scopes) {
    if (scope === '*' || (SCOPES as readonly string[]).includes(scope)) continue;
    const hint = didYouMean(scope, SCOPES) || `The scopes are ${SCOPES.join(', ')} and *.`;
    throw new UsageError(`${JSON.stringify(scope)} is not a scope. ${hint}`);
  }
  return [...new Set(scopes)];
}

function parseExpiry(text: string): string {
  const moment = /T.*(?:Z|[+-]\d{2}:\d{2})$/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(moment)) {
    throw new UsageError(
      `--expires takes a date and time with an offset, such as 2027-01-31T00:00:00Z, not ${text}.`,
    );
  }
  if (moment <= Date.now()) throw new UsageError(`--expires is ${text}, which has passed.`);
  return new Date(moment).toISOString();
}

const KEYS_PER_PAGE = 1000;

export interface RevokeKeyOptions {
  yes?: boolean;
  /** Keeps the keys that were created with this key. */
  keepDescendants?: boolean;
}

export interface ListKeysOptions {
  organization?: string;
  json?: boolean;
}

export async function listKeys(io: Io, { organization, json }: ListKeysOptions): Promise<void> {
  const keys: StoredKey[] = [];
  let count = 0;
  await withAdminStore(io, async (store) => {
    for await (const page of pagesOfKeys(store, organization)) {
      count += page.length;
      if (json) for (const key of page) printOut(io, JSON.stringify(toJson(key)));
      else keys.push(...page);
    }
  });
  if (json) return;
  if (count === 0) {
    printErr(io, 'There are no keys. Make one with: reachline keys create --organization <id>');
    return;
  }
  // The column appears only if a key created another key; most keys are created by the command line.
  const hasMakers = keys.some(({ ancestors }) => ancestors.length > 0);
  const header = [
    'ID',
    'ORGANIZATION',
    'STATE',
    'CREATED',
    'EXPIRES',
    'LAST USED',
    'SCOPES',
    ...(hasMakers ? ['CREATED BY'] : []),
    'NAME',
  ];
  const rows = keys.map((key) => [
    key.id,
    key.organization_id,
    stateOf(key),
    key.created_at.slice(0, 10),
    key.expires_at?.slice(0, 10) ?? '-',
    key.last_used_at?.slice(0, 16).replace('T', ' ') ?? 'never',
    scopesOf(key),
    ...(hasMakers ? [key.ancestors[0] ?? '-'] : []),
    key.name ?? '-',
  ]);
  printTable(io, header, rows);
}

/** Keys from newest to oldest, a page at a time. */
async function* pagesOfKeys(store: KeyStore, organizationId?: string): AsyncGenerator<StoredKey[]> {
  let after: SortKey | undefined;
  do {
    const { items, next } = await store.listKeys({
      organizationId,
      limit: KEYS_PER_PAGE,
      after,
      now: Date.now(),
    });
    yield items;
    after = next ?? undefined;
  } while (after !== undefined);
}

/** The scopes as text. "default" stands for the default scopes of `keys create`, whose list would fill a line. */
function scopesOf({ scopes }: StoredKey): string {
  const isDefault =
    scopes.length === DEFAULT_SCOPES.length && DEFAULT_SCOPES.every((each) => scopes.includes(each));
  return isDefault ? 'default' : scopes.join(',');
}

function toJson(key: StoredKey): object {
  const { secret_hash: _, ancestors, ...shown } = key;
  return { ...shown, created_by: ancestors[0] ?? null, state: stateOf(key) };
}

function stateOf(key: StoredKey): string {
  if (key.revoked_at !== null) return 'revoked';
  return keyIsActive(key, Date.now()) ? 'active' : 'expired';
}

/** Takes the id of a key, or the whole key, from which it uses and prints only the id. Asks on a terminal, unless `yes`. */
export async function revokeKey(
  io: Io,
  given: string,
  { yes, keepDescendants = false }: RevokeKeyOptions,
): Promise<void> {
  const whole = /^rl_live_([0-9A-Za-z]{8})/.exec(given);
  const id = whole?.[1] ?? given;
  if (whole) {
    printErr(
      io,
      `Only the id ${id} is needed; others can see a whole key in ps and in the history of the shell.`,
    );
  }
  await withAdminStore(io, async (store) => {
    const key = await store.findKey(id);
    if (!key) throw new CommandError(`There is no key ${id}; reachline keys list shows the existing keys.`);
    const name = key.name === null ? '' : `, ${truncate(JSON.stringify(key.name), 40)}`;
    const descendants = await store.countDescendants(key.organization_id, id, Date.now());
    if (descendants > 0 && !keepDescendants) {
      printErr(
        io,
        `${keysOf(descendants)} created with this key will be revoked too; --keep-descendants keeps them.`,
      );
    }
    await confirm(io, yes, `Revoke the key ${id} of ${key.organization_id}${name}?`, 'Nothing was revoked.');
    await store.revokeKey(id, new Date().toISOString(), keepDescendants);
  });
  printErr(io, `The key ${id} is revoked.`);
}

const keysOf = (count: number) => (count === 1 ? '1 key that was' : `${count} keys that were`);
