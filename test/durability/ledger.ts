import { expect } from 'chai';
import { repeat } from '../support/repeat.js';
import type { ServerProcess } from '../support/server-process.js';

export const ORGANIZATION = 'org_kill';
export const START_CREDITS = 10_000_000;
/** Date range of every delivery of the test. */
export const RANGE = { start_date: '2026-01-25', end_date: '2026-02-04' };

/** A contact as the server must store it. */
export interface KnownContact {
  id: string;
  /** A unique word. */
  marker: string;
  title: string;
  /** Earlier titles. */
  formerTitles: string[];
  audiences: Set<string>;
  /** Audiences that the contact was removed from, or may have been in. */
  formerAudiences: Set<string>;
}

/** Metrics of one delivery row; the newest report counts. */
export interface KnownCampaign {
  id: string;
  name: string;
  /** Impressions and cents by day. */
  creativeRows: Map<string, readonly [impressions: number, cents: number]>;
  companyRows: Map<string, readonly [companyId: string, impressions: number]>;
}

interface ContactBody {
  contact_id: string;
  company_name: string;
  job_title: string;
  audience_ids: string[];
}

/** Every acknowledged write. */
export class Ledger {
  readonly contacts = new Map<string, KnownContact>();
  readonly audiences = new Map<string, string>();
  readonly visits = new Set<string>();
  readonly campaigns = new Map<string, KnownCampaign>();
  consumed = 0;
  #touchedContacts = new Set<KnownContact>();
  #touchedVisits = new Map<string, readonly string[]>();
  #touchedAudiences = new Set<string>();
  #touchedCampaigns = new Set<KnownCampaign>();

  contact(contact: KnownContact): void {
    this.contacts.set(contact.id, contact);
    this.#touchedContacts.add(contact);
  }

  audience(id: string, name: string): void {
    this.audiences.set(id, name);
    this.#touchedAudiences.add(id);
  }

  /** Visits by page; each page belongs to one request. */
  visitsOf(page: string, ids: readonly string[]): void {
    for (const id of ids) this.visits.add(id);
    this.#touchedVisits.set(page, ids);
  }

  campaign(campaign: KnownCampaign): void {
    this.campaigns.set(campaign.id, campaign);
    this.#touchedCampaigns.add(campaign);
  }

  /** Verifies the writes acknowledged since the last check. */
  async verifyRecent(server: ServerProcess): Promise<void> {
    const checks = [
      ...[...this.#touchedContacts].map((contact) => () => verifyContact(server, contact)),
      ...[...this.#touchedAudiences].map((id) => () => this.#verifyAudience(server, id)),
      ...[...this.#touchedVisits].map(
        ([page, ids]) =>
          () =>
            verifyVisits(server, page, ids),
      ),
      ...[...this.#touchedCampaigns].map((campaign) => () => verifyCompanies(server, campaign)),
      () => verifyCampaigns(server, [...this.#touchedCampaigns]),
      () => this.#verifyBalance(server),
      () => this.#verifyCounts(server),
    ];
    await repeat(checks.length, 8, async (index) => checks[index]?.());
    this.#touchedContacts = new Set();
    this.#touchedAudiences = new Set();
    this.#touchedVisits = new Map();
    this.#touchedCampaigns = new Set();
  }

  /** Reads everything, and expects exactly the acknowledged writes. */
  async verifyAll(server: ServerProcess): Promise<void> {
    const contacts = await allOf<ContactBody>(server, '/api/contacts/search', 'contacts');
    const expected = [...this.contacts.values()].map(summaryOf);
    expect(contacts.map(summaryOfBody).sort()).to.deep.equal(expected.sort());
    for (const audience of this.audiences.keys()) {
      const members = await allOf<ContactBody>(server, '/api/audiences/contacts/search', 'contacts', {
        audience_id: audience,
      });
      const known = [...this.contacts.values()].filter(({ audiences }) => audiences.has(audience));
      expect(members.map((member) => member.contact_id).sort()).to.deep.equal(
        known.map(({ id }) => id).sort(),
      );
    }
    const visits = await allOf<{ id: string }>(server, '/api/website-visits/search', 'visits');
    expect(visits.map(({ id }) => id).sort()).to.deep.equal([...this.visits].sort());
    const campaigns = [...this.campaigns.values()];
    for (let start = 0; start < campaigns.length; start += 100) {
      await verifyCampaigns(server, campaigns.slice(start, start + 100));
    }
    await this.#verifyBalance(server);
    await this.#verifyCounts(server);
  }

  async #verifyAudience(server: ServerProcess, id: string): Promise<void> {
    const { body } = await ok(server, '/api/audiences/get', { audience_id: id });
    expect(body.audience).to.include({ id, name: this.audiences.get(id) });
    const found = await ok(server, '/api/audiences/search', { query: this.audiences.get(id) });
    expect((found.body.audiences as { id: string }[]).map((audience) => audience.id)).to.include(id);
  }

  async #verifyBalance(server: ServerProcess): Promise<void> {
    const { body } = await ok(server, '/api/contacts/create?dry_run=true&required_credits=0', {
      audience_id: [...this.audiences.keys()][0],
    });
    expect(body.credit_balance, 'the balance').to.equal(START_CREDITS - this.consumed);
  }

  async #verifyCounts(server: ServerProcess): Promise<void> {
    const contacts = await ok(server, '/api/contacts/search', { limit: 1 });
    expect(contacts.body.total_count, 'all contacts').to.equal(this.contacts.size);
    const visits = await ok(server, '/api/website-visits/search', { limit: 1 });
    expect(visits.body.total_count, 'all visits').to.equal(this.visits.size);
    const audiences = await ok(server, '/api/audiences/search', { limit: 1 });
    expect(audiences.body.total_count, 'all audiences').to.equal(this.audiences.size);
  }
}

const summaryOf = ({ id, marker, title, audiences }: KnownContact) =>
  `${id} ${marker} ${title} ${[...audiences].sort()}`;
const summaryOfBody = ({ contact_id, company_name, job_title, audience_ids }: ContactBody) =>
  `${contact_id} ${company_name} ${job_title} ${audience_ids}`;

/** A call that must succeed. */
export async function ok(server: ServerProcess, path: string, body: object) {
  const answer = await server.call(path, { organization_id: ORGANIZATION, ...body });
  expect(answer.status, `${path} ${answer.text}`).to.equal(200);
  return answer;
}

/** Contacts that a search for the marker finds. */
export async function findMarker(server: ServerProcess, marker: string): Promise<ContactBody[]> {
  const { body } = await ok(server, '/api/contacts/search', { query: marker });
  const contacts = body.contacts as ContactBody[];
  expect(body.total_count).to.equal(contacts.length);
  return contacts;
}

/** Reads by id, by words, by filters and by audience return the same contact. */
async function verifyContact(server: ServerProcess, contact: KnownContact): Promise<void> {
  const { id, marker, title } = contact;
  const { body } = await ok(server, '/api/contacts/get', { contact_id: id });
  expect(summaryOfBody(body.contact as ContactBody)).to.equal(summaryOf(contact));
  expect(await findMarker(server, marker)).to.deep.equal([body.contact]);
  if (contact.formerTitles.length > 0) {
    const titled = (job_title: string) =>
      ok(server, '/api/contacts/search', { company_name: marker, job_title });
    expect((await titled(title)).body.contacts).to.deep.equal([body.contact]);
    for (const former of contact.formerTitles) {
      expect((await titled(former)).body.total_count, `${id} as ${former}`).to.equal(0);
    }
  }
  for (const audience of [...contact.audiences, ...contact.formerAudiences]) {
    const { body: members } = await ok(server, '/api/audiences/contacts/search', {
      audience_id: audience,
      company_name: marker,
    });
    expect(members.contacts, `${id} in ${audience}`).to.deep.equal(
      contact.audiences.has(audience) ? [body.contact] : [],
    );
  }
}

async function verifyVisits(server: ServerProcess, page: string, ids: readonly string[]): Promise<void> {
  const { body } = await ok(server, '/api/website-visits/search', { start_url: `/${page}/` });
  expect((body.visits as { id: string }[]).map(({ id }) => id).sort()).to.deep.equal([...ids].sort());
}

/** Verifies names and metrics of at most 100 campaigns. */
async function verifyCampaigns(server: ServerProcess, campaigns: readonly KnownCampaign[]): Promise<void> {
  if (campaigns.length === 0) return;
  const { body } = await ok(server, '/api/advertising/network_a/campaigns', {
    organization_id: ORGANIZATION,
    ...RANGE,
    campaign_ids: campaigns.map(({ id }) => id),
    page_size: 200,
  });
  const items = body.items as { id: string; name: string; impressions: number; ad_spend: number | string }[];
  const figures = items.map(
    ({ id, name, impressions, ad_spend }) =>
      `${id} ${name} ${impressions} ${Math.round(Number(ad_spend) * 100)}`,
  );
  const expected = campaigns.map(({ id, name, creativeRows }) => {
    const rows = [...creativeRows.values()];
    const impressions = rows.reduce((sum, row) => sum + row[0], 0);
    const cents = rows.reduce((sum, row) => sum + row[1], 0);
    return `${id} ${name} ${impressions} ${cents}`;
  });
  expect(figures.sort()).to.deep.equal(expected.sort());
}

async function verifyCompanies(server: ServerProcess, campaign: KnownCampaign): Promise<void> {
  const { body } = await ok(server, '/api/advertising/network_a/companies', {
    ...RANGE,
    campaign_ids: [campaign.id],
    page_size: 200,
  });
  const expected = new Map<string, number>();
  for (const [companyId, impressions] of campaign.companyRows.values()) {
    expected.set(companyId, (expected.get(companyId) ?? 0) + impressions);
  }
  const items = body.items as { id: string; impressions: number }[];
  expect(items.map(({ id, impressions }) => `${id} ${impressions}`).sort()).to.deep.equal(
    [...expected].map(([id, impressions]) => `${id} ${impressions}`).sort(),
  );
}

async function allOf<Item>(server: ServerProcess, path: string, name: string, filters = {}): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: unknown = null;
  do {
    const { body } = await ok(server, path, { ...filters, limit: 1000, cursor });
    items.push(...(body[name] as Item[]));
    cursor = body.next_cursor;
  } while (cursor !== null);
  return items;
}
