import type { AudienceRecord } from '../audiences/schema.js';
import type { ContactRecord } from '../contacts/schema.js';
import { compareCodePoints } from '../shared/text.js';
import { DEMO_ORGANIZATION, daysBefore } from './calendar.js';
import { type DemoCompany, demoCompanies } from './companies.js';
import { LOCALES, type Locale } from './locales.js';
import { Random } from './random.js';

const CONTACTS = 2000;

const JOB_TITLES = `
Marketing: Chief Marketing Officer, Head of Growth, Marketing Manager, Content Strategist, Brand Director
Sales: VP of Sales, Account Executive, Sales Development Representative, Regional Sales Director
Engineering: Chief Technology Officer, Software Engineer, Staff Engineer, Engineering Manager, Data Engineer
Finance: Chief Financial Officer, Controller, Financial Analyst, Head of Procurement
Operations: Chief Operating Officer, Supply Chain Manager, Plant Manager, Operations Analyst
Human Resources: Chief People Officer, HR Business Partner, Talent Acquisition Lead
Information Technology: Chief Information Security Officer, IT Director, Systems Administrator
Product: Chief Product Officer, Product Manager, UX Researcher, Product Designer`;
const ROLES = JOB_TITLES.trim()
  .split('\n')
  .map((line) => line.split(': ') as [area: string, titles: string])
  .map(([area, titles]) => ({ area, titles: titles.split(', ') }));

interface Person {
  index: number;
  title: string;
  area: string;
  continent: string;
}

const AUDIENCES: [name: string, description: string, isMember: (person: Person) => boolean][] = [
  ['Executives', 'Chief officers of any department.', ({ title }) => title.startsWith('Chief')],
  ['Marketing leaders', 'People who decide about marketing budgets.', ({ area }) => area === 'Marketing'],
  ['Engineers', 'Technical evaluators.', ({ area }) => /^(?:Engineering|Information Technology)$/.test(area)],
  ['Finance buyers', 'Controllers, procurement and CFOs.', ({ area }) => area === 'Finance'],
  [
    'Europe launch',
    'Contacts in Europe, for the launch of the new edition.',
    ({ continent }) => continent === 'Europe',
  ],
  ['Americas', 'Contacts in North and South America.', ({ continent }) => continent === 'Americas'],
  ['Asia-Pacific', 'Contacts in Asia.', ({ continent }) => continent === 'Asia'],
  ['Webinar attendees', 'Joined “Attribution without guesswork”.', ({ index }) => index % 9 === 0],
  ['Customers', 'Companies with a running contract.', ({ index }) => index % 6 === 0],
  ['Newsletter', 'Opted in to the monthly letter.', ({ index }) => index % 2 === 0],
  ['Trial users', 'Started a trial in the last quarter.', ({ index }) => index % 14 === 0],
  ['Do not advertise', 'Excluded from every campaign.', ({ index }) => index % 40 === 0],
];

const slugOf = (name: string) => name.toLowerCase().replaceAll(' ', '-');

export const AUDIENCE_IDS = AUDIENCES.map(([name]) => `aud_${slugOf(name)}`);

export function audienceRecords(day: string): AudienceRecord[] {
  return AUDIENCES.map(([name, description], index) => ({
    organization_id: DEMO_ORGANIZATION,
    id: `aud_${slugOf(name)}`,
    name,
    description,
    network_a: index % 2 === 0,
    network_b: index % 3 === 0,
    network_c: index % 5 === 0,
    tracking_utm_value: slugOf(name),
    created_at: `${daysBefore(day, 300 - index * 20)}T09:00:00Z`,
    updated_at: `${day}T00:00:00Z`,
  }));
}

export function contactRecords(day: string): ContactRecord[] {
  const random = new Random('contacts');
  const companies = demoCompanies();
  return withFamiliarFirst(
    Array.from({ length: CONTACTS }, (_, index) =>
      contactRecord(random, index, random.pickSkewed(companies), day),
    ),
  );
}

/** Countries whose names most viewers of a demo can read. */
const FAMILIAR = ['United States', 'United Kingdom', 'Germany', 'France'];
/** Length of the first screens of the list of contacts. */
const FAMILIAR_CONTACTS = 60;

const createdAt = ({ created_at }: ContactRecord) => created_at ?? '';

/** Gives the newest times of creation to contacts with familiar names, since the list begins with the newest. No time is added or lost. */
function withFamiliarFirst(records: readonly ContactRecord[]): ContactRecord[] {
  const newest = records.toSorted((one, other) => compareCodePoints(createdAt(other), createdAt(one)));
  const first = new Set(
    newest.filter(({ country }) => FAMILIAR.includes(country ?? '')).slice(0, FAMILIAR_CONTACTS),
  );
  const ordered = [...first, ...newest.filter((record) => !first.has(record))];
  const times = new Map(
    ordered.map(({ contact_id }, index) => [contact_id, createdAt(newest[index] as ContactRecord)]),
  );
  return records.map((record) => {
    const time = times.get(record.contact_id);
    return { ...record, created_at: time, updated_at: time };
  });
}

function contactRecord(random: Random, index: number, company: DemoCompany, day: string): ContactRecord {
  const locale = random.pick(LOCALES);
  const isFemale = random.chance(0.5);
  const first = random.pick(isFemale ? locale.women : locale.men);
  const family = random.pick(locale.families);
  const { city, region, postalPrefix } = random.pick(locale.cities);
  const { area, titles } = random.pick(ROLES);
  const title = random.pick(titles);
  const person = { index, title, area, continent: locale.continent };
  const handle = `${first.latin}.${family.latin}`.replace(/-+$/, '');
  const birth = random.between(1955, 2003);
  const age = 1 + (random.between(0, 399) % company.knownDays);
  const created = `${daysBefore(day, age)}T${random.digits(6, 18)}:${random.digits(0, 59)}:00Z`;
  const record: ContactRecord = {
    organization_id: DEMO_ORGANIZATION,
    contact_id: `demo_contact_${String(index + 1).padStart(4, '0')}`,
    data_import_id: 'reachline-demo',
    first_name: first.written,
    last_name: family.written,
    job_title: title,
    functional_area: area,
    company_name: company.name,
    company_domain: company.domain,
    company_network_a_url: `https://www.network-a.example/company/${company.slug}`,
    company_country: company.country,
    company_industry: company.industry,
    city,
    state_region: region,
    country: locale.country,
    postal_code: `${postalPrefix}${random.digits(10, 99)}`,
    network_a_url: `https://www.network-a.example/in/${handle.replace('.', '-')}-${index.toString(36).padStart(3, '0')}`,
    work_emails: [`${handle}${index % 3 === 0 ? index : ''}@${company.domain}`],
    gender: isFemale ? 'female' : 'male',
    audience_ids: AUDIENCES.flatMap(([, , isMember], at) =>
      isMember(person) ? [AUDIENCE_IDS[at] as string] : [],
    ),
    created_at: created,
    updated_at: created,
  };
  if (random.chance(0.35)) record.personal_emails = [`${handle}${birth % 100}@mail.example`];
  if (random.chance(0.7)) record.phones = [phone(random, locale)];
  if (random.chance(0.3)) {
    record.year_of_birth = birth;
    record.dob = `${birth}-${random.digits(1, 12)}-${random.digits(1, 28)}`;
    record.age = Number(day.slice(0, 4)) - birth - 1;
  }
  return record;
}

const phone = (random: Random, { dial }: Locale) =>
  `${dial} ${random.digits(20, 99)} ${random.digits(100, 999)} ${random.digits(1000, 9999)}`;
