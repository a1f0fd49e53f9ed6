import { expect } from 'chai';
import { STREAM_NAMES, STREAMS } from '../../ingest/streams/index.js';
import { endpoints } from '../../services/gateway/api.js';
import { repetitionOf } from '../../services/http/idempotency.js';
import { PROBLEMS } from '../../services/http/problems.js';
import { SCOPES } from '../../services/http/scopes.js';
import { systemClock } from '../../services/shared/time.js';
import { compileValidator } from '../../services/shared/validation.js';
import { startTestGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { sendBytes } from '../support/raw-http.js';
import { openApi, PROBLEM_EXTRAS, resolvePointer } from '../support/schema-check.js';

type Json = Record<string, unknown>;
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: { name: string; in: string; description: string; schema: Json }[];
  requestBody: { content: Record<string, { schema: Json; example?: unknown }> };
  responses: Record<string, { description: string; content?: Json }>;
}
const paths = openApi.paths as Record<string, Record<string, Operation>>;

/** Every field of a schema and of all schemas inside it, with its location. */
function fieldsOf(schema: Json, at: string): [where: string, field: Json][] {
  const own = Object.entries((schema.properties ?? {}) as Record<string, Json>).map(
    ([name, field]): [string, Json] => [`${at}.${name}`, field],
  );
  const items = schema.items ? ([[`${at}[]`, schema.items as Json]] as [string, Json][]) : [];
  return [...own, ...[...own, ...items].flatMap(([where, field]) => fieldsOf(field, where))];
}

/** Every `$ref` anywhere in a document. */
function referencesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' ? [inner as string] : referencesOf(inner),
  );
}

const schemas: [string, Json][] = [
  ...endpoints.flatMap(({ path, request, query, response }): [string, Json][] => [
    [`${path} request`, request as Json],
    [`${path} query`, (query ?? {}) as Json],
    [`${path} response`, response as Json],
  ]),
  ...Object.values(STREAMS).map(({ name, schema }): [string, Json] => [`${name} record`, schema as Json]),
];

describe('Every schema', () => {
  for (const [name, schema] of schemas) {
    it(`describes each field of ${name}`, () => {
      const silent = fieldsOf(schema, '').filter(
        ([, { description }]) => typeof description !== 'string' || !/^[A-Z`"].*[.…]$/s.test(description),
      );
      expect(silent.map(([where]) => where)).to.deep.equal([]);
    });
  }

  it('rejects unknown fields in requests, and allows additional fields in responses', () => {
    for (const [name, schema] of schemas) {
      if (Object.keys(schema).length === 0) continue;
      expect(schema.additionalProperties, name).to.equal(name.endsWith('response') ? undefined : false);
    }
  });

  it('limits every string and array of a request', () => {
    for (const [name, schema] of schemas.filter(([name]) => !name.endsWith('response'))) {
      for (const [where, field] of fieldsOf(schema, name)) {
        const types = [field.type].flat();
        if (types.includes('array')) expect(field.maxItems, where).to.be.a('number');
        const isBound = field.maxLength ?? field.pattern ?? field.enum ?? field.format;
        if (types.includes('string')) expect(isBound, where).not.to.equal(undefined);
        if (types.includes('integer')) expect(field, where).to.include.keys('minimum', 'maximum');
      }
    }
  });

  it('names fields in snake case, and those of visits in camel case', () => {
    for (const [name, schema] of schemas) {
      const camelCase = name.startsWith('website-visits record');
      for (const [where] of fieldsOf(schema, name)) {
        const field = where.slice(where.lastIndexOf('.') + 1).replace('[]', '');
        if (STREAM_NAMES.some((stream) => stream === field)) continue;
        const style = camelCase || where.includes('.visits[].') ? /^[a-z][A-Za-z]*$/ : /^[a-z][a-z_]*$/;
        expect(field, where).to.match(style);
        expect(field, where).not.to.match(/linkedin/i);
      }
    }
  });
});

describe('Every operation', () => {
  for (const { path, summary, scope, request, example, problems = [], ...endpoint } of endpoints) {
    it(`${path} is documented as declared`, () => {
      expect(summary).to.match(/^[A-Z].*[a-z]$/);
      expect(SCOPES).to.include.members([...scope]);
      expect(compileValidator(request)(example), 'its example').to.deep.equal([]);
      const { post } = paths[path] as { post: Operation };
      expect(post.summary).to.equal(summary);
      for (const each of scope) expect(post.description).to.include(`\`${each}\``);
      if (scope.length === 0) expect(post.description).to.include('Every key may');
      const content = post.requestBody.content['application/json'];
      expect(content?.example).to.deep.equal(JSON.parse(JSON.stringify(example)));
      const statuses = ['200', '400', '401', '403', '406', '413', '415', '422', '429', '500', '503', '504'];
      expect(post.responses).to.include.keys(...statuses);
      const descriptions = Object.values(post.responses)
        .map(({ description }) => description)
        .join(' ');
      for (const code of problems) {
        expect(descriptions).to.include(`\`${code}\``);
        expect(post.responses, code).to.have.property(String(PROBLEMS[code][0]));
      }
      const header = post.parameters.some(({ name }) => name === 'Idempotency-Key');
      expect(header).to.equal(repetitionOf({ ...endpoint, scope }) !== undefined);
    });
  }

  it('has the path, scopes and fields of the specification', () => {
    const filters =
      'first_name last_name job_title functional_area company_name company_domain city state_region country postal_code network_a_url';
    const advertising = 'start_date end_date granularity campaign_ids';
    const fields: { [path: string]: string } = {
      '/api/audiences/contacts/add': 'audiences:write contacts:read organization_id audience_id contact_id',
      '/api/audiences/contacts/add-many':
        'audiences:write contacts:read organization_id! audience_id! contact_ids filter cursor return_changed',
      '/api/audiences/contacts/remove-many':
        'audiences:write contacts:read organization_id! audience_id! contact_ids filter cursor return_changed',
      '/api/audiences/contacts/remove': 'audiences:write organization_id! audience_id! contact_id!',
      '/api/contacts/create': `contacts:write organization_id! audience_id! ${filters} company_network_a_url work_emails personal_emails phones age gender`,
      '/api/contacts/changes': 'contacts:read organization_id! filter cursor from limit',
      '/api/contacts/delete':
        'contacts:write organization_id! contact_id contact_ids email network_a_url return_deleted',
      '/api/contacts/erase': 'contacts:erase organization_id! contact_id email network_a_url',
      '/api/contacts/erasures': 'contacts:erase organization_id! limit cursor',
      '/api/contacts/get': 'contacts:read organization_id! contact_id!',
      '/api/contacts/get-many': 'contacts:read organization_id! contact_ids!',
      '/api/contacts/search': `contacts:read organization_id! ${filters} email updated_after query facets explain sort_by sort_direction limit`,
      '/api/contacts/update': `contacts:write contacts:read organization_id! contact_id! if_updated_at ${filters} company_network_a_url company_country company_industry work_emails personal_emails phones age dob year_of_birth gender person_image_url company_image_url`,
      '/api/audiences/contacts/search': `contacts:read organization_id! audience_id! ${filters} email updated_after sort_by sort_direction limit`,
      '/api/audiences/create':
        'audiences:write organization_id! id name! description network_a network_b network_c tracking_utm_value',
      '/api/audiences/delete': 'audiences:write organization_id! audience_id! if_updated_at return_deleted',
      '/api/audiences/get': 'audiences:read organization_id! audience_id! include_counts',
      '/api/audiences/search': 'audiences:read organization_id query include_counts page limit',
      '/api/audiences/update':
        'audiences:write organization_id! audience_id! if_updated_at name description network_a network_b network_c tracking_utm_value',
      '/api/credits/get': 'organization_id',
      '/api/imports/list': 'contacts:read organization_id',
      '/api/imports/undo': 'contacts:write organization_id import_id! cursor',
      '/api/filters/delete': 'audiences:write organization_id view! name!',
      '/api/filters/list': 'organization_id view!',
      '/api/filters/save': 'audiences:write organization_id name! replace contacts audiences visits',
      '/api/keys/create': 'keys:write organization_id name scopes expires_at',
      '/api/keys/list': 'keys:write organization_id limit cursor',
      '/api/keys/revoke': 'keys:write organization_id key_id!',
      '/api/rejections/list': 'ingest:write organization_id stream limit cursor',
      '/api/sql':
        'advertising:read audiences:read contacts:read visits:read organization_id statement! parameters limit',
      '/api/status': 'organization_id',
      '/api/website-visits/search':
        'visits:read organization_id! audience_id country city ip_address browser platform has_recording start_url facets limit',
      '/api/advertising/network_a/campaigns': `advertising:read ${advertising} statuses objective_types search sort_by sort_direction page page_size`,
      '/api/advertising/network_a/creatives': `advertising:read ${advertising} creative_ids statuses objective_types search sort_by sort_direction page page_size`,
      '/api/advertising/network_a/companies': `advertising:read ${advertising} company_ids network_a_company_ids domains search sort_by sort_direction page page_size`,
      '/api/advertising/network_a/company': `advertising:read ${advertising} company_id domain campaign_page campaign_page_size`,
      '/api/advertising/network_a/influence':
        'advertising:read contacts:read visits:read organization_id start_date! end_date! lookback_days outcome_days thresholds campaign_ids outcomes sort_by sort_direction page page_size',
      '/api/companies/search':
        'advertising:read visits:read contacts:read organization_id start_date! end_date! search domains campaign_ids sort_by sort_direction page page_size',
      '/api/companies/get':
        'advertising:read visits:read contacts:read organization_id start_date! end_date! granularity domain!',
      '/api/advertising/network_a/records': 'advertising:read organization_id stream! limit cursor',
    };
    expect(endpoints.map(({ path }) => path)).to.have.members(Object.keys(fields));
    for (const { path, scope, request } of endpoints) {
      const { properties, required } = request as unknown as { properties: Json; required: string[] };
      const words = (fields[path] as string).split(' ');
      expect(scope, path).to.have.members(words.filter((word) => word.includes(':')));
      for (const field of words.filter((word) => !word.includes(':'))) {
        expect(properties, path).to.have.property(field.replace('!', ''));
        if (field.endsWith('!')) expect(required, path).to.include(field.slice(0, -1));
      }
    }
  });
});

describe('The OpenAPI document', () => {
  const gateway = useOpened(() => startTestGateway({}, systemClock, { analyticsOnDemand: false }));

  it('is served as generated', async () => {
    const { body } = await gateway.call('/openapi.json', undefined, { method: 'GET', key: null });
    const info = { ...(body.info as object), version: '0.0.0' };
    const servers = [{ ...(openApi.servers as object[])[0], url: gateway.url }];
    expect({ ...body, info }).to.deep.equal({ ...openApi, servers });
  });

  it('names the address under which it was asked for, and no address that is none', async () => {
    const read = async (headers: Record<string, string>) => {
      const answer = await gateway.call('/openapi.json', undefined, { method: 'GET', key: null, headers });
      return { etag: answer.headers.get('ETag'), url: (answer.body.servers as Json[])[0]?.url };
    };
    const plain = await read({});
    const proxied = await read({ 'X-Forwarded-Proto': 'https' });
    expect(proxied.url).to.equal(plain.url?.toString().replace('http:', 'https:'));
    expect(proxied.etag).not.to.equal(plain.etag);
    expect((await read({ 'X-Forwarded-Proto': 'javascript' })).url).to.equal(gateway.url);
    for (const host of ['reachline.example', 'a"b', '<script>', '$&$`', 'x'.repeat(300), '[::1', 'a:99999']) {
      const text = await sendBytes(gateway.url, [
        `GET /openapi.json HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      ]);
      const url = /"servers":\[\{"url":"([^"]*)"/.exec(text)?.[1];
      expect(url, host).to.equal(host === 'reachline.example' ? 'http://reachline.example' : '/');
    }
  });

  it('lists exactly the routes of the gateway', async () => {
    const operations = endpoints.map(({ path }) => path);
    const others = Object.keys(paths).filter((path) => !operations.includes(path as `/api/${string}`));
    expect(others.sort()).to.deep.equal([
      '/api/ingest/{stream}',
      '/api/ingest/{stream}/check',
      '/api/key',
      '/livez',
      '/metrics',
      '/openapi.json',
      '/readyz',
      '/readyz/process',
      '/version',
    ]);
    for (const [path, methods] of Object.entries(paths)) {
      const concrete = path.replace('{stream}', 'contacts');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status } = await gateway.call(concrete, {}, { method, key: null });
        const expected = !(method.toLowerCase() in methods) ? 405 : path.startsWith('/api/') ? 401 : 200;
        expect(status, `${method} ${path}`).to.equal(expected);
      }
    }
  });

  it('declares each group of operations that it uses, and no other', () => {
    const used = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ tags }) => tags),
    );
    const declared = (openApi.tags as { name: string }[]).map(({ name }) => name);
    expect([...new Set(used)].sort()).to.deep.equal(declared.sort());
  });

  it('shows null for every request field that the specification writes with null', () => {
    const filters =
      'first_name last_name job_title functional_area company_name company_domain city state_region country postal_code network_a_url';
    const nullable: Record<string, string> = {
      '/api/contacts/create': `${filters} company_network_a_url work_emails personal_emails phones age gender`,
      '/api/contacts/search': `${filters} query limit`,
      '/api/audiences/contacts/search': `${filters} limit`,
      '/api/website-visits/search':
        'audience_id country city ip_address browser platform has_recording start_url limit',
    };
    for (const [path, fields] of Object.entries(nullable)) {
      const { post } = paths[path] as { post: Operation };
      const { schema } = post.requestBody.content['application/json'] as { schema: Json };
      const properties = schema.properties as Record<string, Json>;
      for (const field of fields.split(' ')) {
        const { type, anyOf } = properties[field] ?? {};
        expect([type, anyOf].flat(), `${path} ${field}`).to.satisfy((all: unknown[]) =>
          all.some((each) => each === 'null' || (each as Json | undefined)?.type === 'null'),
        );
      }
    }
  });

  it('has no keyword that only the validator knows', () => {
    expect(JSON.stringify(openApi)).not.to.match(/formatM(?:in|ax)imum|x-null|x-max-folded-length/);
  });

  it('describes every member that a problem can have', () => {
    const { schemas } = openApi.components as { schemas: Record<string, { properties: Json }> };
    const members = Object.keys((schemas.Problem as { properties: Json }).properties);
    expect(members).to.include.members(Object.values(PROBLEM_EXTRAS).flat());
  });

  it('gives every operation a unique id', () => {
    const ids = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z][A-Za-z]+$/);
    expect(ids).to.include.members(['audiencesContactsAdd', 'advertisingNetworkACompany', 'ingest']);
  });

  it('has no $id left, no dangling reference and no unused component', () => {
    const { components } = openApi as { components: { schemas: Json } };
    const references = new Set(referencesOf(openApi));
    for (const reference of references) expect(resolvePointer(reference), reference).to.be.an('object');
    for (const name of Object.keys(components.schemas)) {
      expect(references, name).to.include(`#/components/schemas/${name}`);
    }
    expect(JSON.stringify(openApi)).not.to.include('"$id"');
    expect(components.schemas).to.include.keys(
      'Api_Organization_contact',
      'Api_Audience',
      'Api_Website_visit',
      ...endpoints.map(({ name }) => `${name}Response`),
      ...STREAM_NAMES.map((name) => `${name}-record`),
    );
  });
});
