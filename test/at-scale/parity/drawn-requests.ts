/** Requests with values drawn from the records in the spellings of people, so that most find something. */
import { domainToASCII, domainToUnicode } from 'node:url';
import fc from 'fast-check';
import { DAY_MS } from '../../../services/shared/time.js';
import {
  type Body,
  type Draws,
  dayAt,
  type FuzzRequest,
  type JsonSchema,
  maybe,
  object,
  oneOf,
  queryString,
} from '../../gateway/generated.js';
import { COMPARED } from './coverage.js';
import type { Json, Records } from './records.js';

/** Fields of a contact that a query searches (contract 3.9). */
const SEARCHED = `first_name last_name work_emails personal_emails phones job_title functional_area
company_name company_domain city state_region country postal_code network_a_url`.split(/\s+/);
/** Fields of which a deletion and an erasure take exactly one. */
const PERSON = ['contact_id', 'contact_ids', 'email', 'network_a_url'];
/** Probabilities of optional fields in percent, if they are not the request's own. */
const LIKELY = {
  query: 75,
  id: 70,
  explain: 30,
  limit: 50,
  created_after: 30,
  created_before: 30,
  sort_by: 20,
  sort_direction: 20,
  cursor: 0,
};
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzéüßøαж'];

const isText = (value: unknown): value is string => typeof value === 'string' && /[\p{L}\p{N}]/u.test(value);
const texts = (...values: unknown[]): string[] => values.flat().filter(isText);
/** One of the values that are texts; undefined if none is. */
const some = (...values: unknown[]) => (texts(...values).length > 0 ? oneOf(texts(...values)) : undefined);
const wordsOf = (text: string) => text.split(/[\s,;:()/]+/).filter((word) => word !== '');

/** Letters that foreign keyboards write differently. */
const WRITTEN = [
  ...['ä ae', 'ö oe', 'ü ue', 'å aa', 'ø oe', 'ae ä', 'oe ö', 'ue ü', 'aa å'],
  ...['ي ی', 'ی ي', 'ي ى', 'ك ک', 'ک ك'],
].map((pair) => pair.split(' ') as [string, string]);
const otherLetters = (text: string) =>
  oneOf([text, ...WRITTEN.map(([from, to]) => text.toLowerCase().replaceAll(from, to))]);

/** Spellings that normalization folds to the same text, or nearly. */
const spelled = (text: string) =>
  oneOf([
    text,
    text,
    text.toUpperCase(),
    text.toLowerCase(),
    text.normalize('NFD'),
    text.normalize('NFD').replace(/\p{M}/gu, ''),
    ` ${text.replaceAll(' ', '  ')}\t`,
    // Full width, as East Asian keyboards produce.
    text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)),
  ]).chain(otherLetters);

/** One letter substituted, deleted, inserted or transposed. */
const withTypo = (text: string) =>
  fc.tuple(fc.nat([...text].length), fc.nat(3), oneOf(LETTERS)).map(([at, kind, letter]) => {
    const letters = [...text];
    const swapped = letters.slice(at, at + 2).reverse();
    letters.splice(
      at,
      [1, 1, 0, 2][kind] as number,
      ...([[letter], [], [letter], swapped][kind] as string[]),
    );
    return letters.join('');
  });

const maybePrefix = (word: string) =>
  fc
    .tuple(fc.boolean(), fc.integer({ min: 1, max: 6 }))
    .map(([whole, length]) => (whole ? word : [...word].slice(0, length).join('')));
const slice = (text: string) =>
  fc
    .tuple(fc.nat(Math.max(0, text.length - 2)), fc.integer({ min: 1, max: 24 }))
    .map(([from, length]) => text.slice(from, from + length).toWellFormed());

/** Some words of the text or their prefixes, in any order. */
const someWords = (text: string) =>
  fc
    .array(oneOf(wordsOf(text)).chain(maybePrefix), { minLength: 1, maxLength: 3 })
    .chain((words) => spelled(words.join(' ')));

const phrase = (text: string) => slice(wordsOf(text).join(' ')).map((words) => `"${words}"`);
const term = (text: string): fc.Arbitrary<string> =>
  oneOf(wordsOf(text)).chain((word) =>
    fc.oneof(
      fc.constant(text),
      phrase(text),
      maybePrefix(word),
      fc.constant(word),
      withTypo(word),
      withTypo(word).chain(withTypo),
      spelled(word),
    ),
  );

/** A query that usually matches the texts: words, prefixes, typos, phrases, exclusions. */
export function query(own: readonly string[], others: readonly string[]): fc.Arbitrary<string> {
  const excluded = oneOf(others).chain((text) => oneOf([`-${wordsOf(text)[0]}`, `-"${text}"`]));
  return fc
    .tuple(fc.array(oneOf(own).chain(term), { minLength: 1, maxLength: 4 }), maybe(20, excluded))
    .map(([terms, exclusion = '']) => `${terms.join(' ')} ${exclusion}`.trim());
}

/** A web, profile or email address in another encoding. */
function address(text: string): fc.Arbitrary<string> {
  const domain = text.replace(/^\w+:\/\//, '').replace(/\/.*$/s, '');
  const host = domain.slice(domain.lastIndexOf('@') + 1);
  const bare = text.replace(/^\w+:\/\/(?:www\.)?/, '');
  return oneOf([
    text,
    encodeURI(text.toWellFormed()),
    text.replace(host, domainToASCII(host) || host),
    text.replace(host, domainToUnicode(host) || host),
    `https://www.${bare}`,
    `HTTP://${bare}/`,
    `de.${bare}`,
    `//${text}/`,
    text.replace(/^.*\//, ''),
    text.replace(/\s/g, ''),
    `${text}?a=b#c`,
    `${host}/about?a=b`,
    `"${text}"`,
  ]);
}

/** A phone number with other separators, prefixes or an extension, or its beginning or end. */
function phone(text: string): fc.Arbitrary<string> {
  const digits = text.replace(/\D/g, '');
  return oneOf([
    text,
    digits,
    `00${digits}`,
    `+${digits.slice(0, 2)} (0)${digits.slice(2)}`,
    `${text} ext. 12`,
    digits.replace(/(?=(?:...)+$)/g, '-'),
    // A national number with a country code.
    `+49 ${digits.replace(/^0/, '')}`,
    `0044${digits.replace(/^0/, '')}`,
    `+7 ${digits.replace(/^8/, '')}`,
    digits.slice(-7),
    digits.slice(0, 5),
    digits.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit))),
    `"${text}"`,
  ]);
}

/** Each field drawn from the record's own value of that name. */
const eachOf = (record: Json, draw: (text: string) => fc.Arbitrary<unknown>): Draws =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, isText(value) ? draw(value) : undefined]),
  );

const searched = (record: Json) => texts(SEARCHED.flatMap((name) => record[name]));

function contacts({ contacts, audiences }: Records, createdIds: readonly string[]): fc.Arbitrary<Draws> {
  return fc.tuple(oneOf(contacts), oneOf(contacts), oneOf(audiences)).map(([record, other, audience]) => {
    const { contact_id, network_a_url, company_domain, postal_code, country } = record;
    const pasted = [
      ...texts(network_a_url, company_domain, record.work_emails).map(address),
      ...texts(record.phones).map(phone),
      ...texts(country, postal_code).map(fc.constant),
    ];
    const composed = query(searched(record), searched(other));
    const anyContact = fc.oneof(
      oneOf(contacts).map((one) => one.contact_id),
      fc.nat(9).map((id) => `con_${id}`),
    );
    const drawn: Draws = {
      ...eachOf(record, someWords),
      query:
        pasted.length === 0
          ? composed
          : fc.oneof(composed, composed, composed, composed, fc.oneof(...pasted)),
      audience_id: some(record.audience_ids, audience.id),
      contact_id: some(contact_id, contact_id, contact_id, ...createdIds.slice(-1)),
      contact_ids: oneOf([0, 2, 49, 999]).chain((others) =>
        fc
          .tuple(
            fc.oneof(fc.constant(contact_id), anyContact),
            fc.array(anyContact, { minLength: others, maxLength: others }),
          )
          .map(([first, rest]) => [first, ...rest]),
      ),
      email: some(record.work_emails, record.personal_emails),
      import_id: some(record.data_import_id),
      updated_after: some(record.updated_at),
      country: some(country, country, 'US', 'GBR', 'Deutschland'),
      ...eachOf({ postal_code, company_domain, network_a_url }, (text) =>
        fc.oneof(spelled(text), address(text)),
      ),
    };
    const filters = ['query', 'job_title', 'city', 'country', 'company_domain', 'audience_id'].flatMap(
      (name) => {
        const value = drawn[name];
        return value ? [value.map((each) => ({ [name]: each }))] : [];
      },
    );
    return { ...drawn, filter: fc.oneof(...filters) };
  });
}

/** A contact that may already exist. */
const newContact = ({ contacts, audiences }: Records): fc.Arbitrary<Draws> =>
  fc.tuple(oneOf(contacts), oneOf(audiences)).map(([record, audience]) => ({
    ...Object.fromEntries(Object.entries(record).map(([name, value]) => [name, fc.constant(value)])),
    audience_id: fc.constant(audience.id),
  }));

/** Ids of audiences that requests create and delete. */
const MADE = Array.from({ length: 6 }, (_, index) => `aud_made_${index}`);

const audiences = (path: string, { audiences }: Records): fc.Arbitrary<Draws> =>
  fc.tuple(oneOf(audiences), oneOf(audiences)).map(([record, other]) => ({
    ...eachOf(other, fc.constant),
    id: oneOf(MADE),
    audience_id: path.endsWith('/delete')
      ? fc.oneof(oneOf(MADE), fc.constant(record.id))
      : fc.constant(record.id),
    query: query(texts(record.name, record.description, record.tracking_utm_value), texts(other.name)),
  }));

const visits = (records: Records): fc.Arbitrary<Draws> =>
  oneOf(records['website-visits']).map((record) => {
    const {
      audienceId,
      country,
      countryCode,
      city,
      browser,
      platform,
      startUrl,
      ipAddress,
      createdAt,
      companyDomain,
    } = record;
    const near = oneOf([0, 0, 1, -1, DAY_MS, -DAY_MS]).map((ms) =>
      new Date(Date.parse(createdAt as string) + ms).toISOString(),
    );
    const masks = texts(ipAddress).flatMap((ip) => [
      ip,
      `::ffff:${ip}`,
      ...(ip.includes(':') ? [128, 127, 64, 48, 16] : [32, 31, 24, 16, 8]).map((bits) => `${ip}/${bits}`),
    ]);
    return {
      audience_id: some(audienceId),
      ...eachOf({ city }, spelled),
      country: some(country, countryCode)?.chain(spelled),
      ...eachOf({ browser, platform }, someWords),
      has_recording: fc.constant(record.hasRecording),
      ip_address: some(masks),
      start_url: some(startUrl)?.chain((url) =>
        fc.oneof(oneOf([url, url.replace(/^\w+:/, '')]), slice(url).chain(spelled)),
      ),
      company_domain: some(companyDomain),
      created_after: near,
      created_before: near,
      min_intent_score: fc.constant(record.intentScore),
    };
  });

function advertising(path: string, records: Records): fc.Arbitrary<Draws> {
  const named = /\/compan|\/influence$/.test(path) ? 'company_id' : 'creative_id';
  const campaigns = records['network-a-campaigns'];
  const creatives = records['network-a-creatives'];
  const companies = records['network-a-companies'];
  const deliveries = records['network-a-deliveries'].filter((record) => named in record);
  const few = (value: fc.Arbitrary<string> | undefined) =>
    value && fc.array(value, { minLength: 1, maxLength: 4 });
  const all = (list: Json[], name: string) => list.map((record) => record[name]);
  return fc
    .tuple(
      oneOf(deliveries),
      oneOf(companies),
      oneOf([...campaigns, ...creatives, ...companies]),
      oneOf([0, 1, 6, 30, 90]),
      oneOf([0, 6, 30, 61, 365]),
    )
    .map(([delivery, company, found, before, length]) => {
      const from = Date.parse(delivery.date as string) - before * DAY_MS;
      const twice = (id: unknown, list: Json[]) =>
        few(fc.oneof(oneOf(texts(id, list[0]?.id)), oneOf(texts(all(list, 'id')))));
      return {
        start_date: fc.constant(dayAt(from)),
        end_date: fc.constant(dayAt(from + length * DAY_MS)),
        campaign_ids: twice(delivery.campaign_id, campaigns),
        creative_ids: twice(delivery.creative_id, creatives),
        company_ids: twice(delivery.company_id, companies),
        network_a_company_ids: few(some(all(companies, 'network_a_company_id'))),
        domains: few(some(all(companies, 'domain'))),
        statuses: few(some(all(campaigns, 'status'), all(creatives, 'status'))),
        objective_types: few(some(all(campaigns, 'objective_type'))),
        search: some(found.name, found.domain)?.chain(slice).chain(spelled),
        company_id: some(delivery.company_id, company.id, company.network_a_company_id),
        domain: some(company.domain),
      };
    });
}

function drawsOf(path: string, records: Records, createdIds: readonly string[]): fc.Arbitrary<Draws> {
  if (/^\/api\/(?:advertising|companies)/.test(path)) return advertising(path, records);
  if (path === '/api/website-visits/search') return visits(records);
  if (/^\/api\/audiences\/[a-z]+$/.test(path)) return audiences(path, records);
  return path.endsWith('/create') ? newContact(records) : contacts(records, createdIds);
}

const pages = (most: number) => oneOf([1, 2, 3, 7, 20, 50, 200, 1000].filter((size) => size <= most));
const PAGING: Draws = {
  organization_id: fc.constant('org_a'),
  page_size: pages(200),
  campaign_page_size: pages(200),
  page: oneOf([1, 1, 1, 2, 3, 10]),
  campaign_page: oneOf([1, 1, 1, 2, 3, 10]),
};

/** Keeps one of the fields that name the company, the contacts or the person, for operations that take exactly one. */
function alternatives(path: string, fields: readonly string[]): readonly string[] {
  if (path.endsWith('/company')) return ['company_id', 'domain'];
  if (path.endsWith('-many') && fields.includes('filter')) return ['contact_ids', 'filter'];
  return /\/(?:delete|erase)$/.test(path) ? PERSON.filter((name) => fields.includes(name)) : [];
}

function operationRequest(
  { path, request, query }: (typeof COMPARED)[number],
  records: Records,
  createdIds: readonly string[],
  key: string,
) {
  const schema = request as JsonSchema;
  const names = alternatives(path, Object.keys(schema.properties ?? {}));
  const isAudiences = path === '/api/audiences/search';
  const limit = pages(isAudiences ? 200 : 1000);
  // There are too few audiences for a third page.
  const paging = isAudiences ? { ...PAGING, page: oneOf([1, 1, 1, 2]) } : PAGING;
  return drawsOf(path, records, createdIds).chain((drawn) => {
    const draws: Draws = { limit, ...drawn, ...paging };
    const given = names.filter((name) => draws[name] !== undefined);
    const one: fc.Arbitrary<Body> =
      given.length === 0
        ? fc.constant({})
        : oneOf(given).chain((name) =>
            (draws[name] as fc.Arbitrary<unknown>).map((value) =>
              // Few values of many, so that the other operations find something.
              ({ [name]: Array.isArray(value) ? value.slice(0, 3) : value }),
            ),
          );
    const others = {
      ...schema,
      properties: Object.fromEntries(
        Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name)),
      ),
    };
    return fc
      .tuple(
        object(others, draws, { shares: [3, 6, 12, 30], likely: LIKELY }),
        one,
        fc.boolean(),
        queryString(query as JsonSchema),
        fc.nat(150),
      )
      .map(([body, named, asks, search, number]): FuzzRequest => {
        const headers: FuzzRequest['headers'] = { 'Content-Type': 'application/json', 'X-Api-Key': key };
        if (/create|add|remove|update|delete/.test(path) && number < 30)
          headers['Idempotency-Key'] = `drawn${number}`;
        return {
          method: 'POST',
          path: asks ? path + search : path,
          headers,
          body: Buffer.from(JSON.stringify({ ...body, ...named })),
        };
      });
  });
}

const ERASE = COMPARED.filter(({ path }) => path.endsWith('/erase'));
const OTHERS = COMPARED.filter((endpoint) => !ERASE.includes(endpoint));

/** An erasure, or any other request; `createdIds` are ids of contacts that earlier requests created. */
export function drawnRequest(
  records: Records,
  createdIds: readonly string[],
  key: string,
  isErasure = false,
): fc.Arbitrary<FuzzRequest> {
  return fc.oneof(
    ...(isErasure ? ERASE : OTHERS).map((endpoint) => ({
      // Searches have the most to compare.
      weight: endpoint.path.endsWith('/search') ? 10 : 4,
      arbitrary: operationRequest(endpoint, records, createdIds, key),
    })),
  );
}
