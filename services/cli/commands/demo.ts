import { issueKey } from '../../accounts/keys.js';
import { DEMO_ORGANIZATION, daysBefore } from '../../demo/calendar.js';
import { DEMO_RECORDS, demoIsLoaded, hasOtherData, loadDemo } from '../../demo/load.js';
import { loadConfig } from '../../shared/config.js';
import { openStores, type Stores } from '../../stores/open-stores.js';
import { formatCount, type Io, printErr, printOut } from '../io.js';
import { withProgress } from '../progress.js';

/** Loads the sample data into the stores, next to existing data, and prints a key for it. */
export async function demo(io: Io): Promise<void> {
  const stores = await openStores(loadConfig(io.env));
  try {
    const key = await loadDemoData(io, stores);
    if (key === null) {
      printErr(
        io,
        `The sample data is loaded already. For a key: reachline keys create --organization ${DEMO_ORGANIZATION}`,
      );
      return;
    }
    printOut(io, key);
    printErr(
      io,
      `This key is for the organization ${DEMO_ORGANIZATION}; it is shown only once. Now run: reachline serve`,
    );
  } finally {
    await stores.close();
  }
}

/**
 * Loads the sample data, or completes an interrupted load, and returns a new key for it. Returns null if the data was complete already or,
 * with `onlyIfEmpty`, if the stores hold other data.
 */
export async function loadDemoData(
  io: Io,
  stores: Stores,
  { onlyIfEmpty = false } = {},
): Promise<string | null> {
  if (await demoIsLoaded(stores.records)) return null;
  if (onlyIfEmpty && (await hasOtherData(stores))) return null;
  printErr(io, `Loading sample data (about ${formatCount(DEMO_RECORDS)} records) …`);
  const seconds = await withProgress(io, async (progress) => {
    await loadDemo(stores, {
      now: Date.now(),
      onProgress: (records) => progress.update('', records, DEMO_RECORDS),
    });
    return progress.seconds;
  });
  printErr(io, `Sample data loaded in ${seconds.toFixed(1)} s.`);
  return issueKey(stores.records, { organizationId: DEMO_ORGANIZATION, name: 'sample data', scopes: ['*'] });
}

/** `curl` commands that find something in the sample data. `today` is `YYYY-MM-DD`. */
export function firstRequests(url: string, key: string, today: string): string {
  const curl = (path: string, body: object) =>
    `curl -s ${url}${path} -H 'X-Api-Key: ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
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
