import { type Agent, type IncomingHttpHeaders, request as sendRequest } from 'node:http';
import type { FuzzRequest } from './generated.js';

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends the bytes unchanged. */
export function send(
  url: string,
  agent: Agent,
  { method, path, headers, body }: FuzzRequest,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      `${url}/`,
      { agent, method, path, headers: { ...headers, 'Content-Length': body.length } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, text: Buffer.concat(chunks).toString() });
        });
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

export function describeRequest({ method, path, headers, body }: FuzzRequest): string {
  const { 'X-Api-Key': _, ...shown } = headers;
  const text = body.length > 1500 ? `${body.subarray(0, 1500).toString('latin1')}…` : body.toString('latin1');
  return `${method} ${path} ${JSON.stringify(shown)}\n${JSON.stringify(text)} (as Latin-1)`;
}
