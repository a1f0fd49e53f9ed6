/** Files as their sources write them (test/data/presets), recognized and mapped to the records in the files beside them. */
import { createReadStream, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { decoder } from '../../ingest/decode.js';
import { PRESETS } from '../../ingest/presets/index.js';
import { presetMapping } from '../../ingest/presets/named-mappings.js';
import { AUTO } from '../../ingest/presets/recognize.js';
import { recognizeText } from '../../ingest/sources/recognize-text.js';
import { mapText, openText } from '../../ingest/sources/text.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';

import { PRESET_FILES, type PresetFile } from './preset-files.js';

const DATA = 'test/data/presets';
const HEADERS = Object.values(PRESETS).map(({ recognize }) => recognize);

/** The preset of a text, and what becomes of its records: the record, `skipped`, or the code of its rejection. */
async function load(source: Readable, stream: StreamName, format: 'csv' | 'ndjson') {
  const text = await openText(source, format, { headers: HEADERS });
  const found = await recognizeText(text, AUTO, stream);
  if ('reason' in found) {
    text.close();
    return { reason: found.reason, records: [] };
  }
  const records: unknown[] = [];
  const mapping = presetMapping(found.name);
  for await (const chunk of await mapText(text, STREAMS[stream] as Stream, mapping)) {
    for (const raw of chunk) {
      records.push(raw.isSkipped ? 'skipped' : (raw.mapped ?? raw.rejection?.code));
    }
  }
  return { preset: found.name, records };
}

const text = (lines: readonly string[]) => Readable.from([Buffer.from(`${lines.join('\n')}\n`)]);

/** Loads a file of `DATA`: expects its preset, and the records of the file beside it, which the stream accepts. */
async function expectRecords(preset: string, [file, stream, expected]: PresetFile): Promise<void> {
  const format = file.endsWith('.csv') ? 'csv' : 'ndjson';
  const { records, ...found } = await load(createReadStream(`${DATA}/${file}`), stream, format);
  expect(found).to.deep.equal({ preset });
  const decode = decoder(STREAMS[stream] as Stream, { organizationId: 'org_a', others: 'reject' });
  for (const record of records) {
    if (typeof record === 'string') continue;
    const mapped = structuredClone(record) as object;
    expect(decode({ line: 1, bytes: Buffer.alloc(0), mapped }, Date.parse('2026-11-25'), 1).kind).to.equal(
      'ok',
    );
  }
  const beside = readFileSync(`${DATA}/${expected ?? file.replace(/\.\w+$/, '.expected.ndjson')}`, 'utf8');
  expect(records).to.deep.equal(
    beside
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
}

describe('The preset', () => {
  for (const [preset, file] of Object.entries(PRESET_FILES)) {
    it(`${preset} is recognized by ${file[0]}, and gives the records beside it`, () =>
      expectRecords(preset, file));
  }
});

describe('A preset of deliveries', () => {
  for (const [name, { stream, period, dimensions }] of Object.entries(PRESETS)) {
    if (stream !== 'network-a-deliveries') continue;
    it(`${name} says which days a row is about, and which columns make it finer than a delivery`, () => {
      expect(period?.start ?? '').to.not.equal('');
      expect(Object.keys(dimensions ?? {})).to.not.be.empty;
    });
  }
});

const OTHER_FILES: [how: string, preset: string, ...PresetFile][] = [
  [
    'by a header in capitals, as Data Loader writes it',
    'salesforce/contacts',
    'salesforce/contacts-capitals.csv',
    'contacts',
  ],
  [
    'among the other messages of the protocol of Airbyte, which are skipped',
    'airbyte-linkedin-ads/ad_campaign_analytics',
    'airbyte-linkedin-ads/messages.jsonl',
    'network-a-deliveries',
  ],
  [
    'in a cell of CSV that holds the JSON of a record',
    'airbyte-linkedin-ads/campaigns',
    'airbyte-linkedin-ads/raw-campaigns.csv',
    'network-a-campaigns',
  ],
  ['by labels of HubSpot in German', 'hubspot/contacts', 'hubspot/contacts-de.csv', 'contacts'],
  ['by labels of HubSpot in French', 'hubspot/contacts', 'hubspot/contacts-fr.csv', 'contacts'],
  [
    'by a report of ad sets, as LinkedIn calls campaigns since groups of them are called campaigns',
    'linkedin-campaign-manager/campaign-performance',
    'linkedin-campaign-manager/ad_set_performance_report.csv',
    'network-a-deliveries',
    'linkedin-campaign-manager/ad_set_performance_report.deliveries.ndjson',
  ],
  ['by the rates of one day, whose date is in words', 'ecb/eurofxref', 'ecb/eurofxref.csv', 'currency-rates'],
];

describe('A preset is recognized', () => {
  for (const [how, preset, ...file] of OTHER_FILES) it(how, () => expectRecords(preset, file));

  it('and knows one person by the profile, however a tool writes its address', async () => {
    const apollo = ['First Name,Last Name,Title,Email,Person Linkedin Url,Company Linkedin Url'];
    for (const url of [
      'http://www.linkedin.com/in/ann-lee',
      'https://linkedin.com/in/ann-lee',
      'https://uk.linkedin.com/in/ann-lee',
      'http://www.linkedin.com/in/ann-lee?trk=x',
      'https://www.linkedin.com/in/ann-lee/en',
      'https://www.linkedin.com/comm/in/Ann-Lee?midToken=1',
    ])
      apollo.push(`Ann,Lee,CEO,ann@acme.example,${url},http://www.linkedin.com/company/acme`);
    const connections = ['First Name,Last Name,URL,Email Address,Company,Position,Connected On'];
    for (const slug of ['zo%C3%AB-w', 'zoë-w', 'Zoe\u0308-W/'])
      connections.push(`Zoe,W,https://www.linkedin.com/in/${slug},,Acme,CEO,05 Mar 2024`);
    const ids = async (lines: readonly string[]) =>
      new Set(
        (await load(text(lines), 'contacts', 'csv')).records.map(
          (each) => (each as { contact_id?: string }).contact_id,
        ),
      );
    expect(await ids(apollo)).to.deep.equal(new Set(['ann-lee']));
    expect(await ids(connections)).to.deep.equal(new Set(['zo_c3_ab-w']));
    // The address of a company is not a person.
    const company = [
      apollo[0] as string,
      'Ann,Lee,CEO,ann@acme.example,https://www.linkedin.com/company/acme,x',
    ];
    expect(await ids(company)).to.deep.equal(new Set(['ann_40acme.example']));
  });

  it('or one of the same kind is named as the closest, with what it misses', async () => {
    const lines = ['Record ID,First Name,Last Name', '1,Ann,Lee'];
    expect((await load(text(lines), 'contacts', 'csv')).reason).to.equal(
      'No preset fits. Of those for this stream hubspot/contacts comes closest; it misses "Email".',
    );
    const other = ['Lead Score,First Name,Last Name,Email', '1,Ann,Lee,a@x.example'];
    expect((await load(text(other), 'contacts', 'csv')).reason).to.equal('No preset fits.');
  });
});
