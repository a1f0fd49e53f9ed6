import { expect } from 'chai';
import { useConsole } from './browser.js';

describe('The console in several tabs, and in trouble', function () {
  this.timeout(60_000);
  const c = useConsole();

  it('is signed in in a second tab and from a pasted link, and signs all of them out at once', async () => {
    await c.open('/contacts');
    const audiences = c.page.getByRole('link', { name: 'Audiences', exact: true });
    const [second] = await Promise.all([
      c.context.waitForEvent('page'),
      audiences.click({ modifiers: ['ControlOrMeta'] }),
    ]);
    await second.getByRole('table', { name: 'Audiences' }).waitFor();
    const pasted = await c.context.newPage();
    await pasted.goto(`${c.gateway.url}/console/visits?country=US`);
    await pasted.getByRole('table', { name: 'Visits' }).waitFor();
    await c.page.close();
    await second.reload();
    await second.getByRole('table', { name: 'Audiences' }).waitFor();
    expect(await second.evaluate('JSON.stringify([{ ...localStorage }, document.cookie])')).not.to.contain(
      c.key,
    );
    await second.getByRole('button', { name: 'Sign out' }).click();
    await pasted.getByLabel('API key').waitFor();
    await pasted.reload();
    await pasted.getByLabel('API key').fill(c.key);
    await pasted.getByRole('button', { name: 'Sign in' }).click();
    await pasted.getByRole('table', { name: 'Visits' }).waitFor();
    await second.getByRole('table', { name: 'Audiences' }).waitFor();
  });

  it('asks for the key where no tab has it', async () => {
    await c.open('/contacts');
    await c.page.close();
    const bookmark = await c.context.newPage();
    await bookmark.goto(`${c.gateway.url}/console/contacts`);
    await bookmark.getByLabel('API key').waitFor();
  });

  it('stays in the view when a reload finds the server overloaded, and goes on by itself', async () => {
    await c.open('/contacts?query=marketing');
    await c.page.getByRole('table', { name: 'Contacts' }).waitFor();
    const body = JSON.stringify({ code: 'overloaded', title: 'Service overloaded' });
    await c.page.route('**/api/**', (route) => route.fulfill({ status: 503, body }));
    await c.page.reload();
    const alert = c.page.getByRole('alert');
    await alert.getByText('Service overloaded').waitFor();
    await alert.getByRole('button', { name: 'Retry' }).waitFor();
    await c.page.unroute('**/api/**');
    await c.page.getByRole('table', { name: 'Contacts' }).locator('mark').first().waitFor();
    expect(new URL(c.page.url()).search).to.equal('?query=marketing');
    c.forgetFailedRequests();
  });

  it('gives a request that it tries again the time that it needs', async () => {
    const body = JSON.stringify({ code: 'timeout', title: 'The request took too long' });
    await c.open('/status');
    await c.page.clock.install();
    await c.page.route('**/api/audiences/search', (route) => route.fulfill({ status: 504, body }));
    await c.page.getByRole('link', { name: 'Audiences', exact: true }).click();
    await c.page.getByRole('alert').getByText('The request took too long').waitFor();
    await c.page.unroute('**/api/audiences/search');
    let asked = 0;
    await c.page.route('**/api/audiences/search', () => {
      asked++;
    });
    const again = c.page.waitForRequest('**/api/audiences/search');
    await c.page.clock.runFor(5000);
    await again;
    await c.page.clock.runFor(16_000);
    await c.page.waitForTimeout(300);
    expect(asked).to.equal(1);
    c.forgetFailedRequests();
  });

  it('signs nobody in whose key is confirmed after signing out', async () => {
    let confirm = () => {};
    const confirmed = new Promise<void>((resolve) => {
      confirm = resolve;
    });
    await c.page.route('**/api/key', async (route) => {
      await confirmed;
      await route.continue();
    });
    await c.open('/contacts');
    await c.page.getByRole('button', { name: 'Sign out' }).click();
    await c.page.getByRole('button', { name: 'Sign in' }).waitFor();
    const answered = c.page.waitForResponse('**/api/key');
    confirm();
    await (await answered).finished();
    await c.page.reload();
    await c.page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('keeps what it shows without a network, and goes on when there is one', async () => {
    await c.open('/contacts');
    await c.page.getByRole('link', { name: 'Audiences', exact: true }).click();
    // Waits for a row of the table, because the empty table is there before its rows.
    await c.page.getByRole('table', { name: 'Audiences' }).getByRole('link', { name: 'Customers' }).waitFor();
    await c.context.setOffline(true);
    await c.page.getByRole('searchbox').fill('customers');
    await c.page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    await c.page.getByRole('table', { name: 'Audiences' }).waitFor();
    await c.context.setOffline(false);
    await c.page.getByRole('table', { name: 'Audiences' }).locator('mark').first().waitFor();
    await c.page.getByRole('alert').waitFor({ state: 'detached' });
    c.forgetFailedRequests();
  });

  it('puts a fault of its own in place of the view, and goes on in the next', async () => {
    const body = JSON.stringify({ total_count: 1 });
    await c.page.route('**/api/audiences/search', (route) => route.fulfill({ body }));
    await c.open('/audiences');
    await c.page.getByRole('alert').getByText('The console failed').waitFor();
    await c.page.getByRole('link', { name: 'Contacts', exact: true }).click();
    await c.page.getByRole('table', { name: 'Contacts' }).waitFor();
  });

  for (const [view, shown] of [
    ['/visits?to=2026-13-45&from=2026-02-30', 'table "Visits"'],
    ['/advertising?end=2026-99-99&page=x&sort=constructor&status=x', 'table "Campaigns"'],
    ['/advertising?tab=constructor&chart=toString', 'table "Campaigns"'],
    ['/audiences?page=x', 'table "Audiences"'],
    ['/audiences?page=9', 'link "Go to page 1"'],
    ['/advertising?page=999999', 'link "Go to page'],
    ['/constructor', 'link "Go to the first view"'],
    ['/contacts?seniority=nonsense', 'link "Reset this view"'],
    ['/visits?ip_address=nonsense', 'link "Reset this view"'],
    ['/visits?min_intent_score=5.5', 'link "Reset this view"'],
    ['/visits?min_intent_score=high', 'link "Reset this view"'],
    ['/contacts?query=%00&country=%F0%9F%92%A9&contact=__proto__', 'link "Close"'],
    ['/advertising/company?company_id=constructor', 'link "Go to the companies"'],
    ['/companies/company', 'link "Go to the companies"'],
    ['/advertising/creative', 'link "Go to the creatives"'],
    [`/advertising/campaign?campaign_id=${'x'.repeat(200)}`, 'link "Reset this view"'],
    ['/advertising/campaign?campaign_id=cam_011&compare=x&start=x&chart=leads,x', 'table "Creatives"'],
  ] as const) {
    it(`answers the address ${view.slice(0, 80)}`, async () => {
      await c.open(view);
      const [, role, name] = /^(\w+) ?"?([^"]*)/.exec(shown) as unknown as [string, 'table', string];
      await c.page.getByRole(role, name === '' ? {} : { name }).waitFor();
      // The page may be drawn before the last response, which the browser reports as failed.
      await c.page.waitForLoadState('networkidle');
      c.forgetFailedRequests();
    });
  }
});
