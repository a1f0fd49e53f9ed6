/** The steps of a reindex that change the cluster. Each resolves only once the cluster has acknowledged it. */
import type { estypes } from '@elastic/elasticsearch';
import { StoreTimeoutError, StoreUnavailableError } from '../../../shared/store-errors.js';
import type { Cluster } from '../client.js';
import { retryWithBackoff } from '../retry.js';

/** Shorter than writers wait for an index that is blocked. */
const ACKNOWLEDGE_TIMEOUT_MS = 15_000;

/** The target is written through an alias of its own: writing to an index that is gone would create it again. */
const BUILDING = '-building';
export const buildingAlias = (target: string): string => `${target}${BUILDING}`;

/** Resolves once every shard has finished the writes under way and takes no others. */
export async function blockWrites(cluster: Cluster, index: string): Promise<void> {
  await untilAcknowledged(`the write block of ${index}`, async () => {
    const { acknowledged, shards_acknowledged } = await cluster.run((client) =>
      client.indices.addBlock({ index, block: 'write' }),
    );
    return acknowledged && shards_acknowledged;
  });
}

export async function unblockWrites(cluster: Cluster, index: string): Promise<void> {
  await untilAcknowledged(`the end of the write block of ${index}`, async () => {
    const answer = await cluster.run((client) =>
      client.indices.putSettings({ index, settings: { 'index.blocks.write': null } }, { ignore: [404] }),
    );
    return 'error' in answer || answer.acknowledged;
  });
}

/** Moves all aliases over in one step. Throws, and has moved none, when the target was given up meanwhile. */
export async function moveAliases(
  cluster: Cluster,
  index: string,
  target: string,
  aliases: readonly string[],
): Promise<void> {
  const actions = [
    ...aliases.flatMap((alias) => [
      { remove: { index, alias, must_exist: true } },
      { add: { index: target, alias } },
    ]),
    { remove: { index: target, alias: buildingAlias(target), must_exist: true } },
  ];
  await untilAcknowledged(`the move of the aliases to ${target}`, async () => {
    const answer = await cluster.run((client) =>
      client.indices.updateAliases({ actions }, { ignore: [404] }),
    );
    if (!('error' in answer)) return answer.acknowledged;
    // The step that was not acknowledged was done, or someone else gave the target up.
    if ((await stateOf(cluster, target)) === 'serving') return true;
    throw new StoreUnavailableError('search', { cause: new Error(JSON.stringify(answer.error)) });
  });
}

/**
 * Undoes a reindex that did not come to its end; one whose aliases have moved it finishes. Taking the target's own alias away
 * comes first: from then on a move that is still on its way fails as a whole.
 */
export async function rollBack(
  cluster: Cluster,
  index: string,
  target: string,
): Promise<'undone' | 'finished'> {
  const state = await retryWithBackoff(
    async () => {
      const found = await stateOf(cluster, target);
      if (found !== 'building') return found;
      const alias = buildingAlias(target);
      await cluster.run((client) =>
        client.indices.updateAliases(
          { actions: [{ remove: { index: target, alias, must_exist: true } }] },
          { ignore: [404] },
        ),
      );
      return undefined;
    },
    { timeoutMs: ACKNOWLEDGE_TIMEOUT_MS },
  );
  if (state === 'serving') {
    await dropIndex(cluster, index);
    return 'finished';
  }
  await dropIndex(cluster, target);
  await unblockWrites(cluster, index);
  return 'undone';
}

export async function dropIndex(cluster: Cluster, index: string): Promise<void> {
  await cluster.run((client) => client.indices.delete({ index }, { ignore: [404] }));
}

/** An index without an alias serves nobody, and never will. */
async function stateOf(cluster: Cluster, target: string): Promise<'building' | 'serving' | 'gone'> {
  const answer = await cluster.run((client) => client.indices.getAlias({ index: target }, { ignore: [404] }));
  const aliases = Object.keys((answer as estypes.IndicesGetAliasResponse)[target]?.aliases ?? {});
  if (aliases.length === 0) return 'gone';
  return aliases.includes(buildingAlias(target)) ? 'building' : 'serving';
}

async function untilAcknowledged(what: string, request: () => Promise<boolean>): Promise<void> {
  try {
    const options = { timeoutMs: ACKNOWLEDGE_TIMEOUT_MS };
    await retryWithBackoff(async () => ((await request()) ? true : undefined), options);
  } catch (error) {
    if (!(error instanceof StoreTimeoutError)) throw error;
    throw new StoreUnavailableError('search', {
      cause: new Error(`the cluster did not acknowledge ${what}`),
    });
  }
}
