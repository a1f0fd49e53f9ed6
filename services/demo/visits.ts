import type { VisitRecord } from '../visits/schema.js';
import { DAY_MS, DEMO_ORGANIZATION, daysBefore, rhythmOf } from './calendar.js';
import { pickCulture } from './companies.js';
import { AUDIENCE_IDS } from './contacts.js';
import { type Culture, citiesOf } from './locales.js';
import { Random } from './random.js';

const VISITS = 20_000;
/** Visits a day brings on average at a rhythm of 1. */
const VISITS_A_DAY = 285;
const VISITORS = 3500;

interface Visitor {
  culture: Culture;
  city: string;
  ipAddress: string;
  browser: string;
  browserVersion: string;
  platform: string;
  audienceId: string | undefined;
  interest: number;
}

const DEVICES: [browser: string, versions: string[], platforms: string[]][] = [
  ['Chrome', ['126.0', '127.0', '128.0'], ['Windows', 'Mac OS X', 'Linux', 'Chrome OS']],
  ['Chrome', ['126.0', '127.0', '128.0'], ['Windows', 'Mac OS X']],
  ['Chrome Mobile', ['126.0', '127.0'], ['Android']],
  ['Safari', ['17.4', '17.5'], ['Mac OS X']],
  ['Mobile Safari', ['17.4', '17.5'], ['iOS']],
  ['Edge', ['125.0', '126.0'], ['Windows']],
  ['Firefox', ['126.0', '127.0'], ['Windows', 'Ubuntu', 'Mac OS X']],
  ['Samsung Internet', ['25.0'], ['Android']],
  ['Opera', ['110.0'], ['Windows']],
];

const SITE = 'https://www.reachline-demo.example';
/** Pages, those that draw most visits first. */
const PAGES = [
  '/',
  '/pricing',
  '/product/audiences',
  '/product/attribution',
  '/blog/attribution-without-guesswork',
  '/customers',
  '/docs/getting-started',
  '/demo/request',
  '/blog/first-party-data-in-2026',
  '/integrations',
  '/webinars/measuring-reach',
  '/docs/api/contacts',
  '/careers',
  '/about',
];
const STRONG_INTENT = new Set(['/pricing', '/demo/request', '/customers']);

/** The sessions of the days before `day`, the newest `VISITS` of them, oldest first. A day's visits depend on its date alone. */
export function visitRecords(day: string): VisitRecord[] {
  const visitors = makeVisitors();
  const days: VisitRecord[][] = [];
  let count = 0;
  for (let back = 1; count < VISITS; back++) {
    const visits = visitsOf(daysBefore(day, back), visitors);
    days.push(visits);
    count += visits.length;
  }
  return days
    .reverse()
    .flat()
    .slice(count - VISITS);
}

function makeVisitors(): Visitor[] {
  const random = new Random('visitors');
  return Array.from({ length: VISITORS }, () => {
    const culture = pickCulture(random);
    const [browser, versions, platforms] = random.pickEarly(DEVICES);
    return {
      culture,
      city: random.pick(citiesOf(culture)).city,
      ipAddress: random.chance(0.25) ? ipv6(random) : ipv4(random),
      browser,
      browserVersion: random.pick(versions),
      platform: random.pick(platforms),
      audienceId: random.chance(0.55) ? random.pick(AUDIENCE_IDS) : undefined,
      interest: random.next(),
    };
  });
}

function visitsOf(date: string, visitors: readonly Visitor[]): VisitRecord[] {
  const random = new Random(`visits ${date}`);
  const midnight = Date.parse(date);
  const visits: { at: number; visitor: Visitor }[] = [];
  const expected = random.scatter(VISITS_A_DAY * rhythmOf(date));
  while (visits.length < expected) {
    const visitor = random.pickEarly(visitors);
    const local = hourOfDay(random);
    const at = midnight + Math.floor(((((local - visitor.culture.offset) % 24) + 24) % 24) * 3_600_000);
    visits.push({ at, visitor });
    // Some come back the same hour.
    const again = at + random.between(60_000, 3_000_000);
    if (random.chance(0.25) && again < midnight + DAY_MS) visits.push({ at: again, visitor });
  }
  visits.sort((a, b) => a.at - b.at);
  return visits.map(({ at, visitor }, index) =>
    visit(random, visitor, at, `${date.replaceAll('-', '')}_${index}`),
  );
}

function visit(random: Random, visitor: Visitor, at: number, suffix: string): VisitRecord {
  const page = random.pickEarly(PAGES);
  const strength = visitor.interest * 60 + (STRONG_INTENT.has(page) ? 25 : 0) + random.between(0, 15);
  const tracked = visitor.audienceId !== undefined && random.chance(0.3);
  const record: VisitRecord = {
    id: `demo_visit_${suffix}`,
    organizationId: DEMO_ORGANIZATION,
    createdAt: new Date(at).toISOString(),
    type: 'audience',
    startUrl: `${SITE}${page}${tracked ? `?utm_audience=${visitor.audienceId?.slice(4)}` : ''}`,
    country: visitor.culture.country,
    countryCode: visitor.culture.code,
    city: visitor.city,
    ipAddress: visitor.ipAddress,
    browser: visitor.browser,
    browserVersion: visitor.browserVersion,
    platform: visitor.platform,
    hasRecording: random.chance(0.4),
    intentScore: Math.round(strength),
  };
  if (visitor.audienceId !== undefined) record.audienceId = visitor.audienceId;
  return record;
}

/** Two humps: late morning and afternoon, and a little at night. */
function hourOfDay(random: Random): number {
  if (random.chance(0.1)) return random.next() * 24;
  return random.chance(0.55) ? random.around(7, 14) : random.around(12.5, 20);
}

/** From the blocks set aside for documentation and tests. */
const ipv4 = (random: Random) =>
  `${random.pick(['192.0.2', '198.51.100', '203.0.113', '198.18.7', '198.19.42'])}.${random.between(1, 254)}`;
const ipv6 = (random: Random) =>
  `2001:db8:${random.between(1, 0xffff).toString(16)}:${random.between(1, 0xffff).toString(16)}::${random.between(1, 0xffff).toString(16)}`;
