import { literal } from '../stores/clickhouse/bind.js';
import type { Engine, EngineResult, EngineSession } from '../stores/clickhouse/engine.js';

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

function preamble(statement: Statement): string {
  const { database, params } = statement;
  const settings = { ...statement.settings, session_timezone: timezoneOf(statement) };
  const assignments = [
    ...Object.entries(settings).map(([name, value]) => `${name} = ${literal(value)}`),
    ...Object.entries(params).map(([name, value]) => `param_${name} = ${literal(value)}`),
  ];
  const use = database === '' ? '' : `USE ${identifier(database)};`;
  return `${use}${assignments.length === 0 ? '' : ` SET ${assignments.join(', ')};`}`;
}

/** Runs each statement on a connection of its own, so that settings and leftovers of one cannot reach another. */
export class Runner {
  readonly #engine: Engine;
  /** Blocks the event loop for a few milliseconds, but needs no thread of the pool, which long statements may fill. */
  readonly #control: EngineSession;
  #last = 0;
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#control = engine.session();
  }

  /** Aborting the signal kills the statement. */
  async run(statement: Statement, signal?: AbortSignal): Promise<EngineResult> {
    signal?.throwIfAborted();
    const tag = `/* sql ${++this.#last} */`;
    const session = this.#engine.session();
    let retry: NodeJS.Timeout | undefined;
    const cancel = () => {
      this.#kill(tag);
      // The engine may not have started it yet.
      let tries = 1;
      retry = setInterval(() => {
        this.#kill(tag);
        if (++tries >= MAX_KILLS) clearInterval(retry);
      }, KILL_INTERVAL_MS);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    this.#running++;
    try {
      return await session.queryAsync(`${preamble(statement)} ${tag} ${statement.sql}`, {
        format: statement.format,
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

  close(): void {
    this.#control.close();
  }

  #kill(tag: string): void {
    try {
      this.#control.query(`KILL QUERY WHERE startsWith(query, ${literal(tag)}) ASYNC`, 'Null');
    } catch {
      // The statement has already ended.
    }
  }
}
