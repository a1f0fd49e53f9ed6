import { isIP } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import fc from 'fast-check';
import { endpoints } from '../../services/gateway/api.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { runs } from '../support/random.js';
import { fuzzRecords } from './fuzz-records.js';
import { type Body, type JsonSchema, nearlyFitting } from './generated.js';

/** Codes of rules that a schema can state, so the published one must. */
const SHAPE =
  /^(?:required|unknown_field|invalid_name|invalid_type|invalid_value|invalid_format|invalid_date|invalid_date_time|invalid_email|invalid_ip_\w+|invalid|too_(?:short|long|small|large|few_items|many_items))$/;

/** Letters that fold to several characters, and unpaired surrogates: rules of texts that only the descriptions state. */
const ODD_TEXT = /[\0\u2000-\u33ff\uf900-\uffff]|\p{Surrogate}/u;

/** The body as the gateway reads it: texts without surrounding white space (contract 1.4). */
function trimmed(value: unknown): unknown {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map(trimmed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, trimmed(inner)]));
}

const isCidr = (text: string) => {
  const [address = '', length, ...more] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] as number;
  if (bits < 0 || more.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
};

describe('The published schema', function () {
  this.timeout(300_000);
  let gateway: TestGateway;
  let judgeOf: (path: string) => { schema: JsonSchema; allows(body: unknown): boolean };

  before(async () => {
    gateway = await startTestGateway();
    for (const [stream, records] of Object.entries(fuzzRecords)) await gateway.ingest(stream, records);
    const { body: document } = await gateway.call('/openapi.json', undefined, { method: 'GET', key: null });
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addFormat('ip-address', (text: string) => isIP(text) > 0);
    ajv.addFormat('ip-range', isCidr);
    ajv.addFormat('idn-email', /^[^\s@"(),:;<>[\]\\]+@[^\s@"(),:;<>[\]\\]+\.[^\s@"(),:;<>[\]\\]+$/);
    ajv.addSchema(document, 'document');
    const at = (pointer: string): JsonSchema => {
      const names = pointer.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
      let value: unknown = document;
      for (const name of names) value = (value as Body)[name];
      return resolved(value) as JsonSchema;
    };
    const resolved = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(resolved);
      if (typeof value !== 'object' || value === null) return value;
      const { $ref } = value as { $ref?: string };
      if ($ref) return at($ref.slice(2));
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolved(inner)]));
    };
    judgeOf = (path) => {
      const { requestBody } = at(`paths/${path.replaceAll('/', '~1')}/post`) as unknown as {
        requestBody: { content: { 'application/json': { schema: JsonSchema } } };
      };
      const { schema } = requestBody.content['application/json'];
      const validate = ajv.compile(schema);
      return { schema, allows: (body) => validate(body) };
    };
  });
  after(() => gateway.close());

  for (const { path } of endpoints) {
    it(`of ${path} allows what the server takes, and nothing else`, async () => {
      const { schema, allows } = judgeOf(path);
      const counts = { allowed: 0, forbidden: 0 };
      await fc.assert(
        fc.asyncProperty(nearlyFitting(schema), async (drawn) => {
          const text = JSON.stringify(drawn);
          fc.pre(!ODD_TEXT.test(JSON.parse(text) as string) && !ODD_TEXT.test(text));
          const body = JSON.parse(text) as unknown;
          // White space around a text is removed before the text is checked.
          fc.pre(allows(body) === allows(trimmed(body)));
          const answer = await gateway.call(path, body);
          const errors = (answer.body.errors ?? []) as { pointer: string; code: string; detail: string }[];
          const shape = errors.filter(({ code }) => SHAPE.test(code));
          if (allows(body)) {
            counts.allowed++;
            expect(shape, `allowed: ${text}`).to.deep.equal([]);
          } else {
            counts.forbidden++;
            expect(answer.status, `forbidden: ${text}`).not.to.equal(200);
          }
        }),
        { numRuns: runs(path.startsWith('/api/advertising') ? 12 : 24) },
      );
      expect(counts.allowed, 'allowed').to.be.above(1);
      expect(counts.forbidden, 'forbidden').to.be.above(1);
    });
  }
});
