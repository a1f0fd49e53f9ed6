/**
 * Requests to a cluster in which a node may hang, or be cut off from the other nodes. Until the other nodes exclude a hung node, after half
 * a minute, requests to the hung node get no response. A node that is cut off responds with outdated data.
 */
import { errors, SniffingTransport, type TransportRequestOptions } from '@elastic/elasticsearch';
import { sleep } from '../../shared/async.js';

type TransportOptions = ConstructorParameters<typeof SniffingTransport>[0];
type Connection = SniffingTransport['connectionPool']['connections'][number];
type Params = Parameters<SniffingTransport['request']>[0];

const RETRY_BACKOFF_SECONDS = 0.1;
/** Maximum nodes to which a write is sent, one after another, if connections fail. */
const MAX_WRITES = 3;
/**
 * Attempts of a read. A read that hangs is sent again to a responsive node, and prefers copies on nodes other than the hung node. If the
 * second attempt hangs too, no other node has a copy.
 */
const MAX_READS = 2;
/** Time after which a request makes the client check whether a node hangs. */
const READ_PATIENCE_MS = 700;
const WRITE_PATIENCE_MS = 1500;
/** Time for the same check while a node is known to hang, so that requests that wait for another write also finish in time. */
const SHORT_PATIENCE_MS = 1000;
/** The cluster waits this long for a shard to become writable. */
const WRITE_TIMEOUT = '3s';
/** Request for the nodes that a node reaches. Each node responds for itself and for nodes that do not respond to it within this time. */
const NODES_REQUEST = {
  method: 'GET',
  path: '/_nodes/_all/_none',
  querystring: 'timeout=700ms&filter_path=_nodes.failed,nodes.*.name',
};
/**
 * Request for the version of the cluster state from which a node responds. The version increases with each change, including a change of
 * master.
 */
const STATE_REQUEST = {
  method: 'GET',
  path: '/_cluster/state/version',
  querystring: 'local=true&filter_path=version',
};
const CHECK_TIMEOUT_MS = 3000;
/**
 * Time that a check waits for further responses after its first response: short if the first response shows which node hangs, otherwise
 * long.
 */
const SHORT_GRACE_MS = 250;
const LONG_GRACE_MS = 1000;
/** Time between two checks: short while a node hangs or is cut off, otherwise long. */
const SHORT_INTERVAL_MS = 1000;
const LONG_INTERVAL_MS = 10_000;

/** APIs that accept `preference`. */
const READS = new Set(['get', 'mget', 'search', 'count']);
/** APIs that accept `timeout`. */
const WRITES = new Set(['index', 'create', 'bulk']);
const REFRESH = 'indices.refresh';

interface NodeProbe {
  version: number;
  _nodes: { failed: number };
  nodes?: Record<string, unknown>;
}

/**
 * Transport that detects hung nodes. A read that hangs is sent again to responsive nodes. While a node hangs, reads prefer the copies on
 * other nodes. A write that hangs ends with a `RequestAbortedError`, and may have been applied.
 */
export class ClusterTransport extends SniffingTransport {
  /** The responsive nodes, which reads prefer while a node hangs; otherwise undefined. */
  #preference: string | undefined;
  /** Nodes that do not respond, are outdated, or reach other nodes than the majority. */
  #leftOut: ReadonlySet<Connection> = new Set();
  /** Version of the cluster state at the last check. A node with an older version hung or was cut off, and may lack later writes. */
  #version = 0;
  #checking: Promise<boolean> | undefined;
  #nextCheck: NodeJS.Timeout | undefined;

  constructor(options: TransportOptions) {
    // Retries after fractions of a second, so that an outage is reported within two seconds.
    super({ ...options, retryBackoff: (_least, _most, attempt) => RETRY_BACKOFF_SECONDS * 2 ** attempt });
    this.#checkIn(LONG_INTERVAL_MS);
  }

  /** Whether a node hung at the last check, and the other nodes have not excluded it yet. */
  get hasHungNode(): boolean {
    return this.#preference !== undefined;
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
        if (!hung.signal.aborted || options.signal?.aborted || attempt === MAX_READS) throw error;
      }
    }
  }

  /** A 503 of the cluster is final, because the cluster has waited already. */
  async #write(params: Params, options: TransportRequestOptions): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        const patienceMs = this.#preference === undefined ? WRITE_PATIENCE_MS : SHORT_PATIENCE_MS;
        return await this.#watched(params, { ...options, maxRetries: 0 }, patienceMs);
      } catch (error) {
        if (!(error instanceof errors.ConnectionError) || attempt === MAX_WRITES) throw error;
      }
    }
  }

  /** Aborts the request if it takes longer than this and a node hangs. */
  async #watched(
    params: Params,
    options: TransportRequestOptions,
    patienceMs: number,
    hung = new AbortController(),
  ): Promise<unknown> {
    const signal = options.signal ? AbortSignal.any([options.signal, hung.signal]) : hung.signal;
    const check = async () => {
      if (await this.#isBroken()) hung.abort();
      else timer.refresh();
    };
    const timer = setTimeout(() => void check(), patienceMs).unref();
    try {
      return await super.request(params, { ...options, signal });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether a node hangs, or is excluded from now on: requests sent to that node may hang. */
  #isBroken(): Promise<boolean> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /**
   * Asks every node for its state and for the nodes that respond to it. Excludes nodes that are outdated, and nodes that reach fewer nodes
   * than the node with the newest state does. A cluster that does not respond at all, or rejects this user, has no hung node.
   */
  async #check(): Promise<boolean> {
    const { connectionPool } = this;
    const silent = new Set(connectionPool.connections);
    const answered: Connection[] = [];
    const found = new Map<Connection, NodeProbe>();
    const asked = [...silent].map(async (connection) => {
      try {
        const options = { timeout: CHECK_TIMEOUT_MS, requestId: 'nodes', name: 'nodes', context: null };
        const responses = await Promise.all(
          [NODES_REQUEST, STATE_REQUEST].map((request) => connection.request(request, options)),
        );
        answered.push(connection);
        if (responses.some(({ statusCode }) => statusCode !== 200)) return;
        found.set(connection, Object.assign({}, ...responses.map(({ body }) => JSON.parse(String(body)))));
      } catch (error) {
        connectionPool.markDead(connection);
        throw error;
      } finally {
        silent.delete(connection);
      }
    });
    const settled = Promise.allSettled(asked);
    const first = Promise.any(asked).catch(() => settled);
    await Promise.race([settled, first.then(() => sleep(SHORT_GRACE_MS))]);
    // A node that was cut off responds only after it has waited for the other nodes.
    if (![...found.values()].some(isFaultOfFew)) {
      await Promise.race([settled, sleep(LONG_GRACE_MS - SHORT_GRACE_MS)]);
    }
    const newest = Math.max(...[...found.values()].map(({ version }) => version));
    const seen = [...found.values()]
      .filter(({ version }) => version === newest)
      .sort((one, other) => idsOf(other).length - idsOf(one).length)[0];
    const hangs = seen !== undefined && seen._nodes.failed > 0;
    this.#preference = hangs ? `_prefer_nodes:${idsOf(seen)}` : undefined;
    const differs = (each: NodeProbe) => idsOf(each).length !== idsOf(seen as NodeProbe).length;
    const left = new Set(seen ? silent : []);
    for (const [connection, each] of found) {
      if (each.version < Math.min(this.#version, newest) || differs(each)) left.add(connection);
    }
    if (seen) this.#version = newest;
    for (const connection of left) connectionPool.markDead(connection);
    for (const connection of answered) if (!left.has(connection)) connectionPool.markAlive(connection);
    const isNew = [...left].some((connection) => !this.#leftOut.has(connection));
    this.#leftOut = left;
    this.#checkIn(hangs || left.size > 0 ? SHORT_INTERVAL_MS : LONG_INTERVAL_MS);
    return hangs || isNew;
  }

  /** Plans the next check, if there are several addresses to choose from. */
  #checkIn(milliseconds: number): void {
    clearTimeout(this.#nextCheck);
    const check = () => {
      if (this.connectionPool.size > 1) void this.#isBroken();
    };
    this.#nextCheck = setTimeout(check, milliseconds).unref();
  }
}

const idsOf = ({ nodes = {} }: NodeProbe) => Object.keys(nodes);

/** Whether some nodes failed to respond to this node, but more nodes did respond. A node that was cut off reaches few other nodes. */
const isFaultOfFew = (seen: NodeProbe) => seen._nodes.failed > 0 && seen._nodes.failed < idsOf(seen).length;

/** Adds parameters to a request, except undefined parameters and parameters that the request has already. */
function withQuery(params: Params, added: Record<string, string | undefined>): Params {
  const given = (params.querystring ?? {}) as Record<string, unknown>;
  const defined = Object.entries(added).filter(([, value]) => value !== undefined);
  return defined.length === 0
    ? params
    : { ...params, querystring: { ...Object.fromEntries(defined), ...given } };
}
