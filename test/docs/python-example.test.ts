import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { startTestGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { until } from '../support/until.js';

const SCRIPT = join(packageRoot, 'docs/examples/all_visits.py');
const VISITS = 7;
const hasPython = spawnSync('python3', ['--version']).status === 0;

(hasPython ? describe : describe.skip)('The Python example', function () {
  this.timeout(60_000);
  const expected: string[] = [];
  // 30 requests at once, then one every 2 s.
  const gateway = useOpened(() => startTestGateway({ rateLimit: 30 }));
  before(async () => {
    const records = Array.from({ length: VISITS }, (_, index) => ({
      id: `v${index}`,
      createdAt: new Date(Date.UTC(2026, 10, 1, 0, index)).toISOString(),
    }));
    await gateway.ingest('website-visits', records);
    for (const { id, createdAt } of records.reverse()) expected.push(`${createdAt} ${id}`);
  });

  const run = async (key: string) => {
    const child = spawn('python3', [SCRIPT, 'org_a', '2'], {
      env: { ...process.env, REACHLINE_URL: gateway.url, REACHLINE_API_KEY: key },
    });
    const ended = once(child, 'close') as Promise<[number]>;
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { output, errors, code };
  };

  it('pages through all visits, and waits out each 429', async () => {
    const describeKey = () => gateway.call('/api/key', undefined, { method: 'GET' });
    await until(async () => (await describeKey()).status === 429, 'the key is limited', { pollMs: 0 });
    const { output, errors, code } = await run(gateway.key);
    expect(code, errors).to.equal(0);
    expect(output.trim().split('\n')).to.deep.equal(expected);
    expect(errors).to.match(/^rate_limited: again in \d+ s$/m);
  });

  it('ends with the problem of a wrong key', async () => {
    const { errors, code } = await run('rl_live_wrong');
    expect(code).to.equal(1);
    expect(errors).to.match(/^invalid_api_key: .+ \(request .+\)$/m);
  });
});
