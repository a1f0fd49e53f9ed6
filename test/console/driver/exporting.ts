/** Saves what a view shows as a file, whatever happens to the response. */
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { goTo } from './browsing.js';
import { meaningOf } from './checks.js';
import type { Driver } from './driver.js';
import type { Fault } from './proxy.js';

export async function exportRows(driver: Driver): Promise<void> {
  const { page, random, proxy } = driver;
  const format = random.pick(['CSV', 'NDJSON']);
  const fault = random.pick<Fault | undefined>([undefined, 'cut half', 'end half']);
  const name = `export as ${format}${fault ? `, whose answer is ${fault}` : ''}`;
  const path = meaningOf(await driver.screen())?.path;
  if (path === undefined) return void (await driver.step('go to Visits', () => goTo(driver, 'Visits')));
  let said = '';
  let saved: string | undefined;
  await driver.step(name, async () => {
    const actions = page.locator('main .actions summary', { hasText: 'Export' }).first();
    await actions.click();
    const body = page.locator('main details[open]');
    await body.getByRole('button', { name: format, exact: true }).waitFor();
    if (fault) proxy.arm(new RegExp(`${path}$`), fault);
    const download = page.waitForEvent('download', { timeout: 2500 }).catch(() => undefined);
    await body.getByRole('button', { name: format, exact: true }).click();
    const file = await (await download)?.path();
    saved = file === undefined ? undefined : readFileSync(file, 'utf8');
    await driver.settle();
    said = ((await body.getByRole('status').allTextContents()).join(' ') || '').trim();
    await page.keyboard.press('Escape');
  });
  proxy.disarm();
  if (said === '') return;
  const rows =
    saved === undefined
      ? 0
      : format === 'CSV'
        ? parse(saved, { bom: true, columns: true, relax_column_count: true }).length
        : saved.split('\n').filter(Boolean).length;
  driver.note(`it says: ${said}; the file has ${rows} rows`);
  const counted = /([\d,]+) rows? saved\.?$/.exec(said)?.[1];
  if (counted !== undefined && Number(counted.replaceAll(',', '')) !== rows)
    driver.fault(`${name} says "${said}", and the file has ${rows} rows`);
  if (fault && (counted !== undefined || /console failed|TypeError/i.test(said)))
    driver.fault(`${name} says "${said}"`);
  if (!fault && counted === undefined) driver.fault(`${name} says "${said}"`);
}
