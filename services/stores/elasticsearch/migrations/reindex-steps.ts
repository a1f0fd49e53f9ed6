/**
 * The steps of a reindex that change the cluster. Each resolves once the cluster has acknowledged it, and throws `StoreUnavailableError` if
 * that takes too long.
 */
import type { estypes } from '@elastic/elasticsearch';
import { StoreTimeoutError } from '../../../shared/store-errors.js';
import type { Cluster } from '../client.js';
import { unavailable } from '../errors.js';
import { retryWithBackoff } from '../retry.js';

/** Timeout of an acknowledgement, shorter than the time that writers wait for a blocked index. */
const ACKNOWLEDGE_TIMEOUT_MS = 15_000;

/**
 * Alias of the target while it is built. Writes use it with `require_alias`, because a write to a deleted index would create the index
 * again.
 */
export const buildingAlias = (target: string): string => `${target}-building`;

/** Resolves once every shard has finished its running writes and rejects new writes. */
export async function blockWrites(cluster: Cluster, index: string): Promise<void> {
  await untilAcknowledged(`the write block of ${index}`, async () => {
    const { acknowledged, shards_acknowledged } = await cluster.run((client) =>
      client.indices.addBlock({ index, block: 'write' }),
    );
    return acknowledged && shards_acknowledged;
  });
}

export async function unblockWrites(cluster: Cluster, index: string): Promise<void> {
  await untilAcknowledged(`the removal of the write block of ${index}`, async () => {
    const response = await cluster.run((client) =>
      client.indices.putSettings({ index, settings: { 'index.blocks.write': null } }, { ignore: [404] }),
    );
    return 'error' in response || response.acknowledged;
  });
}

/** Sets how often new writes become visible to searches; by default the interval of Elasticsearch. */
export async function setRefreshInterval(
  cluster: Cluster,
  index: string,
  interval: estypes.Duration | null = null,
): Promise<void> {
  await untilAcknowledged(`the refresh interval of ${index}`, async () => {
    const settings = { 'index.refresh_interval': interval };
    return (await cluster.run((client) => client.indices.putSettings({ index, settings }))).acknowledged;
  });
}

/** Moves all aliases in one atomic step. Moves none of them if the target was rolled back meanwhile. */
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
    const response = await cluster.run((client) =>
      client.indices.updateAliases({ actions }, { ignore: [404] }),
    );
    if (!('error' in response)) return response.acknowledged;
    // Either an earlier attempt succeeded without an acknowledgement, or another process has rolled back.
    if ((await stateOf(cluster, target)) === 'serving') return true;
    throw unavailable(JSON.stringify(response.error));
  });
}

/**
 * Rolls back a reindex, or finishes a reindex whose aliases have moved. First removes the target's own alias, so that a move still on its
 * way fails as a whole. Repeats until the state is final, because reading aliases may lag behind changing them.
 */
export async function rollBack(
  cluster: Cluster,
  index: string,
  target: string,
): Promise<'rolled back' | 'finished'> {
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
  return 'rolled back';
}

export async function dropIndex(cluster: Cluster, index: string): Promise<void> {
  await cluster.run((client) => client.indices.delete({ index }, { ignore: [404] }));
}

/** State of an index. An index without an alias ("gone") is never written or searched again. */
async function stateOf(cluster: Cluster, target: string): Promise<'building' | 'serving' | 'gone'> {
  const response = await cluster.run((client) =>
    client.indices.getAlias({ index: target }, { ignore: [404] }),
  );
  const aliases = Object.keys((response as estypes.IndicesGetAliasResponse)[target]?.aliases ?? {});
  if (aliases.length === 0) return 'gone';
  return aliases.includes(buildingAlias(target)) ? 'building' : 'serving';
}

async function untilAcknowledged(what: string, request: () => Promise<boolean>): Promise<void> {
  try {
    const options = { timeoutMs: ACKNOWLEDGE_TIMEOUT_MS };
    await retryWithBackoff(async () => ((await request()) ? true : undefined), options);
  } catch (error) {
    if (!(error instanceof StoreTimeoutError)) throw error;
    throw unavailable(`the cluster did not acknowledge ${what}`);
  }
}
