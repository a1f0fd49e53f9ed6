/**
 * `node dist/test/docs/images.js [name …]` takes the pictures of the console for the documentation, by default all, in the system's Chromium.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { packageRoot } from '../../services/shared/fs.js';
import { chromiumPath } from '../console/browser.js';
import { startSampleGateway } from '../support/gateway.js';

const LIST = `Vorname;Nachname;E-Mail;Position;Firma;Land;Notiz
Ada;Lovelace;ada@analytical.example;Head of Marketing;Analytical Engines;Großbritannien;fair
Grace;Hopper;grace@navy.example;VP Engineering;Navy Systems;USA;
Jürgen;Müller;jm@hoffmann.example;Leiter Vertrieb;Hoffmann GmbH;Deutschland;call back
Amara;Okafor;amara@lagoscloud.example;CMO;Lagos Cloud;Nigeria;
`;

/** The address of each picture, and what a user does there. */
const PICTURES: Record<string, { path: string; height?: number; act?: (page: Page) => Promise<void> }> = {
  overview: { path: '/console/overview' },
  contacts: { path: '/console/contacts?query=enginering&country=Germany' },
  advertising: { path: '/console/advertising?compare=previous_period&currency=USD' },
  import: {
    height: 400,
    path: '/console/import',
    async act(page) {
      const file = { name: 'messe.csv', mimeType: 'text/csv', buffer: Buffer.from(LIST) };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByRole('region', { name: 'Preview' }).waitFor();
    },
  },
  selection: {
    height: 520,
    path: '/console/contacts?query=marketing&country=Germany',
    async act(page) {
      for (const key of ['j', 'x', 'j', 'x', 'j', 'x']) await page.keyboard.press(key);
      await page.getByText('Add to audience', { exact: true }).click();
    },
  },
};

if (chromiumPath === undefined)
  throw new Error('Chromium is not installed; CHROMIUM_PATH names another browser');
const folder = join(packageRoot, 'docs/images');
mkdirSync(folder, { recursive: true });
const gateway = await startSampleGateway();
const key = await gateway.keyFor(DEMO_ORGANIZATION);
const browser = await chromium.launch({ executablePath: chromiumPath });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
await page.goto(`${gateway.url}/console#key=${key}`);
await page.getByRole('link', { name: 'Contacts', exact: true }).waitFor();
const names = process.argv.slice(2);
for (const [name, { path, height = 720, act }] of Object.entries(PICTURES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  await page.setViewportSize({ width: 1280, height });
  await page.goto(`${gateway.url}${path}`);
  await page.waitForLoadState('networkidle');
  await act?.(page);
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
await browser.close();
await gateway.close();
