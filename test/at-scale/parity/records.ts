import { STREAM_NAMES, type StreamName } from '../../../ingest/streams/index.js';
import { demoRecords } from '../../../services/demo/load.js';
import { fuzzRecords } from '../../gateway/fuzz-records.js';
import { runs } from '../../support/random.js';
import { realLines } from '../../support/real-data.js';

export type Json = Record<string, unknown>;
export type Records = Record<StreamName, Json[]>;

/** Number of newest records of each stream, from the real data and from the sample. */
const MOST = runs(1500);

/**
 * The real records of test/data, the sample of a day, and the records that random requests look for, for the organization of the API key.
 */
export function parityRecords(day: string): Records {
  const sample = emptyRecords();
  for (const [stream, records] of demoRecords(day)) sample[stream].push(...(records as Json[]));
  const all = emptyRecords();
  for (const stream of STREAM_NAMES) {
    const real = realLines(stream).map((line) => JSON.parse(line) as Json);
    const known = (fuzzRecords[stream] ?? []) as Json[];
    // Ingest assigns records without an organization to the organization of the API key.
    all[stream] = [...real.slice(-MOST), ...sample[stream].slice(-MOST), ...known].map(
      ({ organization_id: _, organizationId: __, ...record }) => record,
    );
  }
  all.contacts.push(...VARIED);
  return all;
}

const emptyRecords = () => Object.fromEntries(STREAM_NAMES.map((name) => [name, [] as Json[]])) as Records;

/** Values that are written in several ways. */
const VARIED: Json[] = [
  { country: 'Viet Nam', company_domain: 'münchen.example', phones: ['+44 (0)20 7946 0958'] },
  { country: 'VN', company_domain: 'xn--mnchen-3ya.example', phones: ['0044 20 7946 0958 ext. 12'] },
  { country: 'Congo', work_emails: ['jörg@müller.example', 'jorg@muller.example'], postal_code: 'SW1A 1AA' },
  { country: 'CD', work_emails: ['jorg@xn--mller-kva.example'], phones: ['٠١٢٣٤٥٦٧٨٩'] },
  { country: 'Côte d’Ivoire', network_a_url: 'https://n.example/in/j%C3%B6rg-m', postal_code: '98201-1234' },
  { country: 'UK', network_a_url: 'n.example/in/jörg-m', job_title: 'Editor of www.senate.gov' },
  { country: 'Germany', last_name: 'Müller', company_name: 'Bäckerei Schön', phones: ['030 1234567'] },
  {
    country: 'Deutschland',
    last_name: 'Mueller',
    company_name: 'Baeckerei Schoen',
    phones: ['+49 30 1234567'],
  },
  { country: 'Россия', last_name: 'Ågård', city: 'Aarhus', phones: ['8 912 345-67-89'] },
  { country: 'ایران', first_name: 'علي', last_name: 'کریمی', phones: ['+7 912 345 67 89'] },
  { country: 'Egypt', first_name: 'على', last_name: 'كريمي' },
].map((record, number) => ({
  contact_id: `varied_${number}`,
  first_name: 'Jörg',
  last_name: `M${number}`,
  ...record,
}));
