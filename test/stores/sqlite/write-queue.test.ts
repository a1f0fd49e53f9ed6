import { join } from 'node:path';
import { expect } from 'chai';
import {
  REJECTION_LIMITS,
  type Rejection,
  rejectionId,
} from '../../../services/rejections/rejection-store.js';
import { identifier, sql } from '../../../services/shared/sql.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { deleteContacts } from '../../../services/stores/sqlite/contacts/writes.js';
import { migrate } from '../../../services/stores/sqlite/migrations/migrate.js';
import { keepRejections } from '../../../services/stores/sqlite/rejections.js';
import { deleteVisitsBefore } from '../../../services/stores/sqlite/visits.js';
import type { RpcResponse } from '../../../services/stores/sqlite/workers/rpc.js';
import type { SteppedWork } from '../../../services/stores/sqlite/writes/stepped-work.js';
import { WriteQueue } from '../../../services/stores/sqlite/writes/write-queue.js';
import { WriteSession } from '../../../services/stores/sqlite/writes/write-session.js';
import { accepted } from '../../support/accepted.js';
import { tempFolder } from '../../support/temp-folder.js';

const NOW = Date.UTC(2026, 0, 2);

describe('The write queue', () => {
  let connection: Connection;
  let queue: WriteQueue;
  let responses: RpcResponse[];
  let requests = 0;
  beforeEach(() => {
    connection = new Connection(join(tempFolder(), 'x.db'), { cacheMb: 2 });
    migrate(connection);
    responses = [];
    queue = new WriteQueue(new WriteSession(connection), (response) => responses.push(response));
  });
  afterEach(() => connection.close());

  const add = (organizationId: string, operation: string, ...args: unknown[]) => {
    queue.add({ id: ++requests, organizationId, operation, args });
    return requests;
  };
  const contacts = (organization: string, count: number, fields: object = {}) => {
    const ids = Array.from({ length: count }, (_, index) => `c${index}`);
    const records = ids.map((id) => ({ organization_id: organization, contact_id: id, ...fields }));
    return add(organization, 'upsertContacts', JSON.stringify(accepted(records, NOW)));
  };
  const answered = () => responses.map(({ id }) => id);

  it('gives organizations turns, however many records one of them has waiting', () => {
    const backlog = Array.from({ length: 30 }, () => contacts('org_a', 500));
    const other = contacts('org_b', 10);
    while (!answered().includes(other)) queue.work();
    expect(answered().indexOf(other)).to.be.lessThan(3);
    while (!queue.isEmpty) queue.work();
    expect(answered().filter((id) => id !== other)).to.deep.equal(backlog);
  });

  it('gives organizations turns with requests', () => {
    const requests = Array.from({ length: 5 }, () => add('org_a', 'setCredits', 'org_a', 1));
    const other = add('org_b', 'setCredits', 'org_b', 1);
    queue.work();
    expect(answered()).to.deep.equal([requests[0], other, ...requests.slice(1)]);
  });

  it('writes a request between the transactions of a long batch', () => {
    const ids = Array.from({ length: 9000 }, (_, index) => `audience_with_a_long_name_${index}`);
    contacts('org_a', 1, { audience_ids: ids });
    queue.work();
    const records = Array.from({ length: 1000 }, (_, index) => ({
      organization_id: 'org_a',
      contact_id: 'c0',
      audience_ids: [`more_${index}`],
    }));
    const long = add('org_a', 'upsertContacts', JSON.stringify(accepted(records, NOW + 1)));
    queue.work();
    expect(answered()).not.to.include(long);
    const request = add('org_b', 'setCredits', 'org_b', 1);
    queue.work();
    expect(answered()).to.include(request).and.not.include(long);
  });

  it('writes all requests that wait before each step of work over many rows, and gives organizations turns with steps', () => {
    const stepped = ['org_a', 'org_b', 'org_a', 'org_c', 'org_a'].map((organization) =>
      add(organization, 'deleteContacts', organization, ['c0'], NOW),
    );
    const others = Array.from({ length: 10 }, (_, index) =>
      add(`org_other_${index % 2}`, 'setCredits', 'org_d', 1),
    );
    queue.work();
    expect(answered()).to.include.members(others);
    while (!queue.isEmpty) queue.work();
    const inTurn = [stepped[0], stepped[1], stepped[3], stepped[2], stepped[4]];
    expect(answered().filter((id) => stepped.includes(id))).to.deep.equal(inTurn);
  });

  it('writes the text index once for many contacts that a step deletes', () => {
    contacts('org_a', 200, { country: 'Germany', first_name: 'Ada' });
    while (!queue.isEmpty) queue.work();
    const removals = () =>
      connection.number(sql`SELECT value FROM counters WHERE name = 'contact_terms_removals'`) ?? 0;
    const before = removals();
    const session = new WriteSession(connection);
    const ids = Array.from({ length: 200 }, (_, index) => `c${index}`);
    session.transaction(() =>
      deleteContacts(session, { organizationId: 'org_a', contactIds: ids }, NOW + 1).step(() => false),
    );
    expect(connection.number(sql`SELECT count(*) FROM contacts`)).to.equal(0);
    expect(connection.number(sql`SELECT count(*) FROM contact_terms_docsize`)).to.equal(0);
    expect(removals() - before).to.be.within(1, 10);
  });

  /** Does stepped work with as little per step as possible; calls `between` after each step but the last. */
  function stepBy<Result>(
    start: (session: WriteSession) => SteppedWork<Result>,
    between: () => void,
  ): string {
    const session = new WriteSession(connection);
    const work = start(session);
    for (;;) {
      const { commit, result } = session.transaction(() => work.step(() => true));
      commit?.();
      if (result !== undefined) return result;
      between();
    }
  }

  it('deletes visits from before a moment in steps of a hundred', () => {
    for (const organization of ['org_a', 'org_b']) {
      const visits = Array.from({ length: 250 }, (_, index) => ({
        ...{ id: `v${index}`, organizationId: organization, startUrl: 'https://x.example/' },
        createdAt: new Date(NOW - index).toISOString(),
      }));
      add(organization, 'insertVisits', JSON.stringify(accepted(visits, NOW)));
    }
    while (!queue.isEmpty) queue.work();
    const left = () => connection.number(sql`SELECT count(*) FROM visits`) ?? 0;
    const counted = () => connection.number(sql`SELECT sum(visits) FROM organizations`) ?? 0;
    expect([left(), counted()]).to.deep.equal([500, 500]);
    const seen = [left()];
    const result = stepBy(
      (session) => deleteVisitsBefore(session, NOW, 300),
      () => seen.push(left()),
    );
    expect(result).to.equal('300');
    expect([left(), counted()]).to.deep.equal([200, 200]);
    for (const [index, count] of seen.entries())
      expect((seen[index - 1] ?? count) - count).to.be.at.most(100);
  });

  it('keeps rejections and drops those that are too many, however few a step writes', () => {
    const rejection = (index: number): Rejection => ({
      ...{ id: rejectionId(NOW, index), organization_id: 'org_a', stream: 'contacts', line: index },
      ...{ code: 'invalid_type', pointer: '/age', rejected_at: new Date(NOW).toISOString() },
      ...{ sequence: index, record_id: `c${index}` },
    });
    const rejections = Array.from({ length: REJECTION_LIMITS.records + 20 }, (_, index) => rejection(index));
    stepBy(
      () => keepRejections(connection, 'org_a', rejections, NOW),
      () => {},
    );
    const left = connection.rows<[string]>(sql`SELECT id FROM rejections ORDER BY id`).flat();
    expect(left).to.deep.equal(rejections.slice(-REJECTION_LIMITS.records).map(({ id }) => id));
  });

  it('rejects a batch that cannot be written, and writes all others', () => {
    const good = [contacts('org_a', 3), contacts('org_b', 3)];
    const [first] = accepted([{ organization_id: 'org_c', contact_id: 'c0' }], NOW);
    const bad = add('org_c', 'upsertContacts', JSON.stringify([first, { record: null }]));
    good.push(contacts('org_a', 3));
    while (!queue.isEmpty) queue.work();
    const failed = responses.filter((response) => 'error' in response).map(({ id }) => id);
    expect(failed).to.deep.equal([bad]);
    expect(answered()).to.include.members(good);
    for (const table of ['contacts', 'contact_terms_docsize'] as const) {
      expect(connection.number(sql`SELECT count(*) FROM ${identifier(table)}`), table).to.equal(6);
    }
  });
});
