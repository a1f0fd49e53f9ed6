import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { useGateway } from '../support/gateway.js';
import { SEED } from '../support/random.js';
import { drawnWorld, FIRST, ingestWorld } from './drawn-world.js';
import { iso } from './oracle.js';

const PAGE = readFileSync(join(packageRoot, 'docs/reference/sql.md'), 'utf8');
const [, statement] = /^### \d+\. Which companies were exposed.+\n\n```sql\n([^`]+)```$/m.exec(PAGE) ?? [];

describe(`The question of the SQL page about influence (TEST_SEED=${SEED})`, () => {
  const gateway = useGateway(async (opened) => {
    await ingestWorld(opened, 'org_a', opened.key, drawnWorld(SEED).streams);
    await opened.stores.follower?.run();
  });

  it('answers what the operation answers', async function () {
    this.timeout(60_000);
    const [start_date, end_date] = [iso(FIRST), iso(FIRST + 25)];
    const { body } = await gateway.call('/api/advertising/network_a/influence', { start_date, end_date });
    const parameters = { organization: 'org_a', from: start_date, to: end_date };
    const { body: found, text } = await gateway.call('/api/sql', { statement, parameters });
    // SQL does not decode punycode in email domains.
    const isPlain = (domain: unknown) => domain !== 'bäcker.example';
    const items = (body.items as Record<string, unknown>[]).filter(({ domain }) => isPlain(domain));
    expect(items.length).to.be.above(2);
    const rows = items.map((item) => [
      ...[item.domain, item.exposed_on, item.contacts, item.visits],
      ...[Number(item.influenced), Number(item.known_before)],
    ]);
    const answered = (found.rows as unknown[][]).filter(([domain]) => isPlain(domain));
    expect(answered, text).to.deep.equal(rows);
  });
});
