import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const USUAL_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The system's Chromium, or the one that `CHROMIUM_PATH` names. */
export const chromiumPath = process.env.CHROMIUM_PATH ?? USUAL_PATHS.find((path) => existsSync(path));

/** Skips the suite where the machine has no Chromium. */
export async function launchBrowser(context: Mocha.Context): Promise<Browser> {
  if (chromiumPath === undefined) return context.skip();
  return chromium.launch({ executablePath: chromiumPath });
}

/**
 * Options of `axe.run`: every rule once for each width and once for each colour scheme; in the other two combinations only the rules
 * about colour, as no other rule depends on both.
 */
export const axeRules = (width: number, isDark: boolean): string =>
  width < 800 === isDark ? '' : "runOnly: ['color-contrast', 'link-in-text-block']";
