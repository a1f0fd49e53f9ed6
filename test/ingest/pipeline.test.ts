import { expect } from 'chai';
import { IngestLimitError, type IngestLimits, ingestText } from '../../ingest/pipeline.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { ContactRecord } from '../../services/contacts/schema.js';
import { suppressedRecord } from '../../services/contacts/suppression.js';
import { acceptedByLine, type OrderedRecord } from '../../services/shared/record-order.js';
import { PartialWriteError, RecordRejectedError, RejectedError } from '../../services/shared/store-errors.js';
import type { Stores } from '../../services/stores/open-stores.js';
import { parsed } from '../support/parsed-store.js';
import { openTemporaryStores } from '../support/temporary-stores.js';

const ACCEPTED_AT = Date.parse('2026-08-01T12:00:00Z');

async function* inPieces(text: string, size = 1000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

describe('The pipeline', () => {
  let stores: Stores;
  before(async () => {
    stores = await openTemporaryStores();
  });
  after(() => stores.close());

  const load = (stream: StreamName, text: string, more: Partial<Parameters<typeof ingestText>[0]> = {}) =>
    ingestText({
      stream: STREAMS[stream],
      stores,
      source: inPieces(text),
      format: 'ndjson',
      acceptance: acceptedByLine({ now: () => ACCEPTED_AT }),
      ...more,
    });
  /** The error that ends the ingest of a text. */
  const failureOf = (...args: Parameters<typeof load>) => load(...args).catch((error: unknown) => error);

  it('writes the good records around rejected ones, and reports the line of each rejection', async () => {
    const text = [
      '{"contact_id":"p1"}',
      'not json',
      '',
      '{"contact_id":"p2","organization_id":"org_other"}',
      '{"contact_id":"p3","ciyt":"Ulm"}',
      '{"contact_id":"p4"}',
    ].join('\n');
    const { accepted, rejected, errors } = await load('contacts', text, { organizationId: 'org_p' });
    expect({ accepted, rejected }).to.deep.equal({ accepted: 2, rejected: 3 });
    expect(errors.map(({ line, code, pointer }) => [line, code, pointer])).to.deep.equal([
      [2, 'invalid_json', ''],
      [4, 'organization_mismatch', '/organization_id'],
      [5, 'unknown_field', '/ciyt'],
    ]);
    expect(errors[2]?.detail).to.match(/city/);
    expect(await parsed(stores.records).getContact('org_p', 'p1')).to.include({ contact_id: 'p1' });
    expect(await parsed(stores.records).getContact('org_p', 'p4')).to.include({ contact_id: 'p4' });
    expect(await parsed(stores.records).getContact('org_other', 'p2')).to.equal(null);
  });

  it('names the first 100 rejected lines in order, also where the store tells its own last', async () => {
    const lines = Array.from({ length: 300 }, (_, index) =>
      index % 2 === 0 ? `{"contact_id":"o${index}"}` : `{"contact_id":"o${index}","age":"old"}`,
    );
    const { rejected, errors } = await load('contacts', lines.join('\n'), {
      organizationId: 'org_p',
      stores: {
        records: {
          preferredBatchSize: 7,
          refresh: async () => undefined,
          upsertContacts: async (records: readonly OrderedRecord<ContactRecord>[]) => {
            throw new PartialWriteError(
              new Map(records.map((_, index) => [index, new RecordRejectedError('refused', '', 'No.')])),
            );
          },
        },
      } as never,
    });
    expect(rejected).to.equal(300);
    expect(errors.map(({ line }) => line)).to.deep.equal(
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
  });

  it('rounds money of more than 12 digits after the point, and counts the records', async () => {
    const deliveries = ['1.1234567890125', '1.5000000000000', '-1', '0.1'].map((ad_spend, index) =>
      JSON.stringify({ date: '2026-07-01', campaign_id: `money_${index}`, creative_id: 'c', ad_spend }),
    );
    const { errors, ...counts } = await load('network-a-deliveries', deliveries.join('\n'), {
      organizationId: 'org_p',
      stores: { analytics: { preferredBatchSize: 10, insertDeliveries: async () => undefined } } as never,
    });
    expect(counts).to.deep.equal({
      accepted: 3,
      rejected: 1,
      skipped: 0,
      rounded: 1,
      suppressed: 0,
      stale: 0,
      invalid_domains: 0,
      invalid_values: 0,
    });
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include({ line: 3, pointer: '/ad_spend' });
  });

  it('accepts records that a newer one makes stale, and counts them', async () => {
    const counts = async (stream: 'contacts' | 'audiences', ...lines: object[]) => {
      const text = lines.map((line) => JSON.stringify(line)).join('\n');
      const { accepted, rejected, stale } = await load(stream, text, { organizationId: 'org_p' });
      return { accepted, rejected, stale };
    };
    const [older, newer] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
    const contact = (updated_at: string, more = {}) => ({ contact_id: 'stale', updated_at, ...more });
    const expected = { accepted: 2, rejected: 0 };
    expect(await counts('contacts', contact(newer), contact(older))).to.deep.equal({ ...expected, stale: 1 });
    const deletions = [contact(older, { deleted: true }), contact(newer, { deleted: true })];
    expect(await counts('contacts', ...deletions)).to.deep.equal({ ...expected, stale: 1 });
    expect(await counts('contacts', contact(older), contact(older))).to.deep.equal({ ...expected, stale: 2 });
    const audience = (updated_at: string) => ({ id: 'stale', name: 'North', updated_at });
    expect(await counts('audiences', audience(newer), audience(older))).to.deep.equal({
      ...expected,
      stale: 1,
    });
  });

  it('rejects records that ask for more audiences than a contact may have, and says why', async () => {
    const joining = (prefix: string) =>
      JSON.stringify({
        contact_id: 'many',
        audience_ids: Array.from({ length: 6000 }, (_, index) => `${prefix}${index}`),
      });
    const options = { organizationId: 'org_p', acceptance: acceptedByLine({ now: () => ACCEPTED_AT + 1 }) };
    await load('contacts', joining('a'), { organizationId: 'org_p' });
    const all = await load('contacts', joining('b'), options);
    expect({ accepted: all.accepted, rejected: all.rejected }).to.deep.equal({ accepted: 0, rejected: 1 });
    expect(all.errors[0]).to.include({ line: 1, code: 'too_many_audiences', pointer: '/audience_ids' });
    const some = await load('contacts', `{"contact_id":"p5"}\n${joining('b')}`, options);
    expect(some.accepted).to.equal(1);
    expect(some.errors.map(({ line, code }) => [line, code])).to.deep.equal([[2, 'too_many_audiences']]);
  });

  it('accepts a JSON array, counting its elements from 1, and a single object', async () => {
    const text = ' [ {"contact_id":"a1","city":"],\\"["} , {"contact_id":""},{"contact_id":"a2"}]\n';
    const { accepted, errors } = await load('contacts', text, { organizationId: 'org_p', format: 'json' });
    expect(accepted).to.equal(2);
    expect(errors.map(({ line, code }) => [line, code])).to.deep.equal([[2, 'required']]);
    expect((await load('contacts', '[]', { format: 'json' })).accepted).to.equal(0);
    const one = await load('contacts', '\n{"contact_id":"a3"}\n', {
      organizationId: 'org_p',
      format: 'json',
    });
    expect(one).to.include({ accepted: 1, rejected: 0 });
  });

  it('takes nothing of a text that is no JSON array, nor a single object', async () => {
    for (const [text, code = 'invalid_json'] of [
      ['"text"', 'invalid_body'],
      ['{"contact_id":"x1"}\n{"contact_id":"x2"}'],
      [''],
      ['['],
      ['[{"contact_id":"x1"}'],
      ['[{"contact_id":"x1"},]'],
      ['[{"contact_id":"x1"}]]'],
      ['[{"contact_id":"x1"} {}]'],
      ['[{"contact_id":"x1"}, nope]'],
    ] as [text: string, code?: string][]) {
      const error = await failureOf('contacts', text, { organizationId: 'org_p', format: 'json' });
      expect(error, text).to.include({ name: 'UnreadableInputError', code });
    }
    expect(await parsed(stores.records).getContact('org_p', 'x1')).to.equal(null);
  });

  it('lists the first 100 rejections, and passes all of them to its listener', async () => {
    let calls = 0;
    const { rejected, errors } = await load('contacts', 'x\n'.repeat(250), { onRejected: () => calls++ });
    expect([rejected, errors.length, errors.at(-1)?.line, calls]).to.deep.equal([250, 100, 100, 250]);
  });

  it('rejects a record of more than 20 000 values before it is parsed, also as the only object and in an array', async () => {
    const large = `{"contact_id":"v","phones":[${'['.repeat(30_000)}`;
    const valid = `{"contact_id":"v","phones":[${Array(20_000).fill('""').join(',')}]}`;
    for (const [format, text, lines] of [
      ['ndjson', `${large}\n{"contact_id":"w"}\n${valid}`, [1, 3]],
      ['json', valid, [1]],
      ['json', `[{"contact_id":"w"},${valid}]`, [2]],
    ] as const) {
      const { errors } = await load('contacts', text, { organizationId: 'org_v', format });
      expect(errors.map(({ line, code }) => [line, code])).to.deep.equal(
        lines.map((line) => [line, 'too_many_values']),
      );
    }
  });

  for (const format of ['ndjson', 'json'] as const) {
    it(`ends at its limits, with everything before them written (${format})`, async () => {
      const list = (records: string[]) => (format === 'json' ? `[${records.join(',')}]` : records.join('\n'));
      const atLimit = async (limits: IngestLimits, records: string[]) => {
        const error = await load('contacts', list(records), { organizationId: 'org_l', format, limits }).then(
          ({ accepted, rejected }) => ({ accepted, rejected }),
          (reason: unknown) => reason,
        );
        if (!(error instanceof IngestLimitError)) return error;
        const { accepted, rejected } = error.result;
        return { limit: error.limit, accepted, rejected };
      };
      const good = Array.from({ length: 30 }, (_, index) => `{"contact_id":"l${index}"}`);
      expect(await atLimit({ records: 30, rejected: 1 }, good)).to.deep.equal({ accepted: 30, rejected: 0 });
      expect(await atLimit({ records: 29, rejected: 1 }, good)).to.deep.equal({
        limit: 'records',
        accepted: 29,
        rejected: 0,
      });
      const bad = good.flatMap((record) => [record, '{}']);
      expect(await atLimit({ records: 100, rejected: 5 }, bad)).to.deep.equal({
        limit: 'rejected',
        accepted: 5,
        rejected: 5,
      });
      expect(await parsed(stores.records).getContact('org_l', 'l28')).to.include({ contact_id: 'l28' });
    });
  }

  it('rejects a line of more than 1 MiB, continues behind it, and passes on its bytes as received', async () => {
    const long = `{"contact_id":"${'x'.repeat(1024 * 1024)}"}`;
    const pieces: Buffer[] = [];
    const { accepted, errors } = await load('contacts', `{"contact_id":"l1"}\n${long}\n{"contact_id":"l2"}`, {
      organizationId: 'org_p',
      source: inPieces(`{"contact_id":"l1"}\n${long}\n{"contact_id":"l2"}`, 65_536),
      onOverlong: (piece) => pieces.push(piece),
      onRejected: (_, untouched) => pieces.push(untouched),
    });
    expect(accepted).to.equal(2);
    expect(errors.map(({ line, code }) => [line, code])).to.deep.equal([[2, 'line_too_long']]);
    expect(Buffer.concat(pieces).toString()).to.equal(long);
  });

  it('writes records of one contact in their order, across batches', async () => {
    const text = Array.from({ length: 1200 }, (_, n) => `{"contact_id":"same","city":"City ${n}"}`).join(
      '\n',
    );
    await load('contacts', text, { organizationId: 'org_p' });
    expect((await parsed(stores.records).getContact('org_p', 'same'))?.city).to.equal('City 1199');
  });

  it('writes the records of a slow source before it delivers more', async () => {
    let release = () => {};
    const more = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* slowly() {
      yield Buffer.from('{"contact_id":"slow1"}\n');
      await more;
      yield Buffer.from('{"contact_id":"slow2"}\n');
    }
    const loading = load('contacts', '', {
      organizationId: 'org_p',
      source: slowly(),
      onProgress: () => release(),
    });
    expect((await loading).accepted).to.equal(2);
  });

  it('yields to other work while it decodes', async () => {
    let turns = 0;
    let running = true;
    const count = () => {
      turns++;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const line = JSON.stringify({ id: 'v', organizationId: 'org_p', createdAt: '2026-01-01' });
    await load('website-visits', `${line}\n`.repeat(20_000), {
      source: inPieces(`${line}\n`.repeat(20_000), 16_000_000),
    });
    running = false;
    expect(turns).to.be.above(10);
  });

  it('fails when the source fails', async () => {
    async function* breaking() {
      yield Buffer.from('{"contact_id":"b1"}\n');
      throw new Error('connection lost');
    }
    const error = await failureOf('contacts', '', { organizationId: 'org_p', source: breaking() });
    expect(error).to.include({ message: 'connection lost' });
  });

  it('fails where the writer has a fault, or rejects all but erased persons, and calls no record rejected', async () => {
    type Writing = (records: readonly OrderedRecord<ContactRecord>[]) => Promise<void>;
    const failureOver = (upsertContacts: Writing) =>
      failureOf('contacts', '{"contact_id":"c1"}\n{"contact_id":"c2"}', {
        organizationId: 'org_a',
        stores: { records: { preferredBatchSize: 10, upsertContacts } } as never,
      });
    const fault = await failureOver(async (records) => {
      if (records.some(({ record }) => record.contact_id === 'c2')) throw new TypeError('a fault');
    });
    expect(fault).to.be.instanceOf(TypeError);
    const rejection = await failureOver(async (records) => {
      const isErased = records.length === 1 && records[0]?.record.contact_id === 'c1';
      throw isErased ? new PartialWriteError(new Map([[0, suppressedRecord()]])) : new RejectedError('no');
    });
    expect(rejection).to.be.instanceOf(RejectedError);
  });
});
