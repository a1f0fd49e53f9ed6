import { issueKey } from '../accounts/keys.js';
import { DEMO_ORGANIZATION } from '../demo/calendar.js';
import { DEMO_RECORDS, demoIsLoaded, hasOtherData, loadDemo } from '../demo/load.js';
import type { Stores } from '../stores/open-stores.js';
import { grouped, type Io, tell } from './io.js';

/**
 * Loads the sample, or completes it where a load was cut off. Returns a key for it when it was loaded now, null when it
 * was there already or the stores hold something else.
 */
export async function loadSample(io: Io, stores: Stores, onlyIfEmpty: boolean): Promise<string | null> {
  if (await demoIsLoaded(stores.search)) return null;
  if (onlyIfEmpty && (await hasOtherData(stores))) return null;
  tell(io, `Loading sample data (about ${grouped(DEMO_RECORDS)} records) …`);
  const bar = await progressBar(io);
  const began = performance.now();
  await loadDemo(stores, {
    now: Date.now(),
    onProgress: (records) => bar?.update(Math.min(records, DEMO_RECORDS)),
  });
  bar?.stop();
  tell(io, `Sample data loaded in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
  return issueKey(stores.search, { organizationId: DEMO_ORGANIZATION, name: 'sample data', scopes: ['*'] });
}

async function progressBar(io: Io) {
  if (!io.stderr.isTTY) return undefined;
  const { default: progress } = await import('cli-progress');
  const bar = new progress.SingleBar(
    {
      stream: io.stderr as NodeJS.WriteStream,
      format: '{bar} {percentage} %',
      hideCursor: true,
      clearOnComplete: true,
    },
    progress.Presets.shades_classic,
  );
  bar.start(DEMO_RECORDS, 0);
  return bar;
}

/** What to try first. */
export function firstRequests(url: string, key: string, today: string): string {
  const start = new Date(Date.parse(today) - 30 * 86_400_000).toISOString().slice(0, 10);
  const curl = (path: string, body: object) =>
    `curl -s ${url}${path} -H 'X-Api-Key: ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  return [
    curl('/api/contacts/search', { organization_id: DEMO_ORGANIZATION, query: 'marketing', limit: 3 }),
    curl('/api/website-visits/search', {
      organization_id: DEMO_ORGANIZATION,
      start_url: '/pricing',
      browser: 'chrome',
      limit: 3,
    }),
    curl('/api/advertising/network_a/campaigns', {
      start_date: start,
      end_date: today,
      granularity: 'monthly',
      page_size: 3,
    }),
  ].join('\n\n');
}
