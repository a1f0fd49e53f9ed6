/** The records that the judged queries search: the real ones of test/data, and the sample, in the scripts of 24 countries. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StreamName } from '../../ingest/streams/index.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { audienceRecords, contactRecords } from '../../services/demo/contacts.js';
import { packageRoot } from '../../services/shared/fs.js';
import { realLines } from '../../test/support/real-data.js';

export interface SearchedRecord {
  id: string;
  fields: Record<string, unknown>;
}

export interface RecordSet {
  organizationId: string;
  contacts: SearchedRecord[];
  audiences: SearchedRecord[];
}

/** The sample differs between days in nothing but its dates. */
const DAY = '2026-11-21';

const congress: RecordSet = {
  organizationId: 'org_congress',
  contacts: realRecords('contacts'),
  audiences: realRecords('audiences'),
};
const sample: RecordSet = {
  organizationId: DEMO_ORGANIZATION,
  contacts: contactRecords(DAY).map((fields) => ({ id: fields.contact_id, fields })),
  audiences: audienceRecords(DAY).map((fields) => ({ id: fields.id, fields })),
};

const readPeople = (file: string): SearchedRecord[] =>
  readFileSync(join(packageRoot, 'bench/relevance', file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map((fields) => ({ id: fields.contact_id as string, fields }));

/** 62 made people, whose names, titles, companies, cities and phones people write in several ways. */
export const MADE_PEOPLE = readPeople('people.jsonl');

/** 44 made people of 30 countries: names in five scripts, phones stored nationally, titles in 17 languages. */
const DOOR_PEOPLE = readPeople('door-people.jsonl');

const GIVEN =
  'Quentin Odette Ferdinand Marigold Leopold Ulrike Osvaldo Petronella Casper Winifred Ambrose'.split(' ');
const FAMILY =
  'Hollingberry Vasterling Okonkwo-Lund Brightmore Castellaneta Dunderdale Eversfield Fairclough'.split(' ');

/** Beside each person a relative, of the same last name and city, and two colleagues, of the same company. */
const NEIGHBOURS = DOOR_PEOPLE.flatMap(({ id, fields }, index): SearchedRecord[] => {
  const { last_name, city, country, company_name, company_domain, updated_at } = fields;
  const given = (by: number) => GIVEN[(index + by) % GIVEN.length] as string;
  const family = (by: number) => FAMILY[(index + by) % FAMILY.length] as string;
  const works = { city, country, company_name, company_domain };
  const person = (contact_id: string, own: object): SearchedRecord => ({
    id: contact_id,
    fields: { contact_id, updated_at, ...own },
  });
  return [
    person(`${id}_relative`, { first_name: given(0), last_name, city, country, job_title: 'Optician' }),
    ...[1, 2].map((by) =>
      person(`${id}_colleague_${by}`, {
        ...works,
        first_name: given(by),
        last_name: family(by),
        job_title: by === 1 ? 'Warehouse Planner' : 'Receptionist',
        work_emails: [`${given(by)}.${family(by)}@${company_domain}`.toLowerCase()],
      }),
    ),
  ];
});

const recordSet = (organizationId: string, contacts: readonly SearchedRecord[]): RecordSet => ({
  organizationId,
  contacts: contacts.map(({ id, fields }) => ({
    id,
    fields: { ...fields, organization_id: organizationId, audience_ids: undefined },
  })),
  audiences: [],
});

const others = [...sample.contacts, ...congress.contacts];

export const RECORD_SETS = {
  congress,
  sample,
  /** The made people among all others. */
  mixed: recordSet('org_mixed', [...MADE_PEOPLE, ...others]),
  door: recordSet('org_door', [...DOOR_PEOPLE, ...others]),
  crowd: recordSet('org_crowd', [...DOOR_PEOPLE, ...NEIGHBOURS, ...others]),
  /** The 44 people alone: of so few, no word is one in a hundred. */
  few: recordSet('org_few', DOOR_PEOPLE),
  /** Of titles, countries, companies and last names that filters tell apart. */
  segments: recordSet('org_segments', readPeople('segments.jsonl')),
} satisfies Record<string, RecordSet>;

function realRecords(stream: StreamName): SearchedRecord[] {
  return realLines(stream).map((line) => {
    const fields = JSON.parse(line) as Record<string, unknown>;
    return { id: String(fields.contact_id ?? fields.id), fields };
  });
}
