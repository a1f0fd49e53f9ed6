import { literal } from '../stores/clickhouse/bind.js';
import type { Engine, EngineResult, EngineSession } from '../stores/clickhouse/engine.js';

/** What may run, decided before it does. */
export interface Statement {
  /** One statement. */
  sql: string;
  /** Of the output where the statement names none. */
  format: string;
  database: string;
  /** Later ones hold where a name comes twice. */
  settings: Record<string, string>;
  params: Record<string, string>;
  /** Whether it ends when nobody waits for it any more. */
  cancellable: boolean;
  /** Whether rows counted by the engine were written, not read. */
  inserts: boolean;
}

const KILL_AGAIN_MS = 200;
/** After these the engine will not end it, or ends it at its own time limit. */
const KILL_TRIES = 25;

const identifier = (name: string) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

/** The zone that a request may change; the machine's own is nothing to rely on. */
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

/** Runs statements, each on a connection of its own, so that nothing of one shows in another. */
export class Runner {
  readonly #engine: Engine;
  /** Its statements hold up the event loop for a few milliseconds, but need none of the threads that long ones fill. */
  readonly #control: EngineSession;
  #last = 0;
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#control = engine.session();
  }

  async run(statement: Statement, signal?: AbortSignal): Promise<EngineResult> {
    signal?.throwIfAborted();
    const tag = `/* sql ${++this.#last} */`;
    const session = this.#engine.session();
    let again: NodeJS.Timeout | undefined;
    const cancel = () => {
      this.#kill(tag);
      // The engine may not have begun it.
      let tries = 1;
      again = setInterval(() => {
        this.#kill(tag);
        if (++tries >= KILL_TRIES) clearInterval(again);
      }, KILL_AGAIN_MS);
    };
    if (statement.cancellable) signal?.addEventListener('abort', cancel, { once: true });
    this.#running++;
    try {
      return await session.queryAsync(`${preamble(statement)} ${tag} ${statement.sql}`, {
        format: statement.format,
      });
    } finally {
      clearInterval(again);
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
      // It ended by itself.
    }
  }
}
