/**
 * A client that uses the service as it is meant to be used, in a process of its own. It sends a request every `INTERVAL_MS`, whether or not
 * earlier requests were answered, so that a stalled server shows as latency. Parent messages: `begin` and `end`.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

const INTERVAL_MS = 25;
const LIVEZ_INTERVAL_MS = 50;
/** Most requests in progress; further requests count as unanswered. */
const MAX_IN_FLIGHT = 400;

/** The kinds that guarantee 10 bounds separately: `reads` are reads by id and /livez, `searches` include reports. */
export type Kind = 'reads' | 'writes' | 'searches';

export interface Observation extends Record<Kind, number[]> {
  /**
   * Milliseconds of processor time that the event loop of the server took while /livez waited; other programs on the machine add nothing to
   * it.
   */
  turns: number[];
  /** Requests that were not answered with 200, as `operation status code`. */
  failures: string[];
}

interface Settings {
  url: string;
  key: string;
  organizationId: string;
  audienceId: string;
  contactId: string;
  today: string;
  serverPid: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const { organizationId: organization_id, audienceId: audience_id, contactId: contact_id } = settings;
const agent = new Agent({ keepAlive: true });
let observed: Observation = emptyObservation();
let sequence = 0;
let inFlight = 0;

const range = {
  start_date: new Date(Date.parse(settings.today) - 28 * 86_400_000).toISOString().slice(0, 10),
  end_date: settings.today,
};
const OPERATIONS: (() => [kind: Kind, path: string, body: object | string])[] = [
  () => ['reads', '/api/contacts/get', { organization_id, contact_id }],
  () => ['searches', '/api/contacts/search', { organization_id, query: 'marketing manager', limit: 10 }],
  () => ['searches', '/api/contacts/search', { organization_id, country: 'Germany', limit: 10 }],
  () => ['searches', '/api/audiences/search', { organization_id, query: 'customers' }],
  () => ['searches', '/api/audiences/contacts/search', { organization_id, audience_id, limit: 10 }],
  () => ['searches', '/api/website-visits/search', { organization_id, browser: 'chrome', limit: 10 }],
  () => ['writes', '/api/audiences/contacts/add', { organization_id, audience_id, contact_id }],
  () => [
    'searches',
    '/api/advertising/network_a/campaigns',
    { ...range, granularity: 'monthly', page_size: 10 },
  ],
  () => ['reads', '/api/contacts/get', { organization_id, contact_id }],
  () => [
    'writes',
    '/api/ingest/website-visits',
    `${JSON.stringify({ id: `good-${++sequence}`, createdAt: new Date().toISOString(), startUrl: 'https://a.example/' })}\n`,
  ],
];

function emptyObservation(): Observation {
  return { reads: [], writes: [], searches: [], turns: [], failures: [] };
}

function send(method: string, path: string, body?: object | string): Promise<[status: number, text: string]> {
  return new Promise((resolve, reject) => {
    const isText = typeof body === 'string';
    const sent = request(
      new URL(path, settings.url),
      {
        agent,
        method,
        headers: {
          'X-Api-Key': settings.key,
          'Content-Type': isText ? 'application/x-ndjson' : 'application/json',
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          if (response.statusCode !== 200) text += chunk;
        });
        response.once('end', () => resolve([response.statusCode ?? 0, text]));
        response.once('error', reject);
      },
    );
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
  });
}

/** Processor time of the main thread of the server; the first number is in nanoseconds. */
function eventLoopMs(): number {
  const { serverPid } = settings;
  return Number(readFileSync(`/proc/${serverPid}/task/${serverPid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

async function observe(kind: Kind, method: string, path: string, body?: object | string): Promise<void> {
  const { [kind]: latencies, turns, failures } = observed;
  if (inFlight >= MAX_IN_FLIGHT) {
    failures.push(`${path} not sent`);
    return;
  }
  inFlight++;
  const began = performance.now();
  const turn = path === '/livez' ? eventLoopMs() : 0;
  try {
    const [status, text] = await send(method, path, body);
    latencies.push(performance.now() - began);
    if (path === '/livez') turns.push(eventLoopMs() - turn);
    if (status !== 200) failures.push(`${path} ${status} ${text.slice(0, 200)}`);
  } catch (error) {
    failures.push(`${path} ${(error as Error).message}`);
  } finally {
    inFlight--;
  }
}

let next = 0;
setInterval(() => {
  const [kind, path, body] = (OPERATIONS[next++ % OPERATIONS.length] as (typeof OPERATIONS)[number])();
  void observe(kind, 'POST', path, body);
}, INTERVAL_MS);
setInterval(() => void observe('reads', 'GET', '/livez'), LIVEZ_INTERVAL_MS);

process.on('message', (message) => {
  if (message === 'end') process.send?.(observed);
  observed = emptyObservation();
});
process.once('disconnect', () => process.exit());
process.send?.('ready');
