export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * Sends a request and reads its answer. The timer is one that keeps the process alive, because `fetch` alone lets it end
 * while it waits for a server that closes connections without a word.
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
