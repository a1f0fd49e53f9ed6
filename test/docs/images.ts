/** `node dist/test/docs/images.js` takes the pictures of the README, in the system's Chromium. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { packageRoot } from '../../services/shared/fs.js';
import { chromiumPath } from '../console/browser.js';
import { startSampleGateway } from '../support/gateway.js';

const PICTURES = {
  contacts: '/console/contacts?query=enginering&country=Germany',
  advertising: '/console/advertising?compare=previous_period',
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
for (const [name, path] of Object.entries(PICTURES)) {
  await page.goto(`${gateway.url}${path}`);
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
await browser.close();
await gateway.close();
