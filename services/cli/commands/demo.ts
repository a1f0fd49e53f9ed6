import type { KeyStore, StoredKey } from '../../accounts/key-store.js';
import { issueKey, keyIsActive } from '../../accounts/keys.js';
import { DEMO_ORGANIZATION, daysBefore } from '../../demo/calendar.js';
import { DEMO_RECORDS, demoIsLoaded, loadDemo } from '../../demo/load.js';
import type { SortKey } from '../../search/query.js';
import { loadConfig } from '../../shared/config.js';
import { DAY_MS } from '../../shared/time.js';
import { openStores, type Stores } from '../../stores/open-stores.js';
import { formatCount, type Io, printErr, printOut } from '../io.js';
import { withProgress } from '../progress.js';

const KEY_NAME = 'sample data';
const KEY_LIFETIME_MS = 30 * DAY_MS;
const KEYS_PER_PAGE = 1000;

/** Loads the sample data into the stores, next to existing data, and prints a key for it. */
export async function demo(io: Io): Promise<void> {
  const stores = await openStores(loadConfig(io.env));
  try {
    if (await demoIsLoaded(stores.records)) printErr(io, 'The sample data is loaded already.');
    printOut(io, await loadDemoData(io, stores));
    printErr(
      io,
      `This key is for the organization ${DEMO_ORGANIZATION}, for 30 days; it is shown only once. Now run: reachline serve`,
    );
  } finally {
    await stores.close();
  }
}

/** Loads the sample data, or completes an interrupted load, unless it is loaded already. Returns a new key for it, and ends earlier ones. */
export async function loadDemoData(io: Io, stores: Stores): Promise<string> {
  if (!(await demoIsLoaded(stores.records))) {
    printErr(io, `Loading sample data (about ${formatCount(DEMO_RECORDS)} records) …`);
    const seconds = await withProgress(io, async (progress) => {
      await loadDemo(stores, {
        now: Date.now(),
        onProgress: (records) => progress.update('', records, DEMO_RECORDS),
      });
      return progress.seconds;
    });
    printErr(io, `Sample data loaded in ${seconds.toFixed(1)} s.`);
  }
  return replaceKey(stores.records);
}

/** Issues a key for the sample, and then ends the keys of earlier starts. Keys that were created with an earlier key stay. */
async function replaceKey(store: KeyStore): Promise<string> {
  const now = Date.now();
  const earlier = await activeKeys(store, now);
  const key = await issueKey(store, {
    organizationId: DEMO_ORGANIZATION,
    name: KEY_NAME,
    scopes: ['*'],
    expiresAt: new Date(now + KEY_LIFETIME_MS).toISOString(),
  });
  for (const { id } of earlier) await store.revokeKey(id, new Date(now).toISOString(), true);
  return key;
}

/** Active keys for the sample that the command line created. */
async function activeKeys(store: KeyStore, now: number): Promise<StoredKey[]> {
  const keys: StoredKey[] = [];
  let after: SortKey | undefined;
  do {
    const page = await store.listKeys({
      organizationId: DEMO_ORGANIZATION,
      limit: KEYS_PER_PAGE,
      after,
      now,
    });
    keys.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return keys.filter((key) => key.name === KEY_NAME && key.ancestors.length === 0 && keyIsActive(key, now));
}

/** `curl` commands that find something in the sample data, with the key in `$KEY`. `today` is `YYYY-MM-DD`. */
export function firstRequests(url: string, today: string): string {
  const curl = (path: string, body: object) =>
    `curl -s ${url}${path} -H "X-Api-Key: $KEY" -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const organization_id = DEMO_ORGANIZATION;
  return [
    curl('/api/contacts/search', { organization_id, query: 'marketing', limit: 3 }),
    curl('/api/website-visits/search', {
      organization_id,
      start_url: '/pricing',
      browser: 'chrome',
      limit: 3,
    }),
    curl('/api/advertising/network_a/campaigns', {
      start_date: daysBefore(today, 30),
      end_date: today,
      granularity: 'monthly',
      page_size: 3,
    }),
  ].join('\n\n');
}
