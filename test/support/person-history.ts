/**
 * Persons whose records have a random history before they are erased: created, changed, synced, moved between audiences, rejected, deleted
 * and restored. Uses only the API, so that the same history runs over every store.
 */
import { expect } from 'chai';
import type { Answer, Caller } from './gateway.js';
import type { Random } from './random.js';

export interface PersonHistory {
  contactId: string;
  /** Names the person by a value that the contact has at the end, or had when it was deleted. */
  request: Record<string, string>;
  /** Every text of the person that was ever sent. */
  tokens: string[];
  /** The changes that were made, in order. */
  steps: string[];
}

const AUDIENCES = ['aud_history_1', 'aud_history_2'] as const;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const TOKEN_LETTERS = 16;

/** An index stores a word without the beginning that it shares with its neighbour, so the beginning is not searched for. */
export const tailsOf = (tokens: readonly string[]): string[] => tokens.map((token) => token.slice(-10));

export const prepareAudiences = (caller: Caller): Promise<Answer> =>
  caller.ingest(
    'audiences',
    AUDIENCES.map((id) => ({ id, name: id })),
  );

type Fields = Record<string, unknown>;

/** Plays the history of one person. `organization` is the field of requests that names the organization. */
export async function livePerson(
  random: Random,
  caller: Caller,
  organization: { organization_id: string },
): Promise<PersonHistory> {
  const tokens: string[] = [];
  const steps: string[] = [];
  const letters = () => Array.from({ length: TOKEN_LETTERS }, () => LETTERS[random.below(26)]).join('');
  const digits = () => Array.from({ length: 9 }, () => random.below(10)).join('');
  const token = () => {
    tokens.push(letters());
    return tokens.at(-1) as string;
  };
  const phone = () => {
    tokens.push(`4179${digits()}`);
    return `+${tokens.at(-1)}`;
  };
  const email = () => `${token()}@history.example`;
  const profile = () => `https://www.linkedin.com/in/${token()}`;
  const draw: Record<string, () => unknown> = {
    first_name: token,
    last_name: token,
    job_title: () => `${token()} ${token()}`,
    company_name: token,
    city: token,
    work_emails: () => random.some([email(), email()], 2),
    personal_emails: () => [email()],
    phones: () => [phone()],
    network_a_url: profile,
  };
  const names = Object.keys(draw);
  const some = (from: readonly string[]): Fields =>
    Object.fromEntries(random.some(from, 4).map((name) => [name, draw[name]?.()]));
  const all = (): Fields => Object.fromEntries(names.map((name) => [name, draw[name]?.()]));
  const withKey = () => ({ headers: { 'Idempotency-Key': letters() } });
  const ok = ({ status, text }: Answer) => expect(status, `${steps.join(', ')}: ${text}`).to.equal(200);

  let fields = all();
  let isDeleted = false;
  let contactId: string;
  if (random.chance(0.5)) {
    steps.push('create');
    const body = { ...organization, audience_id: AUDIENCES[0], ...fields };
    const created = await caller.call('/api/contacts/create', body, withKey());
    ok(created);
    contactId = created.body.contact_id as string;
  } else {
    steps.push('ingest');
    contactId = `imported.${token()}`;
    ok(await caller.ingest('contacts', [{ contact_id: contactId, ...fields, audience_ids: [AUDIENCES[0]] }]));
  }
  const named = { ...organization, contact_id: contactId };

  const doings: Record<string, () => Promise<Answer>> = {
    update: () => {
      const changes = some(names);
      fields = { ...fields, ...changes };
      return caller.call('/api/contacts/update', { ...named, ...changes }, withKey());
    },
    sync: () => {
      const changes = random.chance(0.5) ? some(names) : all();
      fields = { ...fields, ...changes };
      isDeleted = false;
      return caller.ingest('contacts', [{ contact_id: contactId, ...changes }]);
    },
    bringBack: () => {
      fields = all();
      isDeleted = false;
      return caller.ingest('contacts', [{ contact_id: contactId, ...fields }]);
    },
    join: () =>
      caller.call('/api/audiences/contacts/add', { ...named, audience_id: AUDIENCES[1] }, withKey()),
    leave: () => caller.call('/api/audiences/contacts/remove', { ...named, audience_id: AUDIENCES[0] }),
    delete: () => {
      isDeleted = true;
      return caller.call('/api/contacts/delete', named);
    },
    deleteByRecord: () => {
      isDeleted = true;
      return caller.ingest('contacts', [{ contact_id: contactId, deleted: true }]);
    },
    reject: () => caller.ingest('contacts', [{ contact_id: contactId, first_name: 5, city: token() }]),
    rejectAddressAsId: () => caller.ingest('contacts', [{ contact_id: email(), city: token() }]),
    dryRun: () => {
      const body = { ...organization, audience_id: AUDIENCES[0], first_name: token() };
      return caller.call('/api/contacts/create?dry_run=true', body, withKey());
    },
    search: () => caller.call('/api/contacts/search', { ...organization, query: `${fields.last_name}x` }),
  };
  const always = ['reject', 'rejectAddressAsId', 'dryRun', 'search'];
  const count = 2 + random.below(10);
  for (let step = 0; step < count; step++) {
    const possible = isDeleted
      ? ['bringBack', ...always]
      : Object.keys(doings).filter((each) => each !== 'bringBack');
    const name = random.pick(possible);
    steps.push(name);
    ok(await (doings[name] as () => Promise<Answer>)());
  }
  const [address] = fields.work_emails as string[];
  const request = random.pick<Record<string, string>>([
    { contact_id: contactId },
    { email: (address as string).toUpperCase() },
    { network_a_url: fields.network_a_url as string },
  ]);
  steps.push(`erase by ${Object.keys(request)[0]}`);
  return { contactId, request, tokens, steps };
}

/** Texts that a list still returns. */
export async function tokensInLists(
  caller: Caller,
  organization: { organization_id: string },
  tokens: readonly string[],
): Promise<string[]> {
  const answers = await Promise.all([
    allPages(caller, '/api/contacts/search', organization),
    allPages(caller, '/api/rejections/list', organization),
    allPages(caller, '/api/contacts/erasures', organization),
    caller.call('/api/sql', { statement: 'SELECT * FROM contacts', limit: 1000 }).then(({ text }) => text),
  ]);
  const text = answers.join('\n').toLowerCase();
  return tokens.filter((token) => text.includes(token));
}

async function allPages(caller: Caller, path: string, organization: object): Promise<string> {
  const pages: string[] = [];
  let cursor: unknown;
  do {
    const { status, text, body } = await caller.call(path, {
      ...organization,
      limit: 1000,
      ...(typeof cursor === 'string' && { cursor }),
    });
    expect(status, text).to.equal(200);
    pages.push(text);
    cursor = body.next_cursor;
  } while (typeof cursor === 'string');
  return pages.join('\n');
}
