/** One call per block, in which the engine looks at neither its time limit nor `KILL QUERY`. */
export const endless = (rows: number) =>
  `SELECT sum(editDistance(repeat('a', 30000), repeat(toString(number % 10), 30000))) FROM numbers(${rows})`;

export async function ask(
  url: string,
  query: string,
): Promise<[status: number, code: string | null, text: string]> {
  const answer = await fetch(url, { method: 'POST', body: query });
  return [answer.status, answer.headers.get('x-clickhouse-exception-code'), await answer.text()];
}
