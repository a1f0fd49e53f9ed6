/** How the cost of reports grows: a year of deliveries at several sizes and numbers of organizations, through the server with its usual limits of memory. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addDays, lastOfMonth } from '../services/advertising/calendar.js';
import { ensureDir } from '../services/shared/fs.js';
import { utcDate } from '../services/shared/time.js';
import { type Bound, type Figure, figure, median, percentile } from './measure.js';
import { startServer, stopServer, timedPost } from './scale.js';
import type { TableSize } from './servers/load-deliveries.js';
import { type DeliveryShape, deliveryShape, organizationOf } from './synthetic-deliveries.js';

const ROUNDS = 11;
const WARM_UP_ROUNDS = 2;
/** Asked in turn. */
const ORGANIZATIONS_ASKED = 5;
/** On disk while a month is merged, and what else the machine needs. */
const BYTES_PER_DELIVERY = 18;
const SPARE_BYTES = 15e9;

export interface DeliveryScaleOptions {
  deliveries: readonly number[];
  organizations: readonly number[];
  /** Of an organization, at most. */
  companies: number;
  /** Folder that keeps the deliveries, so that a later run measures its lists on them. */
  keep?: string;
}

interface LoadResult {
  sizes: TableSize[];
  loadSeconds: number;
  mergeSeconds: number;
  sumSeconds: number;
}

interface List {
  name: string;
  path: string;
  body: {
    start_date: string;
    end_date: string;
    granularity?: string;
    campaign_ids?: string[];
    search?: string;
    sort_by?: string;
    company_id?: string;
  };
}

/** A list that one organization asks for. */
export interface AskedList extends List {
  organizationId: string;
}

const YEAR_OF_COMPANIES = 'companies, 12 months by month';

/** What a year of companies may take with 100 M deliveries of one organization, and how much more with ten times as many. */
const YEAR_BOUND = { deliveries: 100_000_000, atMost: 150 };
const GROWTH_BOUND = { atMost: 2 };

export function lists({ months }: DeliveryShape): List[] {
  const start_date = months[0] as string;
  const end_date = lastOfMonth(months.at(-1) as string);
  const year = { start_date, end_date, granularity: 'monthly' };
  const ninety = { start_date: addDays(end_date, -89), end_date };
  const company = { company_id: 'com_00000000' };
  return [
    { name: 'campaigns, 90 days by day', path: 'campaigns', body: ninety },
    { name: 'campaigns, 12 months by month', path: 'campaigns', body: year },
    { name: 'creatives, 90 days by day', path: 'creatives', body: ninety },
    { name: 'creatives, 12 months by month', path: 'creatives', body: year },
    { name: 'companies, 90 days by day', path: 'companies', body: ninety },
    { name: YEAR_OF_COMPANIES, path: 'companies', body: year },
    {
      name: 'companies of one campaign, 12 months by month',
      path: 'companies',
      body: { ...year, campaign_ids: ['cmp_0000'] },
    },
    {
      name: 'companies found by name, 12 months by month',
      path: 'companies',
      body: { ...year, search: 'a1', sort_by: 'name' },
    },
    { name: 'one company, 12 months by month', path: 'company', body: { ...year, ...company } },
  ];
}

/** Deletes the rows of each size before it makes the next, unless they are kept; leaves out sizes for which the disk has no room, and says so. */
export async function benchDeliveryScale(
  folder: string,
  { deliveries, organizations, companies, keep }: DeliveryScaleOptions,
  note: (text: string) => void,
): Promise<Figure[]> {
  const results: Figure[] = [];
  const yearOfOne = new Map<number, number>();
  for (const size of deliveries) {
    for (const count of organizations) {
      const amount = `${size.toLocaleString('en')} deliveries of ${count.toLocaleString('en')} organization${count === 1 ? '' : 's'}`;
      const dataDir = join(keep ?? folder, `${size}-${count}`);
      ensureDir(dirname(dataDir));
      const shapeFile = join(dataDir, 'shape.json');
      const isKept = existsSync(shapeFile);
      const { bavail, bsize } = await statfs(dirname(dataDir));
      if (!isKept && bavail * bsize < size * BYTES_PER_DELIVERY + SPARE_BYTES) {
        process.stderr.write(`${amount}: not measured, the disk has too little room\n`);
        continue;
      }
      const shape = isKept
        ? (JSON.parse(readFileSync(shapeFile, 'utf8')) as DeliveryShape)
        : deliveryShape(size, count, companies, utcDate(Date.now()));
      try {
        if (!isKept) {
          const loaded = await loadDeliveries(dataDir, shape, (text) => note(`${amount}: ${text}`));
          results.push(...loadFigures(amount, shape, loaded));
          writeFileSync(shapeFile, JSON.stringify(shape));
        }
        const yearBound = count === 1 && size === YEAR_BOUND.deliveries ? YEAR_BOUND : {};
        const { figures, medians } = await benchLists(dataDir, shape, amount, yearBound, note);
        results.push(...figures);
        if (count === 1) yearOfOne.set(size, medians.get(YEAR_OF_COMPANIES) as number);
      } finally {
        if (keep === undefined) rmSync(dataDir, { recursive: true, force: true });
      }
    }
  }
  const [small, large] = [YEAR_BOUND.deliveries, 10 * YEAR_BOUND.deliveries].map((size) =>
    yearOfOne.get(size),
  );
  if (small && large)
    results.push(
      figure(`${YEAR_OF_COMPANIES}, ten times ÷ 100,000,000 deliveries`, '', large / small, GROWTH_BOUND),
    );
  return results;
}

export async function loadDeliveries(
  dataDir: string,
  shape: DeliveryShape,
  note: (text: string) => void,
): Promise<LoadResult> {
  const child = fork(join(import.meta.dirname, 'servers', 'load-deliveries.js'), [
    dataDir,
    JSON.stringify(shape),
  ]);
  let result: LoadResult | undefined;
  child.on('message', (message: { note: string } | LoadResult) => {
    if ('note' in message) note(message.note);
    else result = message;
  });
  const [code] = await once(child, 'exit');
  if (!result) throw new Error(`the process that makes deliveries ended with ${code}`);
  return result;
}

function loadFigures(amount: string, { companies, creatives }: DeliveryShape, loaded: LoadResult): Figure[] {
  const { sizes, loadSeconds, mergeSeconds, sumSeconds } = loaded;
  const sizeOf = (isIncluded: (table: string) => boolean) =>
    sizes
      .filter(({ table }) => isIncluded(table))
      .reduce((sum, { kept, bytes }) => ({ kept: sum.kept + kept, bytes: sum.bytes + bytes }), {
        kept: 0,
        bytes: 0,
      });
  const rowBytes = (table: string) => {
    const { kept, bytes } = sizeOf((each) => each === table);
    return bytes / kept;
  };
  const { kept, bytes } = sizeOf((table) => table.endsWith('_deliveries'));
  const sums = sizeOf((table) => table.endsWith('_months'));
  const of = `${amount} (${kept.toLocaleString('en')} rows; ${companies.toLocaleString('en')} companies, ${creatives} creatives each)`;
  return [
    figure(`bytes a delivery on disk, ${of}`, 'bytes', bytes / kept, { atMost: 12 }),
    figure(`bytes a delivery of a company, ${amount}`, 'bytes', rowBytes('company_deliveries'), {}),
    figure(`bytes a delivery of a creative, ${amount}`, 'bytes', rowBytes('creative_deliveries'), {}),
    figure(`bytes of sums a company and month, ${amount}`, 'bytes', rowBytes('company_months'), {}),
    figure(`sums of months ÷ deliveries on disk, ${amount}`, '', sums.bytes / bytes, {}),
    figure(`all tables on disk, ${amount}`, 'MB', sizeOf(() => true).bytes / 1e6, {}),
    figure(`rows made by the engine, ${amount}`, 'rows/s', kept / loadSeconds, {}),
    figure(`rows merged, ${amount}`, 'rows/s', kept / mergeSeconds, {}),
    figure(`months summed, ${amount}`, 'rows/s', kept / sumSeconds, {}),
  ];
}

/** Leaves out lists for which the server takes longer than it may, and names them. */
async function benchLists(
  dataDir: string,
  shape: DeliveryShape,
  amount: string,
  yearBound: Bound,
  note: (text: string) => void,
): Promise<{ figures: Figure[]; medians: Map<string, number> }> {
  const server = await startServer(dataDir);
  try {
    const asked = Math.min(ORGANIZATIONS_ASKED, shape.organizations);
    const keys: string[] = [];
    for (let index = 0; index < asked; index++)
      keys.push(await server.keyFor(organizationOf(Math.floor((index * shape.organizations) / asked))));
    const figures: Figure[] = [];
    const medians = new Map<string, number>();
    for (const { name, path, body } of lists(shape)) {
      note(`${amount}: ${name} …`);
      const times: number[] = [];
      const cpuTimes: number[] = [];
      try {
        for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
          const key = keys[(round + WARM_UP_ROUNDS) % asked] as string;
          const before = await cpuMs(server);
          const time = await timedPost(
            `${server.url}/api/advertising/network_a/${path}`,
            key,
            JSON.stringify(body),
          );
          if (round < 0) continue;
          times.push(time);
          cpuTimes.push((await cpuMs(server)) - before);
        }
      } catch (error) {
        process.stderr.write(`${name}, ${amount}: not measured, ${(error as Error).message}\n`);
        continue;
      }
      const bound = name === YEAR_OF_COMPANIES ? yearBound : {};
      medians.set(name, median(times));
      figures.push(figure(`${name}, ${amount}, p50`, 'ms', median(times), bound));
      figures.push(figure(`${name}, ${amount}, p95`, 'ms', percentile(times, 95), {}));
      figures.push(figure(`${name}, ${amount}, CPU`, 'ms', median(cpuTimes), {}));
    }
    const { peakMemory } = await server.ask<{ peakMemory: number }>('read');
    figures.push(figure(`memory of the server during the lists, ${amount}`, 'MB', peakMemory / 1e6, {}));
    return { figures, medians };
  } finally {
    await stopServer(server);
  }
}

const cpuMs = async (server: Awaited<ReturnType<typeof startServer>>) =>
  (await server.ask<{ cpuMs: number }>('read')).cpuMs;
