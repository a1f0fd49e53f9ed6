/** Formats metrics and times for readers of English. Times are UTC, as in the API. */
const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat('en', {
  style: 'percent',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const decimal = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Formats a day as `4 Nov`, and a month as `Nov 26`. */
export function shortPeriod(period = ''): string {
  const [year = '', month, day] = period.split('-');
  const name = MONTHS[Number(month) - 1] ?? '';
  return day === undefined ? `${name} ${year.slice(2)}` : `${Number(day)} ${name}`;
}

/** Formats a range as `1 Oct – 25 Oct 2026`. */
export function rangeText(start: string, end: string): string {
  const [first, last] = [start.slice(0, 4), end.slice(0, 4)];
  return `${shortPeriod(start)}${first === last ? '' : ` ${first}`} – ${shortPeriod(end)} ${last}`;
}

export const NONE = '–';
export const count = (value: number) => whole.format(value);
export const kibibytes = (bytes: number) => `${count(Math.ceil(bytes / 1024))} KiB`;
export const plural = (value: number, one: string, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;

export const fullName = ({
  first_name,
  last_name,
}: {
  first_name: string | null;
  last_name: string | null;
}) => [first_name, last_name].filter(Boolean).join(' ') || 'Unnamed';

/** Formats a seniority or department for people, such as `human_resources` or `vp`. */
export function classLabel(name: string): string {
  if (name === 'vp') return 'VP';
  if (name === 'c_level') return 'C-level';
  return fieldLabel(name);
}

/** Field names whose words do not say what they are. */
const LABELS: Record<string, string> = {
  dob: 'Date of birth',
  network_a_url: 'Profile on the professional network',
  company_network_a_url: 'Company page on the professional network',
};

/** Formats a field name such as `work_emails` or `startUrl` for people. network_a is a professional network. */
export function fieldLabel(name: string): string {
  const known = LABELS[name];
  if (known !== undefined) return known;
  if (name.startsWith('network_a_')) return `${fieldLabel(name.slice(10))} on the professional network`;
  const text = name
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\b(?:url|utm|ip|cpc|cpm)\b/g, (word) => word.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export type Kind = 'count' | 'money' | 'percent' | 'ratio';

export function figure(
  value: string | number | null | undefined,
  kind: Kind,
  currency?: string | null,
): string {
  if (value === null || value === undefined) return NONE;
  const number = Number(value);
  if (kind === 'count') return whole.format(number);
  if (kind === 'percent') return percent.format(number);
  if (kind === 'ratio') return decimal.format(number);
  return money(value, currency);
}

/** Amounts from the server are text and are formatted exactly. */
function money(value: string | number, currency?: string | null): string {
  const exact = value as number | `${number}`;
  if (!currency) return decimal.format(exact);
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).format(exact);
  } catch {
    return `${decimal.format(exact)} ${currency}`;
  }
}

/** Formats a change as `+12%`; empty if a percentage is meaningless. */
export function change(now: unknown, before: unknown): string {
  const [value, earlier] = [Number(now ?? Number.NaN), Number(before ?? Number.NaN)];
  if (Number.isNaN(value) || Number.isNaN(earlier)) return '';
  if (earlier === 0) return value === 0 ? '±0%' : 'new';
  if (value === earlier) return '±0%';
  const percent = Math.abs(((value - earlier) / earlier) * 100);
  const small = percent < 0.05 ? '<0.1' : percent.toFixed(1);
  return `${value > earlier ? '+' : '−'}${percent < 0.5 ? small : count(Math.round(percent))}%`;
}

/** Short form of a number for the axis of a chart. */
export function short(value: number, kind: Kind): string {
  if (kind === 'percent') return `${Number((value * 100).toPrecision(3))}%`;
  return compact.format(value);
}

/** Formats an ISO 8601 date-time as `2026-11-22 13:05`. */
export const minute = (dateTime: string) => `${dateTime.slice(0, 10)} ${dateTime.slice(11, 16)}`;

/** Whether the day exists; false for `2026-02-30`. */
export const isDate = (text: string) => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
};

const DAY_MS = 86_400_000;
/** Number of days between two days; 0 for the same day. */
export const daysBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / DAY_MS;

/** All days or months of a range, ascending, in the format of responses. */
export function periodsOf(start: string, end: string, granularity: 'daily' | 'monthly'): string[] {
  const days = Array.from({ length: daysBetween(start, end) + 1 }, (_, day) => daysBefore(start, -day));
  return granularity === 'daily' ? days : [...new Set(days.map((day) => day.slice(0, 7)))];
}

export const today = () => new Date().toISOString().slice(0, 10);
export const daysBefore = (date: string, days: number) =>
  new Date(Date.parse(date) - days * DAY_MS).toISOString().slice(0, 10);

export const megabytes = (bytes: number) =>
  bytes < 1_000_000 ? `${count(Math.ceil(bytes / 1000))} kB` : `${count(Math.round(bytes / 1_000_000))} MB`;
