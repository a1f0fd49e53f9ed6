/** Requests to a cluster of which a node may hang, until the others exclude it after half a minute. */
import { errors, SniffingTransport, type TransportRequestOptions } from '@elastic/elasticsearch';
import { sleep } from '../../shared/async.js';

type TransportOptions = ConstructorParameters<typeof SniffingTransport>[0];
type Params = Parameters<SniffingTransport['request']>[0];

const RETRY_BACKOFF_SECONDS = 0.1;
/** Nodes in a row that a read is sent to, and a write when connections fail. */
const MAX_ATTEMPTS = 3;
/** A request that takes longer asks the cluster whether a node hangs. */
const READ_PATIENCE_MS = 700;
const WRITE_PATIENCE_MS = 2000;
/** While a node is known to hang, so that what waits for another write is answered in time too. */
const SHORT_PATIENCE_MS = 1000;
/** The cluster waits this long for a shard to become writable. */
const WRITE_TIMEOUT = '3s';
/** Answered by each node for itself, and for those that do not answer it in this time. */
const NODES_REQUEST = {
  method: 'GET',
  path: '/_nodes/_all/_none',
  querystring: 'timeout=700ms&filter_path=_nodes.failed,nodes.*.name',
};
const CHECK_TIMEOUT_MS = 3000;
/** Between the first answer to it and the others. */
const GRACE_MS = 250;
/** Between two checks while a node hangs. */
const CHECK_INTERVAL_MS = 1000;

/** Each of them accepts `preference`. */
const READS = new Set(['get', 'mget', 'search', 'count']);
/** Each of them accepts `timeout`. */
const WRITES = new Set(['index', 'create', 'bulk']);
const REFRESH = 'indices.refresh';

interface Nodes {
  _nodes: { failed: number };
  nodes?: Record<string, unknown>;
}

/**
 * A read that hangs is sent again to nodes that answer; while a node does not, reads prefer the copies of the others. A write that
 * hangs ends as a `RequestAbortedError`, and may have been applied.
 */
export class ClusterTransport extends SniffingTransport {
  /** Of reads while a node hangs: the nodes that answer. */
  #preference: string | undefined;
  #checking: Promise<boolean> | undefined;
  #nextCheck: NodeJS.Timeout | undefined;

  constructor(options: TransportOptions) {
    // Retries after fractions of a second, so that an outage is reported within two seconds.
    super({ ...options, retryBackoff: (_least, _most, attempt) => RETRY_BACKOFF_SECONDS * 2 ** attempt });
  }

  // biome-ignore lint/suspicious/noExplicitAny: the result depends on the options, as in the overloads.
  override request(params: Params, options: TransportRequestOptions = {}): Promise<any> {
    const { name = '' } = params.meta ?? {};
    if (READS.has(name)) return this.#read(params, options);
    if (WRITES.has(name)) return this.#write(withQuery(params, { timeout: WRITE_TIMEOUT }), options);
    return name === REFRESH ? this.#write(params, options) : super.request(params, options);
  }

  async #read(params: Params, options: TransportRequestOptions): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const preferring = withQuery(params, { preference: this.#preference });
      const hung = new AbortController();
      try {
        return await this.#watched(preferring, options, READ_PATIENCE_MS, hung);
      } catch (error) {
        if (!hung.signal.aborted || options.signal?.aborted || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** The cluster's 503 is final: it has waited already. */
  async #write(params: Params, options: TransportRequestOptions): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        const patienceMs = this.#preference === undefined ? WRITE_PATIENCE_MS : SHORT_PATIENCE_MS;
        return await this.#watched(params, { ...options, maxRetries: 0 }, patienceMs);
      } catch (error) {
        if (!(error instanceof errors.ConnectionError) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Aborts the request once it has taken so long and a node hangs. */
  async #watched(
    params: Params,
    options: TransportRequestOptions,
    patienceMs: number,
    hung = new AbortController(),
  ): Promise<unknown> {
    const signal = options.signal ? AbortSignal.any([options.signal, hung.signal]) : hung.signal;
    const check = async () => {
      if (await this.#hasHungNode()) hung.abort();
      else timer.refresh();
    };
    const timer = setTimeout(() => void check(), patienceMs).unref();
    try {
      return await super.request(params, { ...options, signal });
    } finally {
      clearTimeout(timer);
    }
  }

  #hasHungNode(): Promise<boolean> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Asks every node which others answer it. A cluster that does not answer at all, or not to this user, has no hung node. */
  async #check(): Promise<boolean> {
    clearTimeout(this.#nextCheck);
    const { connectionPool } = this;
    const silent = new Set(connectionPool.connections);
    const found: Nodes[] = [];
    const asked = [...silent].map(async (connection) => {
      try {
        const options = { timeout: CHECK_TIMEOUT_MS, requestId: 'nodes', name: 'nodes', context: null };
        const { statusCode, body } = await connection.request(NODES_REQUEST, options);
        connectionPool.markAlive(connection);
        if (statusCode === 200) found.push(JSON.parse(String(body)) as Nodes);
      } catch (error) {
        connectionPool.markDead(connection);
        throw error;
      } finally {
        silent.delete(connection);
      }
    });
    const first = Promise.any(asked).then(
      () => sleep(GRACE_MS),
      () => undefined,
    );
    await Promise.race([Promise.allSettled(asked), first]);
    // A node that was cut off from all others has the shortest list.
    const [seen] = found
      .map(({ _nodes, nodes = {} }) => ({ failed: _nodes.failed, ids: Object.keys(nodes) }))
      .sort((one, other) => other.ids.length - one.ids.length);
    const isHung = seen !== undefined && seen.failed > 0;
    this.#preference = isHung ? `_prefer_nodes:${seen.ids.join(',')}` : undefined;
    if (isHung) {
      for (const connection of silent) connectionPool.markDead(connection);
      this.#nextCheck = setTimeout(() => void this.#hasHungNode(), CHECK_INTERVAL_MS).unref();
    }
    return isHung;
  }
}

/** Adds parameters, save those that are undefined or given already. */
function withQuery(params: Params, added: Record<string, string | undefined>): Params {
  const given = (params.querystring ?? {}) as Record<string, unknown>;
  const defined = Object.entries(added).filter(([, value]) => value !== undefined);
  return defined.length === 0
    ? params
    : { ...params, querystring: { ...Object.fromEntries(defined), ...given } };
}
