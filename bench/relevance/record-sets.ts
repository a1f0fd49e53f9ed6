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

/** 62 made people, whose names, titles, companies, cities and phones people write in several ways. */
export const MADE_PEOPLE: SearchedRecord[] = readFileSync(
  join(packageRoot, 'bench/relevance/people.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Record<string, unknown>)
  .map((fields) => ({ id: fields.contact_id as string, fields }));

const MIXED = 'org_mixed';

export const RECORD_SETS: Record<'congress' | 'sample' | 'mixed', RecordSet> = {
  congress,
  sample,
  /** The made people among all others. */
  mixed: {
    organizationId: MIXED,
    contacts: [...MADE_PEOPLE, ...sample.contacts, ...congress.contacts].map(({ id, fields }) => ({
      id,
      fields: { ...fields, organization_id: MIXED, audience_ids: undefined },
    })),
    audiences: [],
  },
};

function realRecords(stream: StreamName): SearchedRecord[] {
  return realLines(stream).map((line) => {
    const fields = JSON.parse(line) as Record<string, unknown>;
    return { id: String(fields.contact_id ?? fields.id), fields };
  });
}
