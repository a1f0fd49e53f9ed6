/** Mappings of the exports of known tools. */
import { fivetranLinkedin } from './fivetran-linkedin.js';
import type { Preset } from './preset.js';

export const PRESETS: Readonly<Record<string, Preset>> = {
  ...fivetranLinkedin,
};
