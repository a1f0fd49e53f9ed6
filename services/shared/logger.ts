import { type DestinationStream, type Logger, pino } from 'pino';

const KEY = /rl_live_[0-9A-Za-z_]*/g;

const LOGGED_PATH_LENGTH = 256;

/** A path as it is logged: cut, and decoded where a key hides in percent-encoding. */
export function loggedPath(path: string): string {
  const cut = path.length > LOGGED_PATH_LENGTH ? `${path.slice(0, LOGGED_PATH_LENGTH)}…` : path;
  if (!cut.includes('%')) return cut;
  let decoded = cut;
  // Encoded twice or three times, too, as proxies do.
  for (let round = 0; round < 3; round++) {
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return decoded.includes('rl_live_') ? decoded : cut;
}

/** A JSON log whose lines never hold an API key: headers are not logged, and a key that strayed into a text is cut out. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    hooks: {
      streamWrite: (line: string) =>
        line.includes('rl_live_') ? line.replace(KEY, 'rl_live_[redacted]') : line,
    },
  };
  return pino(options, destination ?? logFile(1));
}

/** What processes may write into one pipe at once without cutting into each other's lines. */
const ATOMIC_BYTES = 4096;

/** Gathers lines to write many at once, a quarter of a second at most; `atomic` where other processes write there too. */
export function logFile(dest: string | number, { atomic = false } = {}): DestinationStream {
  const maxWrite = atomic ? ATOMIC_BYTES : 16 * 1024;
  return pino.destination({ dest, sync: false, minLength: maxWrite - 1, maxWrite, periodicFlush: 250 });
}
