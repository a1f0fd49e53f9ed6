/** Made-up contacts with the spread of real ones: few frequent names, many rare; companies of very different size. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Random } from '../services/demo/random.js';

/** Numbers from 0 to below 1, the same for the same seed. */
export function randomSource(seed: number): () => number {
  const random = new Random(String(seed));
  return () => random.next();
}

const syllables =
  'an ber car dal el fer gar hal in jor kal lar mar nor ol par quin ros san tor ur val wil xen yor zan'.split(
    ' ',
  );
const titles = [
  'Manager',
  'Director',
  'Engineer',
  'Analyst',
  'Consultant',
  'Vice President',
  'Specialist',
  'Coordinator',
  'Architect',
  'Officer',
];
const areas = [
  'Marketing',
  'Sales',
  'Engineering',
  'Finance',
  'Operations',
  'Human Resources',
  'Legal',
  'Product',
  'Support',
  'Research',
];
const countries = [
  'United States',
  'Germany',
  'France',
  'United Kingdom',
  'Spain',
  'Brazil',
  'India',
  'Japan',
  'Canada',
  'Italy',
  'Poland',
  'Norway',
];

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function names(count: number, random: () => number): string[] {
  const made = new Set<string>();
  while (made.size < count) {
    const parts = 2 + Math.floor(random() * 2);
    made.add(
      capital(
        Array.from({ length: parts }, () => syllables[Math.floor(random() * syllables.length)]).join(''),
      ),
    );
  }
  return [...made];
}

export interface SyntheticContact {
  organization_id: string;
  contact_id: string;
  first_name: string;
  last_name: string;
  job_title: string;
  functional_area: string;
  company_name: string;
  company_domain: string;
  work_emails: string[];
  phones: string[];
  city: string;
  country: string;
  postal_code: string;
  network_a_url: string;
}

/** The same contacts for the same seed; contact `i` belongs to organization `i` modulo `organizations`. */
export function* syntheticContacts(
  count: number,
  organizations: number,
  seed = 1,
): Generator<SyntheticContact> {
  const random = randomSource(seed);
  const firsts = names(2000, random);
  const lasts = names(8000, random);
  const cities = names(3000, random);
  const companies = names(5000, random);
  // Squared, so that low indices are frequent and high ones rare, as names are.
  const pick = (list: readonly string[]) => list[Math.floor(random() ** 2 * list.length)] as string;
  for (let index = 0; index < count; index++) {
    const first = pick(firsts);
    const last = pick(lasts);
    const company = pick(companies);
    const area = pick(areas);
    const domain = `${company.toLowerCase()}.example`;
    yield {
      organization_id: `org_${index % organizations}`,
      contact_id: `con_${index}`,
      first_name: first,
      last_name: last,
      job_title: `${area} ${pick(titles)}`,
      functional_area: area,
      company_name: `${company} Group`,
      company_domain: domain,
      work_emails: [`${first}.${last}${index % 1000}@${domain}`.toLowerCase()],
      phones: [
        `+1 ${200 + Math.floor(random() * 700)}-${200 + Math.floor(random() * 700)}-${1000 + Math.floor(random() * 9000)}`,
      ],
      city: pick(cities),
      country: pick(countries),
      postal_code: String(10000 + Math.floor(random() * 89999)),
      network_a_url: `https://network-a.example/in/${first}-${last}-${index}`.toLowerCase(),
    };
  }
}

/** Writes them as NDJSON. */
export async function writeContacts(file: string, count: number, organizations: number): Promise<void> {
  const stream = createWriteStream(file, { highWaterMark: 1024 * 1024 });
  let block = '';
  for (const contact of syntheticContacts(count, organizations)) {
    block += `${JSON.stringify(contact)}\n`;
    if (block.length > 1024 * 1024) {
      if (!stream.write(block)) await once(stream, 'drain');
      block = '';
    }
  }
  stream.end(block);
  await once(stream, 'finish');
}
