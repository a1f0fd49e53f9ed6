export interface CurlRequest {
  method: 'GET' | 'POST';
  url: string;
  /** Whether it needs a key. */
  secured: boolean;
  headers: Record<string, string>;
  /** As it is sent. */
  body?: string;
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The key is a variable of the shell, so that a copied line can be shown to others. */
export function curl({ method, url, secured, headers, body }: CurlRequest): string {
  return [
    `curl -s ${method === 'POST' && body === undefined ? '-X POST ' : ''}${quote(url)}`,
    ...(secured ? [`-H "X-Api-Key: $REACHLINE_API_KEY"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ].join(' \\\n  ');
}
