import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Answer } from '../support/gateway.js';
import { Random, SEED } from '../support/random.js';
import type { ServerProcess } from '../support/server-process.js';
import {
  findMarker,
  type KnownCampaign,
  type KnownContact,
  type Ledger,
  ORGANIZATION,
  ok,
} from './ledger.js';

/** One request of a client; its effect is added to the ledger when it is acknowledged. */
export interface Operation {
  /** Rejects with an error other than `AssertionError` when no response arrives. */
  send(server: ServerProcess): Promise<void>;
  /** Determines after a restart the outcome of an unanswered request, by a retry if a retry is allowed. */
  settle(server: ServerProcess): Promise<void>;
}

/** The only client that changes memberships of its audience, and its campaigns. */
export interface Client {
  ledger: Ledger;
  audience: string;
  /** Contacts of all clients, so that several change the memberships of one contact at once. */
  shared: KnownContact[];
  contacts: KnownContact[];
  campaigns: KnownCampaign[];
}

let made = 0;

/** A unique word; none is a prefix of another. */
export function newMarker(): string {
  return `k${String(++made).padStart(7, '0')}`;
}

const random = new Random(SEED);
const chance = (percent: number) => random.below(100) < percent;

function pick<T>(items: readonly T[]): T | undefined {
  return items[items.length === 0 ? 0 : random.below(items.length)];
}

export function nextOperation(client: Client): Operation {
  const kind = random.below(100);
  if (kind < 40) return createContact(client);
  if (kind < 65) {
    const contact = pick(client.shared);
    if (contact) return changeMembership(client, contact);
  }
  if (kind < 75) return ingestContacts(client, chance(2) ? 1200 : random.between(1, 19));
  if (kind < 78) return ingestAudiences(client);
  if (kind < 86) return ingestVisits(client);
  if (kind < 92) return ingestCampaigns(client);
  const campaign = pick(client.campaigns);
  return campaign ? ingestDeliveries(client, campaign) : createContact(client);
}

function createContact({ ledger, audience, shared }: Client): Operation {
  const marker = newMarker();
  const credits = random.below(4) === 0 ? 0 : random.between(1, 99);
  const key = chance(60) ? randomUUID() : undefined;
  const body = {
    organization_id: ORGANIZATION,
    audience_id: audience,
    first_name: 'Ada',
    company_name: marker,
    job_title: 'Created',
    work_emails: [`${marker}@kill.example`],
  };
  const request = (server: ServerProcess) =>
    server.call(`/api/contacts/create?required_credits=${credits}`, body, {
      headers: key ? { 'Idempotency-Key': key } : {},
    });
  const created = (id: string) => {
    const contact: KnownContact = {
      id,
      marker,
      title: 'Created',
      formerTitles: [],
      audiences: new Set([audience]),
      formerAudiences: new Set(),
    };
    ledger.contact(contact);
    ledger.consumed += credits;
    shared.push(contact);
  };
  return {
    async send(server) {
      const answer = await request(server);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.credits_consumed).to.equal(credits);
      expect(answer.headers.get('Idempotency-Replayed')).to.equal(null);
      created(answer.body.contact_id as string);
    },
    async settle(server) {
      const found = await findMarker(server, marker);
      expect(found).to.have.length.at.most(1);
      if (!key) {
        if (found[0]) created(found[0].contact_id);
        return;
      }
      const again = await request(server);
      expect(again.status, again.text).to.equal(200);
      expect(again.body.credits_consumed).to.equal(credits);
      expect(again.headers.get('Idempotency-Replayed')).to.equal(found[0] ? 'true' : null);
      if (found[0]) expect(again.body.contact_id).to.equal(found[0].contact_id);
      created(again.body.contact_id as string);
    },
  };
}

function changeMembership({ ledger, audience }: Client, contact: KnownContact): Operation {
  const joins = !contact.audiences.has(audience);
  const key = chance(50) ? randomUUID() : undefined;
  const request = (server: ServerProcess) =>
    server.call(
      `/api/audiences/contacts/${joins ? 'add' : 'remove'}`,
      { organization_id: ORGANIZATION, audience_id: audience, contact_id: contact.id },
      { headers: key ? { 'Idempotency-Key': key } : {} },
    );
  const changed = (isMember: boolean) => {
    contact.formerAudiences.add(audience);
    if (isMember) contact.audiences.add(audience);
    else contact.audiences.delete(audience);
    contact.formerAudiences = new Set(
      [...contact.formerAudiences].filter((id) => !contact.audiences.has(id)),
    );
    ledger.contact(contact);
  };
  const check = (answer: Answer) => {
    expect(answer.status, answer.text).to.equal(200);
    if (!joins) expect(answer.body.removed, 'removed').to.equal(true);
    changed(joins);
  };
  return {
    async send(server) {
      check(await request(server));
    },
    async settle(server) {
      if (key) return check(await request(server));
      const { body } = await ok(server, '/api/contacts/get', { contact_id: contact.id });
      changed((body.contact as { audience_ids: string[] }).audience_ids.includes(audience));
    },
  };
}

/** Records in order, all applied when the response arrives. A retry needs no idempotency key. */
function ingest(
  stream: string,
  records: readonly object[],
  done: () => void,
  beforeAgain: (server: ServerProcess) => Promise<void> = async () => undefined,
): Operation {
  async function send(server: ServerProcess): Promise<void> {
    const answer = await server.ingest(stream, records);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body).to.include({ accepted: records.length, rejected: 0 });
    done();
  }
  return {
    send,
    async settle(server) {
      await beforeAgain(server);
      await send(server);
    },
  };
}

function ingestContacts({ ledger, audience, contacts }: Client, count: number): Operation {
  const markers = Array.from({ length: count }, newMarker);
  const changed = pick(contacts);
  const title = `Title${newMarker()}`;
  const records = markers.map((marker) => ({
    contact_id: `imported_${marker}`,
    company_name: marker,
    job_title: 'Imported',
    audience_ids: [audience],
  }));
  const changes = changed ? [{ contact_id: changed.id, job_title: title, company_name: changed.marker }] : [];
  const done = () => {
    for (const [index, marker] of markers.entries()) {
      const contact: KnownContact = {
        id: `imported_${marker}`,
        marker,
        title: 'Imported',
        formerTitles: [],
        audiences: new Set([audience]),
        formerAudiences: new Set(),
      };
      if (index % 50 === 0) ledger.contact(contact);
      else ledger.contacts.set(contact.id, contact);
      if (index === 0) contacts.push(contact);
    }
    if (changed) {
      changed.formerTitles = [changed.title];
      changed.title = title;
      ledger.contact(changed);
    }
  };
  // Any of the records may be stored, but each only as a whole.
  const beforeAgain = async (server: ServerProcess) => {
    for (const marker of markers.slice(0, 5)) {
      const { status } = await server.call('/api/contacts/get', {
        organization_id: ORGANIZATION,
        contact_id: `imported_${marker}`,
      });
      const found = await findMarker(server, marker);
      expect(found.length, `found by words, got ${status} by id`).to.equal(status === 200 ? 1 : 0);
      const members = await ok(server, '/api/audiences/contacts/search', {
        audience_id: audience,
        company_name: marker,
      });
      expect(members.body.contacts).to.deep.equal(found);
    }
  };
  return ingest('contacts', [...records, ...changes], done, beforeAgain);
}

function ingestAudiences({ ledger }: Client): Operation {
  const markers = Array.from({ length: random.between(1, 3) }, newMarker);
  const records = markers.map((marker) => ({ id: `aud_${marker}`, name: `Audience ${marker}` }));
  return ingest('audiences', records, () => {
    for (const { id, name } of records) ledger.audience(id, name);
  });
}

function ingestVisits({ ledger, audience }: Client): Operation {
  const page = newMarker();
  const records = Array.from({ length: random.between(1, 11) }, (_, index) => ({
    id: `${page}_${index}`,
    createdAt: new Date(1_770_000_000_000 + index * 1000).toISOString(),
    audienceId: audience,
    startUrl: `https://www.kill.example/${page}/`,
  }));
  return ingest('website-visits', records, () =>
    ledger.visitsOf(
      page,
      records.map(({ id }) => id),
    ),
  );
}

function ingestCampaigns({ ledger, campaigns }: Client): Operation {
  const renamed = pick(campaigns);
  const known = renamed ?? {
    id: `cam_${newMarker()}`,
    name: '',
    creativeRows: new Map(),
    companyRows: new Map(),
  };
  const fresh: KnownCampaign[] = Array.from({ length: random.between(1, 2) }, () => ({
    id: `cam_${newMarker()}`,
    name: '',
    creativeRows: new Map(),
    companyRows: new Map(),
  }));
  const records = [known, ...fresh].map(({ id }) => ({ id, name: `Campaign ${newMarker()}` }));
  return ingest('network-a-campaigns', records, () => {
    for (const [index, campaign] of [known, ...fresh].entries()) {
      campaign.name = records[index]?.name ?? '';
      if (!campaigns.includes(campaign)) campaigns.push(campaign);
      ledger.campaign(campaign);
    }
  });
}

/** Rows of two months and both breakdowns, some of them restatements of earlier rows. */
function ingestDeliveries({ ledger }: Client, campaign: KnownCampaign): Operation {
  const dates = ['2026-01-30', '2026-01-31', '2026-02-01', '2026-02-02'].filter(() => chance(70));
  const rows = (dates.length > 0 ? dates : ['2026-01-29']).flatMap((date) => {
    const company = `com_${random.below(3)}`;
    return [
      {
        date,
        creative_id: `${campaign.id}_cr`,
        impressions: random.between(1, 999),
        cents: random.below(100_000),
      },
      { date, company_id: company, impressions: random.between(1, 999), cents: 0 },
    ];
  });
  const records = rows.map(({ cents, ...row }) => ({
    ...row,
    campaign_id: campaign.id,
    ad_spend: `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`,
    reported_at: new Date().toISOString(),
  }));
  return ingest('network-a-deliveries', records, () => {
    for (const row of rows) {
      if (row.company_id)
        campaign.companyRows.set(`${row.date} ${row.company_id}`, [row.company_id, row.impressions]);
      else campaign.creativeRows.set(row.date, [row.impressions, row.cents]);
    }
    ledger.campaign(campaign);
  });
}
