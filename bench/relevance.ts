/** How often a right record comes first: judged queries over the real contacts and the sample, in each records store. */
import type { ElasticsearchConfig } from '../services/shared/config.js';
import { type TestIndices, testIndices } from '../test/at-scale/elasticsearch/support.js';
import { type Figure, figure } from './measure.js';
import { type JudgedAnswer, precisionOf, relevanceOf, startJudgedGateway } from './relevance/ask.js';
import {
  crowdQueries,
  doorQueries,
  fewQueries,
  forgivingQueries,
  judgedQueries,
  segmentFilters,
} from './relevance/judged-query.js';
import { askPlainly, indexPlainly, PLAIN_QUERIES } from './relevance/plain-elasticsearch.js';
import { RECORD_SETS, type SearchedRecord } from './relevance/record-sets.js';

/** Elasticsearch too, and what it finds without Reachline, where `ELASTICSEARCH_URL` names one. */
export async function benchRelevance(note: (text: string) => void): Promise<Figure[]> {
  const figures = await benchStore('embedded', undefined, note);
  if (!process.env.ELASTICSEARCH_URL) return figures;
  const indices = testIndices();
  try {
    const ofStore = await benchStore('Elasticsearch', indices.config, note);
    return [...figures, ...ofStore, ...(await benchPlainQueries(indices, note))];
  } finally {
    await indices.remove();
  }
}

async function benchPlainQueries(
  { client: open, config }: TestIndices,
  note: (text: string) => void,
): Promise<Figure[]> {
  const client = open();
  const index = `${config.indexPrefix}-plain`;
  try {
    await indexPlainly(client, index);
    const figures: Figure[] = [];
    for (const [name, toQuery] of Object.entries(PLAIN_QUERIES)) {
      note(`plain Elasticsearch: ${name} …`);
      const answers = await askPlainly(client, index, toQuery, forgivingQueries());
      printKinds(`plain Elasticsearch, ${name}`, answers);
      const { successAt1, successAt3 } = relevanceOf(answers);
      figures.push(figure(`plain Elasticsearch, ${name}: success@1`, 'of all', successAt1, {}));
      figures.push(figure(`plain Elasticsearch, ${name}: success@3`, 'of all', successAt3, {}));
    }
    return figures;
  } finally {
    await client.close();
  }
}

const PARTS = [
  { name: 'judged queries', queries: judgedQueries, atLeast: { first: 0.95, three: 0.98 } },
  { name: 'forgiving queries', queries: forgivingQueries, atLeast: { first: 0.92, three: 0.95 } },
  { name: 'queries as people type', queries: doorQueries, atLeast: { first: 0.97, three: 0.97 } },
  {
    name: 'the same beside relatives and colleagues',
    queries: crowdQueries,
    atLeast: { first: 0.92, three: 0.95 },
  },
  { name: 'the same among 44 people', queries: fewQueries, atLeast: { first: 0.97, three: 0.97 } },
];

/** Least precision and recall of filters, over all of a kind. */
const SEGMENTS: Record<string, { precision: number; recall: number }> = {
  'filter by title': { precision: 0.9, recall: 0.9 },
  'filter by country': { precision: 0.98, recall: 0.95 },
  'filter by company': { precision: 0.9, recall: 0.9 },
  'filter by last name': { precision: 0.9, recall: 0.9 },
};

async function benchStore(
  store: string,
  elasticsearch: ElasticsearchConfig | undefined,
  note: (text: string) => void,
): Promise<Figure[]> {
  note(`${store}: records …`);
  const gateway = await startJudgedGateway(elasticsearch);
  try {
    const figures: Figure[] = [];
    for (const { name, queries, atLeast } of PARTS) {
      note(`${store}: ${name} …`);
      const answers = await gateway.ask(queries());
      const all = relevanceOf(answers);
      printKinds(`${store}, ${name}`, answers);
      printMisses(answers);
      const measured = (measure: string, value: number, bound: { atLeast?: number }) =>
        figure(`${store}, ${name} (${answers.length}): ${measure}`, 'of all', value, bound);
      figures.push(
        measured('success@1', all.successAt1, { atLeast: atLeast.first }),
        measured('success@3', all.successAt3, { atLeast: atLeast.three }),
        measured('mean reciprocal rank', all.meanReciprocalRank, {}),
      );
    }
    note(`${store}: segments …`);
    const answers = await gateway.ask(segmentFilters());
    for (const [kind, atLeast] of Object.entries(SEGMENTS)) {
      const some = answers.filter(({ judged }) => judged.kind === kind);
      const { precision, recall } = precisionOf(some);
      printSegments(some);
      const measured = (measure: string, value: number, least: number) =>
        figure(`${store}, ${kind} (${some.length}): ${measure}`, 'of all', value, { atLeast: least });
      figures.push(
        measured('precision', precision, atLeast.precision),
        measured('recall', recall, atLeast.recall),
      );
    }
    return figures;
  } finally {
    await gateway.close();
  }
}

/** A line per filter that finds other records than the right ones. */
function printSegments(answers: readonly JudgedAnswer[]): void {
  for (const { judged, total, right, rightFound } of answers) {
    if (total === right && rightFound === right) continue;
    process.stdout.write(
      `  ${judged.kind} | ${JSON.stringify(judged.filters)} | found ${total}, right ${rightFound} of ${right}\n`,
    );
  }
}

type Judged = Pick<JudgedAnswer, 'judged' | 'rank' | 'isFirst' | 'isAmongThree'>;

/** A line per kind. */
function printKinds(title: string, answers: readonly Judged[]): void {
  const kinds = [...new Set(answers.map(({ judged }) => judged.kind))].map(
    (kind) => [kind, answers.filter(({ judged }) => judged.kind === kind)] as const,
  );
  const lines = [...kinds, ['in all', answers] as const].map(([kind, some]) => {
    const { queries, successAt1, successAt3, meanReciprocalRank } = relevanceOf(some);
    const figures = [successAt1, successAt3, meanReciprocalRank].map((value) => value.toFixed(3));
    return `${kind.padEnd(32)} ${String(queries).padStart(5)}  ${figures.join('  ')}`;
  });
  process.stdout.write(
    `\n${title}: queries, success@1, success@3, mean reciprocal rank\n${lines.join('\n')}\n\n`,
  );
}

/** A line per miss. */
function printMisses(answers: readonly JudgedAnswer[]): void {
  const misses = answers.filter(({ isFirst, isAmongThree }) => !isFirst || !isAmongThree);
  process.stdout.write(misses.map(describeMiss).join(''));
}

function describeMiss({ judged, rank, total, first }: JudgedAnswer): string {
  const { kind, set, operation, query, filters, why } = judged;
  const asked = filters ? JSON.stringify({ query, ...filters }) : JSON.stringify(query);
  const records: readonly SearchedRecord[] = RECORD_SETS[set][operation];
  const fields = records.find(({ id }) => id === first)?.fields ?? {};
  const name = fields.name ?? [fields.first_name, fields.last_name, `(${fields.city})`].join(' ');
  const place = rank === null ? 'not among the first 50' : `right one at ${rank}`;
  const answer = first === null ? 'nothing found' : `first of ${total}: ${name}`;
  return `  ${kind} | ${set} ${operation} ${asked} | ${why} | ${place}; ${answer}\n`;
}
