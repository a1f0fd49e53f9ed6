import { utcDate } from '../shared/time.js';

export const DAY_MS = 86_400_000;
export const DEMO_ORGANIZATION = 'org_demo';

/** `YYYY-MM-DD` some days before (or after, with a negative number) a day. */
export const daysBefore = (day: string, days: number) => utcDate(Date.parse(day) - days * DAY_MS);

/** 0 for Sunday. */
export const weekday = (day: string) => new Date(day).getUTCDay();

/** How much of a business site's traffic each day of the week brings, Sunday first. */
const WEEKLY_RHYTHM = [0.3, 1, 1.12, 1.1, 1.04, 0.85, 0.34] as const;

export const rhythmOf = (day: string) => WEEKLY_RHYTHM[weekday(day)] as number;
