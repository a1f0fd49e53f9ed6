import type { Config } from '../shared/config.js';

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * Sends a request and reads its response. The timer keeps the process alive: with `fetch` alone, Node.js exits while it waits for a server
 * that closes connections without a response.
 */
export async function request(url: URL | string, init: RequestInit, timeoutMs: number): Promise<HttpAnswer> {
  const controller = new AbortController();
  const late = new Error(`no answer within ${timeoutMs / 1000} s`);
  const timer = setTimeout(() => controller.abort(late), timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } finally {
    clearTimeout(timer);
  }
}

/** The address of a Reachline server that responds on this host and port. */
export async function findServer({ host, port }: Pick<Config, 'host' | 'port'>): Promise<string | undefined> {
  if (port === 0) return undefined;
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url = `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
  try {
    const { text } = await request(`${url}/version`, {}, 2000);
    const { name } = JSON.parse(text) as { name?: string };
    return name === 'reachline' ? url : undefined;
  } catch {
    return undefined;
  }
}
