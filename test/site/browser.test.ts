import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  APPEARANCES,
  type Appearance,
  expectAccessible,
  expectFits,
  useConsole,
} from '../console/browser.js';
import { servedPages } from '../docs/support.js';
import { runs } from '../support/random.js';

const guides = servedPages().map(({ name }) => name);
const EVERY_APPEARANCE = APPEARANCES.map(
  ([width, ...rest]): Appearance => [width === 1280 ? 1440 : width, ...rest],
);
/** Parts around the text, which are the same on every page. */
const FRAME = ['.VPNav', '.VPLocalNav', '.VPSidebar', '.VPDocAside', '.VPDocFooter'];
/** Colours are those of the theme on every page, and axe spends most of its time on them: only nightly runs judge those of each page. */
const COLOURS = runs(1) > 1 ? '' : "rules: { 'color-contrast': { enabled: false } }";

describe('The documentation in Chromium', function () {
  this.timeout(180_000);
  const c = useConsole();
  const visit = async (name: string) => {
    await c.page.goto(`${c.gateway.url}/docs${name === '' ? '' : `/${name}`}`);
    // The heading is there before the scripts of the theme.
    await c.page.waitForFunction("document.querySelector('#app').__vue_app__ !== undefined");
  };
  const openSearch = async (key: string) => {
    await c.page.keyboard.press(key);
    await c.page.locator('#localsearch-input:focus').waitFor();
  };
  it('shows the start page, a guide and the search without a serious fault for axe, narrow and wide, light and dark', async () => {
    for (const name of ['', 'mcp']) {
      await visit(name);
      await expectAccessible(c.page, EVERY_APPEARANCE);
    }
    await openSearch('/');
    await c.page.getByRole('searchbox').fill('key');
    await c.page.getByRole('option').first().waitFor();
    await expectAccessible(c.page, EVERY_APPEARANCE);
  });

  it('finds what people look for, by keyboard alone', async () => {
    await visit('');
    for (const [typed, name] of [
      ['import', 'streams'],
      ['webhook', 'keep-in-step'],
      ['delete a person', 'personal-data'],
      ['idempotency_key_reused', 'errors#idempotency_key_reused'],
      ['systemctl', 'install'],
      ['clickhouse-jdbc', 'sql#tools'],
      ['undo', 'console'],
      ['download', 'console#download'],
      ['api key', 'errors#missing_api_key'],
    ]) {
      await openSearch('/');
      await c.page.keyboard.type(typed as string);
      await c.page
        .locator(`#localsearch-list li:nth-child(-n + 3) a[href^="/docs/${name}"]`)
        .first()
        .waitFor();
      await c.page.keyboard.press('Escape');
    }
    await openSearch('Control+k');
    await c.page.keyboard.type('idempotency_key_reused');
    await c.page.locator('#localsearch-list a[href="/docs/errors#idempotency_key_reused"]').waitFor();
    await c.page.keyboard.press('Enter');
    await c.page.waitForURL('**/docs/errors#idempotency_key_reused');
  });

  it('leads through the pages by Next without loading again, each without a serious fault for axe and no wider than the window', async () => {
    await visit(guides[0] as string);
    await c.page.evaluate('window.isSame = true');
    for (const [index, name] of guides.entries()) {
      if (index > 0) await c.page.locator('.pager-link.next').click();
      await c.page.waitForURL(`${c.gateway.url}/docs/${name}`);
      await expectAccessible(c.page, [[390, index % 2 === 0 ? 'light' : 'dark', COLOURS]], FRAME);
      await c.page.setViewportSize({ width: 1440, height: 800 });
      await expectFits(c.page, '1440');
    }
    expect(await c.page.evaluate('window.isSame')).to.equal(true);
  });

  it('leads to a page by the menu of a phone', async () => {
    await visit('streams');
    await c.page.setViewportSize({ width: 390, height: 800 });
    await c.page.locator('button.menu').click();
    await c.page.locator('.VPSidebar').getByRole('link', { name: 'Quickstart' }).click();
    await c.page.getByRole('heading', { level: 1, name: 'Quickstart' }).waitFor();
  });

  it('leads to the operations and to the console', async () => {
    await c.page.setViewportSize({ width: 1440, height: 900 });
    await visit('quickstart');
    await c.page.getByRole('banner').getByRole('link', { name: 'Console' }).click();
    await c.page.waitForURL('**/console');
    await visit('quickstart');
    await c.page.getByRole('banner').getByRole('link', { name: 'API reference' }).click();
    await c.page.waitForURL('**/docs/api');
  });

  it('keeps the colours that a reader chose', async () => {
    await c.page.setViewportSize({ width: 1440, height: 900 });
    await c.page.emulateMedia({ colorScheme: 'light' });
    await visit('quickstart');
    await c.page.getByRole('switch').first().click();
    await c.page.locator('html.dark').waitFor();
    await c.page.reload();
    await c.page.locator('html.dark').waitFor();
  });

  it('copies the code of a page', async () => {
    await visit('quickstart');
    await c.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await c.page.locator('div[class*=language-]').first().hover();
    await c.page.getByRole('button', { name: 'Copy code' }).first().click();
    await c.page.locator('button.copy.copied').waitFor();
    expect(await c.page.evaluate('navigator.clipboard.readText()')).to.match(/^npm ci\nnpm start\n?$/);
  });

  it('shows every page where scripts do not run', async () => {
    const context = await c.context.browser()?.newContext({ javaScriptEnabled: false });
    const page = (await context?.newPage()) as Page;
    await page.goto(`${c.gateway.url}/docs`);
    await page.getByRole('link', { name: 'Start in five minutes' }).click();
    for (const name of guides.slice(1)) {
      await page.locator('.pager-link.next').click();
      await page.waitForURL(`${c.gateway.url}/docs/${name}`);
      expect((await page.locator('.VPDoc .vp-doc').textContent())?.length, name).to.be.above(300);
    }
    await context?.close();
  });
});
