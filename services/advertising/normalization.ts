/** Normal forms in which advertising text is compared. Stored values and requested values pass through the same functions. */

/** Case-folded text, close to Unicode full case folding: ß becomes ss, and all sigmas are the same. Accents stay. */
export function caseFold(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
    .replaceAll('ς', 'σ');
}

const STROKES: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't' };

/** Case-folded text without accents and strokes, for searches and orders by name. `withoutAccents` does the same in SQL. */
export const dropAccents = (folded: string): string =>
  folded
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[øłđðħŧ]/g, (letter) => STROKES[letter] ?? letter);

export const CAMPAIGN_STATUSES = [
  'ACTIVE',
  'PAUSED',
  'ARCHIVED',
  'COMPLETED',
  'CANCELED',
  'DRAFT',
  'PENDING_DELETION',
  'REMOVED',
] as const;

export const OBJECTIVE_TYPES = [
  'BRAND_AWARENESS',
  'ENGAGEMENT',
  'JOB_APPLICANTS',
  'LEAD_GENERATION',
  'WEBSITE_CONVERSIONS',
  'WEBSITE_VISITS',
  'VIDEO_VIEWS',
] as const;

/** Canonical form of a status. */
export function normalizeStatus(status: string): string {
  const key = status.trim().toUpperCase();
  return key === 'CANCELLED' ? 'CANCELED' : key;
}

const singular = (key: string) => (key.endsWith('S') && !key.endsWith('SS') ? key.slice(0, -1) : key);

/** Canonical form of an objective: singular, so `WEBSITE_VISIT`, `WEBSITE_VISITS` and `Website visits` are the same. */
export function normalizeObjective(objective: string): string {
  return singular(objective.trim().toUpperCase().replaceAll(' ', '_'));
}

const statuses = new Set<string>(CAMPAIGN_STATUSES);
const objectives = new Set(OBJECTIVE_TYPES.map(normalizeObjective));

export const isKnownStatus = (status: string) => statuses.has(normalizeStatus(status));
export const isKnownObjective = (objective: string) => objectives.has(normalizeObjective(objective));
