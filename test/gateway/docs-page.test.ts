import { createHash } from 'node:crypto';
import vm from 'node:vm';
import { expect } from 'chai';
import { apiDocument, endpoints } from '../../services/gateway/api.js';
import { DOCS_CSP, renderDocs } from '../../services/gateway/docs-page.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const page = renderDocs(apiDocument(endpoints, '1.2.3'));
const between = (tag: string) =>
  [...page.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, text]) => text);
const unescaped = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

describe('The documentation page', () => {
  it('allows its script and style by hash, and requests to its own origin only', () => {
    for (const [tag, directive] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const [text = '', ...others] = between(tag);
      expect(others).to.deep.equal([]);
      const hash = createHash('sha256').update(text).digest('base64');
      expect(DOCS_CSP).to.contain(`${directive} 'sha256-${hash}';`);
    }
    expect(DOCS_CSP).to.contain("default-src 'none'").and.not.contain('unsafe');
    expect(page).not.to.match(/\s(?:src|style|on\w+)=/);
    expect(
      [...page.matchAll(/href="([^"]*)"/g)].map(([, to]) => to).filter((to) => !/^[#/]/.test(to ?? '')),
    ).to.deep.equal([]);
    expect(page.replaceAll(/<(?:pre|textarea|td)\b.*?<\/(?:pre|textarea|td)>/gs, '')).not.to.match(/https?:/);
  });

  it('links to every operation and schema', () => {
    const targets = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(targets).size).to.equal(targets.length);
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(targets).to.include(target);
    for (const { path, summary } of endpoints)
      expect(page).to.contain(`<code>${path}</code>`).and.contain(summary);
  });

  it('shows a request that can be sent unchanged and a response for each operation', () => {
    const forms = [...page.matchAll(/<form data-path="([^"]+)".*?<textarea[^>]*>(.*?)<\/textarea>/gs)];
    expect(forms.map(([, path]) => path)).to.deep.equal([
      ...endpoints.map(({ path }) => path),
      '/api/ingest/{stream}',
    ]);
    for (const [, path, body] of forms) {
      const example = endpoints.find((endpoint) => endpoint.path === path)?.example;
      const shown = JSON.parse(unescaped(body as string)) as object;
      if (example) expect(shown, path).to.deep.equal(example);
    }
    // Ingest and the description of the key are no endpoints.
    expect(page.match(/Example of an answer/g)).to.have.lengthOf(endpoints.length + 2);
  });

  it('escapes HTML in its content', () => {
    const document = apiDocument(endpoints, '<script>alert(1)</script>');
    expect(renderDocs(document)).not.to.contain('<script>alert');
  });

  it('sends a form as a request with the key, the parameters and the body', async () => {
    const sent: { url: string; init: { headers: Record<string, string>; body: string } }[] = [];
    const output = { textContent: '' };
    let submit: ((event: object) => Promise<void>) | undefined;
    const field = (name: string, place: string, value: string) => ({ name, value, dataset: { in: place } });
    const form = {
      dataset: { path: '/api/ingest/{stream}', type: 'application/x-ndjson' },
      querySelector: (selector: string) => (selector === 'output' ? output : { value: '{}' }),
      querySelectorAll: () => [
        field('stream', 'path', 'contacts'),
        field('dry_run', 'query', 'true'),
        field('unset', 'query', ''),
        field('Prefer', 'header', 'handling=lenient'),
      ],
      addEventListener: (_: string, listener: typeof submit) => {
        submit = listener;
      },
    };
    const document = { forms: [form], getElementById: () => ({ value: 'rl_live_x' }) };
    const fetch = async (url: string, init: (typeof sent)[number]['init']) => {
      sent.push({ url, init });
      return { status: 200, statusText: 'OK', text: async () => '{"accepted":1}' };
    };
    vm.runInNewContext(between('script')[0] ?? '', { document, fetch, URLSearchParams, encodeURIComponent });
    await submit?.({ preventDefault: () => undefined });
    expect(sent).to.have.lengthOf(1);
    expect(sent[0]?.url).to.equal('/api/ingest/contacts?dry_run=true');
    expect(sent[0]?.init.body).to.equal('{}');
    expect(sent[0]?.init.headers).to.deep.equal({
      'X-Api-Key': 'rl_live_x',
      'Content-Type': 'application/x-ndjson',
      Prefer: 'handling=lenient',
    });
    expect(output.textContent).to.equal('200 OK\n\n{\n  "accepted": 1\n}');
  });

  describe('as the gateway serves it', () => {
    let gateway: TestGateway;
    before(async () => {
      gateway = await startTestGateway();
    });
    after(() => gateway.close());

    for (const path of ['/docs', '/openapi.json']) {
      it(`${path} is not sent to whoever has it`, async () => {
        const first = await gateway.call(path, undefined, { method: 'GET', key: null });
        expect(first.status).to.equal(200);
        // Without a Cache-Control of the caller, fetch adds no-cache.
        const headers = {
          'If-None-Match': first.headers.get('ETag') as string,
          'Cache-Control': 'max-age=0',
        };
        const again = await gateway.call(path, undefined, { method: 'GET', key: null, headers });
        expect(again.status).to.equal(304);
        expect(again.text).to.equal('');
      });
    }

    it('carries its policy', async () => {
      const { headers } = await gateway.call('/docs', undefined, { method: 'GET', key: null });
      expect(headers.get('Content-Security-Policy')).to.equal(DOCS_CSP);
      expect(headers.get('Content-Type')).to.match(/^text\/html/);
    });
  });
});
