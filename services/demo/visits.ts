import { DAY_MS } from '../shared/time.js';
import type { VisitRecord } from '../visits/schema.js';
import { DEMO_ORGANIZATION, daysBefore, weekdayFactor } from './calendar.js';
import { demoCompanies } from './companies.js';
import { AUDIENCE_IDS } from './contacts.js';
import { LOCALES } from './locales.js';
import { Random } from './random.js';

const VISITS = 20_000;
/** Visits on an average weekday. */
const VISITS_PER_DAY = 285;
const VISITORS = 3500;
/** Share of visitors whose company is known. */
const KNOWN_COMPANY = 0.3;

const DEVICES: [browser: string, versions: string[], platforms: string[]][] = [
  ['Chrome', ['126.0', '127.0', '128.0'], ['Windows', 'Mac OS X', 'Linux', 'Chrome OS']],
  ['Chrome Mobile', ['126.0', '127.0'], ['Android']],
  ['Safari', ['17.4', '17.5'], ['Mac OS X']],
  ['Mobile Safari', ['17.4', '17.5'], ['iOS']],
  ['Edge', ['125.0', '126.0'], ['Windows']],
  ['Firefox', ['126.0', '127.0'], ['Windows', 'Ubuntu', 'Mac OS X']],
  ['Samsung Internet', ['25.0'], ['Android']],
  ['Opera', ['110.0'], ['Windows']],
];

const SITE = 'https://www.reachline-demo.example';
/** Pages, most visited first. */
const PAGES = [
  '/',
  '/pricing',
  '/product/audiences',
  '/product/attribution',
  '/blog/attribution-without-guesswork',
  '/customers',
  '/docs/getting-started',
  '/demo/request',
  '/integrations',
  '/webinars/measuring-reach',
  '/careers',
];
const STRONG_INTENT = ['/pricing', '/demo/request', '/customers'];

/** The newest `VISITS` visits before `day`, oldest first. The visits of a day depend only on its date, apart from companies that are new. */
export function visitRecords(day: string): VisitRecord[] {
  const random = new Random('visitors');
  const companies = demoCompanies();
  const employers = new Random('companies of visitors');
  const visitors = Array.from({ length: VISITORS }, () => {
    const { interest, fields } = makeVisitor(random);
    const { domain, knownDays } = employers.pickSkewed(companies);
    const knownFrom = knownDays === Number.POSITIVE_INFINITY ? '' : daysBefore(day, knownDays);
    return { interest, fields, company: employers.chance(KNOWN_COMPANY) ? { domain, knownFrom } : null };
  });
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

type Visitor = ReturnType<typeof makeVisitor> & { company: { domain: string; knownFrom: string } | null };

function makeVisitor(random: Random) {
  const { country, code, cities } = random.pick(LOCALES);
  const [browser, versions, platforms] = random.pickSkewed(DEVICES);
  return {
    interest: random.next(),
    fields: {
      country,
      countryCode: code,
      city: random.pick(cities).city,
      ipAddress: random.chance(0.25) ? ipv6(random) : ipv4(random),
      browser,
      browserVersion: random.pick(versions),
      platform: random.pick(platforms),
      ...(random.chance(0.55) && { audienceId: random.pick(AUDIENCE_IDS) }),
    },
  };
}

function visitsOf(date: string, visitors: readonly Visitor[]): VisitRecord[] {
  const random = new Random(`visits ${date}`);
  const times = Array.from({ length: random.poissonLike(VISITS_PER_DAY * weekdayFactor(date)) }, () =>
    Math.floor(random.around(0, DAY_MS)),
  ).sort((a, b) => a - b);
  return times.map((time, index) => {
    const { interest, fields, company } = random.pickSkewed(visitors);
    const page = random.pickSkewed(PAGES);
    const isTracked = fields.audienceId !== undefined && random.chance(0.3);
    const intent = interest * 60 + (STRONG_INTENT.includes(page) ? 25 : 0) + random.between(0, 15);
    return {
      id: `demo_visit_${date.replaceAll('-', '')}_${index}`,
      organizationId: DEMO_ORGANIZATION,
      createdAt: new Date(Date.parse(date) + time).toISOString(),
      type: 'audience',
      startUrl: `${SITE}${page}${isTracked ? `?utm_audience=${fields.audienceId?.slice(4)}` : ''}`,
      ...fields,
      ...(company && company.knownFrom <= date && { companyDomain: company.domain }),
      hasRecording: random.chance(0.4),
      intentScore: Math.round(intent),
    };
  });
}

/** An address from the blocks reserved for documentation and tests. */
const ipv4 = (random: Random) =>
  `${random.pick(['192.0.2', '198.51.100', '203.0.113', '198.18.7'])}.${random.between(1, 254)}`;
const ipv6 = (random: Random) =>
  `2001:db8:${random.between(1, 0xffff).toString(16)}::${random.between(1, 0xffff).toString(16)}`;
