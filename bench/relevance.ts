/** How often a right record comes first: judged queries over the real contacts and the sample, in each search store. */
import type { ElasticsearchConfig } from '../services/shared/config.js';
import { testIndices } from '../test/at-scale/elasticsearch/support.js';
import { type Figure, figure } from './measure.js';
import { type JudgedAnswer, relevanceOf, startJudgedGateway } from './relevance/ask.js';
import { judgedQueries } from './relevance/judged-query.js';
import { RECORD_SETS } from './relevance/record-sets.js';

/** Elasticsearch too, where `ELASTICSEARCH_URL` names one. */
export async function benchRelevance(note: (text: string) => void): Promise<Figure[]> {
  const figures = await benchStore('embedded', undefined, note);
  if (!process.env.ELASTICSEARCH_URL) return figures;
  const indices = testIndices();
  try {
    return [...figures, ...(await benchStore('Elasticsearch', indices.config, note))];
  } finally {
    await indices.remove();
  }
}

const SUCCESS = { first: 0.95, three: 0.98 };

async function benchStore(
  store: string,
  elasticsearch: ElasticsearchConfig | undefined,
  note: (text: string) => void,
): Promise<Figure[]> {
  note(`${store}: records …`);
  const gateway = await startJudgedGateway(elasticsearch);
  try {
    const answers = await gateway.ask(judgedQueries());
    const all = relevanceOf(answers);
    print(`${store}, judged queries`, answers);
    const measured = (measure: string, value: number, bound: { atLeast?: number }) =>
      figure(`${store}, judged queries (${answers.length}): ${measure}`, 'of all', value, bound);
    return [
      measured('success@1', all.successAt1, { atLeast: SUCCESS.first }),
      measured('success@3', all.successAt3, { atLeast: SUCCESS.three }),
      measured('mean reciprocal rank', all.meanReciprocalRank, {}),
    ];
  } finally {
    await gateway.close();
  }
}

/** A line per kind, then a line per miss. */
function print(title: string, answers: readonly JudgedAnswer[]): void {
  const kinds = [...new Set(answers.map(({ judged }) => judged.kind))].map(
    (kind) => [kind, answers.filter(({ judged }) => judged.kind === kind)] as const,
  );
  const lines = [...kinds, ['in all', answers] as const].map(([kind, some]) => {
    const { queries, successAt1, successAt3, meanReciprocalRank } = relevanceOf(some);
    const figures = [successAt1, successAt3, meanReciprocalRank].map((value) => value.toFixed(3));
    return `${kind.padEnd(32)} ${String(queries).padStart(5)}  ${figures.join('  ')}`;
  });
  const misses = answers.filter(({ isFirst, isAmongThree }) => !isFirst || !isAmongThree);
  process.stdout.write(
    `\n${title}: queries, success@1, success@3, mean reciprocal rank\n${lines.join('\n')}\n\n${misses.map(describeMiss).join('')}`,
  );
}

function describeMiss({ judged, rank, total, first }: JudgedAnswer): string {
  const { kind, set, operation, query, filters, why } = judged;
  const asked = filters ? JSON.stringify({ query, ...filters }) : JSON.stringify(query);
  const fields = RECORD_SETS[set][operation].find(({ id }) => id === first)?.fields ?? {};
  const name = fields.name ?? [fields.first_name, fields.last_name, `(${fields.city})`].join(' ');
  const place = rank === null ? 'not among the first 50' : `right one at ${rank}`;
  const answer = first === null ? 'nothing found' : `first of ${total}: ${name}`;
  return `  ${kind} | ${set} ${operation} ${asked} | ${why} | ${place}; ${answer}\n`;
}
