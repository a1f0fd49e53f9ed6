import { DAY_MS } from '../../../services/shared/time.js';
/** Requests with values drawn from the records, so that most find something. */
import { type FuzzRequest, queryString } from '../../gateway/fuzz-requests.js';
import { fitting, type JsonSchema, type Random } from '../../gateway/fuzz-values.js';
import { COMPARED } from './coverage.js';
import type { Json, Records } from './records.js';
import {
  addressVariant,
  composeQuery,
  phoneVariant,
  pickSlice,
  pickWords,
  textVariant,
} from './text-variants.js';

const BATCH_SIZES = [1, 3, 50, 1000];
const PAGE_SIZES = [1, 2, 3, 7, 20, 50, 200, 1000];

/** Fields of a contact that a query looks into (contract 3.9). */
const SEARCHED = [
  'first_name',
  'last_name',
  'work_emails',
  'personal_emails',
  'phones',
  'job_title',
  'functional_area',
  'company_name',
  'company_domain',
  'city',
  'state_region',
  'country',
  'postal_code',
  'network_a_url',
];

/** Of which a deletion and an erasure take one. */
const PERSON = ['contact_id', 'contact_ids', 'email', 'network_a_url'];

/** Probability of an optional field, where it is not the request's own. */
const LIKELY: Record<string, number> = {
  query: 0.75,
  explain: 0.3,
  limit: 0.5,
  created_after: 0.3,
  created_before: 0.3,
};

/** The value of a request field; undefined when the record has none. */
type Draw = (name: string) => unknown;

function weightOf(path: string): number {
  // Searches have most to compare.
  if (/(?:contacts|visits)\/search$/.test(path)) return 10;
  // Every process must know of an erasure before it answers, which takes a second.
  return path.endsWith('/erase') ? 2 : 4;
}
const WEIGHTED = COMPARED.flatMap((endpoint) =>
  Array<typeof endpoint>(weightOf(endpoint.path)).fill(endpoint),
);

/** `createdIds` are ids of contacts that earlier requests created. */
export function drawnRequest(
  random: Random,
  records: Records,
  createdIds: readonly string[],
  key: string,
): FuzzRequest {
  const endpoint = random.pick(WEIGHTED);
  const schema = endpoint.request as JsonSchema;
  const draw = drawFor(endpoint.path, random, records, createdIds);
  const share = random.pick([0.03, 0.06, 0.12, 0.3]);
  const body: Json = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isWanted = schema.required?.includes(name) || random.chance(LIKELY[name] ?? share);
    if (!isWanted || name === 'cursor') continue;
    const drawn = random.chance(0.97) ? draw(name) : undefined;
    const value = drawn === undefined ? fitting(random, property, name) : drawn;
    body[name] = typeof value === 'string' ? value.slice(0, property.maxLength).toWellFormed() : value;
  }
  if (endpoint.path.endsWith('/company')) {
    delete body.company_id;
    delete body.domain;
    const name = random.pick(['company_id', 'company_id', 'domain']);
    body[name] = draw(name) ?? 'co_1';
  }
  if (/\/(?:delete|erase)$/.test(endpoint.path)) {
    const names = PERSON.filter((name) => name in (schema.properties ?? {}));
    for (const name of names) delete body[name];
    const drawn = random.pick(names);
    const name = draw(drawn) === undefined ? 'contact_id' : drawn;
    const value = draw(name);
    // Few of many, so that the other operations find something.
    body[name] = Array.isArray(value) ? value.slice(0, 3) : value;
  }
  let path: string = endpoint.path;
  if (random.chance(0.5)) path += queryString(random, endpoint.query as JsonSchema | undefined);
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'X-Api-Key': key };
  if (/create|add|remove/.test(path) && random.chance(0.2))
    headers['Idempotency-Key'] = `drawn${random.between(0, 30)}`;
  return { method: 'POST', path, headers, body: Buffer.from(JSON.stringify(body)) };
}

function drawFor(path: string, random: Random, records: Records, createdIds: readonly string[]): Draw {
  if (path.startsWith('/api/advertising')) return advertising(path, random, records);
  if (path === '/api/website-visits/search') return visits(random, records);
  if (path === '/api/audiences/search' || path === '/api/audiences/get') return audiences(random, records);
  return path.endsWith('/create') ? newContact(random, records) : contacts(random, records, createdIds);
}

const textsOf = (record: Json): string[] =>
  Object.values(record)
    .flat()
    .filter((value): value is string => typeof value === 'string' && /[\p{L}\p{N}]/u.test(value));

const searchedTexts = (record: Json): string[] =>
  textsOf(Object.fromEntries(SEARCHED.map((name) => [name, record[name]])));

/** Page size and number. */
const pageSize = (random: Random, name: string): unknown =>
  name === 'limit' || name === 'page_size' || name === 'campaign_page_size'
    ? Math.min(random.pick(PAGE_SIZES), name === 'limit' ? 1000 : 200)
    : name === 'page' || name === 'campaign_page'
      ? random.pick([1, 1, 1, 2, 3, 10])
      : undefined;

function contacts(random: Random, { contacts, audiences }: Records, createdIds: readonly string[]): Draw {
  const record = random.pick(contacts);
  return (name) => {
    const value = record[name];
    switch (name) {
      case 'organization_id':
        return 'org_a';
      case 'query':
        return random.chance(0.15)
          ? pastedQuery(random, record)
          : composeQuery(random, searchedTexts(record), searchedTexts(random.pick(contacts)));
      case 'audience_id':
        return random.pick([...((record.audience_ids as string[]) ?? []), random.pick(audiences).id]);
      case 'contact_id':
        return createdIds.length > 0 && random.chance(0.2) ? random.pick(createdIds) : value;
      case 'contact_ids':
        return Array.from({ length: random.pick(BATCH_SIZES) }, () =>
          random.chance(0.1) ? `con_${random.between(0, 9)}` : random.pick(contacts).contact_id,
        );
      case 'email':
        return random.pick([record.work_emails, record.personal_emails].flat().filter(isText));
      case 'updated_after':
        return isText(record.updated_at) ? record.updated_at : undefined;
      case 'country':
        return random.pick([value, value, 'US', 'GBR', 'Deutschland', 'Germany'].filter(isText));
      case 'postal_code':
      case 'company_domain':
      case 'network_a_url':
        return isText(value) ? valueVariant(random, value) : undefined;
      default:
        return isText(value) ? pickWords(random, value) : pageSize(random, name);
    }
  };
}

/** An address or phone number of the record in another spelling, sometimes with a word. */
function pastedQuery(random: Random, record: Json): string {
  const addresses = [record.network_a_url, record.company_domain, record.work_emails].flat().filter(isText);
  const phones = [record.phones].flat().filter(isText);
  const pasted = [
    ...addresses.map((address) => addressVariant(random, address)),
    ...phones.map((phone) => phoneVariant(random, phone)),
    ...[record.country, record.postal_code].filter(isText),
  ];
  const words = random.chance(0.3) ? [record.last_name, record.job_title].filter(isText) : [];
  return [...words, ...(pasted.length > 0 ? [random.pick(pasted)] : ['-x'])]
    .join(' ')
    .slice(0, 200)
    .toWellFormed();
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

function valueVariant(random: Random, value: string): string {
  return random.pick([
    value,
    textVariant(random, value),
    `https://www.${value}`,
    `HTTP://${value}/`,
    value.replace(/^https?:\/\/(?:www\.)?/, 'de.'),
    value.replace(/^.*\//, ''),
    value.replace(/\s/g, ''),
    `${value}?a=b#c`,
    addressVariant(random, value),
  ]);
}

/** A contact that may exist already. */
function newContact(random: Random, { contacts, audiences }: Records): Draw {
  const record = random.pick(contacts);
  return (name) => {
    if (name === 'organization_id') return 'org_a';
    return name === 'audience_id' ? random.pick(audiences).id : (record[name] ?? undefined);
  };
}

function audiences(random: Random, { audiences }: Records): Draw {
  const record = random.pick(audiences);
  const texts = [record.name, record.description, record.tracking_utm_value].filter(isText);
  return (name) => {
    if (name === 'organization_id') return 'org_a';
    if (name === 'audience_id') return record.id;
    if (name === 'query') return composeQuery(random, texts, textsOf(random.pick(audiences)));
    return name === 'limit' ? random.between(1, 200) : pageSize(random, name);
  };
}

function visits(random: Random, records: Records): Draw {
  const record = random.pick(records['website-visits']);
  const createdMs = Date.parse(record.createdAt as string);
  const near = () => new Date(createdMs + random.pick([0, 0, 1, -1, DAY_MS, -DAY_MS])).toISOString();
  return (name) => {
    switch (name) {
      case 'organization_id':
        return 'org_a';
      case 'audience_id':
        return record.audienceId;
      case 'country':
        return isText(record.country)
          ? textVariant(random, random.pick([record.country, record.countryCode ?? 'US']) as string)
          : undefined;
      case 'city':
        return isText(record.city) ? textVariant(random, record.city) : undefined;
      case 'browser':
      case 'platform':
        return isText(record[name]) ? pickWords(random, record[name] as string) : undefined;
      case 'has_recording':
        return record.hasRecording;
      case 'ip_address':
        return isText(record.ipAddress) ? pickNetwork(random, record.ipAddress) : undefined;
      case 'start_url':
        return isText(record.startUrl)
          ? random.pick([
              record.startUrl,
              record.startUrl.replace(/^\w+:/, ''),
              textVariant(random, pickSlice(random, record.startUrl)),
            ])
          : undefined;
      case 'created_after':
      case 'created_before':
        return near();
      case 'min_intent_score':
        return record.intentScore;
      default:
        return pageSize(random, name);
    }
  };
}

function pickNetwork(random: Random, address: string): string {
  const bits = address.includes(':') ? random.pick([128, 127, 64, 48, 16]) : random.pick([32, 31, 24, 16, 8]);
  return random.pick([address, address, `${address}/${bits}`, `::ffff:${address}`]);
}

function advertising(path: string, random: Random, records: Records): Draw {
  const named = path.includes('/compan') ? 'company_id' : 'creative_id';
  const delivery = random.pick(records['network-a-deliveries'].filter((record) => named in record));
  const campaigns = records['network-a-campaigns'];
  const creatives = records['network-a-creatives'];
  const companies = records['network-a-companies'];
  const few = (pick: () => unknown) => {
    const values = Array.from({ length: random.between(1, 4) }, pick).filter(isText);
    return values.length === 0 ? undefined : values;
  };
  const from = Date.parse(delivery.date as string) - random.pick([0, 1, 6, 30, 90]) * DAY_MS;
  const to = from + random.pick([0, 6, 30, 61, 90, 365]) * DAY_MS;
  const searched = random.pick([campaigns, creatives, companies]);
  return (name) => {
    switch (name) {
      case 'organization_id':
        return 'org_a';
      case 'start_date':
        return new Date(from).toISOString().slice(0, 10);
      case 'end_date':
        return new Date(to).toISOString().slice(0, 10);
      case 'campaign_ids':
        return few(() => random.pick([delivery.campaign_id, random.pick(campaigns).id]));
      case 'creative_ids':
        return few(() => random.pick([delivery.creative_id, random.pick(creatives).id]));
      case 'company_ids':
        return few(() => random.pick([delivery.company_id, random.pick(companies).id]));
      case 'network_a_company_ids':
        return few(() => random.pick(companies).network_a_company_id);
      case 'domains':
        return few(() => random.pick(companies).domain);
      case 'statuses':
        return few(() => random.pick([random.pick(campaigns).status, random.pick(creatives).status]));
      case 'objective_types':
        return few(() => random.pick(campaigns).objective_type);
      case 'search': {
        const { name: text, domain } = random.pick(searched);
        const found = random.pick([text, domain].filter(isText));
        return found === undefined ? undefined : textVariant(random, pickSlice(random, found));
      }
      case 'company_id': {
        const { id, network_a_company_id: other } = random.pick(companies);
        return random.pick([delivery.company_id, id, other].filter(isText));
      }
      case 'domain':
        return random.pick(companies).domain;
      default:
        return pageSize(random, name);
    }
  };
}
