/** Files as spreadsheets and other tools write them, sent as they are. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type CallOptions, useGateway } from '../support/gateway.js';
import { expectProblem } from '../support/problems.js';

const CSV = { 'Content-Type': 'text/csv' };

describe('A file of another tool', () => {
  const gateway = useGateway();
  const file = (name: string) => readFileSync(`test/data/files/${name}`);
  const send = (
    stream: string,
    query: string,
    raw: CallOptions['raw'],
    headers: Record<string, string> = CSV,
  ) => gateway.call(`/api/ingest/${stream}?${query}`, undefined, { raw, headers });
  const contact = async (id: string) => {
    const { body } = await gateway.call('/api/contacts/get', { organization_id: 'org_a', contact_id: id });
    return body.contact as Record<string, unknown>;
  };

  it('may end its lines with CR alone', async () => {
    const people = await send('contacts', 'map=auto&on_reject=fail', file('01-cr-only-hubspot.csv'));
    expect(people.body, people.text).to.include({ accepted: 2, rejected: 0, preset: 'hubspot/contacts' });
    expect(await contact('2')).to.deep.include({ first_name: 'Bob', work_emails: ['bob@beta.example'] });
    const last = await send('contacts', 'map=hubspot/contacts', file('01b-cr-only-used-column-last.csv'));
    expect(last.body, last.text).to.include({ accepted: 2, rejected: 0 });
    const days = await send(
      'network-a-deliveries',
      'map=auto&dry_run=true',
      file('01-cr-only-linkedin-ads.csv'),
    );
    expect(days.body.records, days.text).to.have.length(1);
    expect((days.body.records as { record: object }[])[0]?.record).to.include({
      date: '2026-09-13',
      campaign_id: '77',
      ad_spend: '9.50',
      impressions: 300,
    });
  });

  it('loses no person behind ten thousand empty rows, which count as nothing', async () => {
    for (const row of [',,,', '"","","",""', ' , , , ']) {
      const text = `Record ID,First Name,Last Name,Email\n1,A,B,a@b.example\n${`${row}\n`.repeat(10_001)}2,C,D,c@d.example\n`;
      const { body } = await send('contacts', 'map=hubspot/contacts&on_reject=fail', text);
      expect(body).to.include({ accepted: 2, rejected: 0, skipped: 0 });
    }
  });

  it('is refused where it has no row, and says what to look at', async () => {
    const empty = await send('contacts', 'map=hubspot/contacts', 'Record ID,Email\n,\n,\n');
    expectProblem(empty, 400, 'invalid_body');
    expect(empty.body.detail).to.match(/^The file has a header and no row with a value behind it\./);
  });

  it('keeps the rows around one that is too long', async () => {
    const rows = Array.from({ length: 50 }, (_, at) => `r${at},${at === 20 ? 'x'.repeat(1_100_000) : 'Ann'}`);
    const { body } = await send('contacts', '', `contact_id,first_name\r${rows.join('\r')}\r`);
    expect(body).to.include({ accepted: 49, rejected: 1 });
    expect(body).to.nested.include({ 'errors[0].line': 22, 'errors[0].code': 'line_too_long' });
  });
});
