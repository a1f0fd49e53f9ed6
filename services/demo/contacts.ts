import type { AudienceRecord } from '../audiences/schema.js';
import type { ContactRecord } from '../contacts/schema.js';
import { DEMO_ORGANIZATION, daysBefore } from './calendar.js';
import { type DemoCompany, demoCompanies, pickCulture } from './companies.js';
import { type Culture, citiesOf, namesOf } from './locales.js';
import { Random } from './random.js';

const CONTACTS = 2000;

const ROLES: [area: string, titles: string[]][] = [
  [
    'Marketing',
    [
      'Chief Marketing Officer',
      'Head of Growth',
      'Marketing Manager',
      'Content Strategist',
      'Brand Director',
    ],
  ],
  [
    'Sales',
    ['VP of Sales', 'Account Executive', 'Sales Development Representative', 'Regional Sales Director'],
  ],
  [
    'Engineering',
    [
      'Chief Technology Officer',
      'Software Engineer',
      'Staff Engineer',
      'Engineering Manager',
      'Data Engineer',
    ],
  ],
  ['Finance', ['Chief Financial Officer', 'Controller', 'Financial Analyst', 'Head of Procurement']],
  ['Operations', ['Chief Operating Officer', 'Supply Chain Manager', 'Plant Manager', 'Operations Analyst']],
  ['Human Resources', ['Chief People Officer', 'HR Business Partner', 'Talent Acquisition Lead']],
  ['Information Technology', ['Chief Information Security Officer', 'IT Director', 'Systems Administrator']],
  ['Product', ['Chief Product Officer', 'Product Manager', 'UX Researcher', 'Product Designer']],
];

const AUDIENCES: [
  slug: string,
  name: string,
  description: string,
  member: (contact: ContactRecord) => boolean,
][] = [
  [
    'executives',
    'Executives',
    'Chief officers of any department.',
    ({ job_title }) => /^Chief/.test(job_title ?? ''),
  ],
  [
    'marketing-leaders',
    'Marketing leaders',
    'People who decide about marketing budgets.',
    ({ functional_area }) => functional_area === 'Marketing',
  ],
  [
    'engineers',
    'Engineering & IT',
    'Technical evaluators.',
    ({ functional_area }) =>
      functional_area === 'Engineering' || functional_area === 'Information Technology',
  ],
  [
    'finance-buyers',
    'Finance buyers',
    'Controllers, procurement and CFOs.',
    ({ functional_area }) => functional_area === 'Finance',
  ],
  [
    'europe-launch',
    'Europe launch',
    'Contacts in Europe, for the launch of the new edition.',
    ({ country }) => EUROPE.has(country ?? ''),
  ],
  [
    'americas',
    'Americas',
    'Contacts in North and South America.',
    ({ country }) => ['United States', 'Brazil', 'Mexico'].includes(country ?? ''),
  ],
  [
    'asia-pacific',
    'Asia-Pacific',
    'Contacts in Asia.',
    ({ country }) =>
      ['India', 'China', 'Japan', 'South Korea', 'Thailand', 'Vietnam'].includes(country ?? ''),
  ],
  ['webinar-attendees', 'Webinar attendees', 'Joined “Attribution without guesswork”.', one(9)],
  ['customers', 'Customers', 'Companies with a running contract.', one(6)],
  ['newsletter', 'Newsletter subscribers', 'Opted in to the monthly letter.', one(2)],
  ['trial-users', 'Trial users', 'Started a trial in the last quarter.', one(14)],
  ['do-not-advertise', 'Do not advertise', 'Excluded from every campaign.', one(40)],
];
const EUROPE = new Set([
  'United Kingdom',
  'Germany',
  'France',
  'Spain',
  'Poland',
  'Sweden',
  'Ukraine',
  'Bulgaria',
  'Greece',
]);

export const AUDIENCE_IDS = AUDIENCES.map(([slug]) => `aud_${slug}`);

/** One contact of so many, always the same ones. */
function one(of: number): (contact: ContactRecord) => boolean {
  return ({ contact_id }) => Number(contact_id.slice(-4)) % of === of - 1;
}

export function audienceRecords(day: string): AudienceRecord[] {
  return AUDIENCES.map(([slug, name, description], index) => ({
    organization_id: DEMO_ORGANIZATION,
    id: `aud_${slug}`,
    name,
    description,
    network_a: index % 2 === 0,
    network_b: index % 3 === 0,
    network_c: index % 5 === 0,
    tracking_utm_value: slug,
    created_at: `${daysBefore(day, 300 - index * 20)}T09:00:00Z`,
    updated_at: `${day}T00:00:00Z`,
  }));
}

export function contactRecords(day: string): ContactRecord[] {
  const random = new Random('contacts');
  const companies = demoCompanies();
  return Array.from({ length: CONTACTS }, (_, index) => {
    const contact = person(random, index, random.pickEarly(companies), day);
    contact.audience_ids = AUDIENCES.filter(([, , , member]) => member(contact)).map(
      ([slug]) => `aud_${slug}`,
    );
    return contact;
  });
}

function person(random: Random, index: number, company: DemoCompany, day: string): ContactRecord {
  const culture = pickCulture(random);
  const female = random.chance(0.5);
  const first = random.pick(namesOf(female ? culture.women : culture.men));
  const family = random.pick(namesOf(culture.families));
  const { city, region, postalPrefix } = random.pick(citiesOf(culture));
  const [area, titles] = random.pick(ROLES);
  const handle = `${first.latin}.${family.latin}`.replace(/-+$/, '');
  const birth = 1955 + random.between(0, 48);
  const created = daysBefore(day, random.between(1, 400));
  const time = `${clock(random.between(6, 18))}:${clock(random.between(0, 59))}:${clock(random.between(0, 59))}Z`;
  const known = (probability: number) => random.chance(probability);
  const record: ContactRecord = {
    organization_id: DEMO_ORGANIZATION,
    contact_id: `demo_contact_${String(index + 1).padStart(4, '0')}`,
    data_import_id: 'reachline-demo',
    first_name: first.written,
    last_name: family.written,
    job_title: random.pick(titles),
    functional_area: area,
    company_name: company.name,
    company_domain: company.domain,
    company_network_a_url: `https://www.network-a.example/company/${company.slug}`,
    company_country: company.culture.country,
    company_industry: company.industry,
    city,
    state_region: region,
    country: culture.country,
    postal_code: `${postalPrefix}${random.between(10, 99)}`,
    network_a_url: `https://www.network-a.example/in/${handle.replace('.', '-')}-${index.toString(36).padStart(3, '0')}`,
    work_emails: [`${handle}${index % 3 === 0 ? index : ''}@${company.domain}`],
    gender: female ? 'female' : 'male',
    created_at: `${created}T${time}`,
    updated_at: `${created}T${time}`,
  };
  if (known(0.35)) record.personal_emails = [`${handle}${birth % 100}@mail.example`];
  if (known(0.7)) record.phones = phones(random, culture);
  if (known(0.3)) {
    record.year_of_birth = birth;
    record.dob = `${birth}-${clock(random.between(1, 12))}-${clock(random.between(1, 28))}`;
    record.age = Number(day.slice(0, 4)) - birth - 1;
  }
  return record;
}

const clock = (value: number) => String(value).padStart(2, '0');

function phones(random: Random, { dial }: Culture): string[] {
  const number = () =>
    `${dial} ${random.between(20, 99)} ${random.between(100, 999)} ${String(random.between(0, 9999)).padStart(4, '0')}`;
  return random.chance(0.2) ? [number(), number()] : [number()];
}
