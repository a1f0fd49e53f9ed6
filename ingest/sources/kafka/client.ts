/** The connection to the brokers: configuration, retries, log and errors of kafkajs. */
import './kafkajs/patches.js';
import { readFileSync } from 'node:fs';
import kafkajs, {
  type Admin,
  type Consumer,
  type ConsumerConfig,
  type KafkaConfig as LibraryConfig,
  type Producer,
} from 'kafkajs';
import type { Logger } from 'pino';
import type { KafkaConfig } from '../../../services/shared/config.js';
import type { RetryPolicy } from '../../../services/shared/retry.js';

const { Kafka, logLevel, Partitioners } = kafkajs;

export const HEARTBEATS_PER_SESSION = 6;
/** Milliseconds that the group waits for a member whose batch is being written. */
const REBALANCE_TIMEOUT_MS = 60_000;

export const BACKGROUND_RETRY: RetryPolicy = { firstMs: 200, maxMs: 5000, retries: 8 };
/** Retries of a request whose caller waits. */
export const INTERACTIVE_RETRY: RetryPolicy = { firstMs: 100, maxMs: 500, retries: 3 };

/** No broker can be reached, or no broker accepts this user. */
export class KafkaUnavailableError extends Error {
  override readonly name = 'KafkaUnavailableError';

  constructor(brokers: string, options?: ErrorOptions) {
    super(
      `Kafka does not answer at ${brokers}. See that it runs, and that KAFKA_BROKERS, TLS, user and password are right: reachline doctor asks each broker.`,
      options,
    );
  }
}

type LogListener = (message: string, details: Record<string, unknown>) => void;

/** Creates the clients of one cluster, and disconnects them. */
export class KafkaClient {
  readonly retry: RetryPolicy;
  readonly sessionMs: number;
  readonly #kafka: kafkajs.Kafka;
  readonly #logger: Logger;
  readonly #open = new Set<{ disconnect(): Promise<void> }>();
  readonly #logListeners = new Set<LogListener>();
  readonly #brokers: string;
  #admin: Promise<Admin> | undefined;

  constructor(config: KafkaConfig, logger: Logger, retry: RetryPolicy) {
    this.#logger = logger;
    this.#brokers = config.brokers.join(', ');
    this.retry = retry;
    this.sessionMs = config.sessionTimeoutMs;
    this.#kafka = new Kafka({
      ...libraryConfig(config),
      retry: libraryRetry(retry),
      logCreator: () => (entry) => this.#log(entry),
    });
  }

  consumer(config: ConsumerConfig): Consumer {
    return this.#opened(
      this.#kafka.consumer({
        sessionTimeout: this.sessionMs,
        heartbeatInterval: this.sessionMs / HEARTBEATS_PER_SESSION,
        rebalanceTimeout: REBALANCE_TIMEOUT_MS,
        allowAutoTopicCreation: false,
        ...config,
        retry: { ...libraryRetry(this.retry), ...config.retry },
      }),
    );
  }

  producer(): Producer {
    return this.#opened(
      this.#kafka.producer({
        idempotent: false,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: Partitioners.DefaultPartitioner,
        retry: { retries: 0 },
      }),
    );
  }

  /** The connected admin client, which all callers share. Throws `KafkaUnavailableError`; the next call tries to connect again. */
  admin(): Promise<Admin> {
    if (!this.#admin) {
      const admin = this.#kafka.admin({ retry: libraryRetry(this.retry) });
      this.#admin = admin.connect().then(
        () => this.#opened(admin),
        (cause: unknown) => {
          throw new KafkaUnavailableError(this.#brokers, { cause });
        },
      );
      this.#admin.catch(() => {
        this.#admin = undefined;
      });
    }
    return this.#admin;
  }

  async disconnect(client: { disconnect(): Promise<void> }): Promise<void> {
    try {
      await client.disconnect();
    } finally {
      this.#open.delete(client);
    }
  }

  /** Subscribes to the log of kafkajs, because some events occur only in the log. Returns the function that ends the subscription. */
  onLog(listener: LogListener): () => void {
    this.#logListeners.add(listener);
    return () => this.#logListeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#admin?.catch(() => undefined);
    await Promise.allSettled([...this.#open].map((client) => client.disconnect()));
  }

  #opened<Client extends { disconnect(): Promise<void> }>(client: Client): Client {
    this.#open.add(client);
    return client;
  }

  #log({ level, namespace, log: { message, timestamp: _, ...details } }: kafkajs.LogEntry): void {
    for (const listener of this.#logListeners) listener(message, details);
    const line = { kafka: namespace, ...details };
    // Logged as a warning, because kafkajs logs an error for each retry while a broker is down. A final error is thrown as well.
    if (level <= logLevel.WARN) this.#logger.warn(line, message);
    else this.#logger.debug(line, message);
  }
}

const libraryRetry = ({ retries, firstMs, maxMs }: RetryPolicy) => ({
  retries,
  initialRetryTime: firstMs,
  maxRetryTime: maxMs,
});

function libraryConfig({ brokers, clientId, tls, sasl }: KafkaConfig): LibraryConfig {
  return {
    brokers,
    clientId,
    ssl: tls ? { ca: tls.caFile ? [readFileSync(tls.caFile, 'utf8')] : undefined } : undefined,
    sasl: sasl as LibraryConfig['sasl'],
    connectionTimeout: 3000,
    authenticationTimeout: 5000,
    requestTimeout: 30_000,
    logLevel: logLevel.INFO,
  };
}
