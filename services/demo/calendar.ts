import { DAY_MS, utcDate } from '../shared/time.js';

export const DEMO_ORGANIZATION = 'org_demo';

/** `YYYY-MM-DD` some days before (or after, with a negative number) a day. */
export const daysBefore = (day: string, days: number) => utcDate(Date.parse(day) - days * DAY_MS);

/** A business site's traffic by day of the week, Sunday first, relative to a usual weekday. */
const WEEKDAY_FACTORS = [0.3, 1, 1.12, 1.1, 1.04, 0.85, 0.34] as const;

export const weekdayFactor = (day: string) => WEEKDAY_FACTORS[new Date(day).getUTCDay()] as number;
