/** What key, rate limit, validation, log and metrics cost: our gateway beside bare Koa, both answering the same fixed page. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { type Comparison, compare } from './measure.js';
import { requestBody } from './servers/fixed-answer.js';

interface Served {
  url: string;
  key: string;
  stop(): Promise<void>;
}

async function serve(script: string, ...args: string[]): Promise<Served> {
  const child = fork(join(import.meta.dirname, 'servers', script), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ url, key }] = (await once(child, 'message')) as [{ url: string; key: string }];
  return {
    url,
    key,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function requestsPerSecond({ url, key }: Served): Promise<number> {
  const result = await autocannon({
    url: `${url}/api/contacts/search`,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: requestBody,
    connections: 32,
    duration: 4,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} answers were not 2xx, ${result.errors} connections failed`);
  }
  return result.requests.average;
}

export async function benchGateway(folder: string): Promise<Comparison> {
  const base = await serve('bare-koa.js');
  const ours = await serve('gateway.js', folder);
  try {
    return await compare(
      'gateway with key, validation and a fixed answer ÷ bare Koa',
      'requests/s',
      { atLeast: 0.8 },
      7,
      () => requestsPerSecond(ours),
      () => requestsPerSecond(base),
    );
  } finally {
    await Promise.all([base.stop(), ours.stop()]);
  }
}
