import { preamble } from '../stores/clickhouse/bind.js';
import type { Engine, EngineResult } from '../stores/clickhouse/engine.js';

/** A statement that may run. */
export interface Statement {
  /** One statement. */
  sql: string;
  /** Of the output when the statement names none. */
  format: string;
  database: string;
  /** The later of two equal names wins. */
  settings: Record<string, string>;
  params: Record<string, string>;
}

const KILL_INTERVAL_MS = 200;
/** The engine then cannot end it, or ends it at its time limit. */
const MAX_KILLS = 25;

const identifier = (name: string) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

/** UTC unless the request sets a zone, whatever the zone of the machine. */
export const timezoneOf = ({ settings }: Statement) => settings.session_timezone || 'UTC';

/** The statement with its database, settings and parameters. */
function textOf(statement: Statement, tag: string): string {
  const { sql, database, settings, params } = statement;
  const use = database === '' ? '' : `USE ${identifier(database)};`;
  return `${use} ${preamble({ ...settings, session_timezone: timezoneOf(statement) }, params).text} ${tag} ${sql}`;
}

/** Runs each statement on a connection of its own, so that settings and leftovers of one cannot reach another. */
export class Runner {
  readonly #engine: Engine;
  #last = 0;
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Aborting the signal kills the statement. */
  async run(statement: Statement, signal?: AbortSignal): Promise<EngineResult> {
    signal?.throwIfAborted();
    const tag = `/* sql ${++this.#last} */`;
    const session = this.#engine.session();
    let retry: NodeJS.Timeout | undefined;
    const cancel = () => {
      this.#engine.kill(tag);
      // The engine may not have started it yet.
      let tries = 1;
      retry = setInterval(() => {
        this.#engine.kill(tag);
        if (++tries >= MAX_KILLS) clearInterval(retry);
      }, KILL_INTERVAL_MS);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    this.#running++;
    try {
      return await session.queryAsync(textOf(statement, tag), { format: statement.format });
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
