/** Posts messages as Standard Webhooks (https://www.standardwebhooks.com). */
import { type LookupAddress, lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { isPublicAddress } from '../../shared/ip-address.js';
import { readVersion } from '../../shared/version.js';
import { UsageError } from '../errors.js';
import { DeliveryError, type Sink } from './follow-changes.js';

/** Standard Webhooks asks for 24 to 64 random bytes. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;
const MAX_SECRETS = 2;
const TIMEOUT_MS = 30_000;
/** Milliseconds to wait for the rest of a response whose status has arrived. */
const BODY_TIMEOUT_MS = 1000;
/** Small, because after a failed request the whole page is read again. */
const PAGE_SIZE = 100;

export interface WebhookOptions {
  url: string;
  secrets: readonly Webhook[];
  /** Whether the receiver may have a private or loopback address. Such a receiver may use plain HTTP. */
  allowPrivate: boolean;
  /** Milliseconds after which a request without a response has failed; default 30 000. */
  timeoutMs?: number;
  /** Replaces the name resolution of the system. */
  resolve?: typeof lookup;
}

/** The secrets of a file, one per line. Throws UsageError. */
export function parseSecrets(text: string): Webhook[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0 || lines.length > MAX_SECRETS || !lines.every((line) => SECRET.test(line))) {
    throw new UsageError(
      'The secret file has one or two lines, each whsec_ and 24 to 64 random bytes in base64. Make one with: echo "whsec_$(openssl rand -base64 32)"',
    );
  }
  return lines.map((line) => new Webhook(line));
}

/** Throws UsageError for an address to which nothing can be posted. */
export function webhookSink({
  secrets,
  allowPrivate,
  timeoutMs = TIMEOUT_MS,
  ...options
}: WebhookOptions): Sink {
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`--post takes an address such as https://crm.example.com/hook, not ${options.url}.`);
  }
  const isSecure = url.protocol === 'https:';
  const refusalOf = (address: string): string | undefined => {
    const isPublic = isPublicAddress(address);
    if (!isPublic && !allowPrivate) return `${address} is a private address, which needs --allow-private`;
    return isPublic && !isSecure ? `${address} is a public address, which needs https` : undefined;
  };
  // Node.js looks up names, but not addresses, so an address in the URL is checked here.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const refused = isIP(host) === 0 ? undefined : refusalOf(host);
  if (refused !== undefined) throw new UsageError(`--post: ${refused}.`);

  const { request, Agent } = isSecure ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const lookup = checkedLookup(refusalOf, options.resolve);
  const post = (headers: http.OutgoingHttpHeaders, body: string) =>
    new Promise<number>((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const sent = request(url, { method: 'POST', headers, agent, lookup, signal });
      sent.on('error', reject);
      sent.on('response', (response) => {
        // The status is the answer. The body is read so that the connection can serve the next message, but not for long.
        const timer = setTimeout(() => response.destroy(), BODY_TIMEOUT_MS);
        response
          .on('error', () => undefined)
          .once('close', () => clearTimeout(timer))
          .resume();
        resolve(response.statusCode ?? 0);
      });
      sent.end(body);
    });

  return {
    batchSize: 1,
    pageSize: PAGE_SIZE,
    async deliver(messages) {
      for (const { id, content } of messages) {
        const body = JSON.stringify(content);
        const status = await post(headersOf(secrets, id, body), body).catch(
          (error: NodeJS.ErrnoException) => {
            throw new DeliveryError(
              error.name === 'AbortError'
                ? `no response within ${timeoutMs} ms`
                : (error.code ?? error.message),
            );
          },
        );
        if (status < 200 || status > 299) throw new DeliveryError(`status ${status}`);
      }
    },
    close: () => agent.destroy(),
  };
}

function headersOf(secrets: readonly Webhook[], id: string, body: string): http.OutgoingHttpHeaders {
  const now = new Date();
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': `Reachline/${readVersion().version}`,
    'webhook-id': id,
    'webhook-timestamp': Math.floor(now.getTime() / 1000),
    'webhook-signature': secrets.map((secret) => secret.sign(id, now, body)).join(' '),
  };
}

/** The connection is made to the addresses that were checked, even if the name resolves to others a moment later. */
function checkedLookup(
  refusalOf: (address: string) => string | undefined,
  resolve: typeof lookup = lookup,
): LookupFunction {
  return (host, options, callback) =>
    resolve(host, { ...options, all: true }, (error: Error | null, found: LookupAddress[] = []) => {
      const refused = found.map(({ address }) => refusalOf(address)).find((each) => each !== undefined);
      const [first] = found;
      if (error) callback(error, '');
      else if (refused !== undefined || !first) callback(new Error(refused ?? `${host} has no address`), '');
      else if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
}
