import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startTestGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { until } from '../support/until.js';
import { readDoc } from './support.js';

const run = promisify(execFile);
const [, EXAMPLE = ''] = /```python\n([\s\S]+?)```/.exec(readDoc('docs/reference/paging.md')) ?? [];
const hasPython = spawnSync('python3', ['--version']).status === 0;

(hasPython ? describe : describe.skip)('The Python example of the page on paging', function () {
  this.timeout(60_000);
  // 30 requests at once, then one every 2 s.
  const gateway = useOpened(() => startTestGateway({ rateLimit: 30 }));

  const runAs = (key: string) => {
    const program = EXAMPLE.replace('http://127.0.0.1:8080', gateway.url)
      .replaceAll('org_demo', 'org_a')
      .replace('"limit": 1000', '"limit": 3');
    return run('python3', ['-c', program], { env: { ...process.env, REACHLINE_API_KEY: key } });
  };

  it('reads several pages, and waits out each 429', async () => {
    const records = Array.from({ length: 7 }, (_, index) => ({
      id: `v${index}`,
      createdAt: new Date(Date.UTC(2026, 10, 1, 0, index)).toISOString(),
    }));
    await gateway.ingest('website-visits', records);
    const describeKey = () => gateway.call('/api/key', undefined, { method: 'GET' });
    await until(async () => (await describeKey()).status === 429, 'the key is limited', { pollMs: 0 });
    const { stdout } = await runAs(gateway.key);
    expect(JSON.parse(stdout)).to.deep.equal({ complete: true });
  });

  it('ends at once with a wrong key', async () => {
    const { stderr } = await runAs('rl_live_wrong').catch((error: { stderr: string }) => error);
    expect(stderr).to.contain('HTTP Error 401');
  });
});
