import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { issueKey } from '../../services/accounts/keys.js';
import { packageRoot } from '../../services/shared/fs.js';
import { readDoc } from '../docs/support.js';
import { nodeEnvironment } from '../stack/distributions.js';
import { afterFile } from '../support/opened.js';
import { startServer } from '../support/server-process.js';
import { until } from '../support/until.js';
import { testDatabase } from './clickhouse/support.js';
import { openStore, testIndices } from './elasticsearch/support.js';
import { testTopics } from './kafka/topics.js';

interface Span {
  scope: string;
  name: string;
  traceId: string;
  attributes: { key: string; value: object }[];
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** A receiver of OTLP that keeps the spans of one trace in memory. */
async function startReceiver(): Promise<{ url: string; spans: Span[] }> {
  const spans: Span[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    for (const { scopeSpans } of JSON.parse(text).resourceSpans) {
      for (const { scope, spans: sent } of scopeSpans) {
        for (const span of sent as Span[])
          if (span.traceId === TRACE) spans.push({ ...span, scope: scope.name });
      }
    }
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile(async () => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

describe('A gateway under the automatic instrumentation of OpenTelemetry', function () {
  this.timeout(600_000);

  it('continues the trace of a client in its stores, in Kafka and in its log', async () => {
    const packages = await nodeEnvironment(join(packageRoot, 'test/at-scale/tracing/package.json'));
    const receiver = await startReceiver();
    const topics = await testTopics();
    const indices = testIndices();
    const store = await openStore(indices.config);
    const key = await issueKey(store, { organizationId: 'org_a', scopes: ['*'] });
    const [, NODE_OPTIONS] = /NODE_OPTIONS="([^"]+)"/.exec(readDoc('docs/operating/traces.md')) ?? [];
    const gateway = await startServer({
      // Node.js looks up the packages of its options in this folder.
      cwd: packages,
      dataDir: '/proc/nowhere',
      key,
      environment: {
        ...topics.environment,
        ELASTICSEARCH_INDEX_PREFIX: indices.config.indexPrefix,
        CLICKHOUSE_DATABASE: testDatabase().config.database,
        REACHLINE_LOG_LEVEL: 'info',
        NODE_OPTIONS: NODE_OPTIONS ?? '',
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_NODE_RESOURCE_DETECTORS: 'none',
      },
    });
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    const range = { start_date: '2026-10-01', end_date: '2026-10-31' };
    const answers = [
      await gateway.call('/api/contacts/search', { organization_id: 'org_a', query: 'ada' }, { headers }),
      await gateway.call('/api/advertising/network_a/campaigns', range, { headers }),
      await gateway.call('/api/ingest/contacts', [{ contact_id: 'c' }], { headers }),
    ];
    for (const { status, text } of answers) expect(status, text).to.equal(200);
    const has = (scope: string, pattern: RegExp) =>
      receiver.spans.some(
        (span) => span.scope === scope && pattern.test(`${span.name} ${JSON.stringify(span.attributes)}`),
      );
    await until(
      () =>
        has('@elastic/transport', /^search .*-contacts/) &&
        has('@opentelemetry/instrumentation-http', /log_comment=campaigns_page/) &&
        has('@opentelemetry/instrumentation-kafkajs', /contacts/),
      'the trace has spans of Elasticsearch, ClickHouse and Kafka',
    );
    expect(await gateway.stop()).to.deep.equal({ code: 0, signal: null });
    const lines = gateway
      .output()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'));
    expect(lines).to.have.lengthOf(3);
    for (const line of lines) expect(JSON.parse(line)).to.include({ level: 'info', trace_id: TRACE });
  });
});
