/** What the console adds to the client of the API: failures as it shows them, and requests as curl. */
import { ConnectionError, ReachlineProblem } from '../client/index.js';

export type { OperationPath, RequestOf, ResponseOf } from '../client/index.js';

/** Why there is no answer. */
export interface FailureText {
  title: string;
  detail: string;
  requestId?: string;
}

export function failureOf(error: unknown): FailureText {
  if (error instanceof ReachlineProblem) {
    const { title, message, requestId } = error;
    return { title, detail: message === title ? '' : message, requestId };
  }
  if (error instanceof ConnectionError) {
    return {
      title: 'The server cannot be reached',
      detail: 'It may have stopped, or this device is offline.',
    };
  }
  return { title: 'The console failed', detail: String(error) };
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The key is a variable of the shell, so that a copied line can be shown to others. */
export function curlOf(method: 'GET' | 'POST', url: string, body?: object): string {
  const address = quote(new URL(url, location.origin).href);
  if (method === 'GET') return `curl -s ${address}`;
  return [
    `curl -s ${address}`,
    `-H "X-Api-Key: $REACHLINE_API_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify(body))}`,
  ].join(' \\\n  ');
}
