/** Files as their sources write them (test/data/presets), recognized and mapped to the records beside them. */
import { createReadStream, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { decoder } from '../../ingest/decode.js';
import { PRESETS } from '../../ingest/presets/index.js';
import { presetMapping } from '../../ingest/presets/named-mappings.js';
import { AUTO, presetsNamed } from '../../ingest/presets/recognize.js';
import { recognizeText } from '../../ingest/sources/recognize-text.js';
import { mapText, openText } from '../../ingest/sources/text.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';

import { PRESET_FILES } from './preset-files.js';

const DATA = 'test/data/presets';
const HEADERS = Object.values(PRESETS).map(({ recognize }) => recognize);

/** The preset of a text, and what becomes of its records: the record, `skipped`, or the code of its rejection. */
async function load(source: Readable, stream: StreamName, format: 'csv' | 'ndjson', named = AUTO) {
  const text = await openText(source, format, { headers: HEADERS });
  const found = await recognizeText(text, presetsNamed(named), stream);
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

describe('The preset', () => {
  for (const [preset, [file, stream]] of Object.entries(PRESET_FILES)) {
    it(`${preset} is recognized by ${file}, and gives the records beside it`, async () => {
      const format = file.endsWith('.csv') ? 'csv' : 'ndjson';
      const { records, ...found } = await load(createReadStream(`${DATA}/${file}`), stream, format);
      expect(found).to.deep.equal({ preset });
      const decode = decoder(STREAMS[stream] as Stream, { organizationId: 'org_a', others: 'reject' });
      for (const record of records) {
        if (typeof record === 'string') continue;
        const mapped = structuredClone(record) as object;
        expect(
          decode({ line: 1, bytes: Buffer.alloc(0), mapped }, Date.parse('2026-11-25'), 1).kind,
        ).to.equal('ok');
      }
      const expected = readFileSync(`${DATA}/${file.replace(/\.\w+$/, '.expected.ndjson')}`, 'utf8');
      expect(records).to.deep.equal(
        expected
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      );
    });
  }
});

describe('A preset is recognized', () => {
  it('by a header in capitals, as Data Loader writes it', async () => {
    const lines = ['ID,FIRSTNAME,LASTNAME,EMAIL,ISDELETED', '1,Ann,Lee,a@x.example,false', '2,Bo,Li,,true'];
    expect(await load(text(lines), 'contacts', 'csv')).to.deep.equal({
      preset: 'salesforce/contacts',
      records: [
        { contact_id: '1', first_name: 'Ann', last_name: 'Lee', work_emails: ['a@x.example'] },
        'skipped',
      ],
    });
  });

  it('among the other messages of the protocol of Airbyte, which are skipped', async () => {
    const data = {
      start_date: '2026-01-02',
      end_date: '2026-01-02',
      pivotValues: ['urn:li:sponsoredCampaign:7'],
      clicks: 3,
    };
    const lines = [
      { type: 'LOG', log: { level: 'INFO', message: 'Starting' } },
      { type: 'RECORD', record: { stream: 'ad_campaign_analytics', data, emitted_at: 1767312000000 } },
      { type: 'STATE', state: { type: 'STREAM', stream: {} } },
      { type: 'TRACE', trace: { type: 'ESTIMATE', emitted_at: 1 } },
    ].map((message) => JSON.stringify(message));
    const { preset, records } = await load(text(lines), 'network-a-deliveries', 'ndjson');
    expect(preset).to.equal('airbyte-linkedin-ads/ad_campaign_analytics');
    expect(records).to.deep.equal([
      'skipped',
      {
        date: '2026-01-02',
        campaign_id: '7',
        creative_id: 'urn:li:sponsoredCampaign:7',
        clicks: 3,
        reported_at: '2026-01-02T00:00:00.000Z',
      },
      'skipped',
      'skipped',
    ]);
  });

  it('in a cell of CSV that holds the JSON of a record', async () => {
    const data = JSON.stringify({
      id: 8,
      name: 'C',
      campaignGroup: 'urn:li:sponsoredCampaignGroup:9',
      account: 'urn:li:sponsoredAccount:1',
      costType: 'CPC',
    });
    const lines = [
      '_airbyte_raw_id,_airbyte_extracted_at,_airbyte_data',
      `r1,2026-01-01T00:00:00Z,"${data.replaceAll('"', '""')}"`,
    ];
    const { preset, records } = await load(text(lines), 'network-a-campaigns', 'csv');
    expect(preset).to.equal('airbyte-linkedin-ads/campaigns');
    expect(records[0]).to.include({ id: '8', name: 'C', campaign_group_id: '9', account_id: '1' });
  });

  it('by labels of HubSpot in German and French', async () => {
    const records = {
      de: {
        contact_id: '51',
        first_name: 'Ines',
        last_name: 'Vogt',
        work_emails: ['ines@vogt.example'],
        phones: ['+49 731 1'],
        job_title: 'Leiterin',
        company_name: 'Vogt GmbH',
        company_domain: 'https://www.vogt.example',
        city: 'Ulm',
        country: 'Deutschland',
        created_at: '2026-10-05T06:07:00Z',
      },
      fr: {
        contact_id: '52',
        first_name: 'Luc',
        last_name: 'Morel',
        work_emails: ['luc@morel.example'],
        phones: ['+33 4'],
        job_title: 'Directeur',
        company_name: 'Morel',
        city: 'Lyon',
        country: 'France',
        created_at: '2026-10-05T06:07:00Z',
      },
    };
    for (const [language, record] of Object.entries(records)) {
      const file = createReadStream(`${DATA}/hubspot/contacts-${language}.csv`);
      expect(await load(file, 'contacts', 'csv')).to.deep.equal({
        preset: 'hubspot/contacts',
        records: [record],
      });
    }
  });

  it('by a report of ad sets, as LinkedIn calls campaigns since groups of them are called campaigns', async () => {
    const file = createReadStream(`${DATA}/linkedin-campaign-manager/ad_set_performance_report.csv`);
    expect(await load(file, 'network-a-deliveries', 'csv')).to.deep.equal({
      preset: 'linkedin-campaign-manager/campaign-performance',
      records: [
        { campaign_id: '31', ad_spend: '1.50', impressions: 1210, clicks: 3 },
        { campaign_id: '32', ad_spend: '2002.50', impressions: 20, clicks: 0 },
      ].map((record) => ({
        date: '2026-10-05',
        ...record,
        creative_id: `urn:li:sponsoredCampaign:${record.campaign_id}`,
      })),
    });
  });

  it('by the rates of one day, whose date is in words', async () => {
    const file = createReadStream(`${DATA}/ecb/eurofxref.csv`);
    expect(await load(file, 'currency-rates', 'csv')).to.deep.equal({
      preset: 'ecb/eurofxref',
      records: [
        ['USD', '1.1524'],
        ['JPY', '179.93'],
        ['BGN', '1.9558'],
        ['CZK', '24.190'],
        ['DKK', '7.4684'],
      ].map(([currency, per_eur]) => ({ date: '2026-11-25', currency, per_eur })),
    });
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
