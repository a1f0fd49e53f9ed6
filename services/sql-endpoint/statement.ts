/** Statements on connections of the engine in process. Each call gives the engine exactly one. */
import { checkedIdentifier, type Sql, sql } from '../shared/sql.js';
import { preamble } from '../stores/clickhouse/bind.js';
import type { Engine, EngineResult } from '../stores/clickhouse/engine.js';
import { requireGoverned } from './governed.js';

/** Rights, settings and parameters of a connection. */
export interface Surroundings {
  /** `analyst` reads the views and nothing else, whatever the statement: mappings/clickhouse/embedded-users.xml. */
  role: 'owner' | 'analyst';
  database: string;
  /** The later of two equal names wins. */
  settings: Record<string, string>;
  params: Record<string, string>;
}

/** A statement that may run. */
export interface Statement extends Surroundings {
  sql: Sql;
  /** Of the output when the statement names none. */
  format: string;
}

/** Gives the engine one statement on an open connection. */
export type RunOne = (sql: Sql, format: string) => Promise<EngineResult>;

const KILL_INTERVAL_MS = 200;
/** The engine then cannot end it, or ends it at its time limit. */
const MAX_KILLS = 25;

/** UTC unless the request sets a zone, whatever the zone of the machine. */
export const timezoneOf = ({ settings }: Pick<Surroundings, 'settings'>) =>
  settings.session_timezone || 'UTC';

/** Statements that prepare a connection. The role comes first: `readonly`, one of the settings, lets nothing be set after it. */
function preparations({ role, database, settings, params }: Surroundings): Sql[] {
  return [
    ...(role === 'analyst' ? [sql`SET ROLE analyst`] : []),
    ...(database === '' ? [] : [sql`USE ${checkedIdentifier(database)}`]),
    preamble({ ...settings, session_timezone: timezoneOf({ settings }) }, params),
  ];
}

/** Runs statements on connections of their own, so that settings and leftovers of one cannot reach another. */
export class Runner {
  readonly #engine: Engine;
  #last = 0;
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Aborting the signal kills the statement. Throws a `SqlError` for one that the rights of an analyst do not stop. */
  run(statement: Statement, signal?: AbortSignal): Promise<EngineResult> {
    return this.connected(statement, (run) => run(statement.sql, statement.format), signal);
  }

  /** Passes a connection to `work`, which runs one statement at a time on it. Aborting the signal kills the one that runs. */
  async connected<T>(
    surroundings: Surroundings,
    work: (run: RunOne) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    const number = ++this.#last;
    const tag = sql`/* sql ${number} */`;
    const session = this.#engine.session();
    let retry: NodeJS.Timeout | undefined;
    const cancel = () => {
      this.#engine.kill(tag.text);
      // The engine may not have started it yet.
      let tries = 1;
      retry = setInterval(() => {
        this.#engine.kill(tag.text);
        if (++tries >= MAX_KILLS) clearInterval(retry);
      }, KILL_INTERVAL_MS);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    this.#running++;
    try {
      for (const preparation of preparations(surroundings)) await session.run(preparation, 'Null');
      return await work((statement, format) => {
        if (surroundings.role === 'analyst') requireGoverned(statement, surroundings.params);
        return session.run(sql`${tag} ${statement}`, format);
      });
    } finally {
      clearInterval(retry);
      signal?.removeEventListener('abort', cancel);
      session.close();
      this.#running--;
      if (this.#running === 0) this.#onIdle?.();
    }
  }

  get running(): number {
    return this.#running;
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
