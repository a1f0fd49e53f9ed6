import type { Logger } from 'pino';
import { type Config, ignoredVariablesWarning } from '../shared/config.js';

/** Logs which variables were taken for settings of something else, so that a typing error is found. */
export function warnOfIgnored({ ignoredVariables }: Config, logger: Logger): void {
  const warning = ignoredVariablesWarning(ignoredVariables);
  if (warning !== null) logger.warn({ variables: ignoredVariables }, warning);
}
