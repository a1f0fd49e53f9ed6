import { DAY_MS, utcDate } from '../shared/time.js';

export const DEMO_ORGANIZATION = 'org_demo';

/** The day that is some days before another day (or after it, with a negative number), as `YYYY-MM-DD`. */
export const daysBefore = (day: string, days: number) => utcDate(Date.parse(day) - days * DAY_MS);

/** Traffic of a business site by day of the week, Sunday first, relative to an average weekday. */
const WEEKDAY_FACTORS = [0.3, 1, 1.12, 1.1, 1.04, 0.85, 0.34] as const;

export const weekdayFactor = (day: string) => WEEKDAY_FACTORS[new Date(day).getUTCDay()] as number;
