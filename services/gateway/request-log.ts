import { type DestinationStream, type Logger, pino } from 'pino';

const KEY = /rl_live_[0-9A-Za-z_]*/g;

/** A JSON log whose lines never hold an API key: headers are not logged, and a key that strayed into a text is cut out. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: {
      streamWrite: (line: string) =>
        line.includes('rl_live_') ? line.replace(KEY, 'rl_live_[redacted]') : line,
    },
  };
  return destination
    ? pino(options, destination)
    : pino(options, pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 250 }));
}
