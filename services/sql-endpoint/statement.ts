/** Runs statements on connections of the embedded engine. Each call passes exactly one statement. */
import { checkedIdentifier, type Sql, sql } from '../shared/sql.js';
import { preamble } from '../stores/clickhouse/bind.js';
import type { Engine, EngineResult } from '../stores/clickhouse/engine.js';
import { requireGoverned } from './governed.js';

/** Rights, settings and parameters of a connection. */
export interface Surroundings {
  /** The user of the connection. `analyst` reads only the views, whatever the statement (mappings/clickhouse/embedded-users.xml). */
  role: 'owner' | 'analyst';
  database: string;
  /** Settings of the connection. If a name occurs twice, the later value wins. */
  settings: Record<string, string>;
  params: Record<string, string>;
}

/** A statement that may run. */
export interface Statement extends Surroundings {
  sql: Sql;
  /** Output format if the statement names no format. */
  format: string;
}

/** Runs one statement on an open connection. */
export type RunOne = (sql: Sql, format: string) => Promise<EngineResult>;

/** Time zone of a connection: UTC unless the request sets a time zone, whatever the zone of the machine. */
export const timezoneOf = ({ settings }: Pick<Surroundings, 'settings'>) =>
  settings.session_timezone || 'UTC';

/** Statements that prepare a connection. The role comes first, because nothing more can be set after the setting `readonly`. */
function preparations({ role, database, settings, params }: Surroundings): Sql[] {
  return [
    ...(role === 'analyst' ? [sql`SET ROLE analyst`] : []),
    ...(database === '' ? [] : [sql`USE ${checkedIdentifier(database)}`]),
    preamble({ ...settings, session_timezone: timezoneOf({ settings }) }, params),
  ];
}

/** Runs statements on separate connections, so that settings and leftovers of one statement cannot reach another. */
export class Runner {
  readonly #engine: Engine;
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Runs a statement; aborting the signal ends the statement. Throws a `SqlError` for forbidden statements that the rights of an analyst
   * would not stop.
   */
  run(statement: Statement, signal?: AbortSignal): Promise<EngineResult> {
    return this.connected(statement, (run) => run(statement.sql, statement.format), signal);
  }

  /**
   * Passes a connection to `work`, which runs one statement at a time on this connection. Aborting the signal ends the running statement.
   */
  async connected<T>(
    surroundings: Surroundings,
    work: (run: RunOne) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    const session = this.#engine.session();
    this.#running++;
    try {
      let unsent = preparations(surroundings);
      return await work((statement, format) => {
        if (surroundings.role === 'analyst') requireGoverned(statement, surroundings.params);
        const sent = unsent;
        unsent = [];
        return session.run(statement, format, { preparations: sent, signal });
      });
    } finally {
      session.close();
      this.#running--;
      if (this.#running === 0) this.#onIdle?.();
    }
  }

  get running(): number {
    return this.#running;
  }

  /** Resolves when no statement is running. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
