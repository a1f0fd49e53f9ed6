/** The records that the judged queries search: the real ones of test/data, and the sample, in the scripts of 24 countries. */
import type { StreamName } from '../../ingest/streams/index.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { audienceRecords, contactRecords } from '../../services/demo/contacts.js';
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

export const RECORD_SETS: Record<'congress' | 'sample', RecordSet> = {
  congress: {
    organizationId: 'org_congress',
    contacts: realRecords('contacts'),
    audiences: realRecords('audiences'),
  },
  sample: {
    organizationId: DEMO_ORGANIZATION,
    contacts: contactRecords(DAY).map((fields) => ({ id: fields.contact_id, fields })),
    audiences: audienceRecords(DAY).map((fields) => ({ id: fields.id, fields })),
  },
};

function realRecords(stream: StreamName): SearchedRecord[] {
  return realLines(stream).map((line) => {
    const fields = JSON.parse(line) as Record<string, unknown>;
    return { id: String(fields.contact_id ?? fields.id), fields };
  });
}
