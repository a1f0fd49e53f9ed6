/** Ten questions of a marketer, answered by a client that knows the tools only from their list. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { startSampleGateway, useGateway } from '../support/gateway.js';

type Json = Record<string, unknown>;
type Listed = Awaited<ReturnType<Client['listTools']>>['tools'][number];

/** Maximum characters of the list, and of the answers to all questions together. */
const MAX_LIST = 25_000;
const MAX_ANSWERS = 32_000;

const RANGE = { start_date: '2026-10-01', end_date: '2026-10-31' };

/** A question: words by which the client finds its tool, arguments that the list must describe, and what the answer must have. */
const QUESTIONS: [question: string, words: string[], args: Json, answer: RegExp][] = [
  [
    'What did we spend in October?',
    ['campaigns', 'totals'],
    { ...RANGE, page_size: 1 },
    /"totals":\[\{[^\]]*"ad_spend"/,
  ],
  [
    'And in euros, against the month before?',
    ['campaigns', 'totals'],
    { ...RANGE, page_size: 1, currency: 'EUR', compare_to: 'previous_month' },
    /"previous_totals":\[\{[^\]]*"ad_spend"/,
  ],
  [
    'Which campaigns brought the most leads?',
    ['campaigns', 'totals'],
    { ...RANGE, sort_by: 'leads', page_size: 5 },
    /"leads":\d+/,
  ],
  [
    'Which companies engaged most?',
    ['companies', 'totals'],
    { ...RANGE, page_size: 10 },
    /"engagements":\d+/,
  ],
  [
    'How many marketing people in Germany do we know?',
    ['people', 'facets'],
    { query: 'marketing', country: 'Germany', limit: 5 },
    /"total_count":\d+/,
  ],
  [
    'Which audiences are there, and how large?',
    ['audiences', 'search'],
    { include_counts: true },
    /"member_count":\d+/,
  ],
  [
    'Who visited the pricing page?',
    ['visits'],
    { start_url: '/pricing', limit: 5 },
    /"startUrl":"[^"]*pricing/,
  ],
  ['How many visits were there each day?', ['visits'], { limit: 1, facets: ['day'] }, /"day":\[/],
  [
    'Whom do we know at the companies that engaged?',
    ['sql', 'contacts(', 'company_daily('],
    {
      statement:
        'SELECT p.company_name, count(DISTINCT p.contact_id) AS people, sum(DISTINCT d.engagements) AS engaged FROM company_daily d JOIN companies c USING (company_id) JOIN contacts p ON p.company_domain = c.domain GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 5',
    },
    /"rows":\[\[/,
  ],
  ['How fresh are these figures?', ['fresh'], {}, /"provisional_from":"\d{4}-/],
];

describe('An assistant that reads only the list of tools', function () {
  this.timeout(60_000);
  let client: Client;
  useGateway(async ({ url, keyFor }) => {
    client = new Client({ name: 'test', version: '1.0.0' });
    const headers = { 'X-Api-Key': await keyFor(DEMO_ORGANIZATION) };
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }),
    );
  }, startSampleGateway);

  it(`answers ten questions in a call each, with a list below ${MAX_LIST} characters`, async () => {
    const { tools } = await client.listTools();
    expect(JSON.stringify({ tools }).length).to.be.below(MAX_LIST);
    let characters = 0;
    for (const [question, words, args, expected] of QUESTIONS) {
      const { name, inputSchema } = toolWith(tools, words);
      for (const field of Object.keys(args)) expect(inputSchema.properties, question).to.have.property(field);
      const answer = await client.callTool({ name, arguments: args });
      const text = JSON.stringify(answer.content);
      expect(JSON.parse(text)[0].text, question).to.match(expected);
      characters += JSON.stringify(answer).length;
    }
    expect(characters).to.be.below(MAX_ANSWERS);
  });
});

/** The reading tool whose name, title and description have all words; the one with the shortest name if there are several. */
function toolWith(tools: readonly Listed[], words: readonly string[]): Listed {
  const found = tools.filter(({ name, title, description, inputSchema, annotations }) => {
    const text = `${name} ${title} ${description} ${Object.keys(inputSchema.properties ?? {})}`.toLowerCase();
    return annotations?.readOnlyHint && words.every((word) => text.includes(word));
  });
  const named = found.filter(({ name }) => name.includes(words[0] as string));
  const [tool] = (named.length > 0 ? named : found).sort((one, other) => one.name.length - other.name.length);
  if (!tool) throw new Error(`no tool for ${words}`);
  return tool;
}
