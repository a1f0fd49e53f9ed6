import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { CONSOLE_CSP } from '../../services/gateway/console.js';
import { packageRoot } from '../../services/shared/fs.js';
import { useGateway } from '../support/gateway.js';

const folder = join(packageRoot, 'dist/console');
const page = readFileSync(join(folder, 'index.html'), 'utf8');
/** Files that index.html loads before it shows anything. */
const firstAssets = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(
  ([, path]) => path as string,
);

describe('The console as the gateway serves it', () => {
  const gateway = useGateway();

  /** Reads a raw response: `fetch` would decompress it and follow redirects. */
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' });

  it('leads a browser from / to itself, and answers API clients with a problem', async () => {
    const browser = await get('/', { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(browser.status).to.equal(302);
    expect(browser.headers.get('Location')).to.equal('/console');
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }] as Record<
      string,
      string
    >[]) {
      const client = await get('/', headers);
      expect(client.status).to.equal(404);
      expect(client.headers.get('Content-Type')).to.match(/problem\+json/);
    }
  });

  it('sends the same page for every view, with its policy, and asks to revalidate it', async () => {
    for (const path of [
      '/console',
      '/console/',
      '/console/contacts?query=x',
      '/console/advertising/company',
      '/console/companies',
      '/console/companies/company',
    ]) {
      const response = await get(path);
      expect(response.status, path).to.equal(200);
      expect(await response.text(), path).to.equal(page);
      expect(response.headers.get('Content-Security-Policy')).to.equal(CONSOLE_CSP);
      expect(response.headers.get('Cache-Control')).to.equal('no-cache');
      const again = await get(path, {
        'If-None-Match': response.headers.get('ETag') as string,
        'Cache-Control': 'max-age=0',
      });
      expect(again.status, path).to.equal(304);
    }
    expect(CONSOLE_CSP)
      .to.contain("default-src 'none'")
      .and.not.match(/unsafe|https?:|data:|\*/);
    expect(page).not.to.match(/<script>|<style|\sstyle=|\son\w+=/);
  });

  it('sends assets that may be kept forever, compressed as the client accepts', async () => {
    expect(firstAssets).to.have.length.above(1);
    for (const asset of firstAssets) {
      const source = readFileSync(join(folder, asset));
      const plain = await get(`/console/${asset}`, { 'Accept-Encoding': 'identity' });
      expect(plain.headers.get('Content-Encoding')).to.equal(null);
      expect(plain.headers.get('Cache-Control')).to.equal('public, max-age=31536000, immutable');
      expect(plain.headers.get('Vary')).to.match(/Accept-Encoding/);
      expect(Buffer.from(await plain.arrayBuffer()).equals(source)).to.equal(true);
      for (const encoding of ['br', 'gzip']) {
        const compressed = await get(`/console/${asset}`, { 'Accept-Encoding': encoding });
        expect(compressed.headers.get('Content-Encoding')).to.equal(encoding);
        expect(Buffer.from(await compressed.arrayBuffer()).equals(source)).to.equal(true);
      }
    }
    expect(brotliDecompressSync(readFileSync(join(folder, 'index.html.br'))).toString()).to.equal(page);
    expect(gunzipSync(readFileSync(join(folder, 'index.html.gz'))).toString()).to.equal(page);
  });

  it('answers an unknown asset, and a path that leaves the folder, with a problem', async () => {
    for (const path of [
      '/console/assets/none.js',
      '/console/assets/%2e%2e%2findex.html',
      '/console/index.html.br',
    ]) {
      const response = await get(path);
      expect(response.status, path).to.equal(404);
      expect(response.headers.get('Content-Type')).to.match(/problem\+json/);
    }
  });

  it('weighs at most 60 kB for the first view and 130 kB in all, compressed', () => {
    const weigh = (paths: string[]) =>
      paths.reduce((sum, path) => sum + statSync(join(folder, `${path}.gz`)).size, 0);
    const assets = readdirSync(join(folder, 'assets')).filter((name) => /\.(?:js|css|svg)$/.test(name));
    expect(weigh(['index.html', ...firstAssets])).to.be.at.most(60_000);
    expect(weigh(['index.html', ...assets.map((name) => `assets/${name}`)])).to.be.at.most(130_000);
  });
});

describe('GET /api/key', () => {
  const gateway = useGateway();

  it('describes the key in use', async () => {
    const scopes = ['contacts:read', 'visits:read'];
    const key = await gateway.keyFor('org_b', scopes);
    const { status, body } = await gateway.call('/api/key', undefined, { method: 'GET', key });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ key_id: key.split('_')[2], organization_id: 'org_b', scopes });
  });

  it('rejects a request without a valid key', async () => {
    for (const key of [null, 'rl_live_wrong']) {
      expect((await gateway.call('/api/key', undefined, { method: 'GET', key })).status).to.equal(401);
    }
  });
});
