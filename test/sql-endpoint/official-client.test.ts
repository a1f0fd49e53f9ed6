import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { expect } from 'chai';
import { TODAY } from '../advertising/helper.js';
import { openSampleEndpoint, PASSWORD, type SampleEndpoint } from './sample-endpoint.js';

describe('@clickhouse/client at the SQL endpoint', () => {
  let endpoint: SampleEndpoint;
  let client: ClickHouseClient;

  before(async () => {
    endpoint = await openSampleEndpoint(TODAY);
    client = connect(PASSWORD);
  });
  after(async () => {
    await client.close();
    await endpoint.close();
  });

  const connect = (password: string) =>
    createClient({
      url: endpoint.url,
      password,
      database: 'reachline',
      compression: { response: true },
      log: { level: ClickHouseLogLevel.OFF },
    });
  const rejection = (promise: Promise<unknown>) =>
    promise.then(
      () => ({ code: 'let in' }),
      (error: { code: string; type: string }) => error,
    );

  it('reads rows with parameters', async () => {
    const result = await client.query({
      query:
        'SELECT campaign_id, min(date) AS first, sum(impressions) AS shown FROM campaign_daily WHERE organization_id = {organization:String} AND campaign_id IN {ids:Array(String)} GROUP BY campaign_id ORDER BY campaign_id',
      query_params: { organization: 'org_demo', ids: ['cam_001', 'cam_002', "it's"] },
    });
    const { data, rows } = await result.json<{ campaign_id: string; first: string; shown: string }>();
    expect(rows).to.equal(2);
    expect(data.map(({ campaign_id }) => campaign_id)).to.deep.equal(['cam_001', 'cam_002']);
    for (const { first, shown } of data) {
      expect(first).to.match(/^2026-05-/);
      expect(Number(shown)).to.be.greaterThan(1000);
    }
  });

  it('streams rows', async () => {
    const result = await client.query({
      query: 'SELECT number FROM numbers(200000)',
      format: 'JSONEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    });
    let sum = 0;
    for await (const rows of result.stream<{ number: number }>()) {
      for (const row of rows) sum += row.json().number;
    }
    expect(sum).to.equal((200_000 * 199_999) / 2);
  });

  it('exports files and reads the summary', async () => {
    const { stream, response_headers } = await client.exec({
      query: 'SELECT * FROM campaigns FORMAT Parquet',
    });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(Buffer.concat(chunks).subarray(0, 4).toString()).to.equal('PAR1');
    expect(JSON.parse(response_headers['x-clickhouse-summary'] as string)).to.include({ result_rows: '24' });
  });

  it('gets the codes of rejected inserts, writes and files', async () => {
    expect(
      await rejection(
        client.insert({ table: 'default.campaigns', values: [{ id: 'x' }], format: 'JSONEachRow' }),
      ),
    ).to.include({ code: '164', type: 'READONLY' });
    expect(await rejection(client.command({ query: 'TRUNCATE TABLE default.deliveries' }))).to.include({
      code: '164',
    });
    expect(await rejection(client.query({ query: "SELECT * FROM file('/etc/passwd')" }))).to.include({
      code: '497',
      type: 'ACCESS_DENIED',
    });
    expect(await rejection(client.query({ query: 'SELECT nothing FROM campaigns' }))).to.include({
      code: '47',
      type: 'UNKNOWN_IDENTIFIER',
    });
  });

  it('gets the error of a wrong password', async () => {
    const stranger = connect('wrong');
    expect(await rejection(stranger.query({ query: 'SELECT 1' }))).to.include({
      code: '516',
      type: 'AUTHENTICATION_FAILED',
    });
    await stranger.close();
  });

  it('gets an answer to a ping', async () => {
    expect(await client.ping()).to.deep.equal({ success: true });
    expect(await client.ping({ select: true })).to.deep.equal({ success: true });
  });
});
