/** Asks a gateway every judged query, and measures where the right records were. */
import type { ElasticsearchConfig } from '../../services/shared/config.js';
import { startTestGateway, type TestGateway } from '../../test/support/gateway.js';
import { type JudgedQuery, rightIds } from './judged-query.js';
import { RECORD_SETS, type RecordSet } from './record-sets.js';

export interface JudgedAnswer {
  judged: JudgedQuery;
  /** From 1; null where no right record was among the first fifty. */
  rank: number | null;
  isFirst: boolean;
  isAmongThree: boolean;
  total: number;
  /** What came first; null where nothing was found. */
  first: string | null;
  /** How many records are right, and how many of them are among the first fifty. */
  right: number;
  rightFound: number;
}

export interface Relevance {
  queries: number;
  /** Shares of the queries with a right record first, and among the first three. */
  successAt1: number;
  successAt3: number;
  meanReciprocalRank: number;
}

const LIMIT = 50;
const RECORDS_PER_INGEST = 5000;
const ASKED_TOGETHER = 8;
const PATHS = { contacts: '/api/contacts/search', audiences: '/api/audiences/search' };

export interface JudgedGateway extends Pick<TestGateway, 'stores' | 'close'> {
  ask(queries: readonly JudgedQuery[]): Promise<JudgedAnswer[]>;
}

/** A gateway that holds the record sets, some only once they are asked for, on embedded stores save where a cluster is given. */
export async function startJudgedGateway(elasticsearch?: ElasticsearchConfig): Promise<JudgedGateway> {
  const gateway = await startTestGateway(elasticsearch ? { elasticsearch } : {});
  const keys = new Map<JudgedQuery['set'], string>();
  for (const set of ['congress', 'sample', 'mixed'] as const) keys.set(set, await load(gateway, set));
  return {
    stores: gateway.stores,
    async ask(queries) {
      const answers: JudgedAnswer[] = [];
      for (const { set } of queries) if (!keys.has(set)) keys.set(set, await load(gateway, set));
      for (let from = 0; from < queries.length; from += ASKED_TOGETHER) {
        const together = queries.slice(from, from + ASKED_TOGETHER);
        answers.push(
          ...(await Promise.all(together.map((each) => ask(gateway, keys.get(each.set) as string, each)))),
        );
      }
      return answers;
    },
    close: () => gateway.close(),
  };
}

/** Ingests a record set; the key of its organization. */
async function load(gateway: TestGateway, set: JudgedQuery['set']): Promise<string> {
  const { organizationId, contacts, audiences } = RECORD_SETS[set];
  const key = await gateway.keyFor(organizationId);
  for (const [stream, records] of Object.entries({ audiences, contacts })) {
    for (let from = 0; from < records.length; from += RECORDS_PER_INGEST) {
      const batch = records.slice(from, from + RECORDS_PER_INGEST).map(({ fields }) => fields);
      const { body, text } = await gateway.ingest(stream, batch, { key });
      if (body.accepted !== batch.length) throw new Error(`${stream}: ${text}`);
    }
  }
  return key;
}

async function ask(gateway: TestGateway, key: string, judged: JudgedQuery): Promise<JudgedAnswer> {
  const { operation, query, filters, wanted } = judged;
  const set: RecordSet = RECORD_SETS[judged.set];
  const { body, status, text } = await gateway.call(
    PATHS[operation],
    { organization_id: set.organizationId, query, ...filters, limit: LIMIT },
    { key },
  );
  if (status !== 200) throw new Error(`${JSON.stringify(judged)}: ${text}`);
  const found = (body[operation] as Record<string, unknown>[]).map(({ id }) => id as string);
  const right = rightIds(judged, set);
  const total = body.total_count as number;
  const at = found.findIndex((id) => right.has(id));
  const isWhole = !judged.all || total === right.size;
  const isNobody = right.size === 0 && total === 0;
  const rank = isNobody ? 1 : at === -1 || !isWhole ? null : at + 1;
  const wantedAt = wanted === undefined ? at : found.indexOf(wanted);
  return {
    judged,
    rank,
    isFirst: rank === 1,
    isAmongThree: isNobody || (rank !== null && wantedAt >= 0 && wantedAt < 3),
    total,
    first: found[0] ?? null,
    right: right.size,
    rightFound: found.filter((id) => right.has(id)).length,
  };
}

export function relevanceOf(
  answers: readonly Pick<JudgedAnswer, 'rank' | 'isFirst' | 'isAmongThree'>[],
): Relevance {
  const share = (count: number) => count / answers.length;
  let reciprocal = 0;
  for (const { rank } of answers) reciprocal += rank === null ? 0 : 1 / rank;
  return {
    queries: answers.length,
    successAt1: share(answers.filter(({ isFirst }) => isFirst).length),
    successAt3: share(answers.filter(({ isAmongThree }) => isAmongThree).length),
    meanReciprocalRank: share(reciprocal),
  };
}

/** Shares of what is found that is right, and of what is right that is found, over all answers together. */
export function precisionOf(answers: readonly Pick<JudgedAnswer, 'total' | 'right' | 'rightFound'>[]) {
  const sum = (of: 'total' | 'right' | 'rightFound') => answers.reduce((all, each) => all + each[of], 0);
  return {
    precision: sum('total') === 0 ? 1 : sum('rightFound') / sum('total'),
    recall: sum('right') === 0 ? 1 : sum('rightFound') / sum('right'),
  };
}
