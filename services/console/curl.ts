export interface CurlRequest {
  method: 'GET' | 'POST';
  url: string;
  /** Whether the request needs a key. */
  secured: boolean;
  headers: Record<string, string>;
  /** Body as sent. */
  body?: string;
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request as a curl command. The key is a shell variable, so that the command can be shared. */
export function curl({ method, url, secured, headers, body }: CurlRequest): string {
  return [
    `curl -s ${method === 'POST' && body === undefined ? '-X POST ' : ''}${quote(url)}`,
    ...(secured ? [`-H "X-Api-Key: $REACHLINE_API_KEY"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ].join(' \\\n  ');
}
